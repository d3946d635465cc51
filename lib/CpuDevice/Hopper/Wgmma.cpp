//===- Wgmma.cpp - Products of a warpgroup -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"). The accumulators are results of the asm statement, so the
// product is computed when it is issued; WgmmaGroups.cpp sees to the rest.
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "Check/Touch.h"
#include "DeviceOps.h"
#include "MatrixMath.h"
#include "OpRuntime.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// Order of the numbers in OpRule::Shape.
enum Field : unsigned { N, K, TypeA, TypeB, TypeD, Saturate, Scales, Trans };

/// PTX ISA, "Matrix-Descriptor Format".
struct MatrixDescriptor {
  uint64_t Start = 0; ///< Address in the host's terms.
  uint64_t Leading = 0, Stride = 0, BaseOffset = 0; ///< Bytes.
  TensorSwizzle Swizzle = TensorSwizzle::None;

  /// Where the 16 bytes lie that hold index \p MN (rows of A, columns of B)
  /// and byte \p KByte along K, of a matrix with contiguous K.
  uint64_t kMajor(unsigned MN, unsigned KByte) const;
  /// Where 8 elements of 16 bits lie that begin at \p MN, contiguous there.
  uint64_t mnMajor(unsigned MN, unsigned K) const;

private:
  uint64_t swizzledAt(uint64_t Offset) const;
  unsigned span() const { // Bytes of a row of the swizzled pattern.
    switch (Swizzle) {
    case TensorSwizzle::B32:
      return 32;
    case TensorSwizzle::B64:
      return 64;
    default:
      return 128;
    }
  }
};
} // namespace

uint64_t MatrixDescriptor::swizzledAt(uint64_t Offset) const {
  uint64_t Address = Start + Offset, Base = BaseOffset << 7;
  return swizzled(Address - Base, Swizzle) + Base;
}

uint64_t MatrixDescriptor::kMajor(unsigned MN, unsigned KByte) const {
  if (Swizzle == TensorSwizzle::None)
    return Start + uint64_t(MN % 8) * 16 + MN / 8 * Stride +
           KByte / 16 * Leading;
  return swizzledAt(uint64_t(MN % 8) * span() + MN / 8 * Stride +
                    KByte / 16 * 16);
}

uint64_t MatrixDescriptor::mnMajor(unsigned MN, unsigned K) const {
  unsigned Unit = MN / 8;
  if (Swizzle == TensorSwizzle::None)
    return Start + Unit * Stride + uint64_t(K % 8) * 16 + K / 8 * Leading;
  unsigned Units = span() / 16;
  return swizzledAt(uint64_t(Unit % Units) * 16 + Unit / Units * Leading +
                    uint64_t(K % 8) * span() + K / 8 * Stride);
}

static MatrixDescriptor decodeDescriptor(const OpCall &Call, ThreadContext &T,
                                         uint64_t Bits) {
  static constexpr uint64_t Unused = uint64_t(3) << 14 | uint64_t(3) << 30 |
                                     uint64_t(7) << 46 | uint64_t(0x3ff) << 52;
  if (Bits & Unused)
    fault(Call, T, FaultKind::WrongMatrixDescriptor, 0,
          "0x" + Twine::utohexstr(Bits) + " has bits that must be zero");
  auto Base = reinterpret_cast<uintptr_t>(T.Shared);
  // 18 bits of an address are enough to tell where in 228 KiB it lies.
  uint64_t Low = (Bits & 0x3fff) << 4;
  MatrixDescriptor D;
  D.Start = Base + ((Low - Base) & 0x3ffff);
  D.Leading = (Bits >> 16 & 0x3fff) << 4;
  D.Stride = (Bits >> 32 & 0x3fff) << 4;
  D.BaseOffset = Bits >> 49 & 7;
  static constexpr TensorSwizzle Modes[] = {
      TensorSwizzle::None, TensorSwizzle::B128, TensorSwizzle::B64,
      TensorSwizzle::B32};
  D.Swizzle = Modes[Bits >> 62];
  return D;
}

static double valueOf(ElementType T, uint64_t Bits) {
  return isFloat(T) ? decodeFloat(T, Bits)
                    : static_cast<double>(decodeInteger(T, Bits));
}

/// Visits the 16 bytes that hold elements of a matrix of \p Extent rows (or
/// columns) by K in shared memory: address, first element, whether the others
/// follow along K.
template <typename VisitFunction>
static void eachUnit(const DeviceOp &Op, const MatrixDescriptor &D,
                     unsigned Extent, ElementType T, bool Transposed,
                     VisitFunction Unit) {
  const unsigned Bits = elementBits(T), KBytes = Op.Rule.Shape[K] * Bits / 8;
  if (Transposed) {
    for (unsigned Column = 0; Column < Op.Rule.Shape[K]; ++Column)
      for (unsigned Row = 0; Row < Extent; Row += 8)
        Unit(D.mnMajor(Row, Column), Row, Column, false);
    return;
  }
  for (unsigned Row = 0; Row < Extent; ++Row)
    for (unsigned Byte = 0; Byte < KBytes; Byte += 16)
      Unit(D.kMajor(Row, Byte), Row, Byte * 8 / Bits, true);
}

