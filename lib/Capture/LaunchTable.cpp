//===- LaunchTable.cpp - Which launches are kept -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/LaunchTable.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace cupilot::capture {

uint64_t mixHash(uint64_t Hash, const void *Bytes, size_t Size) {
  auto Mix = [&](uint64_t Word) {
    Hash = (Hash ^ Word) * 0x9fb21c651e98df25ull;
    Hash ^= Hash >> 32;
  };
  const char *At = static_cast<const char *>(Bytes);
  for (; Size >= 8; At += 8, Size -= 8) {
    uint64_t Word;
    std::memcpy(&Word, At, 8);
    Mix(Word);
  }
  uint64_t Rest = Size;
  for (; Size; ++At, --Size)
    Rest = Rest << 8 | static_cast<unsigned char>(*At);
  Mix(Rest);
  return Hash;
}

static uint64_t hashOf(const std::string &Kernel, const Shape &Dims,
                       uint64_t Salt, bool InGraph) {
  uint64_t Hash = mixHash(Salt, Kernel.data(), Kernel.size());
  Hash = mixHash(Hash, Dims.Grid.data(), sizeof(Dims.Grid));
  Hash = mixHash(Hash, Dims.Block.data(), sizeof(Dims.Block));
  Hash = mixHash(Hash, Dims.Cluster.data(), sizeof(Dims.Cluster));
  uint64_t Rest[] = {Dims.Shared, uint64_t(Dims.Cooperative) * 2 + InGraph};
  return mixHash(Hash, Rest, sizeof(Rest));
}

// Salts of the coarser keys.
static constexpr uint64_t ShapeSalt = 0x5a17, RestSalt = 0x4e57;

LaunchTable::Found LaunchTable::add(Kernel &K, uint64_t Key,
                                    const std::string &Name, const Shape &Dims,
                                    bool Rest, bool InGraph) {
  if (Classes.size() == Counters::Capacity - 1) {
    // The last one stands for all that is left of all kernels.
    Classes.push_back({"", {}, true, false, false, true, 0});
    Known[Key] = static_cast<uint32_t>(Classes.size() - 1);
    return {Known[Key], true};
  }
  if (Classes.size() >= Counters::Capacity)
    return {static_cast<uint32_t>(Counters::Capacity - 1), false};
  uint32_t Index = static_cast<uint32_t>(Classes.size());
  Class C;
  C.Kernel = Name;
  C.Dims = Dims;
  C.Rest = Rest;
  C.InGraph = InGraph;
  Classes.push_back(std::move(C));
  K.Own.push_back(Index);
  Known[Key] = Index;
  return {Index, true};
}

LaunchTable::Found LaunchTable::lookup(const std::string &Name,
                                       const Shape &Dims, uint64_t Args,
                                       bool InGraph) const {
  auto It = Known.find(hashOf(Name, Dims, Args, InGraph));
  return It == Known.end() ? Found{0, true} : Found{It->second, false};
}

LaunchTable::Found LaunchTable::find(const std::string &Name, const Shape &Dims,
                                     uint64_t Args, bool InGraph) {
  uint64_t Key = hashOf(Name, Dims, Args, InGraph);
  if (auto It = Known.find(Key); It != Known.end())
    return {It->second, false};
  Kernel &K = Kernels[Name];
  if (K.ByArguments < Limits.ClassesPerKernel) {
    ++K.ByArguments;
    return add(K, Key, Name, Dims, false, InGraph);
  }
  Key = hashOf(Name, Dims, ShapeSalt, InGraph);
  if (auto It = Known.find(Key); It != Known.end())
    return {It->second, false};
  if (K.ByShape < Limits.ClassesPerKernel) {
    ++K.ByShape;
    return add(K, Key, Name, Dims, true, InGraph);
  }
  Key = hashOf(Name, {}, RestSalt, InGraph);
  if (auto It = Known.find(Key); It != Known.end())
    return {It->second, false};
  return add(K, Key, Name, Dims, true, InGraph);
}

