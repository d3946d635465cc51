//===- CpuModule.cpp - Device modules, compiled and launched -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "cupilot/Support/Error.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace llvm;

// What Runtime.cpp defines for compiled code.
extern "C" {
void cupilot_rt_access();
void cupilot_rt_object_fault();
void cupilot_rt_trace();
void cupilot_rt_budget();
void cupilot_rt_barrier();
void cupilot_rt_warp();
void cupilot_rt_activemask();
void cupilot_rt_op();
void cupilot_rt_clock();
void cupilot_rt_fns();
void cupilot_rt_to_narrow();
void cupilot_rt_from_narrow();
void cupilot_rt_truncsfbf2();
void cupilot_rt_truncdfbf2();
void cupilot_rt_rounded();
void cupilot_rt_space();
void cupilot_rt_trap();
void cupilot_rt_exit();
void cupilot_rt_assert();
void cupilot_rt_malloc();
void cupilot_rt_free();
void cupilot_rt_printf();
void cupilot_rt_wide_load();
void cupilot_rt_wide_store();
void cupilot_rt_wide_copy();
void cupilot_rt_wide_atomic();
}

namespace cupilot {

ExecutionCounts &ExecutionCounts::operator+=(const ExecutionCounts &O) {
  for (auto Field : {&ExecutionCounts::Warps,
                     &ExecutionCounts::Threads,
                     &ExecutionCounts::GlobalLoads,
                     &ExecutionCounts::GlobalStores,
                     &ExecutionCounts::GlobalLoadSectors,
                     &ExecutionCounts::GlobalStoreSectors,
                     &ExecutionCounts::UniqueSectors,
                     &ExecutionCounts::ReadSectors,
                     &ExecutionCounts::WrittenSectors,
                     &ExecutionCounts::SharedAccesses,
                     &ExecutionCounts::SharedWavefronts,
                     &ExecutionCounts::LocalAccesses,
                     &ExecutionCounts::AtomicOps,
                     &ExecutionCounts::Barriers,
                     &ExecutionCounts::Fp32,
                     &ExecutionCounts::Fp64,
                     &ExecutionCounts::Fp16,
                     &ExecutionCounts::Integer,
                     &ExecutionCounts::Special,
                     &ExecutionCounts::Control,
                     &ExecutionCounts::Conversion,
                     &ExecutionCounts::Shuffle,
                     &ExecutionCounts::WarpInstructions})
    this->*Field += O.*Field;
  return *this;
}

void ExecutionCounts::scale(uint64_t Numerator, uint64_t Denominator) {
  for (auto Field : {&ExecutionCounts::Warps,
                     &ExecutionCounts::Threads,
                     &ExecutionCounts::GlobalLoads,
                     &ExecutionCounts::GlobalStores,
                     &ExecutionCounts::GlobalLoadSectors,
                     &ExecutionCounts::GlobalStoreSectors,
                     &ExecutionCounts::UniqueSectors,
                     &ExecutionCounts::ReadSectors,
                     &ExecutionCounts::WrittenSectors,
                     &ExecutionCounts::SharedAccesses,
                     &ExecutionCounts::SharedWavefronts,
                     &ExecutionCounts::LocalAccesses,
                     &ExecutionCounts::AtomicOps,
                     &ExecutionCounts::Barriers,
                     &ExecutionCounts::Fp32,
                     &ExecutionCounts::Fp64,
                     &ExecutionCounts::Fp16,
                     &ExecutionCounts::Integer,
                     &ExecutionCounts::Special,
                     &ExecutionCounts::Control,
                     &ExecutionCounts::Conversion,
                     &ExecutionCounts::Shuffle,
                     &ExecutionCounts::WarpInstructions})
    this->*Field =
        static_cast<uint64_t>(double(this->*Field) * Numerator / Denominator);
}

std::string DeviceFault::str() const {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << Kind << " in " << Kernel << ", block (" << Block[0] << "," << Block[1]
     << "," << Block[2] << "), thread (" << Thread[0] << "," << Thread[1] << ","
     << Thread[2] << ")";
  if (Address)
    OS << ", address 0x" << Twine::utohexstr(Address);
  if (!Location.empty())
    OS << ", at " << Location;
  OS << ": " << Detail;
  return Text;
}

CpuModule::~CpuModule() = default;

namespace {
class JitModule : public CpuModule {
public:
  JitModule(std::unique_ptr<orc::LLJIT> Jit, LoweredModule Tables,
            CpuDeviceOptions Options)
      : Jit(std::move(Jit)), Tables(std::move(Tables)),
        Options(std::move(Options)) {}

