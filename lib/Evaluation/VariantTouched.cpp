//===- VariantTouched.cpp - What launches tell of the memory they use -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variant.h"

using namespace llvm;

namespace cupilot {

Error VariantRuns::addTried(TriedLaunch L, const JudgedCase &J) {
  if (!L.Wrong && Frame) {
    if (Error E = noteTouched(L, J))
      return E;
  } else if (!L.Wrong) {
    Unnoted.push_back({Tried.size(), &J});
  }
  Tried.push_back(std::move(L));
  return Error::success();
}

Expected<bool> VariantRuns::judge(std::unique_ptr<JudgedCase> J,
                                  GateVerdict &Verdict) {
  Expected<bool> Right = judge(*J, Verdict);
  if (!Right || !*Right)
    return Right;
  // Of a large one, the memory is given back: what it touches is found now.
  constexpr uint64_t MostKept = uint64_t(4) << 20;
  if (bytesOf(J->Case.Buffers) > MostKept) {
    if (Error E = O.findTouched(*J))
      return std::move(E);
    auto Known = std::move(J->Touched);
    *J = JudgedCase();
    J->Touched = std::move(Known);
  }
  OwnCases.push_back(std::move(J));
  return true;
}

Error VariantRuns::noteTouched(const DomainFrame &F) {
  Frame = &F;
  for (auto [At, J] : std::exchange(Unnoted, {}))
    if (Error E = noteTouched(Tried[At], *J))
      return E;
  return Error::success();
}

/// The original stays within the buffers: where these end before the
/// polynomials do, nothing has to be run for it.
Error VariantRuns::noteTouched(TriedLaunch &L, const JudgedCase &J) const {
  if (Frame->Pairs.empty())
    return Error::success();
  if (J.Touched) {
    L.Touched = *J.Touched;
    return Error::success();
  }
  std::vector<std::optional<Interval>> Behind(O.kernel().Pointers.size());
  bool IsEnough = true;
  for (const WorkloadPointer &P : J.Case.Pointers) {
    auto At = find(O.kernel().Pointers, PointerRef{P.Param, P.Offset});
    if (At == O.kernel().Pointers.end())
      continue;
    const auto I = static_cast<unsigned>(At - O.kernel().Pointers.begin());
    if (none_of(Frame->Pairs, [&](const auto &Pair) {
          return Pair.first == I || Pair.second == I;
        }))
      continue;
    const auto Offset = static_cast<int64_t>(P.BufferOffset);
    const Interval Buffer{
        -Offset,
        static_cast<int64_t>(J.Case.Buffers[P.Buffer].size()) - Offset};
    if (Buffer.Least == Buffer.Most)
      continue;
    const std::optional<Extents> &T = Frame->Touched[I];
    std::optional<int64_t> Begin, End;
    if (T) {
      Begin = evaluate(T->Begin, L.B);
      End = evaluate(T->End, L.B);
    }
    IsEnough &= Begin && End && *Begin <= Buffer.Least && Buffer.Most <= *End;
    Behind[I] = Buffer;
  }
  if (!IsEnough) {
    if (Error E = O.findTouched(J))
      return E;
    Behind = *J.Touched;
  }
  L.Touched = std::move(Behind);
  return Error::success();
}

} // namespace cupilot
