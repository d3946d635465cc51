//===- TableArchive.cpp - Tables of lowered modules as bytes --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each type is taken apart by a structured binding, which no longer compiles
// when a field is added.
//
//===----------------------------------------------------------------------===//

#include "TableArchive.h"
#include "Hopper/DeviceOps.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <type_traits>

using namespace llvm;

namespace cupilot {

namespace {
class Writer {
public:
  std::string Bytes;
  void raw(const void *From, size_t Size) {
    Bytes.append(static_cast<const char *>(From), Size);
  }
  uint64_t count(uint64_t N) {
    raw(&N, sizeof(N));
    return N;
  }
};

class Reader {
public:
  explicit Reader(StringRef Bytes) : Bytes(Bytes) {}
  void raw(void *To, size_t Size) {
    if (Size > Bytes.size()) {
      Broken = true;
      Bytes = "";
      return;
    }
    std::memcpy(To, Bytes.data(), Size);
    Bytes = Bytes.drop_front(Size);
  }
  /// A number of things, each of which takes a byte at least.
  uint64_t count(uint64_t) {
    uint64_t N = 0;
    raw(&N, sizeof(N));
    if (N <= Bytes.size())
      return N;
    Broken = true;
    return 0;
  }
  bool ended() const { return !Broken && Bytes.empty(); }
  bool Broken = false;

private:
  StringRef Bytes;
};
} // namespace

template <class Ar, class T>
static std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>
pass(Ar &A, T &V) {
  A.raw(&V, sizeof(V));
}
template <class Ar> static void pass(Ar &A, BlockCost &V) {
  static_assert(std::is_trivially_copyable_v<BlockCost>);
  A.raw(&V, sizeof(V));
}
template <class Ar, class T, size_t N>
static void pass(Ar &A, std::array<T, N> &V) {
  static_assert(std::is_arithmetic_v<T>);
  A.raw(V.data(), sizeof(V));
}
template <class Ar> static void pass(Ar &A, std::string &V) {
  V.resize(A.count(V.size()));
  A.raw(V.data(), V.size());
}
template <class Ar> static void pass(Ar &A, BitVector &V);
template <class Ar> static void pass(Ar &A, std::optional<uint64_t> &V);
template <class Ar, class T> static void pass(Ar &A, std::vector<T> &V);
template <class Ar>
static void pass(Ar &A, std::map<std::string, uint32_t> &V) {
  std::vector<std::pair<std::string, uint32_t>> All(V.begin(), V.end());
  pass(A, All);
  V = std::map<std::string, uint32_t>(All.begin(), All.end());
}
template <class Ar, class... T> static void all(Ar &A, T &...V) {
  (pass(A, V), ...);
}

template <class Ar>
static void pass(Ar &A, std::pair<std::string, uint32_t> &V) {
  all(A, V.first, V.second);
}
template <class Ar> static void pass(Ar &A, LoweredKernel &V) {
  auto &[Name, Entry, Sizes, Offsets, Fibers, Yields, Exchanges, Static,
         Reserved, Calls, Stack, Local, Cluster, Instructions, Unsupported,
         First, Blocks, Reads, Writes] = V;
  all(A, Name, Entry, Sizes, Offsets, Fibers, Yields, Exchanges, Static,
      Reserved, Calls, Stack, Local, Cluster, Instructions, Unsupported, First,
      Blocks, Reads, Writes);
}
template <class Ar> static void pass(Ar &A, AccessSite &V) {
  auto &[Kernel, Location, Size, Alignment, Stores, Atomic, Space, Volatile,
         Carries, OfGroups, Read, Write] = V;
  all(A, Kernel, Location, Size, Alignment, Stores, Atomic, Space, Volatile,
      Carries, OfGroups, Read, Write);
}
/// The rule is looked up by the name.
template <class Ar> static void pass(Ar &A, DeviceOp &V) {
  auto &[Name, Rule, Inputs, Key, Read, Write, Where] = V;
  all(A, Name, Inputs, Key, Read, Write, Where);
}
template <class Ar> static void pass(Ar &A, LoweredModule::Global &V) {
  auto &[Symbol, Size, Visible] = V;
  all(A, Symbol, Size, Visible);
}
template <class Ar> static void pass(Ar &A, LoweredModule::DeviceFunction &V) {
  auto &[Symbol, Type, Unsupported, ByPointer] = V;
  all(A, Symbol, Type, Unsupported, ByPointer);
}
template <class Ar> static void pass(Ar &A, DecisionSite &V) {
  auto &[Kind, Function, Body, InBody, Location, First, Sides, Never] = V;
  all(A, Kind, Function, Body, InBody, Location, First, Sides, Never);
}
template <class Ar> static void pass(Ar &A, LoweredModule &V) {
  auto &[Arch, Kernels, Sites, Costs, Ops, Globals, Places, Functions, Types,
         TypeAt, FunctionBlocks, Decisions, Decided, Hidden] = V;
  all(A, Arch, Kernels, Sites, Costs, Ops, Globals, Places, Functions, Types,
      FunctionBlocks, Decisions, Decided, Hidden);
}
template <class Ar> static void pass(Ar &A, ModuleIndex::Kernel &V) {
  auto &[Name, Sizes] = V;
  all(A, Name, Sizes);
}
template <class Ar> static void pass(Ar &A, ModuleIndex &V) {
  auto &[Arch, Whole, Kernels, Globals] = V;
  all(A, Arch, Whole, Kernels, Globals);
}
template <class Ar> static void pass(Ar &A, BitVector &V) {
  std::vector<uint8_t> Bits(V.size());
  for (unsigned I : V.set_bits())
    Bits[I] = 1;
  pass(A, Bits);
  V.clear();
  V.resize(unsigned(Bits.size()));
  for (auto [I, Bit] : enumerate(Bits))
    if (Bit)
      V.set(unsigned(I));
}
template <class Ar> static void pass(Ar &A, std::optional<uint64_t> &V) {
  bool Has = V.has_value();
  uint64_t Number = V.value_or(0);
  all(A, Has, Number);
  V = Has ? std::optional(Number) : std::nullopt;
}
template <class Ar> static void pass(Ar &A, CpuDeviceOptions &V) {
  auto &[Bounds, Races, SameValue, Written, Divergence, Coverage, Decisions,
         Only, Count, AsCompiled, Wide, ProductBits, AtRandom, Threads, Most,
         MostOfLaunch, Steps, Sample, Last, Reverse, Nans, Seed, Resident, Lost,
         Volatile, Arch, Cache, Apart] = V;
  all(A, Bounds, Races, SameValue, Written, Divergence, Coverage, Decisions,
      Only, Count, AsCompiled, Wide, ProductBits, AtRandom, Threads, Most,
      MostOfLaunch, Steps, Sample, Last, Reverse, Nans, Seed, Resident, Lost,
      Volatile, Arch, Cache);
}
template <class Ar, class T> static void pass(Ar &A, std::vector<T> &V) {
  V.resize(A.count(V.size()));
  for (T &Each : V)
    pass(A, Each);
}

template <class T> static std::string written(const T &V) {
  Writer W;
  pass(W, const_cast<T &>(V)); // A writer changes nothing.
  return std::move(W.Bytes);
}

template <class T> static std::optional<T> readBack(StringRef Bytes) {
  Reader R(Bytes);
  T V;
  pass(R, V);
  if (!R.ended())
    return std::nullopt;
  return V;
}

std::string archived(const LoweredModule &Tables) { return written(Tables); }
std::string archived(const ModuleIndex &Index) { return written(Index); }
std::string archived(const CpuDeviceOptions &Options) {
  return written(Options);
}

std::optional<LoweredModule> tablesOf(StringRef Bytes) {
  std::optional<LoweredModule> Tables = readBack<LoweredModule>(Bytes);
  if (!Tables)
    return std::nullopt;
  for (DeviceOp &Op : Tables->Ops) {
    SmallVector<StringRef> Parts;
    StringRef(Op.Name).split(Parts, '.');
    std::optional<OpRule> Rule = findOp(Parts);
    if (!Rule)
      return std::nullopt;
    Op.Rule = std::move(*Rule);
  }
  return Tables;
}

std::optional<ModuleIndex> moduleIndexOf(StringRef Bytes) {
  return readBack<ModuleIndex>(Bytes);
}

std::optional<CpuDeviceOptions> optionsOf(StringRef Bytes) {
  return readBack<CpuDeviceOptions>(Bytes);
}

} // namespace cupilot