/// Visits the elements.
template <typename VisitFunction>
static void eachElement(const DeviceOp &Op, const MatrixDescriptor &D,
                        unsigned Extent, ElementType T, bool Transposed,
                        VisitFunction Visit) {
  const unsigned Bits = elementBits(T);
  eachUnit(Op, D, Extent, T, Transposed,
           [&](uint64_t Address, unsigned Row, unsigned Column, bool AlongK) {
             auto *From = reinterpret_cast<const char *>(Address);
             for (unsigned E = 0; E < 128 / Bits; ++E) {
               uint64_t Word = 0;
               if (Bits >= 8)
                 std::memcpy(&Word, From + size_t(E) * Bits / 8, Bits / 8);
               else
                 Word = static_cast<uint8_t>(From[E / 8]) >> (E % 8) & 1;
               Visit(AlongK ? Row : Row + E, AlongK ? Column + E : Column,
                     valueOf(T, Word));
             }
           });
}

void readOperands(const OpCall &Issued, ThreadContext &T, const Product &P,
                  bool Ends) {
  const auto &S = Issued.Op.Rule.Shape;
  auto Touch = [&](uint64_t Descriptor, unsigned Extent, unsigned Type,
                   bool Transposed) {
    eachUnit(Issued.Op, decodeDescriptor(Issued, T, Descriptor), Extent,
             static_cast<ElementType>(S[Type]), Transposed,
             [&](uint64_t Address, unsigned, unsigned, bool) {
               if (Ends)
                 touchChecked(Issued, T, Address, 16, AccessKind::Read, 16);
               else
                 touchThroughProxy(Issued, T, Address, 16);
             });
  };
  if (P.SharedA)
    Touch(P.A, 64, TypeA, P.TransA);
  Touch(P.B, S[N], TypeB, P.TransB);
}

/// All threads of the warpgroup must name the same operands.
static void checkUniform(const OpCall &Call, unsigned First) {
  for (const OpLane &Lane : Call.Lanes)
    for (unsigned I = First; I < Call.Op.Inputs; ++I)
      if (Lane.Inputs[I] != Call.Lanes.front().Inputs[I])
        fault(Call, *Lane.Thread, FaultKind::WrongMatrixDescriptor, 0,
              "threads of the warpgroup have different descriptors or scales");
}

static void runWgmma(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  auto Type = [&](Field F) { return static_cast<ElementType>(S[F]); };
  const MatrixShape Shape = {64, S[N], S[K]}, Part = {16, S[N], S[K]};
  const Fragment MapA(Part, MatrixUse::A, Type(TypeA)),
      MapD(Part, MatrixUse::C, Type(TypeD));
  const unsigned NumD = Call.Op.Rule.Results.size();
  const unsigned Fixed = 2 + S[Scales] * 2; // B, scale-d, imm-scale-a, -b.
  const bool InRegisters = Call.Op.Inputs >= NumD + Fixed + 4;
  const unsigned FirstB = NumD + (InRegisters ? 4 : 1);
  checkUniform(Call, InRegisters ? FirstB : NumD);
  const uint64_t *In = Call.Lanes.front().Inputs;
  auto Scale = [&](unsigned I) {
    return S[Scales] && static_cast<int32_t>(In[I]) < 0 ? -1.0 : 1.0;
  };
  const double ScaleA = Scale(FirstB + 2), ScaleB = Scale(FirstB + 3);
  const unsigned FirstTrans = FirstB + 4;
  const bool TransA = S[Trans] && !InRegisters && In[FirstTrans],
             TransB = S[Trans] && In[FirstTrans + (InRegisters ? 0 : 1)];
  ThreadContext &T = *Call.Lanes.front().Thread;
  const Product P = {&Call.Op,     0,      0,     In[NumD], In[FirstB],
                     !InRegisters, TransA, TransB};
  readOperands(Call, T, P, /*Ends=*/false); // May leave the kernel.
  beginProduct(Call, P);

  Dense A(64, S[K]), B(S[K], S[N]), C(64, S[N]);
  if (!InRegisters)
    eachElement(Call.Op, decodeDescriptor(Call, T, P.A), 64, Type(TypeA),
                TransA, [&](unsigned Row, unsigned Column, double V) {
                  A.at(Row, Column) = ScaleA * V;
                });
  eachElement(Call.Op, decodeDescriptor(Call, T, P.B), S[N], Type(TypeB),
              TransB, [&](unsigned Column, unsigned Row, double V) {
                B.at(Row, Column) = ScaleB * V;
              });
  for (auto [Index, Lane] : enumerate(Call.Lanes)) {
    unsigned Top = Index / 32 * 16;
    auto Take = [&](const Fragment &Map, unsigned First, unsigned Count,
                    Dense &To, double By) {
      for (unsigned R = 0; R < Count; ++R)
        for (unsigned E = 0; E < Map.elementsPerRegister(); ++E) {
          auto [Row, Column] = Map.place(Index % 32, R, E);
          uint64_t Bits =
              Lane.Inputs[First + R] >> (E * Map.bits()) & Map.elementMask();
          To.at(Top + Row, Column) = By * valueOf(Map.type(), Bits);
        }
    };
    if (InRegisters)
      Take(MapA, NumD, 4, A, ScaleA);
    if (In[FirstB + 1]) // scale-d
      Take(MapD, 0, NumD, C, 1);
  }
  multiplyAdd(Shape, A, B, C, Type(TypeA));
  for (auto [Index, Lane] : enumerate(Call.Lanes))
    for (unsigned R = 0; R < NumD; ++R) {
      uint64_t Word = 0;
      for (unsigned E = 0; E < MapD.elementsPerRegister(); ++E) {
        auto [Row, Column] = MapD.place(Index % 32, R, E);
        Word |= encodeResult(Type(TypeD), C.at(Index / 32 * 16 + Row, Column),
                             S[Saturate])
                << (E * MapD.bits());
      }
      Lane.Results[R] = Word;
    }
}

