//===- PairedLaunches.cpp - Launches by bitcode and by PTX ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CUDA run time of the cpu device once more, to be preloaded to a program
// that cupilot-cpucc has built. It runs the first launches of each kernel twice
// from the same memory: by the program's bitcode, and by the PTX of the same
// sources. The program goes on with what bitcode left. See
// ptx-against-bitcode.sh.
//
//   CUPILOT_PAIRS_PTX       a folder of PTX files
//   CUPILOT_PAIRS_OUT       a file to which a line of JSON goes for each pair
//   CUPILOT_PAIRS_LAUNCHES  how many launches of a kernel (3)
//
// The linker puts these functions before the ones of the cpu device (--wrap).
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Execute/DeviceBuffers.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Evaluation/Layout.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <ctime>
#include <random>

using namespace llvm;
using namespace cupilot;

/// More than that is not copied for a comparison.
static constexpr uint64_t MostBytes = uint64_t(1) << 30;
/// Seconds of a launch that is timed once only.
static constexpr double LongLaunch = 0.3;
/// Seconds of one that the processor's clock is too coarse for.
static constexpr double ShortLaunch = 0.02;

using Bytes = std::vector<uint8_t>;

namespace {
/// Memory that knows its buffers.
class ListedBuffers : public DeviceBuffers {
public:
  void addBuffer(void *Base, uint64_t Size, bool ReadOnly) override {
    DeviceBuffers::addBuffer(Base, Size, ReadOnly);
    if (!ReadOnly)
      Sizes[Base] = Size;
  }
  void removeBuffer(void *Base) override {
    Sizes.erase(Base);
    DeviceBuffers::removeBuffer(Base);
  }
  void freeBuffer(void *Base) override {
    Sizes.erase(Base);
    DeviceBuffers::freeBuffer(Base);
  }
  std::map<void *, uint64_t> Sizes; ///< What device code may write.
};

using Content = std::map<void *, Bytes>;

/// A module beside the program's, with variables of its own.
struct Second {
  std::unique_ptr<CpuModule> Module;
  std::string WhyNot;
};

class PairedModule : public CpuModule {
public:
  PairedModule(std::unique_ptr<CpuModule> First, StringRef Bitcode,
               const CpuDeviceOptions &Options);
  std::vector<std::string> kernels() const override { return First->kernels(); }
  unsigned arch() const override { return First->arch(); }
  Expected<std::vector<uint64_t>> paramSizes(StringRef K) const override {
    return First->paramSizes(K);
  }
  std::optional<std::pair<void *, uint64_t>>
  global(StringRef Symbol) const override {
    return First->global(Symbol);
  }
  std::vector<std::string> globals() const override { return First->globals(); }
  Expected<uint64_t> residentBlocks(StringRef K,
                                    const LaunchShape &S) const override {
    return First->residentBlocks(K, S);
  }
  Expected<bool> seesSchedule(StringRef K) const override {
    return First->seesSchedule(K);
  }
  void setSchedule(uint64_t Seed, uint64_t Resident) override {
    First->setSchedule(Seed, Resident);
  }
  Expected<uint64_t> localBytes(StringRef K) const override {
    return First->localBytes(K);
  }
  ArrayRef<DecisionSite> decisions() const override {
    return First->decisions();
  }
  BitVector decided() const override { return First->decided(); }
  void forgetDecided() override { First->forgetDecided(); }
  Expected<LaunchResult> launch(StringRef Kernel, const LaunchShape &Shape,
                                ArrayRef<const void *> Args,
                                DeviceMemory &Memory) override;

private:
  struct Call {
    StringRef Kernel;
    const LaunchShape &Shape;
    ArrayRef<const void *> Args;
    ListedBuffers &Memory;
    bool Short = true; ///< How it is timed.
  };
  void loadPtxModule(const CpuDeviceOptions &Options);
  std::optional<LaunchResult> run(CpuModule &M, const Call &C, double &Seconds,
                                  std::string &Why);
  std::string judge(const Call &C, const Content &Before, const Content &A,
                    const Content &B);
  std::map<void *, Layout> layouts(const Call &C);
  std::map<void *, std::vector<double>>
  moves(const Call &C, const Content &Before, const Content &Reference,
        const std::map<void *, Layout> &Layouts);
  Content variablesOf(CpuModule &M, const ListedBuffers &Memory) const;
  void giveVariables(CpuModule &To);

