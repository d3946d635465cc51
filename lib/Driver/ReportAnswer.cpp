//===- ReportAnswer.cpp - What was won, for the report ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportAnswer.h"
#include "cupilot/Driver/SearchTable.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/Speedup.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using namespace llvm;

namespace cupilot {

void addShare(const StoredKernel &S, ReportKernel &K) {
  double Share = 0;
  bool Measured = true;
  for (const Workload &W : S.Workloads)
    if (W.isTimed()) {
      Share += W.Weight;
      Measured &= W.WeightBasis == Basis::Measured;
    }
  if (!(Share > 0))
    return;
  K.Share = Share;
  K.ShareBasis = Measured ? Basis::Measured : Basis::Modelled;
}

/// How it is known that \p V is right.
static std::string gateText(const Variant &V, const Measurement &M) {
  if (M.Basis == Basis::Declared)
    return "declared";
  const std::string Version =
      M.Gate == GateVersion ? "" : formatv(" (gate {0})", M.Gate).str();
  if (!V.Where)
    return "no domain" + Version;
  auto Saw = [&](DomainBox::By Who) {
    return any_of(V.Where->Boxes,
                  [&](const DomainBox &B) { return B.Seen == Who; });
  };
  if (!Saw(DomainBox::By::Gpu))
    return "proved" + Version;
  return (Saw(DomainBox::By::Gate) ? "proved, compared beyond" : "compared") +
         Version;
}

namespace {
/// Sums of times of all recorded launches.
struct Sums {
  double OriginalUs = 0, VariantUs = 0;
  std::optional<double> OriginalFloor = 0, VariantFloor = 0;
};
} // namespace

/// Nothing where a time is not known, or where these are of another build than
/// \p M: their quotient is its ratio.
static std::optional<Sums> sumsOf(const StoredKernel &S, const Variant &V,
                                  const Measurement &M,
                                  ArrayRef<ReportRoofline> Rooflines) {
  const bool OnGpu = M.Basis == Basis::Measured;
  const std::vector<double> Weights = timeWeights(
      S.Workloads, OnGpu ? TimeBasis::Measured : TimeBasis::Modelled);
  Sums Sum;
  auto AddFloor = [](std::optional<double> &To, std::optional<double> Us,
                     double Weight) {
    if (Us && To)
      *To += *Us * Weight;
    else
      To.reset();
  };
  for (auto [I, W] : enumerate(S.Workloads)) {
    if (!(Weights[I] > 0))
      continue;
    ArrayRef<ReportVariant> Rows = Rooflines[I].Variants;
    const ReportVariant &Original = Rows.front();
    const ReportVariant *Mine =
        find_if(Rows, [&](const ReportVariant &R) { return R.Name == V.Name; });
    if (Mine == Rows.end())
      return std::nullopt;
    if (Mine->IsOutside)
      Mine = &Original;
    std::optional<double> Before, After;
    if (OnGpu) {
      Before = Original.Measured;
      After = Mine->Measured;
    } else if (!isMadeByNvcc(M.Compiler)) { // What is counted is clang's code.
      Before = Original.Modelled;
      After = Mine->Modelled;
    }
    if (!Before || !After)
      return std::nullopt;
    Sum.OriginalUs += *Before * Weights[I];
    Sum.VariantUs += *After * Weights[I];
    AddFloor(Sum.OriginalFloor, Original.FloorUs, Weights[I]);
    AddFloor(Sum.VariantFloor, Mine->FloorUs, Weights[I]);
  }
  constexpr double Tolerance = 0.02;
  if (!(Sum.OriginalUs > 0 && Sum.VariantUs > 0) ||
      std::abs(Sum.OriginalUs / Sum.VariantUs - M.Ratio) > Tolerance * M.Ratio)
    return std::nullopt;
  return Sum;
}

std::vector<ReportBest> bestOf(const StoredKernel &S, StringRef Gpu,
                               ArrayRef<ReportRoofline> Rooflines) {
  // As builds choose: what was measured first, then by the lower bound.
  std::map<std::pair<StringRef, StringRef>,
           std::pair<const Variant *, const Measurement *>>
      Best;
  auto Rank = [](const Measurement &M) {
    return std::pair(M.Basis == Basis::Measured, M.Low);
  };
  for (const Variant &V : S.Variants)
    for (const Measurement &M : V.Evidence) {
      auto &[BestV, BestM] = Best[{M.Compiler, M.Arch}];
      if (BestM && Rank(M) <= Rank(*BestM))
        continue;
      BestV = &V;
      BestM = &M;
    }
  std::vector<ReportBest> Rows;
  for (const auto &[Build, Of] : Best) {
    const auto &[V, M] = Of;
    ReportBest R;
    R.Compiler = M->Compiler;
    R.Arch = M->Arch;
    R.Variant = V->Name;
    R.Ratio = M->Ratio;
    R.Low = M->Low;
    R.High = M->High;
    R.Basis = M->Basis;
    R.Gate = gateText(*V, *M);
    R.Device = M->Device;
    std::optional<Sums> Sum;
    if (M->Device == Gpu)
      Sum = sumsOf(S, *V, *M, Rooflines);
    if (Sum) {
      R.OriginalUs = Sum->OriginalUs;
      R.VariantUs = Sum->VariantUs;
      auto Share = [](std::optional<double> Floor, double Us) {
        return Floor && *Floor > 0 ? std::optional(std::min(1.0, *Floor / Us))
                                   : std::nullopt;
      };
      R.OriginalAtCeiling = Share(Sum->OriginalFloor, R.OriginalUs.value());
      R.VariantAtCeiling = Share(Sum->VariantFloor, R.VariantUs.value());
    }
    Rows.push_back(std::move(R));
  }
  return Rows;
}

ReportProgram answerFor(std::vector<ReportKernel> &Kernels, bool IsWhole) {
  llvm::sort(Kernels, [](const ReportKernel &A, const ReportKernel &B) {
    return std::tuple(-A.Share.value_or(0), StringRef(A.Name)) <
           std::tuple(-B.Share.value_or(0), StringRef(B.Name));
  });
  double All = 0;
  for (const ReportKernel &K : Kernels)
    All += K.Share.value_or(0);
  if (All == 0)
    return {{},
            "Which share of the program's kernel time each kernel takes was "
            "not recorded, so what the program gains is not known."};
  if (All > 1.005) { // Beyond what rounding makes.
    for (ReportKernel &K : Kernels)
      K.Share.reset();
    return {{},
            "The launches of these kernels were recorded in several runs, so "
            "their shares of the program's kernel time, and what the program "
            "gains, are not known."};
  }
  std::map<std::string, SearchTable> Builds; // By compiler and architecture.
  for (const ReportKernel &K : Kernels)
    for (const ReportBest &B : K.Best)
      Builds[B.Compiler + " for " + B.Arch];
  const bool Measured = all_of(Kernels, [](const ReportKernel &K) {
    return !K.Share || K.ShareBasis == Basis::Measured;
  });
  for (auto &[Build, Table] : Builds) {
    Table.ShareBasis = Measured ? Basis::Measured : Basis::Modelled;
    for (const ReportKernel &K : Kernels) {
      SearchRow Row{K.Name, K.Share.value_or(0)};
      for (const ReportBest &B : K.Best)
        if (B.Compiler + " for " + B.Arch == Build) {
          Row.Ratio = B.Ratio;
          Row.RatioBasis = B.Basis;
        }
      Table.Rows.push_back(std::move(Row));
    }
  }
  ReportProgram Program;
  for (const auto &[Build, Table] : Builds)
    Program.Gains.push_back(formatv(
        "By Amdahl's law, all kernel launches of the program together run "
        "{0:f2} times as fast in builds by {1} ({2}).",
        Table.expected(), Build, wordOf(Table.expectedBasis())));
  Program.Caveat = "Time on the host is not in it.";
  if (All < 0.995)
    Program.Caveat += formatv(
        " {0} take {1:f1} % of the program's kernel time; the rest counts as "
        "unchanged.",
        IsWhole ? "The kernels of the store" : "The kernels that are shown",
        All * 100);
  return Program;
}

} // namespace cupilot
