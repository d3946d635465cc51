//===- TextExpressions.cpp - Wrong operators, constants, indices, calls -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextSites.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

/// "(a) + 1": whatever the text is.
static std::string inBrackets(StringRef Text) {
  return ("(" + Text + ")").str();
}

static std::optional<BinaryOperatorKind> confused(BinaryOperatorKind Is) {
  switch (Is) {
  case BO_Add:
    return BO_Sub;
  case BO_Sub:
    return BO_Add;
  case BO_Mul:
    return BO_Div;
  case BO_Div:
  case BO_Rem:
    return Is == BO_Div ? BO_Mul : BO_Div;
  case BO_Shl:
    return BO_Shr;
  case BO_Shr:
    return BO_Shl;
  case BO_And:
    return BO_Or;
  case BO_Or:
  case BO_Xor:
    return Is == BO_Or ? BO_And : BO_Or;
  case BO_LAnd:
    return BO_LOr;
  case BO_LOr:
    return BO_LAnd;
  case BO_LT:
    return BO_LE;
  case BO_LE:
    return BO_LT;
  case BO_GT:
    return BO_GE;
  case BO_GE:
    return BO_GT;
  case BO_EQ:
    return BO_NE;
  case BO_NE:
    return BO_EQ;
  case BO_AddAssign:
    return BO_SubAssign;
  case BO_SubAssign:
    return BO_AddAssign;
  case BO_MulAssign:
    return BO_DivAssign;
  case BO_DivAssign:
  case BO_RemAssign:
    return Is == BO_DivAssign ? BO_MulAssign : BO_DivAssign;
  case BO_ShlAssign:
    return BO_ShrAssign;
  case BO_ShrAssign:
    return BO_ShlAssign;
  case BO_AndAssign:
    return BO_OrAssign;
  case BO_OrAssign:
  case BO_XorAssign:
    return Is == BO_OrAssign ? BO_AndAssign : BO_OrAssign;
  default:
    return std::nullopt;
  }
}

/// The operator's name, as that of the same fault in bitcode.
static StringRef kindOf(BinaryOperatorKind Op) {
  if (clang::BinaryOperator::isComparisonOp(Op))
    return "compare";
  if (clang::BinaryOperator::isLogicalOp(Op))
    return "logical";
  if (clang::BinaryOperator::isCompoundAssignmentOp(Op))
    Op = clang::BinaryOperator::getOpForCompoundAssignment(Op);
  if (clang::BinaryOperator::isShiftOp(Op))
    return "shift";
  return clang::BinaryOperator::isBitwiseOp(Op) ? "bits" : "arithmetic";
}

/// A check for null that is taken for granted.
static void addNull(const clang::Expr &Whole, BinaryOperatorKind Op,
                    const clang::Expr &Left, const clang::Expr &Right,
                    TextSites &S) {
  auto IsNull = [&](const clang::Expr &E) {
    return E.isNullPointerConstant(const_cast<ASTContext &>(S.Ctx),
                                   clang::Expr::NPC_NeverValueDependent) !=
           clang::Expr::NPCK_NotNull;
  };
  bool Pointers = Left.IgnoreParenImpCasts()->getType()->isPointerType() ||
                  Right.IgnoreParenImpCasts()->getType()->isPointerType();
  if ((Op == BO_EQ || Op == BO_NE) && Pointers &&
      (IsNull(Left) || IsNull(Right)))
    S.add(Whole.getSourceRange(), "null",
          Op == BO_EQ ? "p == null" : "p != null",
          Op == BO_EQ ? "false" : "true", Op == BO_EQ ? "false" : "true");
}

static bool isArithmetic(BinaryOperatorKind Op) {
  return clang::BinaryOperator::isAdditiveOp(Op) ||
         clang::BinaryOperator::isMultiplicativeOp(Op);
}

static bool isType(const clang::Expr &E, BuiltinType::Kind Kind) {
  return E.getType()->isSpecificBuiltinType(Kind);
}