  std::unique_ptr<CpuModule> First;
  std::string Bitcode;
  CpuDeviceOptions Options;
  Second Ptx, Wide;
  StringMap<std::string> PtxNames; ///< By plainName().
  StringMap<unsigned> Launches;
};
} // namespace

/// \p Name without what compilers put into names of static kernels and of
/// unnamed namespaces, each in its own way.
static std::string plainName(StringRef Name) {
  std::string Plain;
  Name.consume_front("_Z");
  Name.consume_front("L");
  while (!Name.empty()) {
    StringRef Digits = Name.take_while(isDigit),
              Rest = Name.substr(Digits.size());
    size_t Length = 0;
    if (!Digits.empty() && !Digits.getAsInteger(10, Length) &&
        Rest.starts_with("_GLOBAL__N_")) {
      Plain += "{}";
      Name = Rest.drop_front(std::min(Length, Rest.size()));
      continue;
    }
    Plain += Name.take_front(std::max<size_t>(Digits.size(), 1));
    Name = Name.drop_front(std::max<size_t>(Digits.size(), 1));
  }
  return Plain;
}

/// Seconds of the processor, because other programs run, too; by the clock for
/// what is too short for that: its shortest time counts.
static double now(bool Short) {
  timespec T{};
  clock_gettime(Short ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &T);
  return double(T.tv_sec) + 1e-9 * double(T.tv_nsec);
}

static Content contentOf(const ListedBuffers &Memory) {
  Content C;
  for (auto [Base, Size] : Memory.Sizes) {
    const auto *Begin = static_cast<const uint8_t *>(Base);
    C[Base].assign(Begin, Begin + Size);
  }
  return C;
}

static void restore(const Content &C) {
  for (const auto &[Base, Bytes] : C)
    std::memcpy(Base, Bytes.data(), Bytes.size());
}

static void report(json::Object Line) {
  const char *To = std::getenv("CUPILOT_PAIRS_OUT");
  if (!To)
    return;
  std::error_code EC;
  raw_fd_ostream OS(To, EC, sys::fs::OF_Append);
  if (!EC)
    OS << json::Value(std::move(Line)) << "\n";
}

static const char *folder() { return std::getenv("CUPILOT_PAIRS_PTX"); }

PairedModule::PairedModule(std::unique_ptr<CpuModule> First, StringRef Bitcode,
                           const CpuDeviceOptions &Options)
    : First(std::move(First)), Bitcode(Bitcode), Options(Options) {
  loadPtxModule(Options);
}

/// The PTX that has most of the kernels.
void PairedModule::loadPtxModule(const CpuDeviceOptions &Options) {
  std::string Best;
  size_t Most = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator It(folder(), EC), End; !EC && It != End;
       It.increment(EC)) {
    if (sys::path::extension(It->path()) != ".ptx")
      continue;
    Expected<std::string> Text = readFile(It->path());
    if (!Text) {
      consumeError(Text.takeError());
      continue;
    }
    Expected<ptx::Module> M = readPtx(*Text);
    if (!M) {
      Ptx.WhyNot = toString(M.takeError());
      continue;
    }
    StringSet<> Names;
    for (const ptx::Function *F : M->kernels())
      Names.insert(plainName(F->Name));
    size_t Has = count_if(First->kernels(), [&](const std::string &K) {
      return Names.contains(plainName(K));
    });
    if (Has > Most) {
      Most = Has;
      Best = std::move(*Text);
    }
  }
  if (Best.empty()) {
    if (Ptx.WhyNot.empty())
      Ptx.WhyNot = "no PTX has kernels of this unit";
    return;
  }
  Expected<std::unique_ptr<CpuModule>> M = loadPtx(Best, Options);
  if (!M) {
    Ptx.WhyNot = toString(M.takeError());
    return;
  }
  Ptx.Module = std::move(*M);
  for (const std::string &K : Ptx.Module->kernels())
    PtxNames[plainName(K)] = K;
}