  std::vector<std::string> kernels() const override;
  unsigned arch() const override { return Tables.Arch; }
  Expected<std::vector<uint64_t>> paramSizes(StringRef Kernel) const override;
  std::optional<std::pair<void *, uint64_t>>
  global(StringRef Symbol) const override;
  std::vector<std::string> globals() const override;
  Expected<LaunchResult> launch(StringRef Kernel, const LaunchShape &Shape,
                                ArrayRef<const void *> Args,
                                DeviceMemory &Memory) override;

private:
  Expected<const LoweredKernel *> findKernel(StringRef Name) const;
  Expected<EntryFunction> entryOf(const LoweredKernel &K);

  std::unique_ptr<orc::LLJIT> Jit;
  LoweredModule Tables;
  CpuDeviceOptions Options;
};
} // namespace

static void initializeHost() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

static Error defineRuntime(orc::LLJIT &Jit) {
  orc::SymbolMap Symbols;
  auto Define = [&](const char *Name, void (*Function)()) {
    Symbols[Jit.mangleAndIntern(Name)] = {orc::ExecutorAddr::fromPtr(Function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
#define CUPILOT_DEFINE(NAME) Define(#NAME, NAME)
  CUPILOT_DEFINE(cupilot_rt_access);
  CUPILOT_DEFINE(cupilot_rt_object_fault);
  CUPILOT_DEFINE(cupilot_rt_trace);
  CUPILOT_DEFINE(cupilot_rt_budget);
  CUPILOT_DEFINE(cupilot_rt_barrier);
  CUPILOT_DEFINE(cupilot_rt_warp);
  CUPILOT_DEFINE(cupilot_rt_activemask);
  CUPILOT_DEFINE(cupilot_rt_op);
  CUPILOT_DEFINE(cupilot_rt_clock);
  CUPILOT_DEFINE(cupilot_rt_fns);
  CUPILOT_DEFINE(cupilot_rt_to_narrow);
  CUPILOT_DEFINE(cupilot_rt_from_narrow);
  CUPILOT_DEFINE(cupilot_rt_rounded);
  CUPILOT_DEFINE(cupilot_rt_space);
  CUPILOT_DEFINE(cupilot_rt_trap);
  CUPILOT_DEFINE(cupilot_rt_exit);
  CUPILOT_DEFINE(cupilot_rt_assert);
  CUPILOT_DEFINE(cupilot_rt_malloc);
  CUPILOT_DEFINE(cupilot_rt_free);
  CUPILOT_DEFINE(cupilot_rt_printf);
  CUPILOT_DEFINE(cupilot_rt_wide_load);
  CUPILOT_DEFINE(cupilot_rt_wide_store);
  CUPILOT_DEFINE(cupilot_rt_wide_copy);
  CUPILOT_DEFINE(cupilot_rt_wide_atomic);
#undef CUPILOT_DEFINE
  Define("__truncsfbf2", cupilot_rt_truncsfbf2);
  Define("__truncdfbf2", cupilot_rt_truncdfbf2);
  return Jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(Symbols)));
}

Expected<std::unique_ptr<CpuModule>>
CpuModule::load(StringRef Bitcode, const CpuDeviceOptions &Options) {
  initializeHost();
  auto Context = std::make_unique<LLVMContext>();
  printErrorsOnly(*Context);
  Expected<std::unique_ptr<Module>> M =
      parseBitcodeFile(MemoryBufferRef(Bitcode, "device"), *Context);
  if (!M)
    return usageError("broken device bitcode: " + toString(M.takeError()));
  Expected<LoweredModule> Tables = lowerModule(**M, Options);
  if (!Tables)
    return Tables.takeError();
  auto Jit = orc::LLJITBuilder().create();
  if (!Jit)
    return Jit.takeError();
  if (Error E = defineRuntime(**Jit))
    return std::move(E);
  if (Error E = (*Jit)->addIRModule(orc::ThreadSafeModule(
          std::move(*M), orc::ThreadSafeContext(std::move(Context)))))
    return std::move(E);
  return std::make_unique<JitModule>(std::move(*Jit), std::move(*Tables),
                                     Options);
}

std::vector<std::string> JitModule::kernels() const {
  std::vector<std::string> Names;
  Names.reserve(Tables.Kernels.size());
  for (const LoweredKernel &K : Tables.Kernels)
    Names.push_back(K.Name);
  return Names;
}

Expected<const LoweredKernel *> JitModule::findKernel(StringRef Name) const {
  for (const LoweredKernel &K : Tables.Kernels)
    if (K.Name == Name)
      return &K;
  return usageError("the device module has no kernel '" + Name + "'");
}

Expected<std::vector<uint64_t>> JitModule::paramSizes(StringRef Kernel) const {
  Expected<const LoweredKernel *> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return (*K)->ParamSizes;
}

std::optional<std::pair<void *, uint64_t>>
JitModule::global(StringRef Symbol) const {
  for (const LoweredModule::Global &G : Tables.Globals)
    if (G.Visible && G.Symbol == Symbol) {
      auto Address = Jit->lookup(Symbol);
      if (!Address) {
        consumeError(Address.takeError());
        return std::nullopt;
      }
      return std::pair(Address->toPtr<void *>(), G.Size);
    }
  return std::nullopt;
}

std::vector<std::string> JitModule::globals() const {
  std::vector<std::string> Names;
  for (const LoweredModule::Global &G : Tables.Globals)
    if (G.Visible)
      Names.push_back(G.Symbol);
  return Names;
}

Expected<EntryFunction> JitModule::entryOf(const LoweredKernel &K) {
  if (!K.Unsupported.empty())
    return findingError(
        "the cpu device cannot run " + K.Unsupported + " in kernel '" + K.Name +
            "'",
        "this kernel needs a GPU; the program's other kernels run here");
  auto Address = Jit->lookup(K.Entry);
  if (!Address)
    return findingError("the cpu device cannot link kernel '" + K.Name +
                            "': " + toString(Address.takeError()),
                        "device code that is defined in another unit "
                        "(-fgpu-rdc) is not supported");
  return Address->toPtr<EntryFunction>();
}

static Error checkShape(const LaunchShape &S, StringRef Kernel) {
  uint64_t Threads = 1;
  static constexpr uint64_t MaxGrid[3] = {2147483647, 65535, 65535};
  static constexpr uint64_t MaxBlock[3] = {1024, 1024, 64};
  for (unsigned I = 0; I < 3; ++I) {
    if (S.Grid[I] < 1 || S.Block[I] < 1 || S.Grid[I] > MaxGrid[I] ||
        S.Block[I] > MaxBlock[I])
      return usageError("illegal launch of '" + Kernel +
                        "': a dimension is outside CUDA's limits");
    Threads *= S.Block[I];
  }
  if (Threads > 1024)
    return usageError("illegal launch of '" + Kernel + "': " + Twine(Threads) +
                      " threads in a block; at most 1024");
  if (S.Shared > 228 * 1024)
    return usageError("illegal launch of '" + Kernel + "': " + Twine(S.Shared) +
                      " bytes of shared memory; at most 227 KiB");
  return Error::success();
}

Expected<LaunchResult> JitModule::launch(StringRef Name,
                                         const LaunchShape &Shape,
                                         ArrayRef<const void *> Args,
                                         DeviceMemory &Memory) {
  Expected<const LoweredKernel *> Found = findKernel(Name);
  if (!Found)
    return Found.takeError();
  const LoweredKernel &K = **Found;
  if (Args.size() != K.ParamSizes.size())
    return usageError("'" + Name + "' takes " + Twine(K.ParamSizes.size()) +
                      " arguments, not " + Twine(Args.size()));
  if (Error E = checkShape(Shape, Name))
    return std::move(E);
  Expected<EntryFunction> Entry = entryOf(K);
  if (!Entry)
    return Entry.takeError();
  // The packed arguments, aligned for any of them.
  uint64_t Size = 64;
  for (auto [Offset, Param] : zip(K.ParamOffsets, K.ParamSizes))
    Size = std::max(Size, Offset + Param);
  std::vector<char> Storage(Size + 64);
  char *Packed = reinterpret_cast<char *>(
      alignTo(reinterpret_cast<uintptr_t>(Storage.data()), Align(64)));
  for (auto [Arg, Offset, Param] : zip(Args, K.ParamOffsets, K.ParamSizes))
    std::memcpy(Packed + Offset, Arg, Param);

  const uint64_t Blocks = Shape.Grid[0] * Shape.Grid[1] * Shape.Grid[2];
  uint64_t Step = 1;
  if (Options.Count && Options.SampleBlocks > 0 &&
      Blocks > Options.SampleBlocks)
    Step = divideCeil(Blocks, Options.SampleBlocks);
  const uint64_t Runs = divideCeil(Blocks, Step);
  uint64_t PerBlock = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  unsigned Workers =
      Options.Threads ? Options.Threads : std::thread::hardware_concurrency();
  // Starting a thread costs what a few thousand device threads cost.
  Workers =
      std::clamp<uint64_t>(Runs * PerBlock / 16384, 1, std::max(Workers, 1u));

  std::atomic<uint64_t> Next = 0;
  std::atomic<bool> Stop = false;
  std::vector<std::unique_ptr<BlockState>> States;
  WideMemory Wide(Memory);
  for (unsigned I = 0; I < Workers; ++I) {
    States.push_back(std::make_unique<BlockState>(Tables, K, *Entry, Memory,
                                                  Packed, Options));
    if (Options.WidenFloats)
      States.back()->Wide = std::make_unique<WideBlock>(Wide);
  }
  auto Work = [&](BlockState &State) {
    while (!Stop) {
      uint64_t Run = Next++;
      if (Run >= Runs)
        return;
      uint64_t Index = Run * Step;
      if (Options.Reverse)
        Index = Blocks - 1 - Index;
      std::array<uint64_t, 3> Block = {Index % Shape.Grid[0],
                                       Index / Shape.Grid[0] % Shape.Grid[1],
                                       Index / (Shape.Grid[0] * Shape.Grid[1])};
      if (!State.run(Shape, Block))
        Stop = true;
    }
  };
  std::vector<std::thread> Threads;
  for (unsigned I = 1; I < Workers; ++I)
    Threads.emplace_back(Work, std::ref(*States[I]));
  Work(*States[0]);
  for (std::thread &T : Threads)
    T.join();

  LaunchResult Result;
  DenseMap<uint64_t, uint8_t> Sectors;
  for (const auto &State : States) {
    Result.Printed += State->Printed;
    if (State->Fault &&
        (!Result.Fault || State->Fault->Block < Result.Fault->Block))
      Result.Fault = State->Fault;
    if (State->Trace) {
      Result.Counts += State->Trace->Counts;
      for (auto [Sector, Uses] : State->Trace->Sectors)
        Sectors[Sector] |= Uses;
    }
  }
  Result.Counts.UniqueSectors = Sectors.size();
  for (auto [Sector, Uses] : Sectors) {
    Result.Counts.ReadSectors += (Uses & WarpTrace::Read) != 0;
    Result.Counts.WrittenSectors += (Uses & WarpTrace::Written) != 0;
  }
  if (Step > 1)
    Result.Counts.scale(Blocks, Runs);
  return Result;
}

} // namespace cupilot