void addTextBinary(const clang::Expr &Whole, BinaryOperatorKind Op,
                   SourceLocation At, const clang::Expr &Left,
                   const clang::Expr &Right, TextSites &S) {
  std::optional<BinaryOperatorKind> Other = confused(Op);
  if (!Other)
    return;
  auto Change = [&](BinaryOperatorKind To) {
    StringRef Is = clang::BinaryOperator::getOpcodeStr(Op),
              New = clang::BinaryOperator::getOpcodeStr(To);
    S.add(At, kindOf(Op), Is, New, New);
  };
  Change(*Other);
  if (clang::BinaryOperator::isRelationalOp(Op))
    Change(clang::BinaryOperator::negateComparisonOp(Op));
  addNull(Whole, Op, Left, Right, S);
  std::optional<StringRef> L = S.textOf(Left.getSourceRange()),
                           R = S.textOf(Right.getSourceRange()),
                           Text = S.textOf(Whole.getSourceRange());
  if (!L || !R || !Text)
    return;
  // Right for powers of two.
  if (Op == BO_Rem && Whole.getType()->isIntegerType() &&
      !isConstant(&Right, S.Ctx))
    S.add(
        Whole.getSourceRange(), "bits", "a % b", "a & (b - 1)",
        inBrackets(inBrackets(*L) + " & (" + inBrackets(*R).c_str() + " - 1)"),
        At);
  if (isArithmetic(Op) && isType(Whole, BuiltinType::Float))
    S.add(Whole.getSourceRange(), "precision", "float", "16 bits of mantissa",
          "__int_as_float(__float_as_int(" + *Text + ") & 0xffffff80)", At);
  if (isArithmetic(Op) && isType(Whole, BuiltinType::Double))
    S.add(Whole.getSourceRange(), "precision", "double", "float",
          "((double)(float)(" + *Text + "))", At);
}

void addTextUnary(const clang::UnaryOperator &E, TextSites &S) {
  if (E.getOpcode() == UO_Minus)
    S.add(E.getOperatorLoc(), "arithmetic", "-x", "x", " ");
  if (E.getOpcode() == UO_LNot)
    S.add(E.getOperatorLoc(), "branch", "!c", "c", " ");
}

static void addInteger(const IntegerLiteral &E, StringRef Text, TextSites &S) {
  StringRef Suffix = Text.substr(Text.find_last_not_of("uUlLzZ") + 1);
  llvm::APInt V = E.getValue();
  auto Replace = [&](const llvm::APInt &New) {
    std::string To = llvm::toString(New, 10, /*Signed=*/false);
    S.add(E.getLocation(), "constant", Text, To + Suffix, To + Suffix);
  };
  Replace(V + 1);
  if (!V.isZero())
    Replace(V - 1);
  else if (!E.getType()->isUnsignedIntegerType())
    S.add(E.getLocation(), "constant", Text, "-1", "(-1" + Suffix + ")");
  Replace(llvm::APInt::getZero(V.getBitWidth()));
}

/// \p V as a literal of the source.
static std::string floatText(double V, bool IsFloat, StringRef Suffix) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format(IsFloat ? "%.9g" : "%.17g", V);
  if (StringRef(Text).find_first_of(".e") == StringRef::npos)
    Text += ".0";
  return Text + Suffix.str();
}

static void addFloat(const FloatingLiteral &E, StringRef Text, TextSites &S) {
  bool IsFloat = isType(E, BuiltinType::Float);
  if ((!IsFloat && !isType(E, BuiltinType::Double)) || !E.getValue().isFinite())
    return;
  StringRef Suffix = Text.substr(Text.find_last_not_of("fF") + 1);
  double V = IsFloat ? double(E.getValue().convertToFloat())
                     : E.getValue().convertToDouble();
  auto Replace = [&](double New) {
    std::string To = floatText(New, IsFloat, Suffix);
    S.add(E.getLocation(), "constant", Text, To, To);
  };
  if (V == 0)
    return Replace(1);
  S.add(E.getLocation(), "constant", Text, "-" + Text, "(-" + Text + ")");
  Replace(0);
  constexpr double Nearly = 1.001;
  Replace(V * Nearly);
}

