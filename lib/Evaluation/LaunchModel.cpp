//===- LaunchModel.cpp - How a launch follows its sizes -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchModel.h"
#include "InputValues.h"
#include "Original.h"
#include "Polynomial.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Sizes beyond this are no sizes, but numbers that happen to be integers.
static constexpr int64_t LargestSize = int64_t(1) << 31;
/// More are not varied one against the other.
static constexpr size_t MostVars = 6;

static void repeat(const Bytes &From, Bytes &To, uint64_t Size) {
  To.resize(Size);
  if (From.empty())
    return;
  for (uint64_t At = 0; At < Size; At += From.size())
    std::memcpy(To.data() + At, From.data(),
                std::min<uint64_t>(From.size(), Size - At));
}

GateCase enlarged(const GateCase &C, uint64_t Factor) {
  GateCase Large = C;
  for (size_t I = 0; I < C.Buffers.size(); ++I)
    repeat(C.Buffers[I], Large.Buffers[I], C.Buffers[I].size() * Factor);
  return Large;
}

static int64_t signedScalar(const GateCase &C, const ScalarRef &S) {
  uint64_t Raw = readScalar(C, S);
  return S.Signed && S.Bits < 64 ? SignExtend64(Raw, S.Bits)
                                 : static_cast<int64_t>(Raw);
}

/// Whether \p S holds \p Value.
static bool fits(const ScalarRef &S, int64_t Value) {
  if (S.Bits == 64)
    return S.Signed || Value >= 0;
  return S.Signed ? isIntN(S.Bits, Value)
                  : Value >= 0 && isUIntN(S.Bits, static_cast<uint64_t>(Value));
}

/// What \p R makes of the grid for scalars of \p C.
static uint64_t blocksOf(const GridRule &R, const Kernel &K,
                         const GateCase &C) {
  uint64_t Product = 1;
  for (unsigned S : R.Scalars) {
    int64_t V = signedScalar(C, K.Scalars[S]);
    if (V <= 0)
      return 1;
    Product = SaturatingMultiply(Product, static_cast<uint64_t>(V));
  }
  if (Product <= R.Border)
    return 1;
  return divideCeil(Product - R.Border, R.Divisor);
}

/// One block fewer in the dimension changes the results, one more does not.
Expected<bool> LaunchModel::covers(const GridRule &R) {
  const Kernel &K = O->kernel();
  const ScalarRef &S = K.Scalars[R.Scalars.front()];
  int64_t Value = signedScalar(*Base, S);
  // What one block covers may be much.
  constexpr uint64_t MostBytes = uint64_t(16) << 20;
  const int64_t MostRoom = bytesOf(Base->Buffers) <= MostBytes / 64 ? 64 : 16;
  // As even as it was: wide accesses may want it.
  const int64_t Step = std::min<int64_t>(Value & -Value, 16);
  // Upwards, where the memory is made larger for it, then downwards.
  const auto Border = static_cast<int64_t>(R.Border);
  for (int64_t Other :
       {2 * Value + 1 + Border,
        static_cast<int64_t>(2 * R.Divisor + 1) + Border,
        static_cast<int64_t>(2 * R.Divisor) + Step + Border, Value / 2 + 1}) {
    if (Other == Value || Other < 1 || Other > Value * MostRoom ||
        !fits(S, Other))
      continue;
    uint64_t Room =
        divideCeil(static_cast<uint64_t>(Other), static_cast<uint64_t>(Value));
    GateCase C = enlarged(*Base, Room > 1 ? std::max<uint64_t>(Room, 4) : 1);
    C.PureOutput.clear();
    C.Name += " covering";
    writeScalar(C, S, static_cast<uint64_t>(Other));
    uint64_t Blocks = blocksOf(R, K, C);
    if (Blocks < 2 || Blocks + 1 > uint64_t(MaxGrid[R.Dim]))
      continue;
    std::array<std::optional<RunResult>, 3> Results;
    for (int Step : {-1, 0, 1}) {
      C.Shape.Grid[R.Dim] = Blocks + Step;
      Expected<RunResult> Got = O->run(C);
      if (!Got)
        return Got.takeError();
      if (!Got->Fault)
        Results[Step + 1] = std::move(*Got);
    }
    auto &[Fewer, Right, More] = Results;
    if (Fewer && Right && More)
      return Right->Buffers == More->Buffers &&
             Right->Buffers != Fewer->Buffers;
  }
  return false;
}

