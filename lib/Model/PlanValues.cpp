//===- PlanValues.cpp - Several launches, scratch memory, tensor maps -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/LaunchPlan.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

bool LaunchPlan::isExtended() const {
  return Launches.size() > 1 || extraParams() > 0 ||
         any_of(Launches,
                [](const Launch &L) { return L.Cluster.has_value(); });
}

std::vector<std::string> LaunchPlan::symbols() const {
  std::vector<std::string> All;
  for (const Launch &L : Launches)
    if (!is_contained(All, L.Symbol))
      All.push_back(L.Symbol);
  return All;
}

unsigned LaunchPlan::indexOf(const Launch &L) const {
  std::vector<std::string> All = symbols();
  return static_cast<unsigned>(find(All, L.Symbol) - All.begin());
}

ArrayRef<StringRef> tensorTypeWords() {
  static const StringRef Words[] = {"u8",      "u16",  "u32",     "s32", "u64",
                                    "s64",     "f16",  "f32",     "f64", "bf16",
                                    "f32_ftz", "tf32", "tf32_ftz"};
  return Words;
}

ArrayRef<StringRef> tensorSwizzleWords() {
  static const StringRef Words[] = {"none", "32B", "64B", "128B"};
  return Words;
}

ArrayRef<StringRef> tensorPromotionWords() {
  static const StringRef Words[] = {"none", "64B", "128B", "256B"};
  return Words;
}

unsigned tensorTypeBytes(unsigned Type) {
  static constexpr uint8_t Sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return Type < sizeof(Sizes) ? Sizes[Type] : 0;
}

Error checkTensorMap(const TensorMapPlan &M) {
  unsigned Rank = M.rank(), Element = tensorTypeBytes(M.Type);
  auto Number = [](uint64_t N) { return utostr(N); };
  if (Element == 0 || M.Swizzle >= tensorSwizzleWords().size() ||
      M.Promotion >= tensorPromotionWords().size())
    return findingError("its element type, swizzle or promotion is unknown");
  if (Rank < 1 || Rank > TensorMapPlan::MaxRank)
    return findingError("it has 1 to 5 extents, not " + Number(Rank));
  if (M.Strides.size() != Rank - 1)
    return findingError(
        "it has a stride for each dimension but the innermost: " +
        Number(Rank - 1) + ", not " + Number(M.Strides.size()));
  if (M.Box.size() != Rank)
    return findingError("its box has a number for each extent: " +
                        Number(Rank) + ", not " + Number(M.Box.size()));
  if (!M.Steps.empty() && M.Steps.size() != Rank)
    return findingError("its steps have a number for each extent: " +
                        Number(Rank) + ", not " + Number(M.Steps.size()));
  for (unsigned Side : M.Box)
    if (Side < 1 || Side > 256)
      return findingError("a side of its box is 1 to 256 elements, not " +
                          Number(Side));
  for (unsigned Step : M.Steps)
    if (Step < 1 || Step > 8)
      return findingError("a step is 1 to 8 elements, not " + Number(Step));
  uint64_t Inner = uint64_t(M.Box[0]) * Element;
  static constexpr uint64_t Spans[] = {~0ull, 32, 64, 128};
  if (Inner % 16 != 0)
    return findingError(
        "the innermost side of its box is a multiple of 16 bytes, not " +
        Number(Inner));
  if (Inner > Spans[M.Swizzle])
    return findingError(
        "with this swizzle the innermost side of its box is at most " +
        Number(Spans[M.Swizzle]) + " bytes, not " + Number(Inner));
  if (M.FillNan && M.Type < 6)
    return findingError("only numbers of floating-point types can be NaN");
  return Error::success();
}

std::optional<uint64_t> scratchBytes(const Expr &Size, const Bindings &B) {
  std::optional<int64_t> Bytes = evaluate(Size, B);
  if (!Bytes || *Bytes < 1 || *Bytes > MostScratch)
    return std::nullopt;
  return *Bytes;
}

std::optional<TensorMapValues> tensorValues(const TensorMapPlan &Map,
                                            const Bindings &B) {
  TensorMapValues Values;
  for (const Expr &E : Map.Extents) {
    std::optional<int64_t> V = evaluate(E, B);
    if (!V || *V < 1 || *V > int64_t(1) << 32)
      return std::nullopt;
    Values.Extents.push_back(*V);
  }
  for (const Expr &E : Map.Strides) {
    std::optional<int64_t> V = evaluate(E, B);
    if (!V || *V < 16 || *V % 16 != 0 || *V >= int64_t(1) << 40)
      return std::nullopt;
    Values.Strides.push_back(*V);
  }
  return Values;
}

} // namespace cupilot
