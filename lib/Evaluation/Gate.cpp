//===- Gate.cpp - The checks before the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variant is guilty until proved innocent: it runs on every case in memory
// that holds nothing but the inputs and a NaN pattern, and must end with what
// the original ends with, within the precision contract.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

Gate::~Gate() = default;

/// What the cpu device allows a thread of a gated launch, in instructions.
static constexpr uint64_t ThreadBudget = 200'000'000;
static constexpr uint8_t Poison = 0xff; // A NaN in every format.
/// For results that happen to be Poison, such as an int of -1.
static constexpr uint8_t OtherPoison = 0x5a;
static constexpr uint64_t Band = 4096; // Bytes around each buffer.

namespace {
/// What a launch left behind.
struct RunResult {
  std::optional<DeviceFault> Fault;
  std::vector<Bytes> Buffers;
  std::vector<Bytes> Globals;
  ExecutionCounts Counts;
  bool BandsTouched = false;
};

/// A case with the original's results.
struct JudgedCase {
  GateCase Case;
  std::vector<bool> PureOutput; ///< Buffers that the original only writes.
  RunResult Original;
  std::vector<Bytes> Reference; ///< Buffers after the float64 run.
  uint8_t Fill = Poison;        ///< What pure outputs hold before.
  bool AnyOrder = false;        ///< The original bears it, last thread first.
};

class GateImpl : public Gate {
public:
  explicit GateImpl(GateSetup Setup) : Setup(std::move(Setup)) {}
  Error prepare();
  ArrayRef<ExecutionCounts> originalCounts() const override { return Counts; }
  Expected<GateVerdict> judge(StringRef VariantBitcode, const LaunchPlan &Plan,
                              const Guard &When) override;

private:
  Expected<std::unique_ptr<CpuModule>>
  load(StringRef Bitcode, bool Widen, bool Count, bool Reverse = false) const;
  Expected<RunResult> run(CpuModule &M, StringRef Symbol,
                          const LaunchShape &Shape, const GateCase &C,
                          const std::vector<bool> *PureOutput,
                          const Guard *When, ArrayRef<ScalarRef> Scalars,
                          bool &Admitted, uint8_t Fill = Poison) const;
  Expected<bool> prepareCase(GateCase C);
  bool mayBeWritten(const GateCase &C, size_t Buffer) const;
  Expected<bool> addOtherFill();
  Expected<bool> admitted(const GateCase &C, const Launch &L,
                          const Guard &When) const;
  Error addAdmittedCases(const Launch &L, const Guard &When);
  bool compare(const JudgedCase &C, const RunResult &Got,
               GateVerdict &Verdict) const;

  GateSetup Setup;
  std::unique_ptr<CpuModule> Plain, Reversed, Wide;
  std::vector<JudgedCase> Cases;
  std::vector<ExecutionCounts> Counts;
  unsigned Skipped = 0;
  size_t Prepared = 0; ///< Cases that do not come from a guard.
};
} // namespace

Expected<std::unique_ptr<CpuModule>>
GateImpl::load(StringRef Bitcode, bool Widen, bool Count, bool Reverse) const {
  CpuDeviceOptions Options;
  Options.Arch = Setup.Arch;
  Options.WidenFloats = Widen;
  Options.Count = Count;
  Options.Reverse = Reverse;
  Options.SampleBlocks = 256;
  Options.MaxInstructions = ThreadBudget;
  return CpuModule::load(Bitcode, Options);
}

