//===- CaptureCommand.cpp - cupilot capture -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Capture/Describe.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Capture/Run.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/CpuProgram.h"
#include "cupilot/Driver/RecordedRanges.h"
#include "cupilot/Driver/RecordedWorkloads.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace cupilot;

namespace capture_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Output{
      "o", In, cl::value_desc("W.mlir"), cl::init("workloads.mlir"),
      cl::desc("Where to write the workloads; their data goes to "
               "W.data beside it (default workloads.mlir)")};
  cl::opt<std::string> From{
      "from", In, cl::value_desc("FOLDER"),
      cl::desc("Do not run a program; make workloads from what cupilot-capture "
               "recorded, here or on another machine")};
  cl::opt<std::string> Json{
      "json", In, cl::value_desc("FILE"),
      cl::desc("Write the table and what was kept as JSON; '-' is standard "
               "output; docs/Capture.md describes the format")};
  cl::opt<std::string> CheckRanges{
      "check-ranges", In, cl::value_desc("CONTRACT|STORE"),
      cl::desc("Compare the numbers in launches with the ranges of a relaxed "
               "contract, or with those of a store's kernels; exit status 1 if "
               "a launch lies beyond them. Without a GPU: the program runs to "
               "its end, and all launches are kept")};
  cl::opt<bool> Confirm{"confirm", In,
                        cl::desc("On a GPU: replay the recorded launches, and "
                                 "leave out those whose results differ")};
  cl::opt<uint64_t> Launches{
      "launches", In, cl::value_desc("N"), cl::init(8),
      cl::desc("On the cpu device: launches of each kernel that run before "
               "--then applies; 0: all (default 8)")};
  cl::opt<std::string> After{
      "then", In, cl::value_desc("stop|skip|run"), cl::init("stop"),
      cl::desc("What happens to further launches: they run until the last ones "
               "brought nothing new, and the program is stopped (default); "
               "they do not run; or they run")};
  cl::opt<uint64_t> LaunchSteps{
      "launch-steps", In, cl::value_desc("N"), cl::init(20000000000),
      cl::desc("On the cpu device: stop the program when the threads of one "
               "launch took this many instructions together; 0: never (default "
               "20000000000)")};
  cl::opt<bool> InGraphs{
      "graphs", In,
      cl::desc("On a GPU: also keep launches inside graphs; their nodes run "
               "once more, on copies of their memory")};
  cl::opt<bool> Libraries{
      "libraries", In,
      cl::desc("On a GPU: also keep launches of cuBLAS, cuDNN and the like")};
  cl::opt<uint64_t> MaxLaunchMegabytes{
      "max-launch-mb", In, cl::value_desc("N"), cl::init(1024),
      cl::desc("Limit for the buffers of one launch, in megabytes (default "
               "1024)")};
  cl::opt<uint64_t> WholeMegabytes{
      "whole-mb", In, cl::value_desc("N"), cl::init(64),
      cl::desc("On a GPU: launches whose allocations hold more are kept with "
               "what they touch alone; their kernel runs once more, on copies "
               "(default 64)")};
  cl::opt<uint64_t> PerKernel{"per-kernel", In, cl::value_desc("N"),
                              cl::init(8),
                              cl::desc("Number of launches of each "
                                       "kernel to keep with data (default 8)")};
  cl::opt<uint64_t> MaxMegabytes{
      "max-mb", In, cl::value_desc("N"), cl::init(4096),
      cl::desc("Data to keep, in megabytes (default 4096)")};
  cl::opt<uint64_t> MaxSeconds{
      "max-seconds", In, cl::value_desc("N"), cl::init(60),
      cl::desc("On a GPU: seconds that keeping launches may cost the program; "
               "0: no limit. After that, and after half of it for kernels of "
               "which one is kept, launches are only counted (default 60)")};
  cl::opt<std::string> Contents{
      "contents", In, cl::value_desc("whole|describe|both"), cl::init("whole"),
      cl::desc("What to keep of large contents: their bytes (default), a "
               "description that the gate makes numbers from, or both: then a "
               "GPU uses the bytes")};
  cl::opt<uint64_t> DescribeKilobytes{
      "describe-kb", In, cl::value_desc("N"), cl::init(1024),
      cl::desc("Contents that hold more kilobytes are large (default 1024)")};
  cl::opt<std::string> Cupti{
      "cupti", In, cl::value_desc("FILE"),
      cl::desc("Path of libcupti.so, if it is not found")};
};
} // namespace

