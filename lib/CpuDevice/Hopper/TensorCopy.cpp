//===- TensorCopy.cpp - Copies of tensor tiles -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor in tile mode (PTX ISA, "Tensor copy"). A box of the
// tensor lies in shared memory without gaps, its innermost dimension first,
// with 16-byte units exchanged as the map's swizzle says.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Check/Touch.h"
#include "Mbarrier.h"
#include "OpRuntime.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace cupilot {

/// The map at \p Address, checked against the instruction.
static TensorMap loadMap(const OpCall &Call, ThreadContext &T,
                         uint64_t Address) {
  if (Address % 64 != 0)
    fault(Call, T, FaultKind::WrongAsyncCopy, Address,
          "a tensor map is aligned to 64 bytes");
  if (!isLaunchArgument(Call, Address, sizeof(TensorMap)))
    touchChecked(Call, T, Address, sizeof(TensorMap), AccessKind::Read);
  TensorMap Map;
  std::memcpy(static_cast<void *>(&Map), reinterpret_cast<void *>(Address),
              sizeof(Map));
  if (Map.Tag != TensorMap::Magic)
    fault(Call, T, FaultKind::WrongAsyncCopy, Address,
          "no tensor map of cuTensorMapEncodeTiled is there");
  if (Map.Rank != Call.Op.Rule.Shape[BulkRank])
    fault(Call, T, FaultKind::WrongAsyncCopy, Address,
          "the tensor map has " + Twine(unsigned(Map.Rank)) +
              " dimensions, the instruction " +
              Twine(Call.Op.Rule.Shape[BulkRank]));
  return Map;
}

/// One row of a box.
struct BoxRow {
  uint64_t Global = 0; ///< Address of the first element that exists.
  uint32_t InBox = 0;  ///< Where that one lies in the box, in bytes ...
  uint32_t Bytes = 0;  ///< ... and how many follow; 0: none exists.
};

/// Visits the rows of the box at coordinates \p At.
static void eachRow(const TensorMap &Map, const uint64_t *At,
                    function_ref<void(const BoxRow &)> Visit) {
  const uint64_t Element = tensorElementSize(Map.Type);
  std::array<int64_t, TensorMap::MaxRank> Start{};
  for (unsigned I = 0; I < Map.Rank; ++I)
    Start[I] = static_cast<int32_t>(At[I]);
  uint64_t Rows = 1;
  for (unsigned I = 1; I < Map.Rank; ++I)
    Rows *= Map.count(I);
  const int64_t Width = Map.Box[0];
  int64_t First = std::clamp<int64_t>(-Start[0], 0, Width),
          Last = std::clamp<int64_t>(
              static_cast<int64_t>(Map.Size[0]) - Start[0], First, Width);
  for (uint64_t R = 0; R < Rows; ++R) {
    BoxRow Row;
    Row.InBox = static_cast<uint32_t>((R * Width + First) * Element);
    Row.Bytes = static_cast<uint32_t>((Last - First) * Element);
    Row.Global = Map.Address + (Start[0] + First) * Element;
    uint64_t Rest = R;
    for (unsigned I = 1; I < Map.Rank; ++I) {
      int64_t Index =
          Start[I] + static_cast<int64_t>(Rest % Map.count(I)) * Map.Step[I];
      Rest /= Map.count(I);
      if (Index < 0 || Index >= static_cast<int64_t>(Map.Size[I]))
        Row.Bytes = 0;
      Row.Global += Index * Map.Stride[I - 1];
    }
    Visit(Row);
  }
}

/// The pieces of shared memory that a box at \p Base is made of.
static std::vector<AsyncPiece> boxPieces(const TensorMap &Map, uint64_t Base) {
  auto Size = static_cast<uint32_t>(Map.boxBytes());
  if (Map.Swizzle == TensorSwizzle::None)
    return {{Base, 0, Size}};
  std::vector<AsyncPiece> Pieces;
  for (uint32_t From = 0; From < Size; From += 16)
    Pieces.push_back({swizzled(Base + From, Map.Swizzle), From, 16});
  return Pieces;
}

/// Where a box may begin: an H200 stops with an illegal instruction when the
/// innermost coordinate is not at a multiple of 16 bytes, and when a store has
/// a negative one.
static void checkStart(const OpCall &Call, ThreadContext &T,
                       const TensorMap &Map, const uint64_t *At, bool IsStore) {
  int64_t Start =
      int64_t(static_cast<int32_t>(At[0])) * tensorElementSize(Map.Type);
  if (Start % 16 != 0)
    fault(Call, T, FaultKind::WrongAsyncCopy, 0,
          "the innermost coordinate is at byte " + Twine(Start) +
              ", not at a multiple of 16");
  for (unsigned I = 0; IsStore && I < Map.Rank; ++I)
    if (static_cast<int32_t>(At[I]) < 0)
      fault(Call, T, FaultKind::WrongAsyncCopy, 0,
            "a store begins at the negative coordinate " +
                Twine(static_cast<int32_t>(At[I])));
}

