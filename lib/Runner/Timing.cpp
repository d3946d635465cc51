//===- Timing.cpp - Two programs timed against each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Statistics.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace cupilot::runner {

// The clock of events ticks in steps of up to half a microsecond: so much time
// is put together that a step does not show.
static constexpr double WantedMicroseconds = 100;
static constexpr unsigned MostRepeats = 16;

Timing::Timing(const Gpu &G, const Program &Original, const Program &Candidate,
               const Case &C, const ImageFiles &Images,
               const std::vector<std::vector<std::string>> &Files,
               const std::vector<std::string> &VariableFiles, uint64_t Seed)
    : G(G), Flush(G), Random(Seed) {
  const Program *Both[] = {&Original, &Candidate};
  for (unsigned P = 0; P < 2; ++P)
    Programs[P] =
        std::make_unique<LoadedProgram>(G, *Both[P], C, Images, VariableFiles);
  for (auto &Of : Copies)
    for (const Buffer &B : C.Buffers)
      Of.push_back(B.Use == Role::In
                       ? nullptr
                       : std::make_unique<BandedMemory>(G, B.Size, 256, 0));
  for (size_t I = 0; I < Files.size(); ++I) {
    // The first set must fit; others come only where they leave room.
    if (I > 0 && DeviceCase::bytesNeeded(C) > G.freeMemory() / 2)
      break;
    Sets.push_back(std::make_unique<DeviceCase>(G, C, Files[I], I * 4096));
    Sets.back()->keepPristine();
    for (unsigned P = 0; P < 2; ++P)
      Bound[P].push_back(Programs[P]->bind(*Sets.back()));
  }
  for (const Buffer &B : C.Buffers)
    Repeatable &= B.Use != Role::InOut;
  for (const Variable &V : C.Variables)
    Repeatable &= V.Value.Use == Role::In;
  constexpr unsigned DefaultFlags = 0;
  for (unsigned I = 0; I < MostRepeats; ++I) {
    Handle From = nullptr, To = nullptr;
    G.check(G.api().EventCreate(&From, DefaultFlags), "making events");
    G.check(G.api().EventCreate(&To, DefaultFlags), "making events");
    Events.push_back({From, To});
  }
}

/// Microseconds for one run, over \p Count runs, each from the same state and
/// with an empty cache. All is queued before the first one ends, so that no run
/// waits for the host.
double Timing::runs(unsigned Program, unsigned Set, unsigned Count) {
  for (unsigned I = 0; I < Count; ++I) {
    Sets[Set]->restore();
    Programs[Program]->restore();
    Flush.enqueue();
    G.check(G.api().EventRecord(Events[I].first, G.stream()), "timing");
    Programs[Program]->launch(Bound[Program][Set]);
    G.check(G.api().EventRecord(Events[I].second, G.stream()), "timing");
  }
  G.synchronize("running a kernel");
  double Sum = 0;
  for (unsigned I = 0; I < Count; ++I) {
    float Milliseconds = 0;
    G.check(
        G.api().EventElapsed(&Milliseconds, Events[I].first, Events[I].second),
        "timing");
    Sum += 1000.0 * double(Milliseconds);
  }
  return Sum / Count;
}

void Timing::warmUp() {
  double Shortest = HUGE_VAL;
  for (unsigned P : {0u, 1u, 0u, 1u, 0u, 1u})
    Shortest = std::min(Shortest, runs(P, 0, 1));
  double Wanted = std::ceil(WantedMicroseconds / std::max(Shortest, 0.1));
  Repeats = unsigned(std::clamp(Wanted, 1.0, double(MostRepeats)));
}

Round Timing::round(
    const std::function<void(unsigned, unsigned, unsigned)> &After) {
  Round R;
  R.Set = NextSet;
  NextSet = (NextSet + 1) % sets();
  R.CandidateFirst = Random() & 1;
  for (unsigned Slot = 0; Slot < 4; ++Slot) {
    bool Outer = Slot == 0 || Slot == 3;
    unsigned P = Outer == R.CandidateFirst ? 1 : 0;
    R.Times[Slot] = runs(P, R.Set, Repeats);
    After(Slot, P, R.Set);
  }
  return R;
}

void Timing::snapshot(unsigned Program, unsigned Set) {
  for (unsigned I = 0; I < Copies[Program].size(); ++I)
    if (const auto &Copy = Copies[Program][I]; Copy && Copy->size())
      G.check(G.api().CopyAsync(Copy->begin(), Sets[Set]->address(I),
                                Copy->size(), G.stream()),
              "copying results");
  G.synchronize("copying results");
}

SteadyTime Timing::steady(unsigned Program) {
  using Clock = std::chrono::steady_clock;
  SteadyTime Best;
  double BestGap = HUGE_VAL;
  double Once = runs(Program, 0, 1);
  unsigned Count = unsigned(std::clamp(2000 / std::max(Once, 0.1), 1.0, 200.0));
  if (!Repeatable)
    Count = 1;
  for (int Try = 0; Try < 3; ++Try) {
    Sets[0]->restore();
    Programs[Program]->restore();
    G.synchronize("restoring buffers");
    auto From = Clock::now();
    G.check(G.api().EventRecord(Events[0].first, G.stream()), "timing");
    for (unsigned I = 0; I < Count; ++I)
      Programs[Program]->launch(Bound[Program][0]);
    G.check(G.api().EventRecord(Events[0].second, G.stream()), "timing");
    G.synchronize("running a kernel");
    double Wall =
        std::chrono::duration<double, std::micro>(Clock::now() - From).count();
    float Milliseconds = 0;
    G.check(
        G.api().EventElapsed(&Milliseconds, Events[0].first, Events[0].second),
        "timing");
    double ByEvents = 1000.0 * double(Milliseconds);
    // The host may be held up; the smallest gap is the true one.
    if (Wall - ByEvents < BestGap) {
      BestGap = Wall - ByEvents;
      Best = {ByEvents / Count, Wall / Count};
    }
  }
  return Best;
}

double Timing::emptyTime() {
  std::vector<double> All;
  for (int I = 0; I < 9; ++I) {
    Flush.enqueue();
    G.check(G.api().EventRecord(Events[0].first, G.stream()), "timing");
    G.check(G.api().EventRecord(Events[0].second, G.stream()), "timing");
    G.synchronize("timing");
    float Milliseconds = 0;
    G.check(
        G.api().EventElapsed(&Milliseconds, Events[0].first, Events[0].second),
        "timing");
    All.push_back(1000.0 * double(Milliseconds));
  }
  return medianOf(All);
}

} // namespace cupilot::runner