/// Runs \p Symbol on a case, in fresh memory. With \p When, \p Admitted says
/// whether the guard let it run.
Expected<RunResult> GateImpl::run(CpuModule &M, StringRef Symbol,
                                  const LaunchShape &Shape, const GateCase &C,
                                  const std::vector<bool> *PureOutput,
                                  const Guard *When,
                                  ArrayRef<ScalarRef> Scalars, bool &Admitted,
                                  uint8_t Fill) const {
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  std::vector<Bytes> Storage;
  std::vector<uint8_t *> Bases;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    uint64_t Size = C.Buffers[I].size();
    Storage.emplace_back(Size + 2 * Band + 512, Poison);
    auto Address = reinterpret_cast<uintptr_t>(Storage.back().data()) + Band;
    auto *Base =
        reinterpret_cast<uint8_t *>(alignTo(Address, Align(256)) + C.Shift);
    if (!PureOutput || !(*PureOutput)[I])
      std::memcpy(Base, C.Buffers[I].data(), Size);
    else
      std::memset(Base, Fill, Size);
    Memory->addBuffer(Base, Size);
    Bases.push_back(Base);
  }
  std::vector<Bytes> Args = C.Args;
  for (const WorkloadPointer &P : C.Pointers) {
    uint8_t *Target = Bases[P.Buffer] + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, 8);
  }
  RunResult Result;
  Admitted = true;
  if (When) {
    Expected<Bindings> B = bindLaunch(C.Shape, Scalars, Args);
    if (!B)
      return B.takeError();
    Admitted = admits(*When, *B, Args);
    if (!Admitted)
      return Result;
  }
  for (const std::string &Name : M.globals())
    if (auto Global = M.global(Name)) {
      Memory->addBuffer(Global->first, Global->second);
      for (const auto &[Symbol, Content] : C.Globals)
        if (Symbol == Name && Content.size() == Global->second)
          std::memcpy(Global->first, Content.data(), Content.size());
    }
  std::vector<const void *> Pointers;
  for (const Bytes &Arg : Args)
    Pointers.push_back(Arg.data());
  Expected<LaunchResult> Launched = M.launch(Symbol, Shape, Pointers, *Memory);
  if (!Launched)
    return Launched.takeError();
  Result.Fault = Launched->Fault;
  Result.Counts = Launched->Counts;
  for (size_t I = 0; I < Bases.size(); ++I) {
    uint64_t Size = C.Buffers[I].size();
    const uint8_t *Begin = Storage[I].data(), *End = Begin + Storage[I].size();
    auto Clean = [](uint8_t B) { return B == Poison; };
    Result.BandsTouched |=
        !std::all_of(Begin, const_cast<const uint8_t *>(Bases[I]), Clean) ||
        !std::all_of(const_cast<const uint8_t *>(Bases[I]) + Size, End, Clean);
    Result.Buffers.emplace_back(Bases[I], Bases[I] + Size);
  }
  for (const auto &[Name, Content] : C.Globals)
    if (auto Global = M.global(Name)) {
      auto *Begin = static_cast<uint8_t *>(Global->first);
      Result.Globals.emplace_back(Begin, Begin + Global->second);
    }
  return Result;
}

/// Whether the kernel gets a pointer to \p Buffer that is not to const.
bool GateImpl::mayBeWritten(const GateCase &C, size_t Buffer) const {
  ArrayRef<KernelParam> Params = Setup.Original->Params;
  return any_of(C.Pointers, [&](const WorkloadPointer &P) {
    return P.Buffer == Buffer && P.Param < Params.size() &&
           !(Params[P.Param].IsPointer && Params[P.Param].PointeeConst);
  });
}

