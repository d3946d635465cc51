//===- Ceilings.cpp - What a GPU can do at most -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ceilings.h"
#include "CeilingKernels.h"
#include "Flush.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/GpuDescription.h"
#include "cupilot/Runner/Files.h"
#include "cupilot/Runner/Runner.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>

using nlohmann::json;

namespace cupilot::runner {

namespace {
/// Memory and events for measurements.
class Bench {
public:
  explicit Bench(const Gpu &G);
  ~Bench();
  /// Seconds that the work takes which \p Enqueue puts on the stream: the
  /// shortest of several times.
  double best(const std::function<void()> &Enqueue) const;
  void launch(Handle F, unsigned Blocks, unsigned Threads,
              std::vector<void *> Arguments) const;

  const Gpu &G;
  uint64_t Size = 0; ///< Bytes of each buffer.
  DeviceAddress From = 0, To = 0;

private:
  Handle Begin = nullptr, End = nullptr;
};
} // namespace

Bench::Bench(const Gpu &G) : G(G) {
  Size = std::min<uint64_t>(uint64_t(4) << 30, G.freeMemory() / 6);
  Size = Size >> 26 << 26;
  if (Size == 0)
    throw Failure(FailureKind::OutOfMemory,
                  "less than 400 MiB are free on the GPU");
  From = G.allocate(Size);
  To = G.allocate(Size);
  // Numbers that are no zeroes: memory may save itself work for those.
  G.check(G.api().Fill32(From, 0x3f9e0419, Size / 4, G.stream()), "filling");
  G.check(G.api().Fill32(To, 0x3f9e0419, Size / 4, G.stream()), "filling");
  G.check(G.api().EventCreate(&Begin, 0), "making events");
  G.check(G.api().EventCreate(&End, 0), "making events");
  G.synchronize("filling");
}

Bench::~Bench() {
  G.api().Free(From);
  G.api().Free(To);
}

double Bench::best(const std::function<void()> &Enqueue) const {
  Enqueue();
  G.synchronize("measuring a ceiling");
  double Shortest = HUGE_VAL;
  for (int I = 0; I < 7; ++I) {
    G.check(G.api().EventRecord(Begin, G.stream()), "timing");
    Enqueue();
    G.check(G.api().EventRecord(End, G.stream()), "timing");
    G.synchronize("measuring a ceiling");
    float Milliseconds = 0;
    G.check(G.api().EventElapsed(&Milliseconds, Begin, End), "timing");
    Shortest = std::min(Shortest, double(Milliseconds) * 1e-3);
  }
  return Shortest;
}

void Bench::launch(Handle F, unsigned Blocks, unsigned Threads,
                   std::vector<void *> Arguments) const {
  G.check(G.api().Launch(F, Blocks, 1, 1, Threads, 1, 1, 0, G.stream(),
                         Arguments.data(), nullptr),
          "measuring a ceiling");
}

/// Bytes or operations a second.
static double measureKernel(const Bench &B, const CeilingKernel &K, Handle F) {
  DeviceAddress From = B.From, To = B.To;
  const auto Units = unsigned(B.G.current().Multiprocessors);
  if (K.K == CeilingKernel::Kind::Copy) {
    auto Blocks = unsigned(double(B.Size) / K.Bytes);
    double Seconds = B.best([&] { B.launch(F, Blocks, 256, {&To, &From}); });
    return 2 * K.Bytes * Blocks / Seconds;
  }
  if (K.K == CeilingKernel::Kind::Read) {
    // A quarter of the L2 stays in it, whatever its policy.
    const bool InCache = K.What == "l2";
    uint64_t Bytes = B.Size;
    unsigned Times = 1;
    if (InCache) {
      Bytes = std::min(B.Size,
                       std::max<uint64_t>(B.G.current().L2Bytes / 4, 1 << 20) >>
                           20 << 20);
      Times = 32;
    }
    double Seconds = B.best(
        [&] { B.launch(F, Units * 8, 256, {&To, &From, &Bytes, &Times}); });
    return double(Bytes) * Times / Seconds;
  }
  // So many turns that it takes some milliseconds.
  unsigned Times = 64, Blocks = Units * (K.Only ? 1 : 8);
  double Seconds = 0;
  for (int Try = 0; Try < 3; ++Try) {
    Seconds = B.best([&] { B.launch(F, Blocks, K.Threads, {&To, &Times}); });
    if (Seconds > 2e-3)
      break;
    Times = unsigned(std::min(1e8, double(Times) * 4e-3 / Seconds));
  }
  double Each = K.Bytes > 0 ? K.Bytes : K.Operations;
  return Each * Times * double(Blocks) * K.Threads / Seconds;
}

static void note(json &Result, const std::string &What, const std::string &Way,
                 double Value) {
  bool Bytes =
      What == "copy" || What == "read" || What == "l2" || What == "shared";
  json &J = Result[What];
  if (J.is_null())
    J = {{"value", 0.0}, {"unit", Bytes ? "B/s" : "op/s"}};
  J["ways"][Way] = Value;
  if (Value > J["value"].get<double>()) {
    J["value"] = Value;
    J["by"] = Way;
  }
}

void writeCeilingKernels(const std::string &Folder) {
  makeFolder(Folder);
  for (const CeilingKernel &K : ceilingKernels())
    writeWhole(Folder + "/sm_" + std::to_string(K.Needs) + (K.Only ? "a" : "") +
                   "-" + K.Name + ".ptx",
               K.Ptx);
  writeWhole(Folder + "/sm_75-flush.ptx", flushPtx());
}

/// The known GPU whose figures stand in for what neither the driver tells nor
/// is measured: the GPU itself, else the latest one that is not newer, of
/// several the one that was measured most.
static const GpuDescription &nearest(const GpuInfo &I) {
  if (const GpuDescription *Same = findGpu(I.Name))
    return *Same;
  const int Capability = I.Major * 10 + I.Minor;
  auto Rank = [&](const GpuDescription &G) {
    const int Own = int(G.capability());
    const bool Newer = Own > Capability;
    return std::tuple(!Newer, Newer ? -Own : Own, -int(G.derivedFigures()));
  };
  return *std::ranges::max_element(knownGpus(), {}, Rank);
}

/// A description of the GPU, with what \p Measured says. Failure: figures that
/// contradict each other.
static json describe(const Gpu &G, const json &Measured) {
  const GpuInfo &I = G.current();
  const GpuDescription &Base = nearest(I);
  GpuDescription D = Base;
  D.Arch = I.arch();
  if (!Base.isNamed(I.Name)) {
    D.Name = I.Name;
    D.OtherNames.clear();
    for (auto &[Word, Source] : D.Sources)
      Source = {GpuFigureSource::Basis::Derived,
                "not known: as of the " + Base.Name};
  }
  D.Sources["here"] = {GpuFigureSource::Basis::Driver, "this GPU's driver"};
  D.Sources["ceilings"] = {GpuFigureSource::Basis::Measured,
                           "cupilot-runner --ceilings, on this GPU"};
  auto Set = [&](auto &Figure, const char *Key, double Value,
                 const char *Source) {
    if (!(Value > 0))
      return;
    Figure = std::remove_reference_t<decltype(Figure)>(Value);
    D.SourceOf[Key] = Source;
  };
  auto Told = [&](auto &Figure, const char *Key, DeviceAttribute A) {
    Set(Figure, Key, G.attribute(A), "here");
  };
  auto Rate = [&](const char *Name) {
    return Measured.contains(Name) ? Measured[Name]["value"].get<double>() : 0;
  };
  Told(D.Multiprocessors, "multiprocessors", DeviceAttribute::Multiprocessors);
  Told(D.MaxThreadsPerSM, "threadsPerMultiprocessor",
       DeviceAttribute::ThreadsPerMultiprocessor);
  Told(D.MaxBlocksPerSM, "blocksPerMultiprocessor",
       DeviceAttribute::BlocksPerMultiprocessor);
  Told(D.RegistersPerSM, "registersPerMultiprocessor",
       DeviceAttribute::RegistersPerMultiprocessor);
  Told(D.SharedPerSM, "sharedPerMultiprocessor",
       DeviceAttribute::SharedPerMultiprocessor);
  Told(D.SharedPerBlock, "sharedPerBlock",
       DeviceAttribute::SharedPerBlockOptin);
  Told(D.L2Bytes, "l2Bytes", DeviceAttribute::L2Bytes);
  Set(D.ClockGHz, "clockGHz", G.attribute(DeviceAttribute::ClockRate) * 1e-6,
      "here");
  Set(D.PeakFp32Tflops, "peakFp32Tflops", D.fp32Peak(), "here");
  Set(D.Fp32Tflops, "fp32Tflops",
      D.fp32Peak() * Base.Fp32Tflops / Base.fp32Peak(),
      D.SourceOf.at("fp32Tflops").c_str());
  // Two transfers in each cycle of the memory's clock, which is in kHz.
  Set(D.PeakDramGBs, "peakDramGBs",
      2e-6 * G.attribute(DeviceAttribute::MemoryClockRate) *
          G.attribute(DeviceAttribute::MemoryBusWidth) / 8,
      "here");
  Set(D.DramGBs, "dramGBs", std::max(Rate("copy"), Rate("read")) * 1e-9,
      "ceilings");
  Set(D.L2GBs, "l2GBs", Rate("l2") * 1e-9, "ceilings");
  Set(D.TensorPerCycle, "tensorPerCycle",
      std::max(Rate("fp16"), Rate("bf16")) * 1e-9 /
          (D.Multiprocessors * D.ClockGHz),
      "ceilings");
  json J = toJson(D);
  readGpuDescription(J.dump(), "what the driver and the ceilings say");
  return J;
}

json measureCeilings(const Gpu &G) {
  Bench B(G);
  json Result, Missing = json::object();
  double Seconds = B.best([&] {
    G.check(G.api().CopyAsync(B.To, B.From, B.Size, G.stream()), "copying");
  });
  note(Result, "copy", "driver", 2 * double(B.Size) / Seconds);
  const int Capability = G.current().Major * 10 + G.current().Minor;
  for (const CeilingKernel &K : ceilingKernels()) {
    if (K.Only ? Capability != K.Needs
               : Capability < K.Needs || (K.Until && Capability > K.Until))
      continue;
    Handle Module = nullptr;
    try {
      Module = G.loadModule(K.Ptx);
      note(Result, K.What, K.Name,
           measureKernel(B, K, G.function(Module, "ceiling")));
    } catch (const Failure &F) {
      Missing[K.Name] = F.what();
    }
    if (Module)
      G.api().ModuleUnload(Module);
  }
  json All = json::object();
  try {
    All = describe(G, Result);
  } catch (const Failure &F) {
    Missing["description"] = F.what();
  }
  All["ceilings"] = std::move(Result);
  All["missing"] = std::move(Missing);
  All["bytes"] = B.Size;
  return All;
}

} // namespace cupilot::runner
