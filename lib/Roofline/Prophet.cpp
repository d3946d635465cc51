//===- Prophet.cpp - What bounds a kernel, from three sources -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Prophet.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

namespace {
struct NamedTime {
  const char *Name;
  double CeilingTimes::*Field;
};
} // namespace

static constexpr NamedTime Parts[] = {
    {"dram", &CeilingTimes::Dram},       {"l2", &CeilingTimes::L2},
    {"shared", &CeilingTimes::Shared},   {"fp32", &CeilingTimes::Fp32},
    {"fp64", &CeilingTimes::Fp64},       {"fp16", &CeilingTimes::Fp16},
    {"integer", &CeilingTimes::Integer}, {"special", &CeilingTimes::Special},
    {"tensor", &CeilingTimes::Tensor},   {"issue", &CeilingTimes::Issue}};

double CeilingTimes::compute() const {
  return std::max({Shared, Fp32, Fp64, Fp16, Integer, Special, Tensor, Issue});
}

double CeilingTimes::floor() const {
  // Integer operations, conversions and instructions are those of the cpu
  // device's code: the GPU's compiler may need fewer.
  return std::max({LeastDram, Fp32, Fp64, Fp16, Tensor});
}

StringRef CeilingTimes::longest() const {
  const NamedTime *Most = &Parts[0];
  for (const NamedTime &P : Parts)
    if (this->*P.Field > this->*Most->Field)
      Most = &P;
  return Most->Name;
}

CeilingTimes timesAtCeilings(const Ceilings &C, const ExecutionCounts &K) {
  // A rate in Gop/s or GB/s gives nanoseconds.
  auto Time = [](double Work, double Rate) {
    return Rate > 0 ? Work / Rate * 1e-3 : 0;
  };
  CeilingTimes T;
  double Read = double(K.ReadSectors) * 32,
         Written = double(K.WrittenSectors) * 32;
  T.Dram = Time(Read + Written, C.DramGBs);
  T.LeastDram =
      Time(Read + std::max(Written - double(C.L2Bytes), 0.0), C.DramGBs);
  T.L2 =
      Time(Read + C.L2StoreCost * double(K.GlobalStoreSectors) * 32, C.L2GBs);
  T.Shared = Time(double(std::max(K.SharedWavefronts, K.SharedAccesses)) * 128,
                  C.SharedGBs);
  T.Fp32 = Time(double(K.Fp32), C.Fp32Gops);
  T.Fp64 = Time(double(K.Fp64), C.Fp64Gops);
  T.Fp16 = Time(double(K.Fp16), C.Fp16Gops);
  T.Integer = Time(double(K.Integer), C.IntegerGops);
  T.Special = Time(double(K.Special + K.Conversion), C.SpecialGops);
  T.Tensor = Time(double(K.Tensor), C.TensorGops);
  T.Issue = Time(double(K.WarpInstructions), C.IssueGops);
  return T;
}

/// Sampled counts and clocks that differ a little from those the ceilings were
/// measured at are no lies.
static constexpr double FloorTolerance = 0.95;

Error checkPossible(const Ceilings &C, const ExecutionCounts &Counts,
                    double Microseconds, StringRef What) {
  CeilingTimes T = timesAtCeilings(C, Counts);
  if (!(Microseconds < T.floor() * FloorTolerance))
    return Error::success();
  std::string Why =
      T.floor() == T.LeastDram
          ? formatv("its {0:f1} MB at {1:f0} GB/s take",
                    T.LeastDram * C.DramGBs * 1e-3, C.DramGBs)
                .str()
          : formatv("its {0} operations at the GPU's rate take", T.longest())
                .str();
  return findingError(
      formatv("impossible time: {0} in {1:f2} us, but {2} {3:f2} us on the "
              "{4} (ceilings: {5})",
              What, Microseconds, Why, T.floor(), C.Gpu, C.Origin)
          .str(),
      "does it skip work, or was something else timed?");
}

double leastTimeLike(const Ceilings &C, ArrayRef<CountedSample> Samples,
                     uint64_t Bytes) {
  constexpr double NearlyAll = 0.9;
  double Least = 1;
  for (const CountedSample &S : Samples)
    Least = std::min(Least,
                     double(S.Counts->ReadSectors + S.Counts->WrittenSectors) *
                         32 / double(std::max<uint64_t>(1, S.Bytes)));
  if (Samples.empty() || Least < NearlyAll || !(C.DramGBs > 0))
    return 0;
  // What is written last may stay in the L2.
  return std::max(0.0, (Least * double(Bytes) - double(C.L2Bytes)) / C.DramGBs *
                           1e-3);
}

Error checkPossibleLike(const Ceilings &C, ArrayRef<CountedSample> Samples,
                        uint64_t Bytes, double Microseconds, StringRef What) {
  const double Floor = leastTimeLike(C, Samples, Bytes);
  if (!(Microseconds < Floor * FloorTolerance))
    return Error::success();
  return findingError(
      formatv(
          "impossible time: {0} in {1:f2} us, but the {2:f1} MB of its "
          "buffers at {3:f0} GB/s take {4:f2} us on the {5} (ceilings: {6})",
          What, Microseconds, Floor * C.DramGBs * 1e-3, C.DramGBs, Floor, C.Gpu,
          C.Origin)
          .str(),
      "does it skip work, or was something else timed?");
}