static const char Examples[] =
    "  cupilot capture -o heat.workloads.mlir -- ./heat 512 20\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --store .cupilot "
    "-- -O2\n"
    "  cupilot capture --launches=2 --then=skip -o app.mlir -- ./app\n"
    "  cupilot capture --from cupilot-capture.data -o heat.workloads.mlir\n\n"
    "The program is any unmodified GPU program. Without a GPU it runs on the "
    "cpu device, if\n"
    "cupilot-cpucc or nvcc -cudart shared built it. Weights are measured times "
    "on a GPU, and\n"
    "modelled times on the cpu device, where a program is recorded for\n"
    "a few launches of each kernel and then stopped. On a machine without "
    "LLVM, "
    "record with\n"
    "cupilot-capture, and read the recording with --from.\n";

/// A file of this installation; "" where it is not there.
static std::string installed(StringRef Path) {
  std::string File = installedPath(Path);
  return sys::fs::exists(File) ? File : "";
}

/// Runs the program; what it recorded lies in \p Folder.
static Error record(const Options &O, const std::vector<std::string> &Program,
                    const std::string &Folder, capture::Record &R,
                    capture::Ending &End) {
  if (O.Confirm && installed("bin/cupilot-capture").empty())
    return usageError("this cuPilot was built without cupilot-capture, which "
                      "--confirm needs",
                      "rebuild cuPilot with CUPTI's headers installed");
  if (auto F = capture::prepareFolder(Folder))
    return asError(*F);
  capture::Options Opts;
  Opts.PerKernel = O.PerKernel;
  Opts.Graphs = O.InGraphs;
  Opts.MaxSeconds = O.MaxSeconds;
  Opts.MaxBytes = O.MaxMegabytes << 20;
  Opts.MaxLaunchBytes = O.MaxLaunchMegabytes << 20;
  Opts.WholeBytes = O.WholeMegabytes << 20;
  Opts.Libraries = O.Libraries;
  Opts.Cupti = O.Cupti;
  Opts.Launches = O.Launches;
  Opts.LaunchSteps = O.LaunchSteps;
  std::optional<capture::Then> After = capture::thenOf(std::string(O.After));
  if (!After)
    return usageError("--then does not know '" + O.After + "'",
                      "--then=stop, --then=skip or --then=run");
  Opts.After = *After;
  if (O.CheckRanges.getNumOccurrences()) {
    // Numbers change from launch to launch.
    Opts.Contents = true;
    if (!O.After.getNumOccurrences())
      Opts.After = capture::Then::Run;
  }
  Expected<std::string> CudaFolder = cudaFolderFor(Program.front());
  if (!CudaFolder)
    return CudaFolder.takeError();
  if (auto F = capture::runRecorded(Program, Folder,
                                    installed("lib/libcupilot-capture.so"),
                                    Opts, End, *CudaFolder))
    return asError(*F);
  if (!CudaFolder->empty() && End.Status == 127)
    if (Error E = checkLibrariesOf(
            Program.front(),
            "record it on a machine with a GPU (cupilot-capture), or describe "
            "the launches of your own kernels (cupilot describe)"))
      return E;
  if (auto F = capture::gatherRecord(Folder, R))
    return asError(*F);
  for (const std::string &Text : R.Failures)
    return resourceError(Text);
  if (R.Launches.empty())
    return asError(capture::nothingRecorded(Program.front(), End));
  if (O.Confirm && R.Measured)
    if (auto F =
            capture::confirmRecord(Folder, installed("bin/cupilot-capture"), R))
      return asError(*F);
  return Error::success();
}

/// Describes large contents of \p Folder, as far as that is asked for. What was
/// recorded elsewhere stays as it is.
static Error describe(const Options &O, capture::Keeping Keep,
                      const std::string &Folder, capture::Record &R) {
  if (Keep == capture::Keeping::Whole)
    return Error::success();
  auto F =
      capture::describeContents(Folder, uint64_t(O.DescribeKilobytes) << 10, R);
  if (!F && O.From.empty())
    F = Keep == capture::Keeping::Describe ? capture::dropDescribed(Folder, R)
                                           : capture::writeRecord(Folder, R);
  return F ? asError(*F) : Error::success();
}

/// What one run came to, for programs.
static Error writeJson(const Options &O, const capture::Record &R,
                       ArrayRef<std::string> Program,
                       const capture::Ending &End, ArrayRef<Workload> Workloads,
                       ArrayRef<std::string> LeftOut) {
  nlohmann::json J = capture::tableJson(R);
  J["workloads"] = std::string(O.Output);
  J["kept"] = Workloads.size();
  J["leftOut"] = LeftOut.vec();
  if (!Program.empty()) {
    J["program"] = Program.vec();
    J["status"] = End.Status;
  }
  std::string Text = J.dump(2, ' ', /*ensure_ascii=*/false,
                            nlohmann::json::error_handler_t::replace) +
                     "\n";
  if (O.Json != "-")
    return writeFileAtomic(O.Json, Text);
  outs() << Text;
  outs().flush();
  return Error::success();
}