/// The module's own variables start as the program's are.
void PairedModule::giveVariables(CpuModule &To) {
  for (const std::string &Name : To.globals()) {
    auto Mine = First->global(Name), Its = To.global(Name);
    if (Mine && Its && Mine->second == Its->second)
      std::memcpy(Its->first, Mine->first, Mine->second);
  }
}

std::optional<LaunchResult> PairedModule::run(CpuModule &M, const Call &C,
                                              double &Seconds,
                                              std::string &Why) {
  if (&M != First.get()) {
    giveVariables(M);
    for (const std::string &Name : M.globals())
      if (auto G = M.global(Name))
        C.Memory.DeviceBuffers::addBuffer(G->first, G->second, false);
  }
  std::string Name = C.Kernel.str();
  if (&M == Ptx.Module.get())
    if (auto Its = PtxNames.find(plainName(Name)); Its != PtxNames.end())
      Name = Its->second;
  double Start = now(C.Short);
  Expected<LaunchResult> R = M.launch(Name, C.Shape, C.Args, C.Memory);
  Seconds = now(C.Short) - Start;
  if (&M != First.get())
    for (const std::string &Name : M.globals())
      if (auto G = M.global(Name))
        C.Memory.DeviceBuffers::removeBuffer(G->first);
  if (R)
    return std::move(*R);
  Why = toString(R.takeError());
  return std::nullopt;
}

/// What the code takes the buffers behind pointer arguments for.
std::map<void *, Layout> PairedModule::layouts(const Call &C) {
  std::map<void *, Layout> Result;
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M) {
    consumeError(M.takeError());
    return Result;
  }
  const Function *F = (*M)->getFunction(C.Kernel);
  Kernel K;
  K.Symbol = C.Kernel.str();
  if (!F)
    return Result;
  for (const Argument &A : F->args()) {
    KernelParam P;
    P.IsPointer = A.getType()->isPointerTy() && !A.hasByValAttr();
    P.Size = 8;
    K.Params.push_back(P);
  }
  Expected<KernelLayout> Types = layoutOf(K, Bitcode);
  if (!Types) {
    consumeError(Types.takeError());
    return Result;
  }
  for (auto [I, P] : enumerate(K.Params)) {
    if (!P.IsPointer)
      continue;
    void *Target = nullptr;
    std::memcpy(&Target, C.Args[I], sizeof(Target));
    if (auto Buffer = C.Memory.find(Target))
      if (!Types->Pointees[I].Fields.empty())
        Result[Buffer->Base] = Types->Pointees[I];
  }
  return Result;
}

/// How far each number of the float64 run moves, by its byte, when the inputs
/// move by a unit in the last place.
std::map<void *, std::vector<double>>
PairedModule::moves(const Call &C, const Content &Before,
                    const Content &Reference,
                    const std::map<void *, Layout> &Layouts) {
  auto EachFloat = [&](auto Visit) {
    for (const auto &[Base, L] : Layouts)
      for (const LayoutField &F : L.Fields)
        for (uint64_t At = F.Offset, End = Before.at(Base).size();
             isFloating(F.Kind) && At + sizeOf(F.Kind) <= End; At += L.Stride)
          Visit(Base, F.Kind, At);
  };
  std::map<void *, std::vector<double>> Result;
  for (const auto &[Base, Bytes] : Before)
    Result[Base].resize(Bytes.size());
  std::mt19937_64 Engine(1);
  for (unsigned Run = 0; Run < 8; ++Run) {
    restore(Before);
    EachFloat([&](void *Base, ElementKind K, uint64_t At) {
      double Unit = K == ElementKind::Float    ? 0x1p-23
                    : K == ElementKind::Double ? 0x1p-52
                                               : 0;
      auto *Place = static_cast<uint8_t *>(Base) + At;
      double V = readElement(K, Place);
      if (std::isfinite(V) && V != 0 && Unit > 0)
        writeElement(K, Place, V * (Engine() & 1 ? 1 + Unit : 1 - Unit));
    });
    double Seconds = 0;
    std::string Why;
    std::optional<LaunchResult> R = run(*Wide.Module, C, Seconds, Why);
    if (!R || R->Fault)
      continue;
    EachFloat([&](void *Base, ElementKind K, uint64_t At) {
      double Move =
          std::fabs(readElement(K, static_cast<uint8_t *>(Base) + At) -
                    readElement(K, Reference.at(Base).data() + At));
      if (std::isfinite(Move))
        Result[Base][At] = std::max(Result[Base][At], Move);
    });
  }
  return Result;
}

