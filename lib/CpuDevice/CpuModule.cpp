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
#include "Lower/Lowering.h"
#include "PtxModule.h"
#include "RuntimeSymbols.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Nvptx.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

char UnsupportedError::ID = 0;

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
  Expected<uint64_t> residentBlocks(StringRef Kernel,
                                    const LaunchShape &Shape) const override;
  Expected<bool> seesSchedule(StringRef Kernel) const override;
  void setSchedule(uint64_t Seed, uint64_t ResidentBlocks) override {
    Options.ScheduleSeed = Seed;
    Options.ResidentBlocks = ResidentBlocks;
  }
  Expected<uint64_t> localBytes(StringRef Kernel) const override;
  ArrayRef<DecisionSite> decisions() const override { return Tables.Decisions; }
  BitVector decided() const override;
  void forgetDecided() override { llvm::fill(Tables.Decided, 0); }
  Expected<LaunchResult> launch(StringRef Kernel, const LaunchShape &Shape,
                                ArrayRef<const void *> Args,
                                DeviceMemory &Memory) override;

private:
  Expected<const LoweredKernel *> findKernel(StringRef Name) const;
  Expected<EntryFunction> entryOf(const LoweredKernel &K);
  ArrayRef<DeviceBuffer> objects();

  Error addHidden(DeviceMemory &Memory);
  void removeHidden(DeviceMemory &Memory);

  std::unique_ptr<orc::LLJIT> Jit;
  LoweredModule Tables;
  CpuDeviceOptions Options;
  std::once_flag ObjectsFound;
  std::vector<DeviceBuffer> Objects;
  // Launches that see the hidden variables in a memory.
  std::mutex Mutex;
  DenseMap<DeviceMemory *, unsigned> Users;
  std::vector<void *> HiddenAt;
};
} // namespace

static void initializeHost() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser(); // addYields uses assembly.
  });
}

/// A code generator for this machine, but for its arithmetic on short floats:
/// instructions that make bfloat16 (AVX512-BF16 and what came after) flush
/// denormals, which a GPU does not, and what one host has another lacks.
static Expected<std::unique_ptr<orc::LLJIT>> createJit() {
  Expected<orc::JITTargetMachineBuilder> Host =
      orc::JITTargetMachineBuilder::detectHost();
  if (!Host)
    return Host.takeError();
  if (Host->getTargetTriple().isX86())
    for (StringRef Feature : {"avx512bf16", "avxneconvert", "avx10.2"})
      Host->getFeatures().AddFeature(Feature, /*Enable=*/false);
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(*Host))
      .create();
}

static Error defineRuntime(orc::LLJIT &Jit) {
  orc::SymbolMap Symbols;
  for (const RuntimeSymbol &S : runtimeSymbols())
    Symbols[Jit.mangleAndIntern(S.Name)] = {
        orc::ExecutorAddr::fromPtr(S.Address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return Jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(Symbols)));
}

/// Makes of \p M what LLVM makes of it for the GPU. Loads that PTX marks as of
/// constant memory are marked here too.
static Error compileForGpu(Module &M, StringRef Arch) {
  Expected<std::unique_ptr<TargetMachine>> Target = nvptxMachine(M, Arch);
  if (!Target)
    return Target.takeError();
  optimizeForNvptx(M, **Target);
  ModulePassManager Wide;
  Wide.addPass(createModuleToFunctionPassAdaptor(LoadStoreVectorizerPass()));
  Pipeline(Target->get()).run(std::move(Wide), M);
  LLVMContext &Context = M.getContext();
  for (Function &F : M) {
    if (F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    for (Instruction &I : instructions(F))
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
        if (const auto *A = dyn_cast<Argument>(
                getUnderlyingObject(Load->getPointerOperand(), 32));
            A && A->hasNoAliasAttr() && A->onlyReadsMemory())
          Load->setMetadata(LLVMContext::MD_invariant_load,
                            MDNode::get(Context, {}));
  }
  return Error::success();
}

static Error cannotWidenPtx() {
  return usageError("PTX cannot be run in float64: its compiler has already "
                    "made bit patterns of what the source computes",
                    "load the bitcode of the source");
}

static Error cannotLink(const Twine &What, Error Why) {
  return make_error<UnsupportedError>(
      "the cpu device cannot link " + What + ": " + toString(std::move(Why)),
      "device code that is defined in another unit (-fgpu-rdc) is not "
      "supported");
}

/// Compiles \p M, which \p Tables describe, for this machine.
static Expected<std::unique_ptr<CpuModule>>
compiled(std::unique_ptr<Module> M, std::unique_ptr<LLVMContext> Context,
         LoweredModule Tables, const CpuDeviceOptions &Options) {
  Expected<std::unique_ptr<orc::LLJIT>> Jit = createJit();
  if (!Jit)
    return Jit.takeError();
  if (Error E = defineRuntime(**Jit))
    return std::move(E);
  if (Error E = (*Jit)->addIRModule(orc::ThreadSafeModule(
          std::move(M), orc::ThreadSafeContext(std::move(Context)))))
    return std::move(E);
  for (const LoweredModule::DeviceFunction &F : Tables.Functions) {
    if (!F.ByPointer)
      continue;
    auto Address = (*Jit)->lookup(F.Symbol);
    if (!Address)
      return cannotLink("'" + F.Symbol + "'", Address.takeError());
    Tables.TypeAt[Address->getValue()] = F.Type;
  }
  return std::make_unique<JitModule>(std::move(*Jit), std::move(Tables),
                                     Options);
}

Expected<std::unique_ptr<CpuModule>>
CpuModule::load(StringRef Bitcode, const CpuDeviceOptions &Options) {
  initializeHost();
  auto Context = std::make_unique<LLVMContext>();
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, *Context);
  if (!M)
    return M.takeError();
  if (isMadeOfPtx(**M) && Options.WidenFloats)
    return cannotWidenPtx();
  bool AsCompiled = Options.Count && Options.AsCompiled && !isMadeOfPtx(**M);
  if (AsCompiled)
    if (Error E = compileForGpu(**M, Options.Arch))
      return std::move(E);
  Expected<LoweredModule> Tables = lowerModule(**M, Options);
  if (!Tables)
    return Tables.takeError();
  // Intrinsics that only the optimiser makes.
  if (AsCompiled && any_of(Tables->Kernels, [](const LoweredKernel &K) {
        return !K.Unsupported.empty();
      })) {
    CpuDeviceOptions Plain = Options;
    Plain.AsCompiled = false;
    return load(Bitcode, Plain);
  }
  return compiled(std::move(*M), std::move(Context), std::move(*Tables),
                  Options);
}

