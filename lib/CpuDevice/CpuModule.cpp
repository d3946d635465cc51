//===- CpuModule.cpp - Device modules, compiled and launched -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check/BlockShadow.h"
#include "Execute/Launch.h"
#include "Execute/WideMemory.h"
#include "HostCode.h"
#include "HostJit.h"
#include "Lower/Lowering.h"
#include "ModuleSource.h"
#include "PtxModule.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

char UnsupportedError::ID = 0;

CpuModule::~CpuModule() = default;

namespace {
/// A compiled part of a module: all of it, a kernel, or the variables.
class ModulePart {
public:
  LoweredModule Tables;
  orc::JITDylib *Library = nullptr;

  /// Makes its own constants memory that device code may read, for the time of
  /// a launch.
  Error addHidden(HostJit &Jit, DeviceMemory &Memory);
  void removeHidden(DeviceMemory &Memory);

private:
  std::mutex Mutex;
  /// Launches that see them in a memory.
  DenseMap<DeviceMemory *, unsigned> Users;
  std::vector<void *> HiddenAt;
};

class JitModule : public CpuModule {
public:
  JitModule(ModuleSource Source, const CpuDeviceOptions &Options)
      : Source(std::move(Source)), Options(Options) {}
  /// To be called once, before all else.
  Error load();

  std::vector<std::string> kernels() const override;
  unsigned arch() const override { return Index.Arch; }
  Expected<std::vector<uint64_t>> paramSizes(StringRef Kernel) const override;
  std::optional<std::pair<void *, uint64_t>>
  global(StringRef Symbol) const override;
  std::vector<std::string> globals() const override;
  Expected<uint64_t> residentBlocks(StringRef Kernel,
                                    const LaunchShape &Shape) const override;
  Expected<bool> seesSchedule(StringRef Kernel) const override;
  void setSchedule(uint64_t Seed, uint64_t ResidentBlocks) override {
    Options.ScheduleSeed = Seed;
    Options.ResidentBlocks = ResidentBlocks;
  }
  Expected<uint64_t> localBytes(StringRef Kernel) const override;
  ArrayRef<DecisionSite> decisions() const override;
  BitVector decided() const override;
  void forgetDecided() override;
  Expected<LaunchResult> launch(StringRef Kernel, const LaunchShape &Shape,
                                ArrayRef<const void *> Args,
                                DeviceMemory &Memory) override;

private:
  struct Found {
    ModulePart *Part;
    const LoweredKernel *Kernel;
  };
  /// The part \p Name, compiled if it has not been.
  Expected<ModulePart *> part(StringRef Name) const;
  Expected<std::unique_ptr<ModulePart>> makePart(StringRef Name) const;
  /// Where the variables that the program sees are.
  Expected<ModulePart *> variables() const {
    return part(Index.IsWhole ? WholeName : VariablesName);
  }
  /// The part of all kernels when they number decisions; else null.
  ModulePart *deciding() const;
  Expected<Found> findKernel(StringRef Name) const;
  Expected<EntryFunction> entryOf(const Found &F);
  ArrayRef<DeviceBuffer> objects();

  /// Made for the first part: what the cache knows of a module is often all.
  mutable std::unique_ptr<HostJit> Jit;
  mutable ModuleSource Source;
  CpuDeviceOptions Options;
  PartCache Cache;
  ModuleIndex Index;
  // Parts are compiled when something asks for them.
  mutable std::mutex PartsMutex;
  mutable std::recursive_mutex CompileMutex; ///< Taken before the other.
  mutable StringMap<std::unique_ptr<ModulePart>> Parts;
  std::once_flag ObjectsFound;
  std::vector<DeviceBuffer> Objects;
};
} // namespace

static Error cannotLink(const Twine &What, Error Why) {
  return make_error<UnsupportedError>(
      "the cpu device cannot link " + What + ": " + toString(std::move(Why)),
      "device code that is defined in another unit (-fgpu-rdc) is not "
      "supported");
}

