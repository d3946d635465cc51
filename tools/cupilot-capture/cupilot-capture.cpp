//===- cupilot-capture.cpp - Records the launches of a program -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Noise.h"
#include "Replay.h"
#include "cupilot/Capture/Describe.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Capture/Run.h"
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace cupilot;
using namespace cupilot::capture;

static const char Usage[] =
    R"(usage: cupilot-capture [OPTIONS] -- ./app ARGS     records a program
       cupilot-capture --table | --confirm | --contents describe [-o FOLDER]
                                                  examines a recording

Records every kernel launch of an unmodified CUDA program with time, shape and
arguments, and keeps some launches of each kernel together with their buffers.
On a machine with LLVM, cupilot capture --from FOLDER makes workloads from the
recording.

  -o FOLDER               output folder (default cupilot-capture.data)
  --timing                record times only, no arguments and no data
  --confirm               replay the kept launches and compare their results
  --graphs                also keep launches inside graphs: their nodes run
                          once more, on copies of their memory
  --per-kernel N          launches of each kernel to keep with data (8)
  --max-bytes N           limit for all data on disk, with K, M or G (4G)
  --max-launch-bytes N    limit for the buffers of one launch (1G)
  --whole-bytes N         launches whose allocations hold more are kept with
                          what they touch alone: their kernel runs once more,
                          on copies (64M)
  --contents WHAT         what to keep of large contents: whole (their bytes),
                          describe (type, range, share of zeros), or both
                          (whole)
  --describe-bytes N      contents that hold more are large (1M)
  --libraries             also keep launches of cuBLAS, cuDNN and the like
  --max-seconds N         limit for the time that keeping launches costs the
                          program; 0: none. After it, and after half of it for
                          kernels of which one is kept, launches are only
                          counted (60)
  --wait-ms N             how long to wait for a stream to become idle (10000)
  --cupti FILE            path of libcupti.so, if it is not found
  --library FILE          path of libcupilot-capture.so, if it is not found
  --table                 print the table of a recording
  --help, --version

Exit status: 0 done; 1 nothing was recorded, the program failed, or a replay
differs; 2 wrong use or a damaged folder; 3 a driver, device or disk failed.
)";

static int complain(const Failure &F) {
  std::fprintf(stderr, "cupilot-capture: error: %s\n", F.what());
  if (!F.hint().empty())
    std::fprintf(stderr, "cupilot-capture: hint: %s\n", F.hint().c_str());
  return exitStatusOf(F.kind());
}

