//===- ExplainCommand.cpp - cupilot explain -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "SharedOptions.h"
#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/NvccLaunches.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Substitute/UnitReport.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace explain_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption Input{Sub};
  StoreOption StoreDir{Sub};
  cl::opt<bool> Json{
      "json", In, cl::desc("Print JSON; docs/Tools.md describes the format")};
};
} // namespace

static const char Examples[] =
    "  cupilot explain heat.cu --store .cupilot -- clang++-22 -O2 "
    "--cuda-gpu-arch=sm_90\n"
    "  cupilot explain heat.cu --store .cupilot -- nvcc -arch=sm_90\n"
    "  cupilot explain heat.cu --json -- nvcc -arch=sm_90\n\n"
    "Runs that compilation with the plugin, writes no object, and prints what "
    "the plugin\n"
    "decided for the device and the host half.\n";

/// The report that \p Path holds, a part of it on each line.
static Expected<json::Array> readParts(const std::string &Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  json::Array Parts;
  SmallVector<StringRef> Lines;
  StringRef(*Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    Expected<json::Value> Part = json::parse(Line);
    if (!Part)
      return Part.takeError();
    Parts.push_back(std::move(*Part));
  }
  return Parts;
}

/// "heat.cu:12: ", where it is known.
static std::string placeOf(const json::Object &O) {
  if (textIn(O, "file").empty())
    return "";
  return (textIn(O, "file") + ":" + Twine(O.getInteger("line").value_or(0)) +
          ": ")
      .str();
}

static void print(const json::Array &Parts) {
  for (const json::Value &Part : Parts) {
    const json::Object &P = *Part.getAsObject();
    outs() << textIn(P, "source") << ": " << textIn(P, "compiler") << " "
           << textIn(P, "half");
    if (!textIn(P, "target").empty())
      outs() << " " << textIn(P, "target");
    outs() << formatv(": kernels {0}, variants {1}, stale {2}\n",
                      P.getInteger("seen").value_or(0),
                      P.getInteger("applied").value_or(0),
                      P.getInteger("stale").value_or(0));
    for (StringRef List : {"unit", "kernels", "launches"})
      if (const json::Array *All = P.getArray(List))
        for (const json::Value &Each : *All) {
          const json::Object &O = *Each.getAsObject();
          outs() << "  " << placeOf(O);
          if (!textIn(O, "kernel").empty())
            outs() << textIn(O, "kernel") << ": ";
          outs() << textIn(O, "outcome") << ": " << textIn(O, "message") << " ["
                 << textIn(O, "reason") << "]\n";
          if (!textIn(O, "conditions").empty())
            outs() << "    runs if " << textIn(O, "conditions") << "\n";
        }
  }
}

static Error run(const Options &O, const TrailingArgs &Command) {
  if (isMlirFile(O.Input))
    return usageError(
        "'" + O.Input + "' is MLIR, which no compiler of CUDA builds",
        "cupilot-opt --cupilot-apply='store=" + O.StoreDir + " arch=sm_90' " +
            O.Input + " says of each kernel why it got a variant or not");
  ArrayRef<std::string> Build = withoutLaunchers(Command.Args);
  if (Build.empty())
    return usageError("no compiler was given",
                      "cupilot explain F.cu --store DIR -- clang++-22 FLAGS");
  Expected<BuildStore> Store = BuildStore::open(O.StoreDir);
  if (!Store)
    return Store.takeError();
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-explain");
  if (!Dir)
    return Dir.takeError();
  // The build's own command will do, with the source and its object.
  const bool Nvcc = isNvcc(Build.front());
  Expected<std::vector<std::string>> Flags =
      sourceFlags(Build.drop_front(), O.Input, Nvcc);
  if (!Flags)
    return Flags.takeError();
  bool Relocatable = false;
  std::vector<std::string> Args = {Build.front()};
  append_range(Args, *Flags);
  if (Nvcc) {
    Expected<NvccCommand> C = parseNvccCommand(Build.drop_front(), "", "");
    if (!C)
      return C.takeError();
    Relocatable = any_of(C->Options, [](const NvccOption &Each) {
      return Each.Id == nvcc::OPT_device_c;
    });
    Args.insert(Args.begin(), installedPath("bin/cupilot-launch"));
  }
  for (const std::string &Arg :
       {"-fplugin=" + installedPath("lib/cupilot.so"),
        "-fplugin-arg-cupilot-store=" + Store->root().str(),
        std::string("-fplugin-arg-cupilot-report=") + Dir->file("report.jsonl"),
        // With remarks clang knows where things are, also without -g.
        std::string("-Rpass=cupilot"), std::string("-Rpass-missed=cupilot"),
        Relocatable ? std::string("-dc") : std::string("-c"), std::string("-o"),
        Dir->file("object.o"), std::string(O.Input)})
    Args.push_back(Arg);
  // What the build asks of the evidence decides, too.
  for (StringRef Arg : Build)
    for (StringRef Key : {"basis", "legacy", "strict"})
      if (StringRef Rest = Arg;
          Rest.consume_front("-fplugin-arg-cupilot-") && Rest.starts_with(Key))
        Args.push_back(Arg.str());
  Expected<ProcessResult> Result = runProcess(Args);
  if (!Result)
    return Result.takeError();
  if (Result->Status != 0)
    return usageError(
        "the compilation failed:\n" + StringRef(Result->Err).rtrim(),
        "is '" + Command.Args.front() +
            "' clang 22 or nvcc, and does the command compile without "
            "cupilot?");
  if (!sys::fs::exists(Dir->file("report.jsonl")))
    return findingError(
        "the plugin wrote no report",
        "is the compiler clang 22 or nvcc, the file CUDA, and CUPILOT_DISABLE "
        "unset?");
  Expected<json::Array> Parts = readParts(Dir->file("report.jsonl"));
  if (!Parts)
    return Parts.takeError();
  if (Nvcc)
    for (json::Value &Part : *Parts)
      addNvccLaunches(*Part.getAsObject(), O.Input, Command.Args,
                      Dir->file("object.o"));
  if (!O.Json) {
    print(*Parts);
    return Error::success();
  }
  outs() << formatv("{0:2}\n", json::Value(json::Object{
                                   {"version", UnitReport::Version},
                                   {"source", O.Input.getValue()},
                                   {"store", Store->root()},
                                   {"command", json::Array(Command.Args)},
                                   {"parts", std::move(*Parts)}}));
  return Error::success();
}

static const Command
    Registered("explain", "Say why each kernel did or did not get a variant",
               "COMPILER FLAGS", Examples, run);

} // namespace explain_command