static uint64_t boxAddress(const OpCall &Call, ThreadContext &T,
                           uint64_t Operand) {
  uint64_t Base = sharedAddress(T, Operand);
  if (Base % 128 != 0)
    fault(Call, T, FaultKind::WrongAsyncCopy, Base,
          "a tensor tile in shared memory is aligned to 128 bytes");
  return Base;
}

/// What stands in a box where the tensor has no element.
static void fillBox(const TensorMap &Map, std::vector<char> &Data) {
  Data.assign(Map.boxBytes(), 0);
  if (!Map.FillNan)
    return;
  // All bits but the sign: a NaN in every floating-point type.
  unsigned Element = tensorElementSize(Map.Type);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = I % Element == Element - 1 ? 0x7f : static_cast<char>(0xff);
}

/// [dst], [map, {coordinates}], [mbar]{, mask}{, policy}
void runTensorLoad(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  const uint32_t Rank = S[BulkRank];
  const uint64_t *Coordinates = Lane.Inputs + 2;
  TensorMap Map = loadMap(Call, T, Lane.Inputs[1]);
  checkStart(Call, T, Map, Coordinates, /*IsStore=*/false);
  uint64_t Base = boxAddress(Call, T, Lane.Inputs[0]);
  uint64_t Barrier = sharedAddress(T, Coordinates[Rank]);
  loadMbarrier(Call, T, Barrier);
  // All checks before anything is allocated: they may leave the kernel.
  eachRow(Map, Coordinates, [&](const BoxRow &Row) {
    if (Row.Bytes)
      touchChecked(Call, T, Row.Global, Row.Bytes, AccessKind::Read);
  });
  AsyncCopy Copy = beginCopy(Call);
  fillBox(Map, Copy.Data);
  eachRow(Map, Coordinates, [&](const BoxRow &Row) {
    std::memcpy(Copy.Data.data() + Row.InBox,
                reinterpret_cast<char *>(Row.Global), Row.Bytes);
  });
  Copy.Pieces = boxPieces(Map, Base);
  std::optional<uint32_t> Mask;
  if (S[BulkMulticast])
    Mask = static_cast<uint32_t>(Coordinates[Rank + 1] & 0xffff);
  sendToBarrier(Call, std::move(Copy), Map.boxBytes(), Barrier, Mask);
}

/// The type of a reduction, which the map knows.
static std::optional<ReduceType> typeOf(const TensorMap &Map) {
  static constexpr std::optional<ReduceType> Types[] = {
      std::nullopt,    std::nullopt,     ReduceType::U32, ReduceType::S32,
      ReduceType::U64, ReduceType::S64,  ReduceType::F16, ReduceType::F32,
      ReduceType::F64, ReduceType::BF16, ReduceType::F32, ReduceType::F32,
      ReduceType::F32};
  return Map.Type < std::size(Types) ? Types[Map.Type] : std::nullopt;
}

/// [map, {coordinates}], [src]{, policy}
void runTensorStore(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  const uint64_t *Coordinates = Lane.Inputs + 1;
  TensorMap Map = loadMap(Call, T, Lane.Inputs[0]);
  checkStart(Call, T, Map, Coordinates, /*IsStore=*/true);
  uint64_t Base = boxAddress(Call, T, Coordinates[S[BulkRank]]);
  std::optional<ReduceType> Type = typeOf(Map);
  if (S[BulkReduction] &&
      (!Type || !canReduce(static_cast<ReduceOp>(S[BulkReduction]), *Type)))
    fault(Call, T, FaultKind::WrongAsyncCopy, Lane.Inputs[0],
          "the tensor's element type has no such reduction");
  touchThroughProxy(Call, T, Base, Map.boxBytes());
  BulkStore Store;
  Store.Copy = beginCopy(Call);
  Store.Sources = boxPieces(Map, Base);
  Store.DataSize = static_cast<uint32_t>(Map.boxBytes());
  eachRow(Map, Coordinates, [&](const BoxRow &Row) {
    if (Row.Bytes)
      Store.Copy.Pieces.push_back({Row.Global, Row.InBox, Row.Bytes});
  });
  if (Store.Copy.Pieces.empty())
    return;
  addStore(Call, std::move(Store));
  if (Type)
    asyncOf(Call).Stores.back().Copy.Type = *Type;
}

void runTensorPrefetch(const OpCall &Call) {
  loadMap(Call, *Call.Lanes.front().Thread, Call.Lanes.front().Inputs[0]);
}

} // namespace cupilot
