//===- cupilot-runner.cpp - Evaluates batches on GPUs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs on GPU machines: the CUDA driver, no LLVM, no toolkit, no network.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Runner.h"
#include "cupilot/Support/Config.h"
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unistd.h>

using namespace cupilot;
using namespace cupilot::runner;

static const char Help[] =
    "cupilot-runner " CUPILOT_VERSION ": evaluates batches on GPUs\n\n"
    "  cupilot-runner DIR             run the batch in DIR; results go to "
    "DIR/results\n"
    "  cupilot-runner --list          list the GPUs of this machine\n"
    "  cupilot-runner --ceilings      measure bandwidths and rates, once for "
    "each GPU\n\n"
    "  --devices=0,1    use these GPUs (default: all GPUs that the batch is "
    "for)\n"
    "  --card=NAME      use GPUs of this name alone, as --list has it\n"
    "  --group=N        evaluate the requests of one candidate, counted from "
    "0, beside runners\n"
    "                   of others\n"
    "  --anew           measure the ceilings again\n"
    "  --kernels=DIR    write the PTX that measures ceilings to DIR, and "
    "exit\n\n"
    "'cupilot ... --device spool:DIR' writes batches. If the runner was "
    "killed, the same command\n"
    "continues the batch; requests that have a result are not run again.\n"
    "Exit status: 0 all requests succeeded, 1 some ended in a fault or an "
    "error, 2 wrong use or a\n"
    "broken batch, 3 no driver or GPU, a GPU that was lost, a full disk.\n";

static int fail(const Failure &F) {
  fprintf(stderr, "cupilot-runner: error: %s [%s]\n", F.what(),
          std::string(F.word()).c_str());
  return exitStatusOf(F.kind());
}

static int wrongUse(const std::string &Why) {
  fprintf(stderr,
          "cupilot-runner: error: %s\ncupilot-runner: note: cupilot-runner "
          "--help\n",
          Why.c_str());
  return 2;
}

/// "0,1" as numbers.
static bool parseDevices(std::string_view Text, std::vector<int> &Devices) {
  while (!Text.empty()) {
    int Value = 0;
    auto [End, Error] =
        std::from_chars(Text.data(), Text.data() + Text.size(), Value);
    if (Error != std::errc() || Value < 0)
      return false;
    Devices.push_back(Value);
    Text.remove_prefix(size_t(End - Text.data()));
    if (Text.empty())
      break;
    if (Text.front() != ',' || Text.size() == 1)
      return false;
    Text.remove_prefix(1);
  }
  return !Devices.empty();
}

static bool parseNumber(std::string_view Text, unsigned &Number) {
  auto [End, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Number);
  return Error == std::errc() && End == Text.data() + Text.size();
}

/// This program's own file, which worker processes are started from.
static std::string ownPath() {
  char Path[4096];
  ssize_t N = ::readlink("/proc/self/exe", Path, sizeof(Path));
  if (N <= 0)
    throw Failure(FailureKind::WorkerLost, "cannot read /proc/self/exe");
  return std::string(Path, size_t(N));
}

static int run(const RunnerOptions &Options) {
  RunnerSummary S = runBatch(Options);
  fprintf(stderr,
          "cupilot-runner: %u evaluated, %u were done before, %u of all with "
          "a fault or an error, %u left\n",
          S.Done, S.Before, S.Faults, S.Missing);
  if (S.Missing) {
    fprintf(stderr, "cupilot-runner: error: %s\n", S.Lost.c_str());
    return 3;
  }
  return S.Faults ? 1 : 0;
}

int main(int argc, char **argv) {
  RunnerOptions Options;
  bool List = false, Ceilings = false, Anew = false;
  std::string Replay, Kernels;
  for (int I = 1; I < argc; ++I) {
    std::string_view Arg = argv[I];
    if (Arg == "--worker") // How it starts itself.
      return serveAsWorker();
    if (Arg == "--replay" && I + 1 < argc) {
      Replay = argv[++I];
    } else if (Arg == "--help" || Arg == "-h") {
      fputs(Help, stdout);
      return 0;
    } else if (Arg == "--version") {
      puts("cupilot-runner " CUPILOT_VERSION);
      return 0;
    } else if (Arg == "--list") {
      List = true;
    } else if (Arg == "--ceilings") {
      Ceilings = true;
    } else if (Arg == "--anew") {
      Anew = true;
    } else if (Arg.starts_with("--kernels=")) {
      Kernels = Arg.substr(10);
    } else if (Arg.starts_with("--devices=")) {
      if (!parseDevices(Arg.substr(10), Options.Devices))
        return wrongUse("'" + std::string(Arg) + "' does not list devices");
    } else if (Arg.starts_with("--card=")) {
      Options.Card = Arg.substr(7);
    } else if (Arg.starts_with("--group=")) {
      if (!parseNumber(Arg.substr(8), Options.Group.emplace()))
        return wrongUse("'" + std::string(Arg) + "' is no number of a group");
    } else if (Arg.starts_with("-")) {
      return wrongUse("'" + std::string(Arg) + "' is not an option");
    } else if (!Options.Folder.empty()) {
      return wrongUse("two folders were given");
    } else {
      Options.Folder = Arg;
    }
  }
  if (Options.Folder.empty() && !List && !Ceilings && Replay.empty() &&
      Kernels.empty())
    return wrongUse("no batch was given");
  try {
    Options.Executable = ownPath();
    if (!Replay.empty())
      return replay(Replay);
    if (!Kernels.empty()) {
      writeCeilingKernels(Kernels);
      return 0;
    }
    if (List)
      puts(listDevices(Options.Executable).dump(2).c_str());
    if (Ceilings)
      puts(deviceCeilings(Options.Executable,
                          Options.Devices.empty() ? 0 : Options.Devices[0],
                          Anew)
               .dump(2)
               .c_str());
    return List || Ceilings ? 0 : run(Options);
  } catch (const Failure &F) {
    return fail(F);
  } catch (const std::exception &E) {
    fprintf(stderr, "cupilot-runner: error: %s\n", E.what());
    return 3;
  }
}
