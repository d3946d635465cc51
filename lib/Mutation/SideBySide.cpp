//===- SideBySide.cpp - An original and a variant on one launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// What one launch left behind.
struct Outcome {
  bool Ran = true; ///< False: the plan has no launch there, or there was no
                   ///< memory for it.
  std::optional<DeviceFault> Fault;
  std::vector<LaunchMemory> Buffers;
  std::vector<size_t> Touched; ///< Bytes from the begin of each, with coverage.
  bool Wrote = false;          ///< Likewise: into any of them.
};
} // namespace

Expected<PlacedLaunch> placed(const Kernel &K, const RandomLaunch &L) {
  PlacedLaunch P;
  P.Args = L.Args;
  for (const WorkloadPointer &To : L.Pointers) {
    uint64_t Target = (uint64_t(To.Buffer + 1) << 40) + To.BufferOffset;
    std::memcpy(P.Args[To.Param].data() + To.Offset, &Target, sizeof(Target));
  }
  Expected<Bindings> B = bindLaunch(L.Shape, K.Scalars, P.Args);
  if (!B)
    return B.takeError();
  P.B = std::move(*B);
  return P;
}

static void setGlobals(const SideBySide::Side &Of, const RandomLaunch &L,
                       DeviceMemory &To) {
  for (const auto &[Name, Initial] : Of.Initial) {
    auto Global = Of.Module->global(Name);
    std::memcpy(Global->first, Initial.data(), Initial.size());
    for (const auto &[Symbol, Content] : L.Globals)
      if (Symbol == Name)
        std::memcpy(Global->first, Content.data(),
                    std::min<uint64_t>(Content.size(), Global->second));
    To.addBuffer(Global->first, Global->second);
  }
}

/// Places of more than 2^31 bytes have no int of their own.
static size_t endOf(const BitVector &Bytes) {
  return Bytes.none() ? 0 : size_t(uint32_t(Bytes.find_last())) + 1;
}

/// Adds what was touched from \p Base on.
static void addTouched(const DeviceMemory &Device, const uint8_t *Base,
                       Outcome &O) {
  std::optional<BufferCoverage> C = Device.coverage(Base);
  O.Touched.push_back(C ? std::max(endOf(C->Read), endOf(C->Written)) : 0);
  O.Wrote |= C && C->Written.any();
}

/// Errors are launches that no GPU takes.
static Expected<Outcome> runOn(const SideBySide::Side &On, const Kernel &K,
                               const LaunchPlan &Plan, const RandomLaunch &L,
                               bool Coverage = false) {
  Expected<PlacedLaunch> P = placed(K, L);
  if (!P)
    return P.takeError();
  Outcome O;
  std::unique_ptr<DeviceMemory> Device = DeviceMemory::create();
  for (const BufferContent &Content : L.Buffers) {
    O.Buffers.push_back(LaunchMemory::create(Content));
    if (!O.Buffers.back().base()) {
      O.Ran = false;
      return O;
    }
    Device->addBuffer(O.Buffers.back().base(), Content.Size);
  }
  setGlobals(On, L, *Device);
  std::vector<std::vector<uint8_t>> Args = L.Args;
  for (const WorkloadPointer &To : L.Pointers) {
    uint8_t *Target = O.Buffers[To.Buffer].base() + To.BufferOffset;
    std::memcpy(Args[To.Param].data() + To.Offset, &Target, sizeof(Target));
  }
  std::vector<LaunchMemory> Scratch;
  for (const Expr &Size : Plan.Scratch) {
    std::optional<uint64_t> Bytes = scratchBytes(Size, P->B);
    if (!Bytes || *Bytes > uint64_t(1) << 30) {
      O.Ran = false;
      return O;
    }
    Scratch.push_back(LaunchMemory::scratch(*Bytes));
    uint8_t *Base = Scratch.back().base();
    Device->addBuffer(Base, *Bytes);
    Device->setWritten(Base, *Bytes, false);
    Args.emplace_back(sizeof(Base));
    std::memcpy(Args.back().data(), &Base, sizeof(Base));
  }
  std::vector<const void *> Values;
  Values.reserve(Args.size());
  for (const std::vector<uint8_t> &Arg : Args)
    Values.push_back(Arg.data());
  for (const Launch &One : Plan.Launches) {
    std::optional<LaunchShape> Shape = planShape(One, P->B);
    if (!Shape) {
      O.Ran = false;
      return O;
    }
    Shape->Cooperative = L.Shape.Cooperative;
    if (!One.Cluster)
      Shape->Cluster = L.Shape.Cluster;
    Expected<LaunchResult> R =
        On.Module->launch(One.Symbol, *Shape, Values, *Device);
    if (!R)
      return R.takeError();
    O.Fault = R->Fault;
    if (O.Fault)
      break;
  }
  if (Coverage)
    for (const LaunchMemory &B : O.Buffers)
      addTouched(*Device, B.base(), O);
  return O;
}