Bottleneck classify(double MemoryShare, double ComputeShare) {
  // Below this neither side explains the time: it goes into waiting.
  constexpr double Explains = 0.45;
  if (std::max(MemoryShare, ComputeShare) < Explains)
    return Bottleneck::Latency;
  if (MemoryShare > 1.2 * ComputeShare)
    return Bottleneck::Memory;
  if (ComputeShare > 1.2 * MemoryShare)
    return Bottleneck::Compute;
  return Bottleneck::Middle;
}

Opinion opinionOfCounts(const ModelledTime &T, const CeilingTimes &Times) {
  Opinion O;
  if (!std::isfinite(T.Microseconds)) {
    O.Unknown.push_back("the launch does not fit on the GPU");
    return O;
  }
  double Memory = Times.memory() / T.Microseconds,
         Compute = Times.compute() / T.Microseconds;
  O.Class = classify(Memory, Compute);
  double Busy = std::max({T.Issue, T.Fp, T.Shared});
  O.Grounds.push_back(formatv(
      "modelled {0:f2} us: memory {1:f2}, computing {2:f2}, one warp "
      "after the other {3:f2}, launch {4:f2}",
      T.Microseconds, std::max(T.Dram, T.L2), Busy, T.Latency, T.Launch));
  O.Grounds.push_back(
      formatv("at the ceilings memory {0:f2} us, computing {1:f2}, longest {2}",
              Times.memory(), Times.compute(), Times.longest()));
  O.Grounds.push_back(formatv("occupancy {0:f0} %", T.Occupancy * 100));
  O.Unknown.push_back("cache replacement, replays, clocks");
  return O;
}

namespace {
/// What counters say of the units, as shares of what these can do.
struct UnitShares {
  std::optional<double> Dram, L2, SM, L1;
};
} // namespace

static UnitShares sharesOf(const MeasuredLaunch &M) {
  auto Metric = [&](const char *Key) -> std::optional<double> {
    auto At = M.Metrics.find(Key);
    if (At == M.Metrics.end() || !std::isfinite(At->second))
      return std::nullopt;
    return At->second / 100;
  };
  UnitShares S{Metric("dramThroughput"), Metric("l2Throughput"),
               Metric("smThroughput"), Metric("l1Throughput")};
  // Counters run on while they are started and stopped: shares of the whole
  // range are more of the launch itself.
  auto Range = M.Metrics.find("duration");
  if (Range != M.Metrics.end() && M.Microseconds > 0)
    for (std::optional<double> *Share : {&S.Dram, &S.L2, &S.SM, &S.L1})
      if (*Share)
        **Share = std::min(1.0, **Share * std::max(1.0, Range->second * 1e-3 /
                                                            M.Microseconds));
  return S;
}

std::optional<double> busiestShare(const MeasuredLaunch &M) {
  const UnitShares S = sharesOf(M);
  std::optional<double> Most;
  for (const std::optional<double> &Share : {S.Dram, S.L2, S.SM, S.L1})
    if (Share)
      Most = std::clamp(*Share, Most.value_or(0.0), 1.0);
  return Most;
}

Opinion opinionOfMeasurement(const MeasuredLaunch &M,
                             const CeilingTimes &Times) {
  Opinion O;
  const auto [Dram, L2, SM, L1] = sharesOf(M);
  if (Dram && SM) {
    double Memory = std::max(*Dram, L2.value_or(0)),
           Compute = std::max(*SM, L1.value_or(0));
    O.Class = classify(Memory, Compute);
    O.Grounds.push_back(formatv(
        "counters: DRAM {0:f0} %, L2 {1:f0} %, multiprocessors {2:f0} "
        "% and their L1 {3:f0} % of what they can do",
        *Dram * 100, L2.value_or(0) * 100, *SM * 100, L1.value_or(0) * 100));
    return O;
  }
  O.Unknown.push_back(M.NoMetrics.empty() ? "counters: none were collected"
                                          : "counters: " + M.NoMetrics);
  if (!(M.Microseconds > 0)) {
    O.Unknown.push_back("the time");
    return O;
  }
  double Memory = Times.memory() / M.Microseconds,
         Compute = Times.compute() / M.Microseconds;
  O.Class = classify(Memory, Compute);
  O.Grounds.push_back(
      formatv("measured {0:f2} us, of which memory at its ceiling would take "
              "{1:f0} % and computing {2:f0} % (by the cpu device's counts)",
              M.Microseconds, Memory * 100, Compute * 100));
  return O;
}

std::optional<double> headroom(const CeilingTimes &Times, double Microseconds) {
  double Floor = std::max(Times.memory(), Times.compute());
  if (!(Floor > 0) || !std::isfinite(Microseconds))
    return std::nullopt;
  return std::max(1.0, Microseconds / Floor);
}

json::Object toJSON(const CeilingTimes &T) {
  json::Object O;
  for (const NamedTime &P : Parts)
    O[P.Name] = T.*P.Field;
  O["leastDram"] = T.LeastDram;
  O["longest"] = T.longest();
  return O;
}

json::Object toJSON(const Opinion &O) {
  json::Value Class = nullptr;
  if (O.Class)
    Class = toString(*O.Class);
  return json::Object{{"class", Class},
                      {"grounds", json::Array(O.Grounds)},
                      {"unknown", json::Array(O.Unknown)}};
}

} // namespace cupilot