Error LaunchModel::findRules(ArrayRef<unsigned> Sizes, const CodeFacts &Own) {
  const Kernel &K = O->kernel();
  const LaunchShape &Shape = Base->Shape;
  uint64_t Threads = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  for (unsigned D = 0; D < 3; ++D) {
    std::vector<GridRule> Candidates;
    uint64_t Border = 0;
    auto Try = [&](ArrayRef<unsigned> Scalars, uint64_t Divisor) {
      GridRule R{D, {Scalars.begin(), Scalars.end()}, Divisor, Border};
      bool Positive = all_of(Scalars, [&](unsigned S) {
        return signedScalar(*Base, K.Scalars[S]) > 0;
      });
      if (Positive && Divisor && blocksOf(R, K, *Base) == Shape.Grid[D] &&
          none_of(Candidates, [&](const GridRule &Known) {
            return Known.Scalars == R.Scalars && Known.Divisor == R.Divisor &&
                   Known.Border == R.Border;
          }))
        Candidates.push_back(std::move(R));
    };
    auto TryAll = [&](ArrayRef<unsigned> Scalars) {
      Try(Scalars, 1);
      for (uint64_t Per = 1; Per <= 4096; Per *= 2)
        for (uint64_t Tile : {Per * Shape.Block[D], Per * Threads, Per})
          // One block covers what fits: the smallest tile is the likely one.
          if (Shape.Grid[D] > 1 || Per == 1)
            Try(Scalars, Tile);
      // Warps of a block do something each.
      if (Threads % 32 == 0)
        Try(Scalars, Threads / 32);
    };
    // One block says nothing of its tile: the code does.
    for (unsigned S : Sizes)
      for (const ModulusFact &M : Own.Moduli)
        if (Shape.Grid[D] == 1 && M.E == Expr::symbol(S) && M.Modulus > 1)
          Try({S}, static_cast<uint64_t>(M.Modulus));
    for (unsigned S : Sizes)
      TryAll({S});
    for (unsigned A : Sizes)
      for (unsigned B : Sizes)
        if (A < B && Shape.Grid[D] > 1)
          TryAll({A, B});
    constexpr size_t MostTried = 8, MostWithBorder = 16;
    if (Candidates.size() > MostTried)
      Candidates.resize(MostTried);
    // Results of windows are fewer than what they slide over. The tile is the
    // block's: others would be guesses.
    for (uint64_t Less : {2, 1, 4, 3, 6})
      for (unsigned S : Sizes)
        if (Candidates.size() < MostWithBorder) {
          Border = Less;
          Try({S}, Shape.Block[D]);
        }
    for (GridRule &R : Candidates) {
      Expected<bool> Right = covers(R);
      if (!Right)
        return Right.takeError();
      if (!*Right)
        continue;
      Rules.push_back(std::move(R));
      break;
    }
  }
  return Error::success();
}

bool LaunchModel::applySizes(GateCase &C, ArrayRef<int64_t> Values) const {
  const Kernel &K = O->kernel();
  for (auto [V, Value] : zip_equal(Vars, Values)) {
    if (!V.IsGrid) {
      if (!fits(K.Scalars[V.Index], Value))
        return false;
      writeScalar(C, K.Scalars[V.Index], static_cast<uint64_t>(Value));
      continue;
    }
    if (Value < 1)
      return false;
    C.Shape.Grid[V.Index] = static_cast<uint64_t>(Value);
  }
  for (const GridRule &R : Rules)
    C.Shape.Grid[R.Dim] = blocksOf(R, K, C);
  for (unsigned D = 0; D < 3; ++D)
    if (C.Shape.Grid[D] > uint64_t(MaxGrid[D]))
      return false;
  return true;
}

/// As much shared memory as if a part of it followed each size.
void LaunchModel::growShared(GateCase &C, ArrayRef<int64_t> Values) const {
  constexpr uint64_t Most = 48 << 10; // That every launch may have.
  uint64_t Own = Base->Shape.Shared, Times = 1;
  for (auto [V, Value] : zip_equal(Vars, Values))
    if (V.Base > 0 && Value > V.Base)
      Times = SaturatingMultiply<uint64_t>(Times, divideCeil(Value, V.Base));
  if (Own == 0 || Times == 1)
    return;
  C.Shape.Shared =
      std::max(Own, std::min(SaturatingMultiply(Own, Times), Most));
  C.Name += " shared=" + std::to_string(C.Shape.Shared);
}

