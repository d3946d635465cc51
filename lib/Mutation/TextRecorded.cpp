//===- TextRecorded.cpp - Dimensions, and recorded values, in a text -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextSites.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace clang;
using llvm::StringRef;

namespace cupilot {

/// The dimension of all launches; nothing where they differ.
static std::optional<uint64_t>
recordedDimension(llvm::ArrayRef<Workload> Recorded, bool OfBlock,
                  unsigned Axis) {
  std::optional<uint64_t> Known;
  for (const Workload &W : Recorded) {
    uint64_t Is = (OfBlock ? W.Shape.Block : W.Shape.Grid)[Axis];
    if (Known && *Known != Is)
      return std::nullopt;
    Known = Is;
  }
  return Known;
}

void addTextDimension(const MSPropertyRefExpr &E, TextSites &S) {
  static constexpr const char *Names[] = {"threadIdx", "blockIdx", "blockDim",
                                          "gridDim"};
  std::optional<TextDimension> Is = dimensionOf(&E);
  if (!Is)
    return;
  auto Text = [&](unsigned Kind, unsigned Axis) {
    return std::string(Names[Kind]) + "." + "xyz"[Axis];
  };
  std::string Before = Text(Is->Kind, Is->Axis);
  auto Change = [&](unsigned Kind, unsigned Axis) {
    std::string New = Text(Kind, Axis);
    S.add(E.getSourceRange(), "dimension", Before, New, New);
  };
  Change(Is->Kind, Is->Axis == 1 ? 0 : 1);
  Change(Is->Kind ^ 1, Is->Axis);
  // Indices are 0 where the dimension is 1.
  bool Index = Is->Kind < 2, OfBlock = Is->Kind == 0 || Is->Kind == 2;
  std::optional<uint64_t> Known =
      recordedDimension(S.Recorded, OfBlock, Is->Axis);
  if (!Known || (Index && *Known != 1))
    return;
  std::string New = llvm::utostr(Index ? 0 : *Known);
  S.add(E.getSourceRange(), "recorded", Before, New, New + "u");
}

/// The bytes of argument \p Index; nothing where launches differ.
static std::optional<uint64_t>
recordedArgument(llvm::ArrayRef<Workload> Recorded, unsigned Index) {
  const std::vector<uint8_t> *Bytes = nullptr;
  for (const Workload &W : Recorded) {
    if (Index >= W.Args.size() || (Bytes && *Bytes != W.Args[Index]))
      return std::nullopt;
    Bytes = &W.Args[Index];
  }
  uint64_t Raw = 0;
  if (!Bytes || Bytes->size() > sizeof(Raw))
    return std::nullopt;
  std::memcpy(&Raw, Bytes->data(), Bytes->size());
  return Raw;
}

static std::string textOf(double V, const char *Format) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Format, V);
  if (StringRef(Text).find_first_of(".e") == StringRef::npos)
    Text += ".0";
  return Text;
}

/// A value of type \p T with the bits \p Raw, as the source may write it.
static std::optional<std::string> literalOf(uint64_t Raw, QualType T,
                                            const ASTContext &Ctx) {
  if (T->isSpecificBuiltinType(BuiltinType::Float)) {
    float V = 0;
    std::memcpy(&V, &Raw, sizeof(V));
    return std::isfinite(V) ? std::optional(textOf(V, "%.9g") + "f")
                            : std::nullopt;
  }
  if (T->isSpecificBuiltinType(BuiltinType::Double)) {
    double V = 0;
    std::memcpy(&V, &Raw, sizeof(V));
    return std::isfinite(V) ? std::optional(textOf(V, "%.17g")) : std::nullopt;
  }
  if (!T->isIntegerType() || T->isEnumeralType())
    return std::nullopt;
  if (T->isBooleanType())
    return Raw & 1 ? "true" : "false";
  unsigned Bits = Ctx.getIntWidth(T);
  if (Bits > 64)
    return std::nullopt;
  bool Signed = T->isSignedIntegerType();
  llvm::APInt V = llvm::APInt(64, Raw).trunc(Bits);
  // The least number is no literal with a sign.
  if (Signed && V.isMinSignedValue())
    return std::nullopt;
  return llvm::toString(V, 10, Signed) + (Bits > 32 ? "LL" : "") +
         (Signed ? "" : "u");
}

/// A read of a parameter of the kernel.
void addTextArgument(const ImplicitCastExpr &E, TextSites &S) {
  if (!S.IsKernel || E.getCastKind() != CK_LValueToRValue)
    return;
  const auto *Parameter = llvm::dyn_cast_or_null<ParmVarDecl>(
      isa<DeclRefExpr>(E.getSubExpr()) ? namedVariable(E.getSubExpr())
                                       : nullptr);
  if (!Parameter || Parameter->getDeclContext() != S.Function)
    return;
  std::optional<uint64_t> Raw =
      recordedArgument(S.Recorded, Parameter->getFunctionScopeIndex());
  QualType T = Parameter->getType().getCanonicalType().getUnqualifiedType();
  std::optional<std::string> New =
      Raw ? literalOf(*Raw, T, S.Ctx) : std::nullopt;
  if (!New)
    return;
  PrintingPolicy Policy = S.Ctx.getPrintingPolicy();
  S.add(E.getSourceRange(), "recorded", Parameter->getName(), *New,
        "((" + T.getAsString(Policy) + ")" + *New + ")");
}

} // namespace cupilot