/// Results that differ in bits, by the gate's own rule: each is within "same"
/// of the other, both against the float64 run.
std::string PairedModule::judge(const Call &C, const Content &Before,
                                const Content &A, const Content &B) {
  if (!Wide.Module && Wide.WhyNot.empty()) {
    CpuDeviceOptions O = Options;
    O.WidenFloats = true;
    O.Count = false;
    Expected<std::unique_ptr<CpuModule>> M = load(Bitcode, O);
    if (M)
      Wide.Module = std::move(*M);
    else
      Wide.WhyNot = toString(M.takeError());
  }
  if (!Wide.Module)
    return "differs; no float64 run: " + Wide.WhyNot;
  restore(Before);
  double Seconds = 0;
  std::string Why;
  std::optional<LaunchResult> R = run(*Wide.Module, C, Seconds, Why);
  if (!R || R->Fault)
    return "differs; no float64 run: " + (R ? R->Fault->str() : Why);
  Content Reference = contentOf(C.Memory);
  std::map<void *, Layout> Layouts = layouts(C);
  static const PrecisionContract Same;
  std::map<void *, std::vector<double>> Moves;
  for (const auto &[Base, MineA] : A) {
    const Bytes &MineB = B.at(Base);
    if (MineA == MineB)
      continue;
    auto L = Layouts.find(Base);
    if (L == Layouts.end())
      return "differs in a buffer of which no types are known";
    ErrorRange Errors;
    for (bool Turned : {false, true}) {
      auto Compare = [&] {
        return compareBuffer(Turned ? MineA : MineB, Reference[Base],
                             Turned ? MineB : MineA, L->second,
                             {Same, Moves[Base], 16, true}, Errors);
      };
      auto M = Compare();
      // As in the gate, what moves with the inputs is asked only then.
      if (M && !M->Bitwise && Moves[Base].empty()) {
        Moves = moves(C, Before, Reference, Layouts);
        M = Compare();
      }
      if (!M)
        continue;
      std::string Text;
      raw_string_ostream(Text)
          << "not same: " << (M->Bitwise ? "no floats" : "floats")
          << (Turned ? ", bitcode" : ", PTX") << " has error " << M->Mine
          << ", the other " << M->Own << ", " << M->Wrong << " numbers";
      return Text;
    }
  }
  return "same";
}

static std::string bitsVerdict(const LaunchResult &A, const LaunchResult &B) {
  if (A.Fault && B.Fault)
    return A.Fault->Kind == B.Fault->Kind ? "bits" : "other fault";
  if (A.Fault || B.Fault)
    return (A.Fault ? "only bitcode has a fault: " + A.Fault->str()
                    : "only PTX has a fault: " + B.Fault->str());
  return A.Printed == B.Printed ? "bits" : "prints otherwise";
}