/// Bits of K that one instruction takes.
static constexpr unsigned BitsOfK = 256;

std::optional<OpRule> findWgmma(ArrayRef<StringRef> Parts) {
  if (Parts[0] != "wgmma" || Parts.size() < 4 || Parts[2] != "sync" ||
      Parts[3] != "aligned")
    return std::nullopt;
  OpRule Rule;
  bool Wait = Parts[1] == "wait_group";
  if (Wait || Parts[1] == "fence" || Parts[1] == "commit_group") {
    Rule.Run = Wait                  ? runWgmmaWait
               : Parts[1] == "fence" ? runWgmmaFence
                                     : runWgmmaCommit;
    Rule.Group = 32;
    Rule.MinInputs = Rule.MaxInputs = Wait;
    return Parts.size() == 4 ? std::optional(Rule) : std::nullopt;
  }
  // mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype{.op.popc}
  if (Parts[1] != "mma_async" || Parts.size() < 8)
    return std::nullopt;
  SmallVector<StringRef> Rest(Parts.drop_front(4));
  auto Shape = matrixShape(Rest.front());
  Rest.erase(Rest.begin());
  auto &S = Rule.Shape;
  // satfinite stands before or after the types.
  for (auto *It = Rest.begin(); It != Rest.end(); ++It)
    if (*It == "satfinite") {
      S[Saturate] = 1;
      Rest.erase(It);
      break;
    }
  bool Bits = Rest.size() == 5 && Rest[3] == "and" && Rest[4] == "popc";
  if (Bits)
    Rest.truncate(3);
  if (!Shape || Shape->M != 64 || Shape->N < 8 || Shape->N > 256 ||
      Shape->N % 8 != 0 || Rest.size() != 3)
    return std::nullopt;
  auto D = elementType(Rest[0]), A = elementType(Rest[1]),
       B = elementType(Rest[2]);
  if (!A || !B || !D || Shape->K * elementBits(*A) != BitsOfK ||
      Bits != (*A == ElementType::B1))
    return std::nullopt;
  bool Half = *A == ElementType::F16, Eight = elementBits(*A) == 8;
  bool Wide = Half || *A == ElementType::BF16;
  if (isFloat(*A) != isFloat(*B) || elementBits(*A) != elementBits(*B) ||
      (!Eight && *A != *B) || elementBits(*A) == 4 || *A == ElementType::F32 ||
      *A == ElementType::F64 || *A == ElementType::S32)
    return std::nullopt;
  bool FitsD = isFloat(*A) ? *D == ElementType::F32 ||
                                 (*D == ElementType::F16 && (Half || Eight))
                           : *D == ElementType::S32;
  if (!FitsD || (S[Saturate] && (!Eight || isFloat(*A))))
    return std::nullopt;
  S[N] = Shape->N;
  S[K] = Shape->K;
  for (auto [F, T] : {std::pair(TypeA, *A), {TypeB, *B}, {TypeD, *D}})
    S[F] = static_cast<uint32_t>(T);
  S[Scales] = isFloat(*A);
  S[Trans] = Wide;
  uint32_t NumD = Shape->N / (*D == ElementType::F16 ? 4 : 2);
  Rule.Results.assign(NumD, 32);
  Rule.Accumulates = true;
  Rule.Run = runWgmma;
  Rule.TensorWork = tensorWork(64, Shape->N, Shape->K, *A);
  Rule.Group = 128;
  Rule.ReadAlign = 16;
  // With A in registers there are three more words, and one transposition less.
  Rule.MinInputs = NumD + 3 + S[Scales] * 2 + S[Trans] * 2;
  Rule.MaxInputs = Rule.MinInputs + 3 - S[Trans];
  return Rule;
}

} // namespace cupilot
