//===- WideAccess.cpp - Several elements in one access -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WideAccess.h"
#include "cupilot/Support/Error.h"

using namespace clang;

namespace cupilot {

/// What one more access by \p Function leaves of the hint of those before it.
static void joinHint(std::optional<std::string> &Hint,
                     llvm::StringRef Function) {
  Hint = !Hint || *Hint == Function ? Function.str() : "";
}

void WideArray::add(const Access &A) {
  Loads |= A.reads();
  Stores |= A.writes();
  std::optional<HintedAccess> Hint = A.hint();
  llvm::StringRef Function = Hint ? Hint->Function : "";
  if (A.reads())
    joinHint(LoadBy, Function);
  if (A.writes())
    joinHint(StoreBy, Function);
}

/// CUDA's vector type of that many elements, with the alignment of its size;
/// "" if there is none, or it is larger than 16 bytes.
static std::string vectorType(const ASTContext &Ctx, QualType T,
                              int64_t Width) {
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || Ctx.getTypeSize(T) * Width > 128)
    return "";
  std::string Name;
  switch (B->getKind()) {
  case BuiltinType::Float:
    Name = "float";
    break;
  case BuiltinType::Double:
    Name = "double";
    break;
  case BuiltinType::Int:
    Name = "int";
    break;
  case BuiltinType::UInt:
    Name = "uint";
    break;
  case BuiltinType::Short:
    Name = "short";
    break;
  case BuiltinType::UShort:
    Name = "ushort";
    break;
  case BuiltinType::SChar:
    Name = "char";
    break;
  case BuiltinType::UChar:
    Name = "uchar";
    break;
  case BuiltinType::LongLong:
    Name = "longlong";
    break;
  case BuiltinType::ULongLong:
    Name = "ulonglong";
    break;
  default:
    return "";
  }
  return Name + std::to_string(Width);
}

void WideArray::setElement(const KernelView &V, QualType Element,
                           int64_t Width) {
  Scalar = V.typeText(Element);
  Vector = vectorType(V.Ctx, Element, Width);
}

llvm::Error checkPlain(const Memory &M, const PointerRef &Pointer,
                       const Access &A) {
  if (A.K == Access::Kind::Escape || A.K == Access::Kind::Atomic ||
      !A.From.Index || !A.From.Whole)
    return findingError(M.name(Pointer) +
                        " is not accessed by plain subscripts alone");
  return llvm::Error::success();
}

Alignment wideAlignment(const KernelView &V, const Memory &M,
                        const PointerRef &Pointer, int64_t Width) {
  const QualType Element = M.through(Pointer).front()->From.Element;
  return {Pointer,
          static_cast<unsigned>(
              Width * V.Ctx.getTypeSizeInChars(Element).getQuantity())};
}

std::string lanesName(const KernelView &V, const PointerRef &Pointer) {
  return V.freshName(
      "lanes" + std::to_string(Pointer.Param) +
      (Pointer.Offset ? "_" + std::to_string(Pointer.Offset) : ""));
}

bool editAccess(const KernelView &V, const Access &A,
                const std::string &Element, std::vector<Edit> &Edits) {
  std::optional<HintedAccess> Hint = A.hint();
  auto R = V.range((Hint ? A.Node : A.LValue)->getSourceRange());
  // Of a store with a hint, the value stays where it is.
  const clang::Expr *Stored = Hint ? Hint->Value : nullptr;
  auto Value = Stored ? V.range(Stored->getSourceRange()) : R;
  if (!R || !Value)
    return false;
  if (Stored) {
    Edits.push_back({R->first, Value->first, Element + " = ("});
    Edits.push_back({Value->second, R->second, ")"});
  } else {
    Edits.push_back({R->first, R->second, Element});
  }
  return true;
}

void dropNested(std::vector<Edit> &Edits) {
  std::vector<Edit> Kept;
  for (const Edit &E : Edits)
    if (llvm::none_of(Edits, [&](const Edit &O) {
          return O.Begin <= E.Begin && E.End <= O.End &&
                 O.End - O.Begin > E.End - E.Begin &&
                 !(E.Begin == E.End &&
                   (E.Begin == O.Begin || E.Begin == O.End));
        }))
      Kept.push_back(E);
  Edits = std::move(Kept);
}

static const char *const Fields[] = {"x", "y", "z", "w"};

std::string loadText(const WideArray &W, int64_t Width,
                     const std::string &Name) {
  std::string T =
      "  " + W.Scalar + " " + W.Lanes + "[" + std::to_string(Width) + "];\n";
  if (!W.Loads)
    return T;
  T += "  {\n" + W.Before + "    const " + W.Vector + " " + Name + " = " +
       (W.LoadBy->empty() ? "*" : *W.LoadBy + "(") + "reinterpret_cast<const " +
       W.Vector + " *>(" + W.Address + ")" + (W.LoadBy->empty() ? "" : ")") +
       ";\n";
  for (int64_t L = 0; L < Width; ++L)
    T += "    " + W.Lanes + "[" + std::to_string(L) + "] = " + Name + "." +
         Fields[L] + ";\n";
  return T + "  }\n";
}

std::string storeText(const WideArray &W, int64_t Width,
                      const std::string &Name) {
  if (!W.Stores)
    return "";
  std::string T = "  {\n" + W.Before + "    " + W.Vector + " " + Name + ";\n";
  for (int64_t L = 0; L < Width; ++L)
    T += "    " + Name + "." + Fields[L] + " = " + W.Lanes + "[" +
         std::to_string(L) + "];\n";
  const std::string Address =
      "reinterpret_cast<" + W.Vector + " *>(" + W.Address + ")";
  return T + "    " +
         (W.StoreBy->empty() ? "*" + Address + " = " + Name
                             : *W.StoreBy + "(" + Address + ", " + Name + ")") +
         ";\n  }\n";
}

} // namespace cupilot