Expected<std::unique_ptr<ModulePart>>
JitModule::makePart(StringRef Name) const {
  std::optional<CompiledPart> Known = Cache.part(Name);
  if (!Known) {
    Expected<CompiledPart> Made = Options.Apart
                                      ? compilePartApart(Source, Name, Options)
                                      : compilePart(Source, Name, Options);
    if (!Made)
      return Made.takeError();
    Cache.keep(Name, Made->Tables, Made->Object);
    Known = std::move(*Made);
  }
  auto Part = std::make_unique<ModulePart>();
  Part->Tables = std::move(Known->Tables);
  Part->Library = &Jit->variables();
  if (Name != WholeName && Name != VariablesName) {
    // What its code refers to.
    if (Expected<ModulePart *> V = part(VariablesName); !V)
      return V.takeError();
    Expected<orc::JITDylib *> Library = Jit->createLibrary(Name);
    if (!Library)
      return Library.takeError();
    Part->Library = *Library;
  }
  if (std::vector<uint8_t> &Decided = Part->Tables.Decided; !Decided.empty())
    if (Error E = Jit->define(*Part->Library, DecidedName, Decided.data()))
      return std::move(E);
  if (Error E = Jit->add(*Part->Library,
                         MemoryBuffer::getMemBufferCopy(Known->Object, Name)))
    return std::move(E);
  for (const LoweredModule::DeviceFunction &F : Part->Tables.Functions) {
    if (!F.ByPointer)
      continue;
    auto Address = Jit->find(*Part->Library, F.Symbol);
    if (!Address)
      return cannotLink("'" + F.Symbol + "'", Address.takeError());
    Part->Tables.TypeAt[Address->getValue()] = F.Type;
  }
  return Part;
}

Expected<ModulePart *> JitModule::part(StringRef Name) const {
  {
    std::lock_guard Lock(PartsMutex);
    if (auto It = Parts.find(Name); It != Parts.end())
      return It->second.get();
  }
  std::lock_guard Compiling(CompileMutex);
  {
    std::lock_guard Lock(PartsMutex);
    if (auto It = Parts.find(Name); It != Parts.end())
      return It->second.get();
  }
  if (!Jit) {
    Expected<std::unique_ptr<HostJit>> Host = HostJit::create();
    if (!Host)
      return Host.takeError();
    Jit = std::move(*Host);
  }
  Expected<std::unique_ptr<ModulePart>> Made = makePart(Name);
  if (!Made)
    return Made.takeError();
  std::lock_guard Lock(PartsMutex);
  return (Parts[Name] = std::move(*Made)).get();
}

Error JitModule::load() {
  Expected<std::string> Target = hostTarget();
  if (!Target)
    return Target.takeError();
  Cache = PartCache(Source, Options, *Target);
  if (std::optional<ModuleIndex> Known = Cache.index()) {
    Index = std::move(*Known);
    return Error::success();
  }
  {
    LLVMContext Context;
    Expected<std::unique_ptr<Module>> M = Source.whole(Context);
    if (!M)
      return M.takeError();
    if (isMadeOfPtx(**M) && Options.WidenFloats)
      return usageError("PTX cannot be run in float64: its compiler has "
                        "already made bit patterns of what the source computes",
                        "load the bitcode of the source");
    Index = indexOf(**M, Options);
  }
  // Bitcode comes from tools that run what they load, and want to hear at once
  // what is wrong with it. Decisions are numbered, and the variable of rounding
  // is made, when it is compiled.
  if (Index.IsWhole &&
      (Options.Decisions || Options.ProductBits > 0 || Options.RoundAtRandom ||
       (!Source.isPtx() && !Options.Cache))) {
    Expected<ModulePart *> All = part(WholeName);
    if (!All)
      return All.takeError();
    Index.Globals = (*All)->Tables.Globals;
  }
  Cache.keep(Index);
  return Error::success();
}

