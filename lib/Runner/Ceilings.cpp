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
#include "cupilot/Runner/Failure.h"
#include "cupilot/Runner/Files.h"
#include "cupilot/Runner/Runner.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

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
    throw Failure("out-of-memory", "less than 400 MiB are free on the GPU");
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
  return {{"ceilings", std::move(Result)},
          {"missing", std::move(Missing)},
          {"bytes", B.Size}};
}

} // namespace cupilot::runner