/// Runs the original on \p C. False when it does not bear the case.
Expected<bool> GateImpl::prepareCase(GateCase C) {
  bool Admitted;
  StringRef Symbol = Setup.Original->Symbol;
  Expected<RunResult> First =
      run(*Plain, Symbol, C.Shape, C, nullptr, nullptr, {}, Admitted);
  if (!First)
    return First.takeError();
  if (First->Fault) {
    if (C.Doubtful)
      return false;
    return findingError("the original itself faults on workload " + C.Name +
                        ": " + First->Fault->str());
  }
  JudgedCase J;
  J.PureOutput.assign(C.Buffers.size(), false);
  // A buffer is pure output when what it held before makes no difference.
  // (It may hold the result already, as after an earlier launch.)
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    if (First->Buffers[I] == C.Buffers[I] && !mayBeWritten(C, I))
      continue;
    std::vector<bool> Try(C.Buffers.size(), false);
    Try[I] = true;
    // A byte is left alone, or the same whatever was there.
    bool Same = true;
    Bytes Left;
    for (uint8_t Fill : {Poison, OtherPoison}) {
      if (!Same)
        break;
      Expected<RunResult> Poisoned =
          run(*Plain, Symbol, C.Shape, C, &Try, nullptr, {}, Admitted, Fill);
      if (!Poisoned)
        return Poisoned.takeError();
      Same = !Poisoned->Fault;
      for (size_t K = 0; Same && K < C.Buffers.size(); ++K) {
        const Bytes &P = Poisoned->Buffers[K];
        if (K != I) {
          Same = P == First->Buffers[K];
          continue;
        }
        for (size_t At = 0; Same && At < P.size(); ++At)
          Same = P[At] == First->Buffers[K][At] ||
                 (P[At] == Fill && (Fill == Poison || Left[At] == Poison));
        Left = P;
      }
    }
    J.PureOutput[I] = Same;
  }
  Expected<RunResult> Final =
      run(*Plain, Symbol, C.Shape, C, &J.PureOutput, nullptr, {}, Admitted);
  if (!Final)
    return Final.takeError();
  if (C.Doubtful) {
    // A result that depends on the order of the threads proves nothing.
    Expected<RunResult> Backwards = run(*Reversed, Symbol, C.Shape, C,
                                        &J.PureOutput, nullptr, {}, Admitted);
    if (!Backwards)
      return Backwards.takeError();
    for (size_t I = 0; I < C.Buffers.size(); ++I)
      if (C.Kinds[I] == ElementKind::Bytes &&
          Backwards->Buffers[I] != Final->Buffers[I])
        return false;
    bool Aliased = C.Name.find("==") != std::string::npos;
    if (Aliased && Backwards->Buffers != Final->Buffers)
      return false;
  }
  Expected<RunResult> Reference =
      run(*Wide, Symbol, C.Shape, C, &J.PureOutput, nullptr, {}, Admitted);
  if (!Reference)
    return Reference.takeError();
  J.Case = std::move(C);
  J.Original = std::move(*Final);
  J.Reference =
      Reference->Fault ? J.Original.Buffers : std::move(Reference->Buffers);
  if (!J.Case.Doubtful) {
    Expected<RunResult> Backwards = run(*Reversed, Symbol, J.Case.Shape, J.Case,
                                        &J.PureOutput, nullptr, {}, Admitted);
    if (!Backwards)
      return Backwards.takeError();
    GateVerdict Unused;
    J.AnyOrder = compare(J, *Backwards, Unused);
  }
  // Where the result is Poison, who writes nothing would pass.
  bool Hidden = false;
  for (size_t I = 0; I < J.PureOutput.size(); ++I)
    Hidden |= J.PureOutput[I] && is_contained(J.Original.Buffers[I], Poison);
  Cases.push_back(std::move(J));
  return Hidden ? addOtherFill() : Expected<bool>(true);
}