static Expected<std::unique_ptr<CpuModule>>
loaded(ModuleSource Source, const CpuDeviceOptions &Options) {
  auto M = std::make_unique<JitModule>(std::move(Source), Options);
  if (Error E = M->load())
    return std::move(E);
  return std::move(M);
}

Expected<std::unique_ptr<CpuModule>>
CpuModule::load(StringRef Bitcode, const CpuDeviceOptions &Options) {
  return loaded(ModuleSource(Bitcode.str(), /*IsPtx=*/false), Options);
}

Expected<std::unique_ptr<CpuModule>> loadPtx(StringRef Ptx,
                                             const CpuDeviceOptions &Options) {
  return loaded(ModuleSource(Ptx.str(), /*IsPtx=*/true), Options);
}

std::vector<std::string> JitModule::kernels() const {
  std::vector<std::string> Names;
  Names.reserve(Index.Kernels.size());
  for (const ModuleIndex::Kernel &K : Index.Kernels)
    Names.push_back(K.Name);
  return Names;
}

ModulePart *JitModule::deciding() const {
  if (!Options.Decisions)
    return nullptr;
  // It was compiled when the module was loaded.
  std::lock_guard Lock(PartsMutex);
  auto It = Parts.find(WholeName);
  return It == Parts.end() ? nullptr : It->second.get();
}

ArrayRef<DecisionSite> JitModule::decisions() const {
  ModulePart *All = deciding();
  return All ? ArrayRef(All->Tables.Decisions) : ArrayRef<DecisionSite>();
}

BitVector JitModule::decided() const {
  ModulePart *All = deciding();
  if (!All)
    return {};
  BitVector Taken(All->Tables.Decided.size());
  for (auto [I, Byte] : enumerate(All->Tables.Decided))
    if (Byte)
      Taken.set(I);
  return Taken;
}

void JitModule::forgetDecided() {
  if (ModulePart *All = deciding())
    llvm::fill(All->Tables.Decided, 0);
}

static Error unknownKernel(StringRef Name) {
  return usageError("the device module has no kernel '" + Name + "'");
}

Expected<JitModule::Found> JitModule::findKernel(StringRef Name) const {
  if (none_of(Index.Kernels, [&](const auto &K) { return K.Name == Name; }))
    return unknownKernel(Name);
  Expected<ModulePart *> Part = part(Index.IsWhole ? WholeName : Name);
  if (!Part)
    return Part.takeError();
  for (const LoweredKernel &K : (*Part)->Tables.Kernels)
    if (K.Name == Name)
      return Found{*Part, &K};
  return unknownKernel(Name);
}

Expected<std::vector<uint64_t>> JitModule::paramSizes(StringRef Kernel) const {
  for (const ModuleIndex::Kernel &K : Index.Kernels)
    if (K.Name == Kernel)
      return K.ParamSizes;
  return unknownKernel(Kernel);
}