LaunchTable::Found LaunchTable::findByShape(const std::string &Name,
                                            const Shape &Dims, bool InGraph) {
  uint64_t Key = hashOf(Name, Dims, ShapeSalt + 1, InGraph);
  if (auto It = Known.find(Key); It != Known.end())
    return {It->second, false};
  Kernel &K = Kernels[Name];
  for (uint32_t Index : K.Own) {
    const Class &C = Classes[Index];
    // Records of time do not say whether a launch was a cooperative one.
    Shape Same = C.Dims;
    Same.Cooperative = Dims.Cooperative;
    if (C.InGraph == InGraph && Same == Dims) {
      Known[Key] = Index;
      return {Index, false};
    }
  }
  if (K.ByShape < Limits.ClassesPerKernel) {
    ++K.ByShape;
    return add(K, Key, Name, Dims, false, InGraph);
  }
  Key = hashOf(Name, {}, RestSalt, InGraph);
  if (auto It = Known.find(Key); It != Known.end())
    return {It->second, false};
  return add(K, Key, Name, Dims, true, InGraph);
}

size_t LaunchTable::keptLike(uint32_t Index) const {
  const std::vector<uint32_t> &Own = Kernels.at(Classes[Index].Kernel).Own;
  return static_cast<size_t>(std::ranges::count_if(
      Own, [&](uint32_t Each) { return Classes[Each].Kept; }));
}

size_t LaunchTable::kept() const {
  return static_cast<size_t>(std::ranges::count(Classes, true, &Class::Kept));
}

bool LaunchTable::wants(uint32_t Index) const {
  const Class &C = Classes[Index];
  if (C.Kept || C.Never || C.InGraph)
    return false;
  uint64_t Count = Counts[Index].Count;
  if (!std::has_single_bit(Count))
    return false;
  return keptLike(Index) < Limits.KeptPerKernel || !victims(Index, 0).empty();
}

bool LaunchTable::wantsInGraph(uint32_t Index) const {
  const Class &C = Classes[Index];
  if (C.Kept || C.Never || !C.InGraph)
    return false;
  size_t Kept = 0;
  for (uint32_t Other : Kernels.at(C.Kernel).Own) {
    const Class &O = Classes[Other];
    if (Other < Index && O.InGraph && O.Dims == C.Dims)
      return false;
    Kept += O.Kept;
  }
  return Kept < Limits.KeptPerKernel;
}

std::vector<uint32_t> LaunchTable::victims(uint32_t Index,
                                           uint64_t Bytes) const {
  auto Time = [&](uint32_t I) -> uint64_t { return Counts[I].Nanoseconds; };
  auto Less = [&](uint32_t A, uint32_t B) { return Time(A) < Time(B); };
  auto Lesser = [&](uint32_t I) { return Time(I) * 2 < Time(Index); };
  std::vector<uint32_t> Result, Own;
  for (uint32_t Other : Kernels.at(Classes[Index].Kernel).Own)
    if (Classes[Other].Kept)
      Own.push_back(Other);
  if (Own.size() >= Limits.KeptPerKernel) {
    uint32_t Least = *std::ranges::min_element(Own, Less);
    if (!Lesser(Least))
      return {};
    Result.push_back(Least);
    Bytes -= std::min(Bytes, Classes[Least].Bytes);
  }
  std::vector<uint32_t> All;
  for (uint32_t I = 0; I < Classes.size(); ++I)
    if (Classes[I].Kept && Lesser(I) &&
        std::ranges::find(Result, I) == Result.end())
      All.push_back(I);
  std::ranges::sort(All, Less);
  for (uint32_t I : All) {
    if (!Bytes)
      break;
    Result.push_back(I);
    Bytes -= std::min(Bytes, Classes[I].Bytes);
  }
  return Result;
}

} // namespace cupilot::capture