namespace {
/// Values of a buffer as numbers.
struct Numbers {
  std::vector<double> V;
  double Scale = 0; ///< Root mean square of the finite ones.
};
} // namespace

static Numbers numbersOf(ElementKind Kind, ArrayRef<uint8_t> Content) {
  Numbers N;
  unsigned Width = sizeOf(Kind);
  double Squares = 0;
  size_t Finite = 0;
  for (size_t At = 0; At + Width <= Content.size(); At += Width) {
    N.V.push_back(readElement(Kind, Content.data() + At));
    if (std::isfinite(N.V.back())) {
      Squares += N.V.back() * N.V.back();
      ++Finite;
    }
  }
  N.Scale = Finite ? std::sqrt(Squares / Finite) : 0;
  return N;
}

/// The first element of \p Got that rounding does not explain: it is further
/// from the original than the original's own error, many times over, and than
/// what its type holds.
static std::optional<size_t> firstWrong(ElementKind Kind,
                                        const PrecisionContract &Contract,
                                        ArrayRef<uint8_t> Got,
                                        ArrayRef<uint8_t> Original,
                                        ArrayRef<uint8_t> Wide) {
  if (Got == Original)
    return std::nullopt;
  if (!isFloating(Kind)) {
    auto [At, Other] = std::mismatch(Got.begin(), Got.end(), Original.begin());
    return (At - Got.begin()) / sizeOf(Kind);
  }
  Numbers G = numbersOf(Kind, Got), O = numbersOf(Kind, Original);
  double Own = 0;
  Numbers W = numbersOf(Kind, Wide);
  for (auto [A, B] : zip(W.V, O.V))
    if (std::isfinite(A) && std::isfinite(B))
      Own = std::max(Own, std::fabs(A - B) / (std::fabs(A) + O.Scale * 0.01));
  double Unit = Kind == ElementKind::Double  ? 0x1p-52
                : Kind == ElementKind::Float ? 0x1p-23
                : Kind == ElementKind::Half  ? 0x1p-10
                                             : 0x1p-7;
  double Allowed = std::max(16 * Unit, 16 * Own), Share = 0.01;
  if (Contract.RelativeTolerance > 0) { // Of the root mean square, too.
    Allowed = std::max(Allowed, Contract.RelativeTolerance);
    Share = 1;
  }
  for (size_t I = 0; I < G.V.size(); ++I) {
    double A = G.V[I], B = O.V[I];
    if (std::isnan(A) && std::isnan(B))
      continue;
    if (!std::isfinite(A) || !std::isfinite(B)
            ? A != B
            : std::fabs(A - B) > Allowed * (std::fabs(B) + O.Scale * Share))
      return I;
  }
  return std::nullopt;
}

static std::string describe(const RandomLaunch &L, StringRef Difference) {
  std::string Text;
  raw_string_ostream(Text) << L.Text << ": " << Difference;
  return Text;
}

Expected<SideBySide> SideBySide::create(const Kernel &K,
                                        const GateCode &Original,
                                        const SideVariant &V, StringRef Arch,
                                        Effort How) {
  if (!V.Plan.TensorMaps.empty())
    return findingError("plans with tensor maps are not compared at random");
  SideBySide S;
  S.K = &K;
  S.V = V;
  S.Own.Launches.emplace_back();
  S.Own.Launches[0].Symbol = K.Symbol;
  CpuDeviceOptions Device;
  Device.Arch = Arch.str();
  uint64_t MostOfThread = 20'000'000, MostOfLaunch = 200'000'000;
  if (How != Effort::Whole) {
    Device.CountSteps = true;
    Device.SampleBlocks = Sampled;
    Device.LastBlocks = How == Effort::Last ? LastOnes : 0;
    // Loops of 2^24 turns come to their ends.
    MostOfThread = 1'000'000'000;
    MostOfLaunch = 2'000'000'000;
  }
  struct Way {
    SideBySide::Side &To;
    StringRef Code;
    bool Reverse = false, Widen = false, Cover = false;
    unsigned Patience = 1;
  };
  for (const Way &W : {Way{S.Plain, Original.runs()},
                       {S.Covering, Original.runs(), false, false, true},
                       {S.Backwards, Original.runs(), true},
                       // Floats are wider in what clang makes alone.
                       {S.Wide, Original.Source, false, true},
                       {S.Other, V.Code.runs(), false, false, false,
                        How == Effort::Whole ? 8u : 2u}}) {
    Device.MaxInstructions = MostOfThread * W.Patience;
    Device.MaxLaunchInstructions = MostOfLaunch * W.Patience;
    Device.Reverse = W.Reverse;
    Device.WidenFloats = W.Widen;
    Device.Coverage = W.Cover;
    Device.CheckWritten = !W.Widen;
    Expected<std::unique_ptr<CpuModule>> M = CpuModule::load(W.Code, Device);
    if (!M)
      return M.takeError();
    for (const std::string &Name : (*M)->globals())
      if (auto Global = (*M)->global(Name)) {
        auto *Begin = static_cast<const uint8_t *>(Global->first);
        W.To.Initial[Name].assign(Begin, Begin + Global->second);
      }
    W.To.Module = std::move(*M);
  }
  return S;
}

