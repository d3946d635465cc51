//===- Independent.cpp - A second opinion on survivors -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gate's cases are made to find faults; these are only drawn. Both would
// have to overlook the same thing.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/Independent.h"
#include "RandomLaunch.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// What one launch left behind.
struct Outcome {
  std::optional<DeviceFault> Fault;
  std::vector<std::vector<uint8_t>> Buffers;
};
} // namespace

static Expected<Outcome> runOn(CpuModule &M, StringRef Symbol,
                               const RandomLaunch &L) {
  constexpr size_t Alignment = 256;
  std::vector<std::vector<uint8_t>> Storage;
  std::vector<uint8_t *> Bases;
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  for (const std::vector<uint8_t> &Content : L.Buffers) {
    Storage.emplace_back(Content.size() + 2 * Alignment);
    auto At = reinterpret_cast<uintptr_t>(Storage.back().data());
    auto *Base = reinterpret_cast<uint8_t *>((At / Alignment + 1) * Alignment);
    std::memcpy(Base, Content.data(), Content.size());
    Memory->addBuffer(Base, Content.size());
    Bases.push_back(Base);
  }
  for (const std::string &Name : M.globals())
    if (auto Global = M.global(Name)) {
      std::memset(Global->first, 0, Global->second);
      for (const auto &[Symbol, Content] : L.Globals)
        if (Symbol == Name)
          std::memcpy(Global->first, Content.data(),
                      std::min<uint64_t>(Content.size(), Global->second));
      Memory->addBuffer(Global->first, Global->second);
    }
  std::vector<std::vector<uint8_t>> Args = L.Args;
  for (const WorkloadPointer &P : L.Pointers) {
    uint8_t *Target = Bases[P.Buffer] + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, sizeof(Target));
  }
  std::vector<const void *> Values;
  Values.reserve(Args.size());
  for (const std::vector<uint8_t> &Arg : Args)
    Values.push_back(Arg.data());
  Expected<LaunchResult> R = M.launch(Symbol, L.Shape, Values, *Memory);
  if (!R)
    return R.takeError();
  Outcome O;
  O.Fault = R->Fault;
  for (auto [Base, Content] : zip(Bases, L.Buffers))
    O.Buffers.emplace_back(Base, Base + Content.size());
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
static std::optional<size_t> firstWrong(ElementKind Kind, ArrayRef<uint8_t> Got,
                                        ArrayRef<uint8_t> Original,
                                        const std::vector<uint8_t> *Wide) {
  if (Got == Original)
    return std::nullopt;
  if (!isFloating(Kind)) {
    auto [At, Other] = std::mismatch(Got.begin(), Got.end(), Original.begin());
    return (At - Got.begin()) / sizeOf(Kind);
  }
  Numbers G = numbersOf(Kind, Got), O = numbersOf(Kind, Original);
  double Own = 0;
  if (Wide) {
    Numbers W = numbersOf(Kind, *Wide);
    for (auto [A, B] : zip(W.V, O.V))
      if (std::isfinite(A) && std::isfinite(B))
        Own = std::max(Own, std::fabs(A - B) / (std::fabs(A) + O.Scale * 0.01));
  }
  double Unit = Kind == ElementKind::Double  ? 0x1p-52
                : Kind == ElementKind::Float ? 0x1p-23
                : Kind == ElementKind::Half  ? 0x1p-10
                                             : 0x1p-7;
  double Allowed = std::max(16 * Unit, 16 * Own);
  for (size_t I = 0; I < G.V.size(); ++I) {
    double A = G.V[I], B = O.V[I];
    if (std::isnan(A) && std::isnan(B))
      continue;
    if (!std::isfinite(A) || !std::isfinite(B)
            ? A != B
            : std::fabs(A - B) > Allowed * (std::fabs(B) + O.Scale * 0.01))
      return I;
  }
  return std::nullopt;
}

static std::string describe(const RandomLaunch &L, StringRef Difference) {
  std::string Text;
  raw_string_ostream(Text) << L.Text << ": " << Difference;
  return Text;
}

Expected<IndependentResult>
compareIndependently(const Kernel &K, StringRef Original, StringRef Mutant,
                     ArrayRef<Workload> Around,
                     const IndependentOptions &Options) {
  CpuDeviceOptions Device;
  Device.Arch = Options.Arch;
  Device.MaxInstructions = 20'000'000;
  Device.CheckWritten = true;
  std::unique_ptr<CpuModule> Plain, Backwards, Wide, Other;
  for (auto [Module, Code, Reverse, Widen] :
       {std::tuple(&Plain, Original, false, false),
        {&Backwards, Original, true, false},
        {&Wide, Original, false, true},
        {&Other, Mutant, false, false}}) {
    Device.Reverse = Reverse;
    Device.WidenFloats = Widen;
    Device.CheckWritten = !Widen;
    Expected<std::unique_ptr<CpuModule>> M = CpuModule::load(Code, Device);
    if (!M)
      return M.takeError();
    *Module = std::move(*M);
  }
  IndependentResult Result;
  LaunchSource Source(K, Around, Options.Seed);
  for (unsigned Try = 0;
       Result.Inputs < Options.Inputs && Try < 4 * Options.Inputs; ++Try) {
    Expected<RandomLaunch> L = Source.next();
    if (!L)
      return L.takeError();
    Expected<Outcome> First = runOn(*Plain, K.Symbol, *L);
    if (!First) { // A launch that no GPU takes.
      consumeError(First.takeError());
      ++Result.Refused;
      continue;
    }
    if (First->Fault) {
      ++Result.Refused;
      continue;
    }
    Expected<Outcome> Got = runOn(*Other, K.Symbol, *L);
    if (!Got)
      return Got.takeError();
    bool Equal = !Got->Fault && Got->Buffers == First->Buffers;
    ++Result.Inputs;
    if (Equal)
      continue;
    // Only a difference needs the dearer questions.
    Expected<Outcome> Last = runOn(*Backwards, K.Symbol, *L);
    if (!Last)
      return Last.takeError();
    Expected<Outcome> Reference = runOn(*Wide, K.Symbol, *L);
    if (!Reference)
      return Reference.takeError();
    bool Steady = !Last->Fault && !Reference->Fault;
    for (size_t I = 0; Steady && I < First->Buffers.size(); ++I)
      Steady = !firstWrong(L->Kinds[I], Last->Buffers[I], First->Buffers[I],
                           &Reference->Buffers[I]);
    if (!Steady) { // The original's result is chance.
      --Result.Inputs;
      ++Result.Refused;
      continue;
    }
    if (Got->Fault) {
      Result.Differs = true;
      Result.Evidence = describe(*L, Got->Fault->str());
      return Result;
    }
    for (size_t I = 0; I < First->Buffers.size(); ++I)
      if (auto At = firstWrong(L->Kinds[I], Got->Buffers[I], First->Buffers[I],
                               &Reference->Buffers[I])) {
        unsigned Width = sizeOf(L->Kinds[I]);
        std::string Difference;
        raw_string_ostream(Difference)
            << "element " << *At << " of buffer " << I << " is "
            << format("%.9g",
                      readElement(L->Kinds[I], &Got->Buffers[I][*At * Width]))
            << ", the original's "
            << format("%.9g", readElement(L->Kinds[I],
                                          &First->Buffers[I][*At * Width]));
        Result.Differs = true;
        Result.Evidence = describe(*L, Difference);
        return Result;
      }
  }
  return Result;
}

} // namespace cupilot