/// "40 of 41 launches were looked at": those that are kept, with what they
/// stand for.
static std::string describeLookedAt(const capture::Record &R,
                                    bool EachContent) {
  uint64_t All = 0, LookedAt = 0;
  for (const capture::Launch &L : R.Launches) {
    All += L.Count;
    if (L.Kept)
      LookedAt += EachContent ? L.Count : 1;
  }
  return std::to_string(LookedAt) + " of " + std::to_string(All) +
         " launches were looked at";
}

static Error run(const Options &O, const TrailingArgs &Program) {
  bool Runs = Program.Given && !Program.Args.empty();
  if (!Runs && O.From.empty())
    return usageError("no program was given",
                      "cupilot capture -o W.mlir -- ./program ARGS");
  if (Runs && !O.From.empty())
    return usageError("--from does not run a program",
                      "remove the program after --, or remove --from");
  std::optional<capture::Keeping> Keep =
      capture::keepingOf(std::string(O.Contents));
  if (!Keep)
    return usageError("--contents does not know '" + O.Contents + "'",
                      "--contents=whole, --contents=describe or "
                      "--contents=both");
  if (*Keep == capture::Keeping::Describe && O.CheckRanges.getNumOccurrences())
    return usageError("--check-ranges needs the numbers themselves",
                      "leave out --contents=describe");
  std::vector<RangePromise> Promises;
  if (O.CheckRanges.getNumOccurrences())
    if (Error E = readPromises(O.CheckRanges).moveInto(Promises))
      return E;
  SmallString<256> DataFolder(O.Output);
  sys::path::replace_extension(DataFolder, "data");
  sys::fs::make_absolute(DataFolder);
  std::string Folder = Runs ? std::string(DataFolder) : std::string(O.From);
  capture::Record R;
  capture::Ending End;
  if (Runs) {
    if (Error E = record(O, Program.Args, Folder, R, End))
      return E;
  } else {
    if (auto F = capture::readRecord(Folder, R))
      return asError(*F);
    if (Error E = ensureDirectory(DataFolder))
      return E;
  }
  if (Error E = describe(O, *Keep, Folder, R))
    return E;
  std::vector<std::string> LeftOut;
  Expected<std::vector<Workload>> Workloads = recordedWorkloads(
      R, Folder, DataFolder,
      /*WithDescribed=*/*Keep != capture::Keeping::Describe, LeftOut);
  if (!Workloads)
    return Workloads.takeError();
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (const Workload &W : *Workloads)
    addWorkload(B, W);
  if (Error E = writeFileAtomic(O.Output, printModule(*M)))
    return E;
  errs() << "cupilot capture: " << capture::printTable(R);
  for (const std::string &Text : LeftOut)
    errs() << "cupilot capture: warning: left out " << Text << "\n";
  errs() << "cupilot capture: " << Workloads->size() << " workload(s) in "
         << O.Output << "\n";
  if (!O.Json.empty())
    if (Error E = writeJson(O, R, Program.Args, End, *Workloads, LeftOut))
      return E;
  Expected<std::vector<RecordedBuffer>> Buffers =
      recordedBuffers(*Workloads, sys::path::parent_path(DataFolder));
  if (!Buffers)
    return Buffers.takeError();
  for (const std::string &Text : describeMagnitudes(*Buffers))
    errs() << "cupilot capture: " << Text << "\n";
  if (Workloads->empty())
    return findingError("none of the launches can be used as a workload",
                        "see the warnings and the table above");
  if (End.Status != 0)
    return findingError("'" + Program.Args.front() + "' ended with status " +
                            std::to_string(End.Status),
                        "the launches up to that point are recorded");
  if (Promises.empty())
    return Error::success();
  errs() << "cupilot capture: " << describeLookedAt(R, Runs && !R.Measured)
         << "\n";
  std::vector<std::string> Broken = findBroken(*Buffers, Promises);
  for (const std::string &Text : Broken)
    errs() << "cupilot capture: " << Text << "\n";
  if (!Broken.empty())
    return findingError(std::to_string(Broken.size()) +
                            " buffer(s) of recorded launches lie beyond the "
                            "range of the contract",
                        "search again under a contract whose range holds them");
  errs() << "cupilot capture: " << Workloads->size()
         << " recorded launch(es) keep to the ranges\n";
  return Error::success();
}

static const Command
    Registered("capture", "Run a program and record its launches as workloads",
               "PROGRAM ARGS", Examples, run);

} // namespace capture_command