/// The bytes of their buffers that nobody touches behind the pointers in the
/// recorded launch: what stands for that launch may have more, which nobody
/// gave it.
void LaunchModel::findBehind() {
  const Kernel &K = O->kernel();
  const Workload &Recorded = O->setup().Workloads[Base->Workload];
  const Bindings There = cantFail(
      bindLaunch(Recorded.Shape, K.Scalars, placedArguments(Recorded)));
  Behind.assign(K.Pointers.size(), std::nullopt);
  for (const WorkloadPointer &P : Recorded.Pointers) {
    const size_t I = llvm::find(K.Pointers, PointerRef{P.Param, P.Offset}) -
                     K.Pointers.begin();
    std::optional<int64_t> End;
    if (I < Touched.size() && Touched[I])
      End = evaluate(Touched[I]->End, There);
    if (!End)
      continue;
    auto Size =
        static_cast<int64_t>(Recorded.Buffers[P.Buffer].Size - P.BufferOffset);
    Behind[I] = static_cast<uint64_t>(std::max<int64_t>(Size - *End, 0));
  }
}

/// What buffer \p I needs in \p C: what the original touches, and as much
/// behind it as was recorded. Where that is not known, in proportion, and
/// \p Roomy becomes true.
uint64_t LaunchModel::bytesAt(size_t I, const GateCase &C,
                              ArrayRef<int64_t> Values, bool &Roomy) const {
  const Kernel &K = O->kernel();
  // A buffer that the base lacks stands where it had a null pointer.
  if (I >= Base->Buffers.size())
    return C.Buffers[I].size();
  const uint64_t Own = Base->Buffers[I].size();
  // A case has all of its arguments.
  Bindings Now = cantFail(bindLaunch(C.Shape, K.Scalars, C.Args));
  uint64_t Wanted = 0;
  bool Known = true, Any = false;
  for (const WorkloadPointer &P : Base->Pointers) {
    if (P.Buffer != I)
      continue;
    Any = true;
    const size_t Index =
        find(K.Pointers, PointerRef{P.Param, P.Offset}) - K.Pointers.begin();
    std::optional<int64_t> End;
    if (Index < Behind.size() && Behind[Index])
      End = evaluate(Touched[Index]->End, Now);
    if (!End) {
      Known = false;
      break;
    }
    if (*End > 0)
      Wanted = std::max(Wanted, P.BufferOffset + static_cast<uint64_t>(*End) +
                                    *Behind[Index]);
    else
      Wanted = std::max(Wanted, P.BufferOffset);
  }
  if (Known && Any && !Roomy)
    return Wanted;
  // Less of one size may mean more memory: shifts and steps divide.
  constexpr uint64_t RoomForLess = 16;
  const bool IsLess = any_of(zip_equal(Vars, Values), [](const auto &Each) {
    const auto &[V, Value] = Each;
    return Value < V.Base;
  });
  uint64_t Scale = Roomy && IsLess ? RoomForLess : 1;
  Roomy = true;
  for (auto [V, Value] : zip_equal(Vars, Values))
    if (uint64_t Size = Value < 0 ? -uint64_t(Value) : uint64_t(Value);
        V.Base > 0 && Size > uint64_t(V.Base))
      Scale = SaturatingMultiply(
          Scale, divideCeil(Size, static_cast<uint64_t>(V.Base)));
  return SaturatingMultiply(Own, Scale);
}

std::optional<GateCase>
LaunchModel::shapeAt(const GateCase &From, ArrayRef<int64_t> Values,
                     uint64_t MostBytes, bool Roomy,
                     std::vector<uint64_t> &Sizes) const {
  GateCase C = From;
  C.Captured = false;
  C.Doubtful = true;
  C.Ordered = C.Thorough = false;
  C.Idle = any_of(zip_equal(Vars, Values), [](const auto &Each) {
    const auto &[V, Value] = Each;
    return Value < 1 && V.Base >= 1;
  });
  if (!applySizes(C, Values))
    return std::nullopt;
  for (auto [V, Value] : zip_equal(Vars, Values))
    if (Value != V.Base) {
      std::string What =
          V.IsGrid ? std::string("grid.") + "xyz"[V.Index]
                   : scalarName(O->kernel(), O->kernel().Scalars[V.Index]);
      C.Name += " " + What + "=" + std::to_string(Value);
    }
  if (Roomy)
    growShared(C, Values);
  uint64_t Sum = 0;
  Sizes.clear();
  C.Roomy = Roomy;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    bool Guessed = Roomy;
    Sizes.push_back(bytesAt(I, C, Values, Guessed));
    C.Roomy |= Guessed;
    Sum = SaturatingAdd(Sum, Sizes.back());
    if (Sum > MostBytes)
      return std::nullopt;
  }
  C.Buffers.assign(C.Buffers.size(), {});
  return C;
}

