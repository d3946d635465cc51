//===- Device.cpp - The one device of the CUDA run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace cupilot;

/// Device printf's output that is kept until a synchronisation, in bytes: the
/// default size of a GPU's buffer (CUDA C++ Programming Guide, "Limitations" of
/// formatted output). What a GPU would overwrite is written out here.
static constexpr size_t OutputLimit = 1 << 20;

static constexpr const char *MaxInstructionsVariable =
    "CUPILOT_CPU_MAX_INSTRUCTIONS";

Device::Device() {
  const char *Folder = std::getenv(capture::FolderVariable);
  if (!Folder)
    return;
  capture::Options Opts;
  if (const char *Text = std::getenv(capture::OptionsVariable))
    if (auto Wrong = capture::Options::parse(Text, Opts))
      std::fprintf(stderr, "cupilot: warning: %s\n", Wrong->what());
  // The user's own limit is a fault, recorded or not.
  if (std::getenv(MaxInstructionsVariable))
    Opts.LaunchSteps = 0;
  Recorder = std::make_unique<Capture>(Folder, Opts);
}

Device &Device::get() {
  // Never destroyed: modules unregister themselves late in the program's end.
  static Device &Only = *[] {
    auto *D = new Device();
    std::atexit([] { Device::get().finish(); });
    return D;
  }();
  return Only;
}

void Device::finish() {
  std::lock_guard Lock(Mutex);
  flushOutput();
  if (Recorder)
    Recorder->finish();
}

/// Prints \p Message once in the life of the process.
static void sayOnce(const std::string &Message) {
  static std::set<std::string> Said;
  if (Said.insert(Message).second)
    std::fprintf(stderr, "cupilot: error: %s\n", Message.c_str());
}