Expected<LaunchResult> PairedModule::launch(StringRef Kernel,
                                            const LaunchShape &Shape,
                                            ArrayRef<const void *> Args,
                                            DeviceMemory &Memory) {
  const char *Text = std::getenv("CUPILOT_PAIRS_LAUNCHES");
  unsigned Most = Text ? std::atoi(Text) : 3, Number = Launches[Kernel]++;
  Call C{Kernel, Shape, Args, static_cast<ListedBuffers &>(Memory)};
  uint64_t All = 0;
  for (auto [Base, Size] : C.Memory.Sizes)
    All += Size;
  if (Number >= Most || All > MostBytes)
    return First->launch(Kernel, Shape, Args, Memory);
  json::Object Line{{"kernel", Kernel}, {"launch", int64_t(Number)}};
  auto Refused = [&](const std::string &Why) {
    Line["verdict"] = "refused: " + Why;
    report(std::move(Line));
  };
  if (!Ptx.Module) {
    Refused(Ptx.WhyNot);
    return First->launch(Kernel, Shape, Args, Memory);
  }
  // Its state cannot be put back.
  auto HeapBlocks = [&] { return Memory.deviceHeap().size(); };
  constexpr StringRef KeepsHeap = "heap: objects outlive launches";
  if (HeapBlocks() > 0) {
    Line["verdict"] = KeepsHeap;
    report(std::move(Line));
    return First->launch(Kernel, Shape, Args, Memory);
  }
  Content Before = contentOf(C.Memory);
  double SecondsA = 0, SecondsB = 0, Unused = 0;
  std::string Why;
  uint64_t Heap = Memory.heapUse().AtOnce;
  std::optional<LaunchResult> A = run(*First, C, Unused, Why);
  if (!A)
    return createStringError(Why);
  if (HeapBlocks() > 0) {
    Line["verdict"] = KeepsHeap;
    report(std::move(Line));
    return std::move(*A);
  }
  Content AfterA = contentOf(C.Memory);
  restore(Before);
  std::optional<LaunchResult> B = run(*Ptx.Module, C, SecondsB, Why);
  if (!B) {
    restore(AfterA);
    Refused(Why);
    return std::move(*A);
  }
  Content AfterB = contentOf(C.Memory);
  // A program's variables are among its buffers, those of the PTX are not.
  for (const std::string &Name : First->globals()) {
    auto Mine = First->global(Name), Its = Ptx.Module->global(Name);
    if (!Mine || !Its || !AfterB.count(Mine->first) ||
        Mine->second != Its->second)
      continue;
    const auto *Begin = static_cast<const uint8_t *>(Its->first);
    AfterB[Mine->first].assign(Begin, Begin + Its->second);
  }
  std::string Verdict = bitsVerdict(*A, *B);
  if (Verdict == "bits" && !A->Fault && AfterA != AfterB)
    Verdict = judge(C, Before, AfterA, AfterB);
  // Both are compiled and linked by now.
  if (!A->Fault && !B->Fault && Memory.heapUse().AtOnce == Heap) {
    double Seconds = 0;
    restore(Before);
    run(*First, C, Seconds, Why);
    C.Short = Seconds < ShortLaunch;
    unsigned Rounds = C.Short ? 20 : Seconds < LongLaunch ? 4 : 1;
    SecondsA = SecondsB = INFINITY;
    for (unsigned I = 0; I < Rounds; ++I)
      for (bool PtxTurn : {I % 2 == 1, I % 2 == 0}) {
        restore(Before);
        run(PtxTurn ? *Ptx.Module : *First, C, Seconds, Why);
        double &Least = PtxTurn ? SecondsB : SecondsA;
        Least = std::min(Least, Seconds);
      }
    Line["bitcode_s"] = SecondsA;
    Line["ptx_s"] = SecondsB;
  }
  restore(AfterA);
  Line["verdict"] = Verdict;
  report(std::move(Line));
  return std::move(*A);
}

//===----------------------------------------------------------------------===//
// In place of the cpu device's
//===----------------------------------------------------------------------===//

#define LOAD                                                                   \
  "_ZN7cupilot9CpuModule4loadEN4llvm9StringRefERKNS_16CpuDeviceOptionsE"
#define CREATE "_ZN7cupilot12DeviceMemory6createEv"

Expected<std::unique_ptr<CpuModule>>
realLoad(StringRef Bitcode, const CpuDeviceOptions &O) __asm__("__real_" LOAD);
Expected<std::unique_ptr<CpuModule>>
pairedLoad(StringRef Bitcode,
           const CpuDeviceOptions &O) __asm__("__wrap_" LOAD);
std::unique_ptr<DeviceMemory> listedMemory() __asm__("__wrap_" CREATE);

Expected<std::unique_ptr<CpuModule>> pairedLoad(StringRef Bitcode,
                                                const CpuDeviceOptions &Asked) {
  CpuDeviceOptions O = Asked;
  O.Threads = 1; // Atomics come in the same order.
  Expected<std::unique_ptr<CpuModule>> First = realLoad(Bitcode, O);
  if (!First || O.WidenFloats || !folder())
    return First;
  return std::make_unique<PairedModule>(std::move(*First), Bitcode, O);
}

std::unique_ptr<DeviceMemory> listedMemory() {
  return std::make_unique<ListedBuffers>();
}