/// A number of bytes, such as 512M.
static bool readBytes(const std::string &Text, uint64_t &Value) {
  auto [Stop, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  if (Error != std::errc())
    return false;
  std::string Unit(Stop, Text.data() + Text.size());
  unsigned Shift = Unit == "K" ? 10 : Unit == "M" ? 20 : Unit == "G" ? 30 : 0;
  if ((!Unit.empty() && !Shift) || Value > (~uint64_t(0) >> Shift))
    return false;
  Value <<= Shift;
  return true;
}

namespace {
struct CommandLine {
  std::string Folder = "cupilot-capture.data";
  std::string Library;
  Options Opts;
  Keeping Contents = Keeping::Whole;
  uint64_t DescribeBytes = 1 << 20;
  bool Confirm = false, Table = false;
  bool Replay = false;
  uint64_t First = 0;
  std::vector<std::string> Program;
};
} // namespace

static std::optional<Failure> parse(int Count, char **Words, CommandLine &C) {
  const char *Help = "see cupilot-capture --help";
  std::string Contents;
  for (int I = 1; I < Count; ++I) {
    std::string Word = Words[I];
    if (Word == "--") {
      C.Program.assign(Words + I + 1, Words + Count);
      break;
    }
    if (Word == "--timing" || Word == "--confirm" || Word == "--table" ||
        Word == "--graphs" || Word == "--libraries") {
      (Word == "--timing"      ? C.Opts.Timing
       : Word == "--graphs"    ? C.Opts.Graphs
       : Word == "--libraries" ? C.Opts.Libraries
       : Word == "--confirm"   ? C.Confirm
                               : C.Table) = true;
      continue;
    }
    std::string *Text = Word == "-o"           ? &C.Folder
                        : Word == "--cupti"    ? &C.Opts.Cupti
                        : Word == "--library"  ? &C.Library
                        : Word == "--contents" ? &Contents
                                               : nullptr;
    uint64_t *Number = Word == "--per-kernel"         ? &C.Opts.PerKernel
                       : Word == "--max-bytes"        ? &C.Opts.MaxBytes
                       : Word == "--max-launch-bytes" ? &C.Opts.MaxLaunchBytes
                       : Word == "--whole-bytes"      ? &C.Opts.WholeBytes
                       : Word == "--max-seconds"      ? &C.Opts.MaxSeconds
                       : Word == "--describe-bytes"   ? &C.DescribeBytes
                       : Word == "--wait-ms"          ? &C.Opts.WaitMs
                       : Word == "--replay"           ? &C.First
                                                      : nullptr;
    if (!Text && !Number)
      return Failure(FailureKind::WrongUse,
                     Word.starts_with('-')
                         ? "unknown option '" + Word + "'"
                         : "put -- before the program: '" + Word + "'",
                     Help);
    if (I + 1 == Count || !*Words[I + 1])
      return Failure(FailureKind::WrongUse, Word + " needs a value", Help);
    std::string Value = Words[++I];
    if (Text)
      *Text = Value;
    else if (!readBytes(Value, *Number))
      return Failure(FailureKind::WrongUse,
                     "'" + Value + "' is not a value for " + Word, Help);
    if (Text == &Contents) {
      std::optional<Keeping> K = keepingOf(Value);
      if (!K)
        return Failure(FailureKind::WrongUse,
                       "'" + Value + "' is not a value for --contents",
                       "--contents whole, describe or both");
      C.Contents = *K;
    }
    C.Replay |= Word == "--replay";
  }
  if (C.Program.empty() && !C.Table && !C.Confirm && !C.Replay &&
      C.Contents == Keeping::Whole)
    return Failure(FailureKind::WrongUse, "no program was given",
                   "cupilot-capture -- ./app ARGS");
  if (!C.Program.empty() && (C.Table || C.Replay))
    return Failure(FailureKind::WrongUse,
                   "--table reads a recording and does not run a program",
                   Help);
  return std::nullopt;
}

static std::optional<std::string> findLibrary() {
  std::error_code Error;
  auto Self = std::filesystem::read_symlink("/proc/self/exe", Error);
  for (const char *Place :
       {"../lib/libcupilot-capture.so", "libcupilot-capture.so"}) {
    auto Path = Self.parent_path() / Place;
    if (std::filesystem::exists(Path, Error))
      return Path.lexically_normal().string();
  }
  return std::nullopt;
}

static int confirm(const CommandLine &C, Record &R) {
  if (auto F = confirmRecord(C.Folder, "/proc/self/exe", R))
    return complain(*F);
  size_t Same = 0, Kept = 0;
  for (size_t I = 0; I < R.Launches.size(); ++I) {
    const Launch &L = R.Launches[I];
    bool Good = L.Replay && L.Replay->repeats();
    Kept += L.Kept;
    Same += L.Kept && Good;
    if (L.Kept && L.Replay && !Good)
      std::fprintf(stderr, "cupilot-capture: launch %zu (%s): replay %s\n", I,
                   L.Kernel.c_str(), L.Replay->text().c_str());
  }
  std::fprintf(stderr,
               "cupilot-capture: %zu of %zu kept launches gave the same "
               "results when replayed\n",
               Same, Kept);
  return Same == Kept ? 0 : 1;
}

/// Describes large contents, as far as that is asked for.
static int describe(const CommandLine &C, Record &R) {
  if (C.Contents == Keeping::Whole)
    return 0;
  auto F = describeContents(C.Folder, C.DescribeBytes, R);
  if (!F)
    F = C.Contents == Keeping::Describe ? dropDescribed(C.Folder, R)
                                        : writeRecord(C.Folder, R);
  return F ? complain(*F) : 0;
}

static int look(const CommandLine &C) {
  Record R;
  if (auto F = readRecord(C.Folder, R))
    return complain(*F);
  int Status = C.Confirm ? confirm(C, R) : 0;
  if (int Failed = describe(C, R))
    Status = Failed;
  if (C.Table)
    std::fputs(printTable(R).c_str(), stdout);
  return Status;
}

static int record(CommandLine &C) {
  if (C.Library.empty()) {
    std::optional<std::string> Found = findLibrary();
    if (!Found)
      return complain(Failure(
          FailureKind::WrongUse,
          "libcupilot-capture.so is neither next to this program nor in ../lib",
          "name it with --library"));
    C.Library = *Found;
  } else if (std::error_code Error;
             !std::filesystem::exists(C.Library, Error)) {
    return complain(
        Failure(FailureKind::WrongUse, "there is no file '" + C.Library + "'"));
  }
  if (std::getenv("CUDA_INJECTION64_PATH") &&
      *std::getenv("CUDA_INJECTION64_PATH"))
    std::fprintf(stderr, "cupilot-capture: warning: CUDA_INJECTION64_PATH was "
                         "set; it is replaced for the program\n");
  if (auto F = prepareFolder(C.Folder))
    return complain(*F);
  Ending End;
  if (auto F = runRecorded(C.Program, C.Folder, C.Library, C.Opts, End))
    return complain(*F);
  Record R;
  if (auto F = gatherRecord(C.Folder, R))
    return complain(*F);
  for (const std::string &Text : R.Failures)
    complain(Failure(FailureKind::Disk, Text));
  if (R.Launches.empty()) {
    if (!R.Failures.empty())
      return 3;
    return complain(nothingRecorded(C.Program.front(), End));
  }
  int Status = R.Failures.empty() ? 0 : 3;
  if (C.Confirm && !Status)
    Status = confirm(C, R);
  // Replays need the bytes.
  if (int Failed = describe(C, R))
    Status = Failed;
  std::fputs(printTable(R).c_str(), stderr);
  std::fprintf(stderr, "cupilot-capture: recorded in %s\n", C.Folder.c_str());
  if (End.Status && !Status) {
    std::string How = End.Signal
                          ? "was ended by signal " + std::to_string(End.Signal)
                          : "ended with status " + std::to_string(End.Status);
    return complain(Failure(FailureKind::ProgramFailed,
                            "'" + C.Program.front() + "' " + How,
                            "the launches up to that point are recorded"));
  }
  return Status;
}

int main(int Count, char **Words) {
  // What the recording library asks, and what that asks.
  if (Count == 3 && std::string(Words[1]) == "--noise")
    return inferTouched("/proc/self/exe", Words[2]);
  if (Count == 3 && std::string(Words[1]) == "--noise-replays")
    return replayWithNoise(Words[2]);
  for (int I = 1; I < Count && std::string(Words[I]) != "--"; ++I) {
    std::string Word = Words[I];
    if (Word == "--help" || Word == "-h") {
      std::fputs(Usage, stdout);
      return 0;
    }
    if (Word == "--version") {
      std::puts("cupilot-capture " CUPILOT_CAPTURE_VERSION);
      return 0;
    }
  }
  CommandLine C;
  if (auto F = parse(Count, Words, C))
    return complain(*F);
  if (C.Replay) {
    std::optional<Failure> F = replayLaunches(C.Folder, C.First);
    return F ? complain(*F) : 0;
  }
  return C.Program.empty() ? look(C) : record(C);
}