/// Repeats the last case with the other fill, when the original writes Poison.
Expected<bool> GateImpl::addOtherFill() {
  JudgedCase J = Cases.back();
  J.Fill = OtherPoison;
  J.Case.Name += " refilled";
  J.Case.Doubtful = true;
  J.AnyOrder = false;
  bool Admitted;
  StringRef Symbol = Setup.Original->Symbol;
  Expected<RunResult> Again = run(*Plain, Symbol, J.Case.Shape, J.Case,
                                  &J.PureOutput, nullptr, {}, Admitted, J.Fill);
  if (!Again)
    return Again.takeError();
  bool Hidden = false;
  for (size_t I = 0; I < J.PureOutput.size(); ++I) {
    // A byte of a float or two may be Poison, a whole one is a NaN.
    size_t Width = J.Case.Kinds[I] == ElementKind::Bytes ? 1 : 4;
    const Bytes &Was = J.Original.Buffers[I], &Is = Again->Buffers[I];
    for (size_t At = 0; J.PureOutput[I] && At + Width <= Was.size();
         At += Width) {
      auto All = [&](const Bytes &B) {
        return std::all_of(B.begin() + At, B.begin() + At + Width,
                           [](uint8_t V) { return V == Poison; });
      };
      Hidden |= All(Was) && All(Is);
    }
  }
  if (!Hidden || Again->Fault)
    return true;
  J.Original = std::move(*Again);
  Expected<RunResult> Reference =
      run(*Wide, Symbol, J.Case.Shape, J.Case, &J.PureOutput, nullptr, {},
          Admitted, J.Fill);
  if (!Reference)
    return Reference.takeError();
  J.Reference =
      Reference->Fault ? J.Original.Buffers : std::move(Reference->Buffers);
  Cases.push_back(std::move(J));
  return true;
}

Error GateImpl::prepare() {
  for (auto [Module, Widen, Reverse] : {std::tuple(&Plain, false, false),
                                        {&Reversed, false, true},
                                        {&Wide, true, false}}) {
    Expected<std::unique_ptr<CpuModule>> Loaded =
        load(Setup.OriginalBitcode, Widen, /*Count=*/false, Reverse);
    if (!Loaded)
      return Loaded.takeError();
    *Module = std::move(*Loaded);
  }
  Expected<std::vector<GateCase>> All = buildCases(Setup);
  if (!All)
    return All.takeError();
  Expected<std::unique_ptr<CpuModule>> Counting =
      load(Setup.OriginalBitcode, /*Widen=*/false, /*Count=*/true);
  if (!Counting)
    return Counting.takeError();
  for (GateCase &C : *All) {
    if (!C.Doubtful) {
      bool Admitted;
      Expected<RunResult> Counted =
          run(**Counting, Setup.Original->Symbol, C.Shape, C, nullptr, nullptr,
              {}, Admitted);
      if (!Counted)
        return Counted.takeError();
      Counts.push_back(Counted->Counts);
    }
    Expected<bool> Bears = prepareCase(std::move(C));
    if (!Bears)
      return Bears.takeError();
    Skipped += !*Bears;
  }
  Prepared = Cases.size();
  return Error::success();
}

/// Above this, an error is no matter of rounding.
static constexpr double LargestTerm = 1e-3;

namespace {
/// How far a variant's buffer is from the float64 run, next to the original.
struct BufferErrors {
  double Mine = 0, Own = 0; ///< The largest ones.
  double Term = 0;          ///< What each element may have beyond its own.
  size_t Wrong = 0;         ///< Elements beyond what they may have.
};
} // namespace