Expected<std::unique_ptr<CpuModule>> loadPtx(StringRef Ptx,
                                             const CpuDeviceOptions &Options) {
  initializeHost();
  if (Options.WidenFloats)
    return cannotWidenPtx();
  auto Context = std::make_unique<LLVMContext>();
  std::vector<PtxLack> Lacks;
  Expected<std::unique_ptr<Module>> M = moduleOfPtx(Ptx, *Context, Lacks);
  if (!M)
    return M.takeError();
  Expected<LoweredModule> Tables = lowerModule(**M, Options);
  if (!Tables)
    return Tables.takeError();
  return compiled(std::move(*M), std::move(Context), std::move(*Tables),
                  Options);
}

std::vector<std::string> JitModule::kernels() const {
  std::vector<std::string> Names;
  Names.reserve(Tables.Kernels.size());
  for (const LoweredKernel &K : Tables.Kernels)
    Names.push_back(K.Name);
  return Names;
}

BitVector JitModule::decided() const {
  BitVector Taken(Tables.Decided.size());
  for (auto [I, Byte] : enumerate(Tables.Decided))
    if (Byte)
      Taken.set(I);
  return Taken;
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

Expected<uint64_t> JitModule::residentBlocks(StringRef Kernel,
                                             const LaunchShape &Shape) const {
  Expected<const LoweredKernel *> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return cupilot::residentBlocks(**K, Shape, Options);
}

Expected<bool> JitModule::seesSchedule(StringRef Kernel) const {
  Expected<const LoweredKernel *> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return (*K)->Exchanges || (*K)->Yields || (*K)->Calls;
}

Expected<uint64_t> JitModule::localBytes(StringRef Kernel) const {
  Expected<const LoweredKernel *> K = findKernel(Kernel);
  if (!K)
    return K.takeError();
  return (*K)->LocalBytes;
}

/// Variables of the module, which need not be among the registered buffers.
ArrayRef<DeviceBuffer> JitModule::objects() {
  std::call_once(ObjectsFound, [&] {
    for (const LoweredModule::Global &G : Tables.Globals)
      if (auto Known = global(G.Symbol))
        Objects.push_back({Known->first, Known->second});
  });
  return Objects;
}

Expected<EntryFunction> JitModule::entryOf(const LoweredKernel &K) {
  if (!K.Unsupported.empty())
    return make_error<UnsupportedError>(
        "the cpu device cannot run " + K.Unsupported + " in kernel '" + K.Name +
            "'",
        "this kernel needs a GPU; the program's other kernels run here");
  auto Address = Jit->lookup(K.Entry);
  if (!Address)
    return cannotLink("kernel '" + K.Name + "'", Address.takeError());
  return Address->toPtr<EntryFunction>();
}

/// Makes the module's own constants memory that device code may read, for the
/// time of a launch.
Error JitModule::addHidden(DeviceMemory &Memory) {
  std::lock_guard Lock(Mutex);
  if (HiddenAt.empty())
    for (const LoweredModule::Global &G : Tables.Hidden) {
      auto Address = Jit->lookup(G.Symbol);
      if (!Address)
        return Address.takeError();
      HiddenAt.push_back(Address->toPtr<void *>());
    }
  if (Users[&Memory]++ == 0)
    for (auto [Address, G] : zip(HiddenAt, Tables.Hidden))
      Memory.addBuffer(Address, G.Size, /*ReadOnly=*/!G.Visible);
  return Error::success();
}

void JitModule::removeHidden(DeviceMemory &Memory) {
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
  Expected<const LoweredKernel *> Found = findKernel(Name);
  if (!Found)
    return Found.takeError();
  const LoweredKernel &K = **Found;
  LaunchShape Shape = Asked;
  if (K.Cluster[0] > 0 && Shape.Cluster == LaunchShape().Cluster)
    Shape.Cluster = K.Cluster;
  if (Args.size() != K.ParamSizes.size())
    return usageError("'" + Name + "' takes " + Twine(K.ParamSizes.size()) +
                      " arguments, not " + Twine(Args.size()));
  if (Error E = checkShape(Shape, K, Options))
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

  if (Error E = addHidden(Memory))
    return std::move(E);
  llvm::scope_exit Remove([&] { removeHidden(Memory); });
  LaunchState Launch(Tables, K, *Entry, Memory, Packed, Options, Shape);
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