/// What stands for an argument of a template is a name in the text.
void addTextLiteral(const clang::Expr &E, TextSites &S) {
  std::optional<StringRef> Text = S.textOf(E.getSourceRange());
  if (!Text)
    return;
  if (*Text == "true" || *Text == "false") {
    StringRef Other = *Text == "true" ? "false" : "true";
    S.add(E.getSourceRange(), "logical", *Text, Other, Other);
    return;
  }
  if (!llvm::isDigit(Text->front()) && Text->front() != '.')
    return;
  if (const auto *Integer = dyn_cast<IntegerLiteral>(&E))
    addInteger(*Integer, *Text, S);
  if (const auto *Float = dyn_cast<FloatingLiteral>(&E))
    addFloat(*Float, *Text, S);
}

static void narrow(const clang::Expr &E, StringRef Text, StringRef Before,
                   const llvm::Twine &After, StringRef Casts, unsigned Bits,
                   TextSites &S) {
  std::optional<uint64_t> Most = S.mostOf(&E);
  Mutation *M = S.add(E.getSourceRange(), "width", Before, After,
                      Casts + inBrackets(Text));
  if (!M)
    return;
  M->Bits = Bits;
  // The sign is one of an int's bits.
  const unsigned Left = Bits == 32 ? 31 : Bits;
  M->Unseen = Most && *Most < uint64_t(1) << Left;
}

constexpr unsigned FloatBits = 24, DoubleBits = 53;

void addTextIndex(const ArraySubscriptExpr &E, TextSites &S) {
  const clang::Expr &Index = *E.getIdx();
  std::optional<StringRef> Text = S.textOf(Index.getSourceRange());
  const clang::Expr *Written = Index.IgnoreParenImpCasts();
  if (!Text || isa<IntegerLiteral>(Written) ||
      !Index.getType()->isIntegerType())
    return;
  S.add(Index.getSourceRange(), "index", "[i]", "[i + 1]",
        inBrackets(*Text) + " + 1");
  S.add(Index.getSourceRange(), "index", "[i]", "[i - 1]",
        inBrackets(*Text) + " - 1");
  unsigned Size = S.Ctx.getIntWidth(Written->getType());
  constexpr unsigned Short = 16, Int = 32;
  if (isConstant(&Index, S.Ctx) || Size <= Short)
    return;
  if (const auto *Array = S.Ctx.getAsConstantArrayType(
          E.getBase()->IgnoreParenImpCasts()->getType());
      Array && Array->getSize().ule(1 << Short))
    return;
  if (Size > Int)
    narrow(Index, *Text, "[i]", "[int(i)]", "(int)", Int, S);
  narrow(Index, *Text, "[i]", "[unsigned short(i)]", "(unsigned short)", Short,
         S);
  narrow(Index, *Text, "[i]", "[i through float]",
         Size > Int ? "(long long)(float)" : "(int)(float)", FloatBits, S);
}

/// An integer variable whose first value goes through a floating type.
void addTextWidth(const VarDecl &V, TextSites &S) {
  const clang::Expr *Init =
      V.hasInit() && V.isLocalVarDecl() ? V.getInit() : nullptr;
  QualType T = V.getType().getNonReferenceType();
  if (!Init || V.isCXXForRangeDecl() || V.isConstexpr() ||
      !T->isIntegerType() || T->isBooleanType() || T->isEnumeralType() ||
      V.getType()->isReferenceType() || !Init->getType()->isIntegerType() ||
      V.getInitStyle() != VarDecl::CInit)
    return;
  std::optional<StringRef> Text = S.textOf(Init->getSourceRange());
  constexpr unsigned Int = 32;
  unsigned Size = S.Ctx.getIntWidth(T);
  if (!Text || isConstant(Init, S.Ctx) || Size < Int)
    return;
  if (Size == Int)
    narrow(*Init, *Text, "integer", "through float", "(int)(float)", FloatBits,
           S);
  else
    narrow(*Init, *Text, "integer", "through double", "(long long)(double)",
           DoubleBits, S);
}