/// Errors are relative to each value and a thousandth of the values' root mean
/// square. Each element may have the original's error at that element and a
/// term for the buffer: four times the original's largest error, of those that
/// are rounding. Where the original itself is further off (a rounding to an
/// integer that went the other way), the variant must side with the one or the
/// other. NaN and infinity must be where the original has them.
template <typename T>
static BufferErrors errorsOf(const Bytes &Got, const Bytes &Reference,
                             const Bytes &Original,
                             const PrecisionContract &Contract) {
  size_t N = Reference.size() / sizeof(T);
  auto At = [](const Bytes &B, size_t I) {
    T V;
    std::memcpy(&V, B.data() + I * sizeof(T), sizeof(T));
    return static_cast<double>(V);
  };
  double Square = 0;
  size_t Finite = 0;
  for (size_t I = 0; I < N; ++I)
    if (double R = At(Reference, I); std::isfinite(R)) {
      Square += R * R;
      ++Finite;
    }
  double Floor = Finite ? 1e-3 * std::sqrt(Square / Finite) : 0;
  auto Distance = [&](double A, double From) {
    double E = std::fabs(A - From), Scale = std::fabs(From) + Floor;
    return E == 0 ? 0 : Scale > 0 ? E / Scale : INFINITY;
  };
  BufferErrors Result;
  double Rounding = 0;
  for (size_t I = 0; I < N; ++I) {
    double R = At(Reference, I), O = At(Original, I);
    if (!std::isfinite(O) || !std::isfinite(R))
      continue;
    double Own = Distance(O, R);
    Result.Own = std::max(Result.Own, Own);
    if (Own <= LargestTerm)
      Rounding = std::max(Rounding, Own);
  }
  bool Relaxed = Contract.K == PrecisionContract::Kind::Relaxed;
  double Least = sizeof(T) == 4 ? 0x1p-20 : 0x1p-48;
  Result.Term = Relaxed ? Contract.RelativeTolerance
                        : std::max(Least, std::min(4 * Rounding, LargestTerm));
  double Far = std::max(Result.Term, LargestTerm);
  for (size_t I = 0; I < N; ++I) {
    double G = At(Got, I), R = At(Reference, I), O = At(Original, I);
    if (!std::isfinite(O) || !std::isfinite(G)) {
      bool Same = std::isnan(O) ? std::isnan(G) : G == O;
      Result.Wrong += !Same;
      if (!Same)
        Result.Mine = INFINITY;
      continue;
    }
    if (!std::isfinite(R)) {
      Result.Wrong += Distance(G, O) > Result.Term;
      continue;
    }
    double Mine = Distance(G, R), Own = Distance(O, R);
    Result.Mine = std::max(Result.Mine, Mine);
    if (Mine <= Result.Term)
      continue;
    if (Own > Far)
      Result.Wrong += Distance(G, O) > Result.Term;
    else
      Result.Wrong += Relaxed || Mine > Own + Result.Term;
  }
  return Result;
}

static std::string number(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.3g", Value);
  return Text;
}

bool GateImpl::compare(const JudgedCase &J, const RunResult &Got,
                       GateVerdict &Verdict) const {
  auto Fail = [&](const char *Reason, const Twine &Evidence) {
    Verdict.Findings.push_back({Reason, J.Case.Name, Evidence.str()});
    return false;
  };
  if (Got.Fault)
    return Fail(StringRef(Got.Fault->Kind).contains("runaway") ? "runaway"
                                                               : "fault",
                Got.Fault->str());
  if (Got.BandsTouched)
    return Fail("guard-band", "memory outside of every buffer was written");
  if (Got.Globals != J.Original.Globals)
    return Fail("mismatch", "a device variable ends with another content");
  for (size_t I = 0; I < Got.Buffers.size(); ++I) {
    const Bytes &G = Got.Buffers[I], &O = J.Original.Buffers[I];
    if (G == O)
      continue;
    const Bytes &Before = J.Case.Buffers[I];
    if (!J.PureOutput[I] && O == Before)
      return Fail("input-changed",
                  "buffer " + Twine(I) + ", which the original leaves alone");
    if (J.PureOutput[I]) {
      size_t Missing = 0, Extra = 0;
      for (size_t At = 0; At + 4 <= G.size(); At += 4) {
        auto Untouched = [&](const Bytes &B) {
          return std::all_of(B.begin() + At, B.begin() + At + 4,
                             [&](uint8_t V) { return V == J.Fill; });
        };
        Missing += Untouched(G) && !Untouched(O);
        Extra += !Untouched(G) && Untouched(O);
      }
      if (Missing)
        return Fail("unwritten-output", Twine(Missing) + " words of buffer " +
                                            Twine(I) + " are not written");
      if (Extra)
        return Fail("extra-output", Twine(Extra) + " words of buffer " +
                                        Twine(I) +
                                        " are written that should not");
    }
    ElementKind Kind = J.Case.Kinds[I];
    const PrecisionContract &Contract = Setup.Original->Contract;
    if (Kind == ElementKind::Bytes ||
        Contract.K == PrecisionContract::Kind::Exact)
      return Fail("mismatch", "buffer " + Twine(I) +
                                  " differs, and must be equal bit by bit");
    BufferErrors E = (Kind == ElementKind::Float
                          ? errorsOf<float>
                          : errorsOf<double>)(G, J.Reference[I], O, Contract);
    Verdict.MaxError = std::max(Verdict.MaxError, E.Mine);
    Verdict.OriginalError = std::max(Verdict.OriginalError, E.Own);
    if (E.Wrong)
      return Fail("mismatch", "buffer " + Twine(I) + ": error " +
                                  number(E.Mine) +
                                  " against float64, the original's own is " +
                                  number(E.Own) + ", allowed is " +
                                  number(E.Term) + " beyond each element's; " +
                                  Twine(E.Wrong) + " elements have more");
  }
  return true;
}

