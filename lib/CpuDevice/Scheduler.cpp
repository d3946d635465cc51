//===- Scheduler.cpp - Blocks of threads on one host thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels without barriers and warp operations run as a plain loop over the
// threads. The others get a fiber per thread; a fiber that waits switches to
// the scheduler, which goes round until all have ended or none can go on.
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace cupilot {

/// Stack of one fiber, of which the lowest page is a guard. Pages that are not
/// touched cost nothing.
static constexpr uint64_t StackSize = 256 * 1024;

BlockState::BlockState(const LoweredModule &Tables, const LoweredKernel &Kernel,
                       EntryFunction Entry, DeviceMemory &Memory, char *Args,
                       const CpuDeviceOptions &Options)
    : Tables(Tables), Kernel(Kernel), Memory(Memory), Options(Options),
      Entry(Entry), Args(Args), Sites(Tables.Sites.size()) {
  if (Options.Count)
    Trace = std::make_unique<WarpTrace>(Tables, Kernel);
}

BlockState::~BlockState() {
  if (Stacks)
    ::munmap(Stacks, StacksSize);
}

void BlockState::prepare(ThreadContext &T, const LaunchShape &S,
                         unsigned Linear) {
  T.Tid[0] = Linear % S.Block[0];
  T.Tid[1] = Linear / S.Block[0] % S.Block[1];
  T.Tid[2] = Linear / (S.Block[0] * S.Block[1]);
  for (unsigned I = 0; I < 3; ++I) {
    T.Ctaid[I] = Block[I];
    T.Ntid[I] = S.Block[I];
    T.Nctaid[I] = S.Grid[I];
  }
  T.Shared = Shared;
  T.DynShared = S.Shared;
  T.Linear = Linear;
  T.Sites = Sites.data();
  T.BlockCounts = Trace ? Trace->blockCounts(Linear) : nullptr;
  T.Budget = Options.MaxInstructions;
  T.Block = this;
}

bool BlockState::run(const LaunchShape &S, std::array<uint64_t, 3> B) {
  Shape = S;
  Block = B;
  SharedSize = Kernel.StaticShared + S.Shared;
  SharedStore.resize(SharedSize + 1024);
  Shared = reinterpret_cast<char *>(
      alignTo(reinterpret_cast<uintptr_t>(SharedStore.data()), Align(1024)));
  // What a block finds there is undefined; a NaN shows who relies on it.
  std::memset(Shared, 0xff, SharedSize);
  if (Wide)
    Wide->setShared(Shared, SharedSize);
  unsigned Threads = S.Block[0] * S.Block[1] * S.Block[2];
  if (Trace)
    Trace->beginBlock(Threads);
  if (Kernel.NeedsFibers)
    runFibers(Threads);
  else
    runLoop(Threads);
  if (Trace)
    Trace->endBlock();
  return !Fault;
}

void BlockState::runLoop(unsigned Threads) {
  Contexts.resize(1);
  ThreadContext &T = Contexts[0];
  prepare(T, Shape, 0);
  volatile unsigned Next = 0; // Lives across longjmp.
  (void)setjmp(Escape);
  while (!Fault && Next < Threads) {
    unsigned Turn = Next;
    Next = Turn + 1;
    if (Options.Reverse) {
      prepare(T, Shape, Threads - 1 - Turn);
    } else if (Turn > 0) {
      T.Linear = Turn;
      if (++T.Tid[0] == Shape.Block[0]) {
        T.Tid[0] = 0;
        if (++T.Tid[1] == Shape.Block[1]) {
          T.Tid[1] = 0;
          ++T.Tid[2];
        }
      }
      T.Budget = Options.MaxInstructions;
      if (Trace)
        T.BlockCounts = Trace->blockCounts(Turn);
    }
    Entry(&T, Args);
  }
}

void BlockState::fiberMain(transfer_t From) {
  auto *T = static_cast<ThreadContext *>(From.data);
  BlockState &B = *T->Block;
  B.SchedulerContext = From.fctx;
  B.Entry(T, B.Args);
  B.Fibers[T->Linear].Now = Fiber::State::Done;
  jump_fcontext(B.SchedulerContext, nullptr);
  llvm_unreachable("a fiber that has ended was resumed");
}

void BlockState::suspend(ThreadContext &T) {
  transfer_t Back = jump_fcontext(SchedulerContext, nullptr);
  SchedulerContext = Back.fctx;
}

void BlockState::escape(ThreadContext &T) {
  if (!Kernel.NeedsFibers)
    std::longjmp(Escape, 1);
  Fibers[T.Linear].Now = Fiber::State::Done;
  jump_fcontext(SchedulerContext, nullptr);
  llvm_unreachable("a fiber that has ended was resumed");
}

void BlockState::runFibers(unsigned Threads) {
  if (StacksSize < Threads * StackSize) {
    if (Stacks)
      ::munmap(Stacks, StacksSize);
    StacksSize = Threads * StackSize;
    void *Map = ::mmap(nullptr, StacksSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (Map == MAP_FAILED)
      report_fatal_error("the cpu device cannot get memory for its stacks");
    Stacks = static_cast<char *>(Map);
    for (unsigned I = 0; I < Threads; ++I)
      ::mprotect(Stacks + I * StackSize, 4096, PROT_NONE);
  }
  Contexts.resize(Threads);
  Fibers.assign(Threads, Fiber());
  Barriers.fill(BarrierUnit());
  Live = Threads;
  for (unsigned I = 0; I < Threads; ++I) {
    prepare(Contexts[I], Shape, I);
    // Stack tops staggered by cache lines, or all would fall into one set.
    char *Top = Stacks + (I + 1) * StackSize - (I % 64) * 64;
    Fibers[I].Context = make_fcontext(Top, StackSize - 8192, fiberMain);
    Fibers[I].Now = Fiber::State::Ready;
  }
  while (Live > 0 && !Fault) {
    bool Progress = false;
    for (unsigned Turn = 0; Turn < Threads && !Fault; ++Turn) {
      unsigned I = Options.Reverse ? Threads - 1 - Turn : Turn;
      Fiber &F = Fibers[I];
      if (F.Now != Fiber::State::Ready)
        continue;
      Progress = true;
      transfer_t Back = jump_fcontext(F.Context, &Contexts[I]);
      F.Context = Back.fctx;
      if (F.Now == Fiber::State::Done) {
        --Live;
        completeWarp(I / 32); // It may have been the one others waited for.
      }
    }
    if (tryReleaseBarriers())
      Progress = true;
    for (unsigned Warp = 0; Warp * 32 < Threads; ++Warp)
      if (releaseActive(Warp))
        Progress = true;
    if (Progress || Fault || Live == 0)
      continue;
    auto Stuck = find_if(
        Fibers, [](const Fiber &F) { return F.Now != Fiber::State::Done; });
    ThreadContext &T = Contexts[Stuck - Fibers.begin()];
    bool AtBarrier = Stuck->Now == Fiber::State::AtBarrier;
    recordFault(
        T, AtBarrier ? "divergent barrier" : "warp operation with a wrong mask",
        0, nullptr,
        AtBarrier
            ? Twine("this thread waits at a barrier that others never reach")
        : Stuck->Now == Fiber::State::AtCollective
            ? Twine("other threads of the warp never reach the instruction")
            : "lanes named in the mask 0x" + Twine::utohexstr(Stuck->Mask) +
                  " never reach the operation");
  }
}

void BlockState::releaseBarrier(uint32_t Id) {
  BarrierUnit Unit = Barriers[Id];
  Barriers[Id] = BarrierUnit();
  for (Fiber &F : Fibers)
    if (F.Now == Fiber::State::AtBarrier && F.BarrierId == Id) {
      auto Kind = static_cast<BarrierKind>(F.BarrierResult);
      F.BarrierResult = Kind == BarrierKind::Popc  ? Unit.Popc
                        : Kind == BarrierKind::And ? Unit.And
                                                   : Unit.Or;
      F.Now = Fiber::State::Ready;
    }
}

bool BlockState::tryReleaseBarriers() {
  bool Any = false;
  for (uint32_t Id = 0; Id < Barriers.size(); ++Id) {
    const BarrierUnit &Unit = Barriers[Id];
    if (Unit.Arrived > 0 &&
        Unit.Arrived >= (Unit.Expected ? Unit.Expected : Live)) {
      releaseBarrier(Id);
      Any = true;
    }
  }
  return Any;
}

uint32_t BlockState::barrier(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                             uint32_t Count, uint32_t Predicate,
                             uint32_t Where) {
  if (Trace)
    Trace->barrier(T.Linear);
  Fiber &F = Fibers[T.Linear];
  BarrierUnit &Unit = Barriers[Id % 16];
  if (Unit.Arrived == 0)
    Unit.Where = Where;
  else if (Unit.Where != Where && Count == 0) {
    recordFault(T, "divergent barrier", 0, nullptr,
                "threads of the block wait at different __syncthreads");
    escape(T);
  }
  Unit.Expected = Count;
  ++Unit.Arrived;
  Unit.Popc += Predicate != 0;
  Unit.And &= Predicate != 0;
  Unit.Or |= Predicate != 0;
  F.BarrierId = Id % 16;
  F.BarrierResult = static_cast<uint32_t>(Kind); // Until it is released.
  F.Now = Fiber::State::AtBarrier;
  suspend(T);
  return F.BarrierResult;
}

uint32_t BlockState::activeLanes(ThreadContext &T, uint32_t Where) {
  Fiber &F = Fibers[T.Linear];
  F.Op = WarpOp::Active;
  F.Mask = 0;
  F.LaneArg = Where;
  F.Now = Fiber::State::AtWarp;
  suspend(T);
  return static_cast<uint32_t>(F.Result);
}

bool BlockState::releaseActive(unsigned Warp) {
  MutableArrayRef<Fiber> Lanes = MutableArrayRef(Fibers).slice(
      Warp * 32, std::min<size_t>(32, Fibers.size() - Warp * 32));
  if (any_of(Lanes,
             [](const Fiber &F) { return F.Now == Fiber::State::Ready; }))
    return false;
  auto Waits = [](const Fiber &F) {
    return F.Now == Fiber::State::AtWarp && F.Op == WarpOp::Active;
  };
  for (Fiber &F : Lanes) {
    if (!Waits(F))
      continue;
    F.Result = 0;
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (Waits(Lanes[I]) && Lanes[I].LaneArg == F.LaneArg)
        F.Result |= uint64_t(1) << I;
  }
  bool Any = false;
  for (Fiber &F : Lanes)
    if (Waits(F)) {
      F.Now = Fiber::State::Ready;
      Any = true;
    }
  return Any;
}

uint64_t BlockState::warp(ThreadContext &T, WarpOp Op, uint32_t Mask,
                          uint64_t Value, uint32_t LaneArg, uint32_t Clamp) {
  Fiber &F = Fibers[T.Linear];
  if (!(Mask >> (T.Linear % 32) & 1)) {
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
                "the mask 0x" + Twine::utohexstr(Mask) +
                    " does not name this lane");
    escape(T);
  }
  F.Op = Op;
  F.Mask = Mask;
  F.Value = Value;
  F.LaneArg = LaneArg;
  F.Clamp = Clamp;
  F.Now = Fiber::State::AtWarp;
  completeWarp(T.Linear / 32);
  if (F.Now == Fiber::State::AtWarp)
    suspend(T);
  F.Now = Fiber::State::Ready;
  T.WarpPredicate = F.Predicate;
  return F.Result;
}

/// What one lane gets, when the lanes of \p Mask (of those that live) are
/// there.
static void finishLane(MutableArrayRef<Fiber> Warp, unsigned Lane,
                       uint32_t Present) {
  Fiber &F = Warp[Lane];
  F.Predicate = 0;
  auto Each = [&](auto Visit) {
    for (unsigned I = 0; I < Warp.size(); ++I)
      if (Present >> I & 1)
        Visit(I, Warp[I]);
  };
  auto Reduce = [&](auto Combine) {
    bool First = true;
    Each([&](unsigned, Fiber &Other) {
      F.Result = First ? Other.Value : Combine(F.Result, Other.Value);
      First = false;
    });
  };
  auto Signed = [](uint64_t V) { return static_cast<int32_t>(V); };
  switch (F.Op) {
  case WarpOp::Sync:
  case WarpOp::Active: // Never finished here.
    break;
  case WarpOp::ShflIdx:
  case WarpOp::ShflUp:
  case WarpOp::ShflDown:
  case WarpOp::ShflBfly: {
    // PTX ISA, "shfl.sync": the clamp operand holds the segment mask too.
    int Segment = static_cast<int>(F.Clamp >> 8 & 31),
        Bound = static_cast<int>(F.Clamp & 31);
    int Arg = static_cast<int>(F.LaneArg & 31), Self = static_cast<int>(Lane);
    int Max = (Self & Segment) | (Bound & ~Segment), Min = Self & Segment;
    int Source = 0;
    bool Inside = false;
    if (F.Op == WarpOp::ShflUp) {
      Source = Self - Arg;
      Inside = Source >= Max;
    } else if (F.Op == WarpOp::ShflDown) {
      Source = Self + Arg;
      Inside = Source <= Max;
    } else if (F.Op == WarpOp::ShflBfly) {
      Source = Self ^ Arg;
      Inside = Source <= Max;
    } else {
      Source = Min | (Arg & ~Segment);
      Inside = Source <= Max;
    }
    if (!Inside)
      Source = Self;
    F.Predicate = Inside;
    // Reading a lane that takes no part is undefined: a NaN shows it.
    F.Result = Source < 32 && (Present >> Source & 1) ? Warp[Source].Value
                                                      : 0xffffffffu;
    break;
  }
  case WarpOp::Ballot:
    F.Result = 0;
    Each([&](unsigned I, Fiber &Other) {
      F.Result |= uint64_t(Other.Value != 0) << I;
    });
    break;
  case WarpOp::Any:
    Reduce(
        [](uint64_t A, uint64_t B) -> uint64_t { return (A != 0) | (B != 0); });
    break;
  case WarpOp::All:
    Reduce(
        [](uint64_t A, uint64_t B) -> uint64_t { return (A != 0) & (B != 0); });
    break;
  case WarpOp::Uni: {
    bool Same = true;
    Each([&](unsigned, Fiber &Other) {
      Same &= (Other.Value != 0) == (F.Value != 0);
    });
    F.Result = Same;
    break;
  }
  case WarpOp::MatchAny:
  case WarpOp::MatchAll: {
    uint32_t Equal = 0;
    Each([&](unsigned I, Fiber &Other) {
      Equal |= uint32_t(Other.Value == F.Value) << I;
    });
    F.Predicate = Equal == Present;
    F.Result = F.Op == WarpOp::MatchAny || F.Predicate ? Equal : 0;
    break;
  }
  case WarpOp::ReduceAdd:
    Reduce([](uint64_t A, uint64_t B) { return (A + B) & 0xffffffffu; });
    break;
  case WarpOp::ReduceMin:
    Reduce(
        [&](uint64_t A, uint64_t B) { return Signed(A) < Signed(B) ? A : B; });
    break;
  case WarpOp::ReduceMax:
    Reduce(
        [&](uint64_t A, uint64_t B) { return Signed(A) > Signed(B) ? A : B; });
    break;
  case WarpOp::ReduceUMin:
    Reduce([](uint64_t A, uint64_t B) { return std::min(A, B); });
    break;
  case WarpOp::ReduceUMax:
    Reduce([](uint64_t A, uint64_t B) { return std::max(A, B); });
    break;
  case WarpOp::ReduceAnd:
    Reduce([](uint64_t A, uint64_t B) { return A & B; });
    break;
  case WarpOp::ReduceOr:
    Reduce([](uint64_t A, uint64_t B) { return A | B; });
    break;
  case WarpOp::ReduceXor:
    Reduce([](uint64_t A, uint64_t B) { return A ^ B; });
    break;
  }
}

void BlockState::completeWarp(unsigned Warp) {
  unsigned First = Warp * 32;
  MutableArrayRef<Fiber> Lanes = MutableArrayRef(Fibers).slice(
      First, std::min<size_t>(32, Fibers.size() - First));
  uint32_t Alive = 0;
  for (unsigned I = 0; I < Lanes.size(); ++I)
    if (Lanes[I].Now != Fiber::State::Done)
      Alive |= 1u << I;
  uint32_t Open = 0;
  for (unsigned I = 0; I < Lanes.size(); ++I)
    if (Lanes[I].Now == Fiber::State::AtWarp && Lanes[I].Op != WarpOp::Active)
      Open |= 1u << I;
  while (Open) {
    unsigned Leader = llvm::countr_zero(Open);
    const Fiber &F = Lanes[Leader];
    uint32_t Wanted = F.Mask & Alive, There = 0;
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if ((Open >> I & 1) && Lanes[I].Mask == F.Mask && Lanes[I].Op == F.Op)
        There |= 1u << I;
    Open &= ~There;
    if (There != Wanted)
      continue;
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (There >> I & 1)
        finishLane(Lanes, I, There);
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (There >> I & 1)
        Lanes[I].Now = Fiber::State::Ready;
  }
}

void BlockState::recordFault(const ThreadContext &T, StringRef Kind,
                             uint64_t Address, const AccessSite *Site,
                             const Twine &Detail) {
  DeviceFault New;
  New.Kind = Kind.str();
  New.Kernel = Kernel.Name;
  for (unsigned I = 0; I < 3; ++I) {
    New.Block[I] = T.Ctaid[I];
    New.Thread[I] = T.Tid[I];
  }
  New.Address = Address;
  if (Site)
    New.Location = Site->Location;
  New.Detail = Detail.str();
  Fault = std::move(New);
}

} // namespace cupilot
