//===- VariantImpulses.cpp - A variant under impulses at every place
//--------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Impulses change results by far more than this; rounding is looked at
/// elsewhere.
static double negligible(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-8;
  case ElementKind::BFloat:
    return 0x1p-5;
  case ElementKind::Float:
    return 0x1p-13;
  default:
    return 0x1p-30;
  }
}

/// Whether two runs end with the same numbers but for rounding; no is no
/// verdict yet.
static bool looksAlike(const Bytes &A, const Bytes &B, const Layout &L,
                       bool Exact) {
  if (A == B)
    return true;
  if (Exact || L.Fields.empty())
    return false;
  for (const LayoutField &F : L.Fields) {
    uint64_t Size = sizeOf(F.Kind);
    for (size_t At = F.Offset; At + Size <= A.size(); At += L.Stride) {
      if (std::equal(A.begin() + At, A.begin() + At + Size, B.begin() + At))
        continue;
      double X = readElement(F.Kind, A.data() + At),
             Y = readElement(F.Kind, B.data() + At);
      if (!isFloating(F.Kind) ||
          (std::isnan(X)
               ? !std::isnan(Y)
               : !(std::fabs(X - Y) <= negligible(F.Kind) * std::fabs(Y))))
        return false;
    }
  }
  return true;
}

Expected<std::optional<GateFinding>>
VariantRuns::judgeWithImpulses(const GateCase &C, const PlannedRun &Launches,
                               RunResult &Got, GateVerdict &Verdict) {
  Expected<std::unique_ptr<JudgedCase>> J = O.prepare(C);
  if (!J)
    return J.takeError();
  if (!*J)
    return std::nullopt;
  ++Verdict.Checks;
  return runAndCompare(Plain, **J, Launches, Got, Verdict);
}

/// Halves \p Impulses as long as half of them will do, and names what is left.
Expected<GateFinding> VariantRuns::narrowDown(const JudgedCase &Base,
                                              std::vector<Impulse> Impulses,
                                              const PlannedRun &Launches,
                                              GateFinding Wrong, RunResult Got,
                                              GateVerdict &Verdict) {
  for (bool Smaller = true; Smaller && Impulses.size() > 1;) {
    Smaller = false;
    ArrayRef<Impulse> All = Impulses;
    size_t Middle = All.size() / 2;
    for (ArrayRef<Impulse> Half :
         {All.take_front(Middle), All.drop_front(Middle)}) {
      Expected<std::optional<GateFinding>> Now = judgeWithImpulses(
          withImpulses(Base.Case, Half, "impulses"), Launches, Got, Verdict);
      if (!Now)
        return Now.takeError();
      if (!*Now)
        continue;
      Wrong = std::move(**Now);
      Impulses = Half.vec();
      Smaller = true;
      break;
    }
  }
  const Impulse &First = Impulses.front();
  auto [Kind, At] = numberAt(Base.Case, First.Buffer, First.Index);
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "number " << First.Index << " of buffer " << First.Buffer << " (byte "
     << At << ")";
  if (Impulses.size() > 1)
    OS << " and " << Impulses.size() - 1 << " others";
  OS << format(" made %g", impulseValue(Base.Case, First));
  // Whoever ends as without the impulse did not see it.
  Expected<RunResult> Without =
      runCase(Plain, Launches, Base.Case, Base.Fill, O.variables());
  if (!Without)
    return Without.takeError();
  bool Ignored = Wrong.Reason == GateReason::Mismatch;
  for (size_t I = 0; I < Got.Buffers.size() && Ignored; ++I)
    Ignored = I == First.Buffer || Got.Buffers[I] == Without->Buffers[I];
  if (Ignored)
    OS << ", which changes nothing";
  return makeFinding(Ignored ? GateReason::IgnoredInput : Wrong.Reason,
                     Base.Case.Name + " impulses",
                     Text + ": " + Wrong.Evidence);
}

Expected<bool> VariantRuns::judgeImpulses(ImpulseProbes &Probes,
                                          GateVerdict &Verdict) {
  const JudgedCase &Base = Probes.base();
  std::optional<GateFinding> Illegal;
  Expected<std::optional<PlannedRun>> Launches = shapesOf(Base.Case, Illegal);
  if (!Launches)
    return Launches.takeError();
  if (!*Launches)
    return true;
  append_range(Verdict.Choices, Probes.choices());
  if (Probes.count() == 0)
    return true;
  GateRecord Record{Base.Case.Name + " impulses", Base.Case.Shape};
  bool Exact = O.kernel().Contract.K == PrecisionContract::Kind::Exact;
  // Who differs by more than rounding, and may, is seen often enough after
  // this.
  constexpr size_t MostDoubts = 200;
  size_t Doubts = 0;
  for (size_t I = 0; I < Probes.count() && Doubts < MostDoubts; ++I) {
    Expected<std::shared_ptr<const RunResult>> Own = Probes.original(I);
    if (!Own)
      return Own.takeError();
    if (!*Own)
      continue;
    std::vector<Impulse> Impulses = Probes.impulses(I);
    GateCase C = withImpulses(Base.Case, Impulses, "impulses " + Twine(I));
    ++Verdict.Checks;
    Expected<RunResult> Got =
        runCase(Plain, **Launches, C, Base.Fill, O.variables());
    bool Alike = Got && !Got->Fault && !Got->BandsTouched &&
                 Got->Globals == (**Own).Globals;
    for (size_t B = 0; Alike && B < C.Buffers.size(); ++B)
      Alike =
          looksAlike(Got->Buffers[B], (**Own).Buffers[B], C.Layouts[B], Exact);
    if (!Got)
      consumeError(Got.takeError()); // Said again below.
    if (Alike)
      continue;
    ++Doubts;
    RunResult Again;
    Expected<std::optional<GateFinding>> Wrong =
        judgeWithImpulses(C, **Launches, Again, Verdict);
    if (!Wrong)
      return Wrong.takeError();
    if (!*Wrong)
      continue;
    Expected<GateFinding> Named =
        narrowDown(Base, std::move(Impulses), **Launches, std::move(**Wrong),
                   std::move(Again), Verdict);
    if (!Named)
      return Named.takeError();
    Record.Rejected = Named->Reason;
    Verdict.Cases.push_back(std::move(Record));
    Verdict.Findings.push_back(std::move(*Named));
    return false;
  }
  if (Doubts == MostDoubts)
    Verdict.Choices.push_back(Base.Case.Name + ": impulses end after " +
                              std::to_string(MostDoubts) +
                              " launches that differ as they may");
  Verdict.Cases.push_back(std::move(Record));
  return true;
}

} // namespace cupilot