/// Whether a variant would run on \p C, were its buffers as far apart and as
/// aligned as they are in a run.
Expected<bool> GateImpl::admitted(const GateCase &C, const Launch &L,
                                  const Guard &When) const {
  std::vector<Bytes> Args = C.Args;
  for (const WorkloadPointer &P : C.Pointers) {
    uint64_t Target = (uint64_t(P.Buffer + 1) << 40) + C.Shift + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, 8);
  }
  Expected<Bindings> B = bindLaunch(C.Shape, Setup.Original->Scalars, Args);
  if (!B)
    return B.takeError();
  return planShape(L, *B) && admits(When, *B, Args);
}

/// A guard such as n mod 4 == 0 may keep out every value of a scalar but the
/// captured one. Adds cases with values that it lets in.
Error GateImpl::addAdmittedCases(const Launch &L, const Guard &When) {
  constexpr unsigned MostAdded = 2, MostRuns = 4; // For each scalar.
  StringSet<> Tried;
  std::vector<GateCase> Bases;
  for (size_t I = 0; I < Prepared && Bases.size() < 2; ++I)
    if (!Cases[I].Case.Doubtful)
      Bases.push_back(Cases[I].Case);
  for (const GateCase &Base : Bases)
    for (const ScalarRef &S : Setup.Original->Scalars) {
      auto Read = [&](const GateCase &C) {
        uint64_t Value = 0;
        std::memcpy(&Value, C.Args[S.Param].data() + S.Offset, S.Bits / 8);
        return Value;
      };
      uint64_t Value = Read(Base);
      if (Value < 2 || Value >> 62)
        continue;
      unsigned Added = 0, Runs = 0;
      for (const JudgedCase &J : Cases)
        if (J.Case.Workload == Base.Workload && Read(J.Case) != Value) {
          Expected<bool> In = admitted(J.Case, L, When);
          if (!In)
            return In.takeError();
          Added += *In;
        }
      if (Added)
        continue;
      SmallVector<uint64_t, 16> Values;
      for (uint64_t Step : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})
        if (Value > Step)
          Values.push_back((Value - 1) / Step * Step);
      for (uint64_t Small : {96, 48, 24, 12, 6, 3, 1})
        if (Value > Small)
          Values.push_back(Small);
      for (uint64_t Step = 1024; Step > 1; Step /= 2)
        if (Value > Step)
          Values.push_back(Step);
      for (uint64_t New : Values) {
        if (Added == MostAdded || Runs == MostRuns)
          break;
        GateCase C = Base;
        C.Name += " " + Setup.Original->Params[S.Param].Name + "=" +
                  std::to_string(New);
        C.Doubtful = true;
        std::memcpy(C.Args[S.Param].data() + S.Offset, &New, S.Bits / 8);
        Expected<bool> In = admitted(C, L, When);
        if (!In)
          return In.takeError();
        if (!*In || !Tried.insert(C.Name).second)
          continue;
        ++Runs;
        Expected<bool> Bears = prepareCase(std::move(C));
        if (!Bears)
          return Bears.takeError();
        Added += *Bears;
      }
    }
  return Error::success();
}