std::optional<std::pair<void *, uint64_t>>
JitModule::global(StringRef Symbol) const {
  for (const LoweredModule::Global &G : Index.Globals)
    if (G.Visible && G.Symbol == Symbol) {
      Expected<ModulePart *> In = variables();
      if (!In) {
        consumeError(In.takeError());
        return std::nullopt;
      }
      auto Address = Jit->find(*(*In)->Library, Symbol);
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
  for (const LoweredModule::Global &G : Index.Globals)
    if (G.Visible)
      Names.push_back(G.Symbol);
  return Names;
}

Expected<uint64_t> JitModule::residentBlocks(StringRef Kernel,
                                             const LaunchShape &Shape) const {
  Expected<Found> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return cupilot::residentBlocks(*K->Kernel, Shape, Options);
}

Expected<bool> JitModule::seesSchedule(StringRef Kernel) const {
  Expected<Found> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  const LoweredKernel &Is = *K->Kernel;
  return Is.Exchanges || Is.Yields || Is.Calls;
}

Expected<uint64_t> JitModule::localBytes(StringRef Kernel) const {
  Expected<Found> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return K->Kernel->LocalBytes;
}

/// Variables of the module, which need not be among the registered buffers.
ArrayRef<DeviceBuffer> JitModule::objects() {
  std::call_once(ObjectsFound, [&] {
    for (const LoweredModule::Global &G : Index.Globals)
      if (auto Known = global(G.Symbol))
        Objects.push_back({Known->first, Known->second});
  });
  return Objects;
}

Expected<EntryFunction> JitModule::entryOf(const Found &F) {
  const LoweredKernel &K = *F.Kernel;
  if (!K.Unsupported.empty())
    return make_error<UnsupportedError>(
        "the cpu device cannot run " + K.Unsupported + " in kernel '" + K.Name +
            "'",
        "this kernel needs a GPU; the program's other kernels run here");
  auto Address = Jit->find(*F.Part->Library, K.Entry);
  if (!Address)
    return cannotLink("kernel '" + K.Name + "'", Address.takeError());
  return Address->toPtr<EntryFunction>();
}

Error ModulePart::addHidden(HostJit &Jit, DeviceMemory &Memory) {
  std::lock_guard Lock(Mutex);
  if (HiddenAt.empty())
    for (const LoweredModule::Global &G : Tables.Hidden) {
      auto Address = Jit.find(*Library, G.Symbol);
      if (!Address)
        return Address.takeError();
      HiddenAt.push_back(Address->toPtr<void *>());
    }
  if (Users[&Memory]++ == 0)
    for (auto [Address, G] : zip(HiddenAt, Tables.Hidden))
      Memory.addBuffer(Address, G.Size, /*ReadOnly=*/!G.Visible);
  return Error::success();
}

void ModulePart::removeHidden(DeviceMemory &Memory) {
  std::lock_guard Lock(Mutex);
  if (--Users[&Memory] > 0)
    return;
  Users.erase(&Memory);
  for (void *Address : HiddenAt)
    Memory.removeBuffer(Address);
}

Expected<LaunchResult> JitModule::launch(StringRef Name,
                                         const LaunchShape &Asked,
                                         ArrayRef<const void *> Args,
                                         DeviceMemory &Memory) {
  Expected<Found> Is = findKernel(Name);
  if (!Is)
    return Is.takeError();
  const LoweredKernel &K = *Is->Kernel;
  LaunchShape Shape = Asked;
  if (K.Cluster[0] > 0 && Shape.Cluster == LaunchShape().Cluster)
    Shape.Cluster = K.Cluster;
  if (Args.size() != K.ParamSizes.size())
    return usageError("'" + Name + "' takes " + Twine(K.ParamSizes.size()) +
                      " arguments, not " + Twine(Args.size()));
  if (Error E = checkShape(Shape, K, Options))
    return std::move(E);
  Expected<EntryFunction> Entry = entryOf(*Is);
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

  Expected<ModulePart *> Variables = variables();
  if (!Variables)
    return Variables.takeError();
  SmallVector<ModulePart *, 2> Seen = {Is->Part};
  if (*Variables != Is->Part)
    Seen.push_back(*Variables);
  SmallVector<ModulePart *, 2> Added;
  llvm::scope_exit Remove([&] {
    for (ModulePart *Part : Added)
      Part->removeHidden(Memory);
  });
  for (ModulePart *Part : Seen) {
    if (Error E = Part->addHidden(*Jit, Memory))
      return std::move(E);
    Added.push_back(Part);
  }
  LaunchState Launch(Is->Part->Tables, K, *Entry, Memory, Packed, Options,
                     Shape);
  WideMemory Wide(Memory);
  if (Options.WidenFloats)
    Launch.Wide = &Wide;
  std::optional<LaunchShadow> Shadow;
  if (Options.CheckRaces || Options.CheckWritten || Options.Coverage) {
    Shadow.emplace(static_cast<DeviceBuffers &>(Memory), Shape, K, Options,
                   objects());
    Launch.Observer = &*Shadow;
  }
  return Launch.run();
}

} // namespace cupilot