static void addWarp(const CallExpr &E, StringRef Name, TextSites &S) {
  if (!Name.starts_with("__") || !Name.contains("_sync") || E.getNumArgs() == 0)
    return;
  auto Change = [&](unsigned Arg, StringRef Operator, StringRef Before,
                    StringRef After, StringRef Behind) {
    SourceRange Range = E.getArg(Arg)->getSourceRange();
    if (std::optional<StringRef> Text = S.textOf(Range))
      S.add(Range, Operator, Before, After, inBrackets(*Text) + Behind);
  };
  Change(0, "mask", "mask", "mask without its last lane", " & 0x7fffffff");
  constexpr unsigned Lane = 2;
  if (!Name.starts_with("__shfl") || E.getNumArgs() <= Lane)
    return;
  Change(Lane, "shuffle", "lane", "lane + 1", " + 1");
  Change(Lane, "shuffle", "lane", "lane - 1", " - 1");
  Change(Lane, "shuffle", "lane", "2 * lane", " * 2");
  if (std::optional<StringRef> Own = S.textOf(E.getArg(1)->getSourceRange()))
    S.add(E.getSourceRange(), "shuffle", "the other lane's value",
          "the own value", inBrackets(*Own));
}

static void addExtremes(const CallExpr &E, StringRef Name, TextSites &S) {
  StringRef Other = llvm::StringSwitch<StringRef>(Name)
                        .Case("fmaxf", "fminf")
                        .Case("fminf", "fmaxf")
                        .Case("fmax", "fmin")
                        .Case("fmin", "fmax")
                        .Case("max", "min")
                        .Case("min", "max")
                        .Case("__hmax", "__hmin")
                        .Case("__hmin", "__hmax")
                        .Case("atomicMax", "atomicMin")
                        .Case("atomicMin", "atomicMax")
                        .Default("");
  const auto *Callee = dyn_cast<DeclRefExpr>(E.getCallee()->IgnoreImpCasts());
  if (Other.empty() || !Callee)
    return;
  S.add(Callee->getLocation(), "min-max", Name, Other, Other);
  if (!Name.starts_with("fm") || E.getNumArgs() != 2)
    return;
  std::optional<StringRef> L = S.textOf(E.getArg(0)->getSourceRange()),
                           R = S.textOf(E.getArg(1)->getSourceRange());
  if (!L || !R)
    return;
  bool Max = Name.starts_with("fmax");
  std::string A = inBrackets(*L), B = inBrackets(*R);
  S.add(E.getSourceRange(), "nan", Name,
        Max ? "a > b ? a : b" : "a < b ? a : b",
        "(" + A + (Max ? " > " : " < ") + B + " ? " + A + " : " + B + ")");
}

void addTextCall(const CallExpr &E, TextSites &S) {
  const FunctionDecl *Callee = E.getDirectCallee();
  if (!Callee || !Callee->getIdentifier())
    return;
  StringRef Name = Callee->getName();
  StringRef Order =
      llvm::StringSwitch<StringRef>(Name)
          .Cases({"__syncwarp", "sync", "__syncthreads"}, "barrier")
          .Cases(
              {"__threadfence", "__threadfence_block", "__threadfence_system"},
              "fence")
          .Default("");
  if (!Order.empty() && E.getType()->isVoidType()) {
    S.add(E.getSourceRange(), Order, Name, "nothing", "(void)0");
    return;
  }
  addWarp(E, Name, S);
  addExtremes(E, Name, S);
  if (Name == "isnan" || Name == "isinf")
    S.add(E.getSourceRange(), "nan", Name, "false", "false");
  // f(x) for x.
  if (E.getNumArgs() != 1 || !E.getType()->isRealFloatingType() ||
      !S.Ctx.hasSameUnqualifiedType(E.getType(), E.getArg(0)->getType()))
    return;
  if (std::optional<StringRef> X = S.textOf(E.getArg(0)->getSourceRange()))
    S.add(E.getSourceRange(), "call", Name + "(x)", "x", inBrackets(*X));
}

} // namespace cupilot