Expected<GateVerdict> GateImpl::judge(StringRef VariantBitcode,
                                      const LaunchPlan &Plan,
                                      const Guard &When) {
  GateVerdict Verdict;
  Verdict.Skipped = Skipped;
  Expected<std::unique_ptr<CpuModule>> Variant =
      load(VariantBitcode, false, false);
  Expected<std::unique_ptr<CpuModule>> Counting =
      load(VariantBitcode, false, true);
  if (!Variant || !Counting) {
    Error E = joinErrors(Variant ? Error::success() : Variant.takeError(),
                         Counting ? Error::success() : Counting.takeError());
    Verdict.Findings.push_back({"cannot-run", "", toString(std::move(E))});
    return Verdict;
  }
  std::unique_ptr<CpuModule> Backwards; // Of the variant, when it is needed.
  ArrayRef<ScalarRef> Scalars = Setup.Original->Scalars;
  const Launch &L = Plan.Launches.front();
  // A verdict depends on the variant alone, not on what was judged before it: a
  // search that is resumed must come to the same.
  Cases.erase(Cases.begin() + Prepared, Cases.end());
  if (Error E = addAdmittedCases(L, When))
    return std::move(E);
  for (const JudgedCase &J : Cases) {
    Expected<Bindings> B = bindLaunch(J.Case.Shape, Scalars, J.Case.Args);
    if (!B)
      return B.takeError();
    std::optional<LaunchShape> Shape = planShape(L, *B);
    bool Admitted = Shape.has_value();
    RunResult Got;
    if (Admitted) {
      Expected<RunResult> R =
          run(**Variant, L.Symbol, *Shape, J.Case, &J.PureOutput, &When,
              Scalars, Admitted, J.Fill);
      if (!R) {
        Verdict.Findings.push_back(
            {"cannot-run", J.Case.Name, toString(R.takeError())});
        return Verdict;
      }
      Got = std::move(*R);
    }
    if (!J.Case.Doubtful) {
      Verdict.VariantCounts.emplace_back();
      Verdict.VariantShapes.push_back(Shape.value_or(J.Case.Shape));
    }
    if (!Admitted) {
      ++Verdict.GuardMisses; // The original runs.
      continue;
    }
    ++Verdict.Checks;
    if (!compare(J, Got, Verdict))
      return Verdict;
    if (J.Case.Doubtful)
      continue;
    if (J.AnyOrder) {
      // A barrier that is missing shows in one of the two orders.
      if (!Backwards) {
        Expected<std::unique_ptr<CpuModule>> Loaded =
            load(VariantBitcode, false, false, /*Reverse=*/true);
        if (!Loaded)
          return Loaded.takeError();
        Backwards = std::move(*Loaded);
      }
      Expected<RunResult> Again = run(*Backwards, L.Symbol, *Shape, J.Case,
                                      &J.PureOutput, &When, Scalars, Admitted);
      if (!Again)
        return Again.takeError();
      if (!compare(J, *Again, Verdict)) {
        Verdict.Findings.back().Evidence += " (last thread first)";
        return Verdict;
      }
    }
    Expected<RunResult> Counted = run(**Counting, L.Symbol, *Shape, J.Case,
                                      nullptr, nullptr, Scalars, Admitted);
    if (!Counted)
      return Counted.takeError();
    Verdict.VariantCounts.back() = Counted->Counts;
  }
  Verdict.Passed = Verdict.Checks > 0;
  if (!Verdict.Passed)
    Verdict.Findings.push_back(
        {"never-admitted", "", "the guard admits none of the workloads"});
  return Verdict;
}

Expected<std::unique_ptr<Gate>> Gate::create(GateSetup Setup) {
  auto G = std::make_unique<GateImpl>(std::move(Setup));
  if (Error E = G->prepare())
    return std::move(E);
  return std::move(G);
}

} // namespace cupilot