std::optional<GateCase> LaunchModel::at(const GateCase &From,
                                        ArrayRef<int64_t> Values,
                                        uint64_t MostBytes, bool Roomy) const {
  std::vector<uint64_t> Sizes;
  std::optional<GateCase> Shape =
      shapeAt(From, Values, MostBytes, Roomy, Sizes);
  if (!Shape)
    return std::nullopt;
  GateCase &C = *Shape;
  uint64_t Drawn = O->context().Seed;
  for (int64_t Value : Values)
    Drawn = drawAt(Drawn, 0, static_cast<uint64_t>(Value));
  const bool IsBase = equal(Values, baseValues());
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    repeat(From.Buffers[I], C.Buffers[I], Sizes[I]);
    varyCopies(C, I, From.Buffers[I].size(), Drawn);
    if (!IsBase && Drawn % 4 == 1)
      addSpikes(C, I, Drawn, Values);
    if (!IsBase && Drawn % 4 == 3)
      addPeaks(C, I, Drawn, unsigned(Drawn >> 8 & 0xff), Values, baseValues());
  }
  return Shape;
}

std::vector<Expr> LaunchModel::surplus() const {
  std::vector<Expr> Found;
  for (const GridRule &R : Rules) {
    std::optional<Polynomial> Wanted = Polynomial::constant(1);
    for (unsigned S : R.Scalars)
      if (Wanted)
        Wanted = Wanted->times(*Polynomial::of(Expr::symbol(S)));
    if (Wanted)
      Wanted = Wanted->plus(
          Polynomial::constant(static_cast<int64_t>(R.Border)), -1);
    if (Wanted)
      Wanted = Wanted->divided(
          Expr::Kind::CeilDiv,
          Polynomial::constant(static_cast<int64_t>(R.Divisor)));
    std::optional<Polynomial> Blocks = Polynomial::of(Expr::dim(GridX + R.Dim));
    if (Wanted && Blocks)
      Blocks = Blocks->plus(*Wanted, -1);
    if (Wanted && Blocks)
      Found.push_back(Blocks->expr());
  }
  return Found;
}

std::vector<int64_t> LaunchModel::baseValues() const {
  std::vector<int64_t> Values;
  Values.reserve(Vars.size());
  for (const LaunchVar &V : Vars)
    Values.push_back(V.Base);
  return Values;
}

std::vector<int64_t> LaunchModel::valuesAt(const Bindings &Launch) const {
  std::vector<int64_t> Values;
  Values.reserve(Vars.size());
  for (const LaunchVar &V : Vars)
    Values.push_back(evaluate(V.expr(), Launch).value_or(V.Base));
  return Values;
}

Expected<LaunchModel> LaunchModel::of(OriginalRuns &O, const GateCase &Base,
                                      const CodeFacts &Own,
                                      ArrayRef<unsigned> Flags) {
  LaunchModel M(O, Base);
  const Kernel &K = O.kernel();
  SmallVector<unsigned> Sizes;
  for (unsigned I = 0; I < K.Scalars.size(); ++I) {
    const ValueUse &Use = Own.Scalars[I];
    int64_t Value = signedScalar(Base, K.Scalars[I]);
    if (Use.Used && !Use.isData() && !is_contained(Flags, I) &&
        Value > -LargestSize && Value < LargestSize && Sizes.size() < MostVars)
      Sizes.push_back(I);
  }
  if (Error E = M.findRules(Sizes, Own))
    return std::move(E);
  for (unsigned I : Sizes)
    M.Vars.push_back({false, I, signedScalar(Base, K.Scalars[I])});
  for (unsigned D = 0; D < 3; ++D)
    if (Own.Dims[GridX + D].Used && M.Vars.size() < MostVars &&
        none_of(M.Rules, [&](const GridRule &R) { return R.Dim == D; }))
      M.Vars.push_back({true, D, static_cast<int64_t>(Base.Shape.Grid[D])});
  if (Error E = M.fitTouched())
    return std::move(E);
  M.findBehind();
  return M;
}

} // namespace cupilot