/// Prints \p E and returns the run time's error for it: a wrong launch is the
/// program's fault, the rest is what this device cannot do with the code of the
/// file \p Origin.
static cudaError_t explain(llvm::Error E, llvm::StringRef Origin = "") {
  cudaError_t Result = cudaErrorNotSupported;
  llvm::handleAllErrors(
      std::move(E),
      [&](const UnsupportedError &U) {
        sayOnce((Origin.empty() ? "" : "'" + Origin.str() + "': ") +
                U.message());
      },
      [&](const ToolError &T) {
        if (T.code() == ExitCode::Usage)
          Result = cudaErrorInvalidConfiguration;
        sayOnce(T.message());
      },
      [&](const llvm::ErrorInfoBase &Other) { sayOnce(Other.message()); });
  return Result;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

RegisteredModule *Device::addModule(DeviceImage Image) {
  std::lock_guard Lock(Mutex);
  Modules.push_back(std::make_unique<RegisteredModule>());
  Modules.back()->Image = std::move(Image);
  return Modules.back().get();
}

void Device::removeModule(RegisteredModule *M) {
  std::lock_guard Lock(Mutex);
  unload(*M);
  std::erase_if(Functions, [&](auto &F) { return F.second.Module == M; });
  std::erase_if(Variables, [&](auto &V) { return V.second.Module == M; });
  std::erase_if(Modules, [&](auto &Each) { return Each.get() == M; });
}

bool Device::knows(const RegisteredModule *M) {
  std::lock_guard Lock(Mutex);
  return llvm::any_of(Modules, [&](auto &Each) { return Each.get() == M; });
}

cudaError_t Device::loadNow(RegisteredModule *M) {
  std::lock_guard Lock(Mutex);
  return load(*M);
}

void Device::addFunction(const void *Host, RegisteredModule *M,
                         const char *Name) {
  std::lock_guard Lock(Mutex);
  Functions[Host] = {M, Name};
}

void Device::addVariable(const void *Host, RegisteredModule *M,
                         const char *Name) {
  std::lock_guard Lock(Mutex);
  Variables[Host] = {M, Name};
  M->Variables.emplace_back(Name);
}

void Device::addManaged(void **Host, RegisteredModule *M, const char *Name) {
  std::lock_guard Lock(Mutex);
  addVariable(Host, M, Name);
  M->Managed[Name] = Host;
}

cudaError_t Device::load(RegisteredModule &M) {
  if (M.Loaded.Module)
    return cudaSuccess;
  if (M.Broken != cudaSuccess)
    return M.Broken;
  CpuDeviceOptions Options;
  Options.Cache = true;
  Options.Count = Recorder != nullptr; // The launches' weights are modelled.
  if (const char *Order = std::getenv("CUPILOT_CPU_ORDER"))
    Options.Reverse = llvm::StringRef(Order) == "reverse";
  if (const char *Most = std::getenv(MaxInstructionsVariable))
    Options.MaxLaunchInstructions = std::strtoull(Most, nullptr, 10);
  else if (Recorder)
    Options.MaxLaunchInstructions = Recorder->maxSteps();
  if (const char *Checks = std::getenv("CUPILOT_CPU_CHECKS"))
    if (llvm::Error E = selectChecks(Checks, Options)) {
      explain(std::move(E));
      return M.Broken = cudaErrorInitializationError;
    }
  cudaError_t Code = cudaSuccess;
  llvm::Expected<LoadedImage> Loaded = loadImage(M.Image, Options, Code);
  if (!Loaded) {
    explain(Loaded.takeError());
    return M.Broken = Code;
  }
  M.Loaded = std::move(*Loaded);
  // Variables of the module are memory that device code may touch.
  for (const std::string &Name : M.Loaded.Module->globals())
    if (auto Global = M.Loaded.Module->global(Name))
      Memory->addBuffer(Global->first, Global->second);
  for (auto &[Name, Host] : M.Managed)
    if (auto Global = M.Loaded.Module->global(Name))
      *Host = Global->first;
  llvm::append_range(M.Loaded.Variables, M.Variables);
  llvm::sort(M.Loaded.Variables);
  M.Loaded.Variables.erase(llvm::unique(M.Loaded.Variables),
                           M.Loaded.Variables.end());
  return cudaSuccess;
}

void Device::unload(RegisteredModule &M) {
  if (!M.Loaded.Module)
    return;
  for (const std::string &Name : M.Loaded.Module->globals())
    if (auto Global = M.Loaded.Module->global(Name))
      Memory->removeBuffer(Global->first);
  M.Loaded = {};
}

cudaError_t Device::function(const void *Host, RegisteredFunction **Entry,
                             KernelFacts *Facts) {
  std::lock_guard Lock(Mutex);
  auto It = Functions.find(Host);
  if (It == Functions.end())
    return cudaErrorInvalidDeviceFunction;
  RegisteredModule &M = *It->second.Module;
  if (cudaError_t E = load(M))
    return E;
  *Entry = &It->second;
  if (Facts)
    if (auto Known = M.Loaded.Facts.find(It->second.Name);
        Known != M.Loaded.Facts.end())
      *Facts = Known->second;
  return cudaSuccess;
}

cudaError_t Device::paramSizes(const void *Host, std::vector<uint64_t> &Sizes) {
  std::lock_guard Lock(Mutex);
  RegisteredFunction *F;
  if (cudaError_t E = function(Host, &F))
    return E;
  auto Result = F->Module->Loaded.Module->paramSizes(F->Name);
  if (!Result) {
    llvm::consumeError(Result.takeError());
    return cudaErrorInvalidDeviceFunction;
  }
  Sizes = std::move(*Result);
  return cudaSuccess;
}

cudaError_t Device::variable(const void *Host, void **Address, size_t *Size) {
  std::lock_guard Lock(Mutex);
  auto It = Variables.find(Host);
  if (It == Variables.end())
    return cudaErrorInvalidSymbol;
  return variableIn(It->second.Module, It->second.Name, Address, Size);
}

cudaError_t Device::variableIn(RegisteredModule *M, const std::string &Name,
                               void **Address, size_t *Size) {
  std::lock_guard Lock(Mutex);
  if (cudaError_t E = load(*M))
    return E;
  auto Global = M->Loaded.Module->global(Name);
  if (!Global)
    return cudaErrorInvalidSymbol;
  if (Address)
    *Address = Global->first;
  if (Size)
    *Size = Global->second;
  return cudaSuccess;
}

cudaError_t Device::functionIn(RegisteredModule *M, const std::string &Name,
                               const void **Host) {
  std::lock_guard Lock(Mutex);
  if (cudaError_t E = load(*M))
    return E;
  if (!llvm::is_contained(M->Loaded.Module->kernels(), Name))
    return cudaErrorInvalidDeviceFunction;
  for (auto &[Known, F] : Functions)
    if (F.Module == M && F.Name == Name) {
      *Host = Known;
      return cudaSuccess;
    }
  // An address that nothing else has, for as long as the program runs.
  *Host = new char;
  addFunction(*Host, M, Name.c_str());
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static cudaError_t errorOf(const DeviceFault &Fault) {
  static constexpr cudaError_t Errors[] = {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) Error,
#include "cupilot/Model/FaultKind.def"
  };
  cudaError_t Error = Errors[static_cast<size_t>(Fault.Kind)];
  return Error == cudaErrorIllegalAddress && !Fault.Address
             ? cudaErrorLaunchFailure
             : Error;
}

/// A failed assertion in CUDA's own words, other faults in this project's.
static void report(const DeviceFault &Fault) {
  std::fflush(stdout);
  if (!Fault.Assertion) {
    std::fprintf(stderr, "cupilot: device fault: %s\n", Fault.str().c_str());
    return;
  }
  auto Number = [](uint64_t Value) {
    return static_cast<unsigned long long>(Value);
  };
  const FailedAssertion &A = *Fault.Assertion;
  std::fprintf(
      stderr,
      "%s:%u: %s: block: [%llu,%llu,%llu], thread: [%llu,%llu,%llu] "
      "Assertion `%s` failed.\n",
      A.File.c_str(), A.Line, A.Function.c_str(), Number(Fault.Block[0]),
      Number(Fault.Block[1]), Number(Fault.Block[2]), Number(Fault.Thread[0]),
      Number(Fault.Thread[1]), Number(Fault.Thread[2]), A.Condition.c_str());
}

/// The modelled time of a launch in microseconds. Registers are not known here,
/// so the occupancy is that of the launch's shape.
static double cost(const ExecutionCounts &Counts, const LaunchShape &Shape) {
  return modelTime(defaultGpu(), Counts, KernelResources(), Shape).Microseconds;
}

/// The limits of compute capability 9.0 and the kernel's own (CUDA C++
/// Programming Guide, "Compute Capabilities", "Launch Bounds").
cudaError_t Device::checkLaunch(const RegisteredFunction &F,
                                const KernelFacts &Facts,
                                LaunchShape &Shape) const {
  uint64_t Threads = 1, Blocks = 1, Cluster = 1;
  for (unsigned I = 0; I < 3; ++I) {
    if (!isGridSize(I, Shape.Grid[I]) || !isBlockSize(I, Shape.Block[I]))
      return cudaErrorInvalidConfiguration;
    Threads *= Shape.Block[I];
    Blocks *= Shape.Grid[I];
    uint64_t Own = Facts.Cluster[I];
    if (Own != 0 && Shape.Cluster[I] != 0 && Shape.Cluster[I] != Own)
      return cudaErrorInvalidClusterSize;
    if (Shape.Cluster[I] == 0)
      Shape.Cluster[I] = std::max<uint64_t>(Own, 1);
    if (Shape.Grid[I] % Shape.Cluster[I] != 0)
      return cudaErrorInvalidClusterSize;
    Cluster *= Shape.Cluster[I];
  }
  if (Threads > MaxBlockThreads)
    return cudaErrorInvalidConfiguration;
  if (Threads > Facts.MaxThreads)
    return cudaErrorInvalidValue;
  if (Facts.RequiredBlock[0] != 0 &&
      !std::equal(Shape.Block.begin(), Shape.Block.end(),
                  Facts.RequiredBlock.begin()))
    return cudaErrorInvalidValue;
  if (Cluster > (F.LargeClusters ? MostLargeClusterBlocks : MostClusterBlocks))
    return cudaErrorInvalidClusterSize;
  // What was set by cudaFuncSetAttribute is checked there.
  if (Shape.Shared > F.MaxDynamicShared ||
      (F.MaxDynamicShared <= UnrequestedShared &&
       Shape.Shared + Facts.StaticShared > UnrequestedShared))
    return cudaErrorInvalidValue;
  if (Shape.Cooperative) {
    auto Resident = F.Module->Loaded.Module->residentBlocks(F.Name, Shape);
    if (!Resident)
      return explain(Resident.takeError());
    if (Blocks > *Resident)
      return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

cudaError_t Device::launch(const void *Host, const LaunchShape &Asked,
                           void **Args) {
  std::lock_guard Lock(Mutex);
  if (Sticky != cudaSuccess)
    return Sticky;
  RegisteredFunction *Function;
  KernelFacts Facts;
  LaunchShape Shape = Asked;
  if (cudaError_t E = function(Host, &Function, &Facts))
    return E == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidResourceHandle
                                               : E;
  if (cudaError_t E = checkLaunch(*Function, Facts, Shape))
    return E;
  CpuModule &Module = *Function->Module->Loaded.Module;
  const std::string &Name = Function->Name;
  std::vector<uint64_t> Params;
  if (cudaError_t E = paramSizes(Host, Params))
    return E;
  if (!Args && !Params.empty())
    return cudaErrorInvalidValue;
  if (Recorder) {
    RegisteredModule &Holder = *Function->Module;
    if (Holder.Image.Form == ImageForm::Ptx && Holder.Kept.first.empty())
      Holder.Kept = {Recorder->keepCode(Holder.Image.Parts.front()),
                     Holder.Image.Parts.front().size()};
    switch (Recorder->before(Name, Holder.Kept, Shape, Params, Args, Sizes,
                             Module, Holder.Loaded.Variables)) {
    case Capture::Verdict::Run:
      break;
    case Capture::Verdict::Skip:
      return cudaSuccess;
    case Capture::Verdict::Stop:
      Recorder->stopped();
      endProgram();
    }
  }
  auto Result =
      Module.launch(Name, Shape,
                    llvm::ArrayRef<const void *>(
                        const_cast<const void **>(Args), Params.size()),
                    *Memory);
  if (!Result)
    return explain(Result.takeError(), Function->Module->Image.Origin);
  if (Recorder && Recorder->maxSteps() && Result->Fault &&
      Result->Fault->Kind == FaultKind::RunawayLaunch) {
    Recorder->tooLong();
    endProgram();
  }
  if (Recorder)
    Recorder->after(cost(Result->Counts, Shape));
  Output += Result->Printed;
  if (Output.size() > OutputLimit || Result->Fault)
    flushOutput();
  if (Result->Fault) {
    report(*Result->Fault);
    Sticky = errorOf(*Result->Fault);
  }
  // As on a GPU, the launch itself succeeded; later calls tell of a fault.
  return cudaSuccess;
}

/// Ends a program that has been recorded for long enough. What it would do at
/// its end may hang on results that it did not come to.
void Device::endProgram() {
  finish();
  std::fflush(nullptr);
  _exit(0);
}

void Device::flushOutput() {
  std::lock_guard Lock(Mutex);
  std::fwrite(Output.data(), 1, Output.size(), stdout);
  Output.clear();
}