/// Cuts the buffers of a launch that grew down to what the original touches,
/// so that more shows. False where the original does not bear the launch.
/// \p Idle: it writes nothing there.
Expected<bool> SideBySide::fit(RandomLaunch &L, bool &Idle) {
  Expected<Outcome> First = runOn(Covering, *K, Own, L, /*Coverage=*/true);
  if (!First) {
    consumeError(First.takeError());
    return false;
  }
  if (First->Fault || !First->Ran)
    return false;
  Idle = !First->Wrote;
  for (auto [Content, Kind, End] : zip(L.Buffers, L.Kinds, First->Touched)) {
    uint64_t Width = sizeOf(Kind);
    Content.cut(std::max(Width, divideCeil(End, Width) * Width));
  }
  return true;
}

/// Whether both left the same in all buffers.
static bool equalBuffers(const Outcome &A, const Outcome &B) {
  return all_of(zip(A.Buffers, B.Buffers), [](const auto &Both) {
    const auto &[Mine, Theirs] = Both;
    return equalIn(Mine, Theirs, writtenByAny({&Mine, &Theirs}));
  });
}

/// The first difference of \p Got from \p First, in words; nothing where there
/// is none.
static std::optional<std::string>
differenceOf(const RandomLaunch &L, const PrecisionContract &Contract,
             const Outcome &Got, const Outcome &First,
             const Outcome &Reference) {
  if (Got.Fault)
    return Got.Fault->str();
  for (size_t I = 0; I < First.Buffers.size(); ++I) {
    const std::vector<ByteRange> Where = writtenByAny(
        {&Got.Buffers[I], &First.Buffers[I], &Reference.Buffers[I]});
    const std::vector<uint8_t> Mine = gather(Got.Buffers[I], Where),
                               Original = gather(First.Buffers[I], Where);
    auto At = firstWrong(L.Kinds[I], Contract, Mine, Original,
                         gather(Reference.Buffers[I], Where));
    if (!At)
      continue;
    const size_t Width = sizeOf(L.Kinds[I]);
    std::string Difference;
    raw_string_ostream(Difference)
        << "element " << placeOf(Where, *At * Width) / Width << " of buffer "
        << I << " is "
        << format("%.9g", readElement(L.Kinds[I], &Mine[*At * Width]))
        << ", the original's "
        << format("%.9g", readElement(L.Kinds[I], &Original[*At * Width]));
    return Difference;
  }
  return std::nullopt;
}

Expected<Comparison> SideBySide::compare(RandomLaunch L) {
  using Kind = Comparison::Kind;
  bool Idle = false;
  if (L.Grown) {
    Expected<bool> Borne = fit(L, Idle);
    if (!Borne)
      return Borne.takeError();
    if (!*Borne)
      return Comparison{Kind::Refused, ""};
  }
  Expected<PlacedLaunch> P = placed(*K, L);
  if (!P)
    return P.takeError();
  if (!admits(V.When, P->B, P->Args))
    return Comparison{Kind::NotRun, ""};
  Expected<Outcome> First = runOn(Plain, *K, Own, L);
  if (!First) { // A launch that no GPU takes.
    consumeError(First.takeError());
    return Comparison{Kind::Refused, ""};
  }
  if (First->Fault || !First->Ran)
    return Comparison{Kind::Refused, ""};
  Expected<Outcome> Got = runOn(Other, *K, V.Plan, L);
  if (!Got) // What the runtime refuses is a wrong launch of the plan.
    return Comparison{Kind::Differs, describe(L, toString(Got.takeError()))};
  if (!Got->Ran)
    return Comparison{Kind::NotRun, ""};
  if (!Got->Fault && equalBuffers(*Got, *First)) {
    Comparison Equal;
    Equal.Idle = Idle;
    return Equal;
  }
  // Only a difference needs the dearer questions.
  Expected<Outcome> Last = runOn(Backwards, *K, Own, L);
  if (!Last)
    return Last.takeError();
  Expected<Outcome> Reference = runOn(Wide, *K, Own, L);
  if (!Reference)
    return Reference.takeError();
  // The original's result may be chance.
  if (!Last->Ran || !Reference->Ran || Reference->Fault ||
      differenceOf(L, K->Contract, *Last, *First, *Reference))
    return Comparison{Kind::Refused, ""};
  if (auto Difference = differenceOf(L, K->Contract, *Got, *First, *Reference))
    return Comparison{Kind::Differs, describe(L, *Difference)};
  return Comparison{};
}

} // namespace cupilot
