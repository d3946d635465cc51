//===- HaloTiling.cpp - halo_tiling ---------------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that read in[i + c] for several constants c read each element several
// times. The block brings what its threads read into shared memory once, at the
// head of the kernel, before any of them returns: the elements of its threads
// (the tile) and those around them (the halo).
//
// Threads that pass the checks are a box of global indices, as each check is a
// bound of one of them. In a block they are a box again, and so is what they
// read at one distance. An element is brought when it lies in one of these
// boxes: then some thread of the original reads it, and it is there.
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "LaunchRules.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/DeclCXX.h"
#include <set>

using namespace clang;

namespace cupilot {

/// Distances beyond are not worth a halo, and stay as they are.
static constexpr int64_t MostDistance = 32;

namespace {
/// How far from a thread's own element, in one dimension: a constant and
/// perhaps a loop's variable.
struct Distance {
  int64_t Constant = 0;
  const VarDecl *Var = nullptr;
  int64_t Least = 0, Most = 0; ///< With the variable.
};

/// What an index is made of: (global of Slow + ...) * Stride + global of Fast +
/// ...
struct Layout {
  unsigned Fast = 0;
  std::optional<unsigned> Slow;
  std::optional<unsigned> Symbol; ///< The stride, if it is an argument.
  int64_t Stride = 0;             ///< Else.
  auto operator<=>(const Layout &) const = default;
};

struct HaloAccess {
  const Access *Of;
  Layout L;
  Distance Along, Across; ///< In the fast dimension, and the slow one.
};

/// Distances [FromX, ToX] in rows [FromY, ToY].
struct Box {
  int64_t FromX, ToX, FromY, ToY;
};

struct HaloArray {
  PointerRef Pointer;
  QualType Type;
  std::vector<HaloAccess> Accesses;
  std::vector<Box> Boxes;
};

/// A bound of the threads that pass the checks, as text at the head.
struct ActiveBound {
  unsigned Dim;
  bool IsUpper;
  std::string Text; ///< The least or the largest index.
};

class HaloTiling {
public:
  HaloTiling(RewriteState &S, KernelView &V)
      : S(S), V(V), A(V, S, /*Mask=*/7), M(A.Vals, A.Fx),
        Ext(A.Vals, A.Checks) {}
  llvm::Error apply();

private:
  std::optional<Poly> global(const Poly &P);
  llvm::Error addBounds(const clang::Expr *Condition, bool Negated);
  llvm::Error addBound(const clang::BinaryOperator &B, bool Negated);
  std::optional<Distance> loopOf(const VarDecl *Var, const Stmt *At);
  bool isAlways(const Stmt *Node);
  std::optional<HaloAccess> match(const Access &Each);
  std::optional<Distance> distance(const Poly &P, const Stmt *At);
  llvm::Error findArrays();
  llvm::Error edit();
  std::string fill() const;

  RewriteState &S;
  KernelView &V;
  Analysis A;
  Memory M;
  Extents Ext;
  std::array<int64_t, 3> Blocks{}; ///< That the text assumes; 0: none.
  std::vector<ActiveBound> Bounded;
  std::vector<HaloArray> Arrays;
  Layout L;
  std::vector<Constraint> Needed;
  std::vector<Disjoint> Disjoints;
  // Over all arrays: the largest distances to all sides, not negative.
  int64_t Before = 0, After = 0, Above = 0, Below = 0;
  std::string Tile, Pitch, StrideText;
};
} // namespace

static std::string plus(int64_t N) {
  return N < 0    ? " - " + std::to_string(-N)
         : N == 0 ? ""
                  : " + " + std::to_string(N);
}

static std::string letter(unsigned Dim) { return {char('x' + Dim)}; }

std::optional<Poly> HaloTiling::global(const Poly &P) {
  std::array<int64_t, 3> Known = Blocks;
  std::optional<Poly> G = Values::toGlobal(P, /*Mask=*/7, Known);
  if (G)
    Blocks = Known;
  return G;
}

//===----------------------------------------------------------------------===//
// Which threads are active
//===----------------------------------------------------------------------===//

llvm::Error HaloTiling::addBounds(const clang::Expr *Condition, bool Negated) {
  Condition = conditionOf(A.Vals, Condition);
  if (const auto *Not = dyn_cast<clang::UnaryOperator>(Condition);
      Not && Not->getOpcode() == UO_LNot)
    return addBounds(Not->getSubExpr(), !Negated);
  const auto *B = dyn_cast<clang::BinaryOperator>(Condition);
  if (B && B->getOpcode() == (Negated ? BO_LOr : BO_LAnd)) {
    if (llvm::Error E = addBounds(B->getLHS(), Negated))
      return E;
    return addBounds(B->getRHS(), Negated);
  }
  if (!B || !B->isRelationalOp())
    return findingError("the check at " + V.at(Condition->getBeginLoc()) +
                        " is more than bounds of the thread's indices");
  return addBound(*B, Negated);
}

llvm::Error HaloTiling::addBound(const clang::BinaryOperator &B, bool Negated) {
  auto Fail = [&] {
    return findingError("the check at " + V.at(B.getBeginLoc()) +
                        " does not compare the thread's index with what is "
                        "known from arguments and launch");
  };
  for (bool Swap : {false, true}) {
    const clang::Expr *Index = Swap ? B.getRHS() : B.getLHS(),
                      *Limit = Swap ? B.getLHS() : B.getRHS();
    BinaryOperatorKind K =
        Swap ? clang::BinaryOperator::reverseComparisonOp(B.getOpcode())
             : B.getOpcode();
    if (Negated)
      K = clang::BinaryOperator::negateComparisonOp(K);
    std::optional<Poly> P = global(A.Vals.form(Index));
    if (!P)
      continue;
    for (unsigned Dim = 0; Dim < 3; ++Dim) {
      const Poly Rest = *P - Poly::atom({Atom::Kind::Global, Dim});
      if (!Rest.isConstant())
        continue;
      const int64_t Shift = Rest.constantPart();
      // Unsigned, i - 1 is no bound of i.
      if (Shift != 0 && (!B.getLHS()->getType()->isSignedIntegerType() ||
                         std::abs(Shift) > INT16_MAX))
        return Fail();
      std::optional<Expr> Value = A.Vals.overArguments(Limit, Needed);
      std::optional<std::string> Text = A.Uses.textAtHead(Limit, 0, "");
      if (!Value || !Text)
        return Fail();
      if (V.Ctx.getIntWidth(Limit->getType()) > 32 &&
          Value->K != Expr::Kind::Constant) {
        // What is added to it here must not overflow.
        Needed.push_back({*Value + Expr::constant(INT32_MAX), false});
        Needed.push_back({Expr::constant(INT64_MAX / 4) - *Value, false});
      }
      const bool IsUpper = K == BO_LT || K == BO_LE;
      const int64_t Add = (K == BO_LT ? -1 : K == BO_GT ? 1 : 0) - Shift;
      Bounded.push_back(
          {Dim, IsUpper, "static_cast<long long>(" + *Text + ")" + plus(Add)});
      return llvm::Error::success();
    }
  }
  return Fail();
}

//===----------------------------------------------------------------------===//
// What they read
//===----------------------------------------------------------------------===//

/// `for (int k = -2; k <= 2; ++k)` around \p At, of the variable.
static const ForStmt *loopAround(const KernelView &V, const VarDecl *Var,
                                 const Stmt *At) {
  for (const Stmt *S = At; S; S = V.parent(S))
    if (const auto *For = dyn_cast<ForStmt>(S))
      if (const auto *Init = dyn_cast_or_null<DeclStmt>(For->getInit());
          Init && Init->isSingleDecl() && Init->getSingleDecl() == Var)
        return For;
  return nullptr;
}

/// The values of the variable of \p Loop, if they are constants, all are taken,
/// and there is one.
static std::optional<Distance> valuesOf(const Values &Vals,
                                        const ForStmt &Loop) {
  const KernelView &V = Vals.V;
  const auto *Init = dyn_cast_or_null<DeclStmt>(Loop.getInit());
  const auto *Var = Init && Init->isSingleDecl()
                        ? dyn_cast<VarDecl>(Init->getSingleDecl())
                        : nullptr;
  if (!Var || !Var->getInit() || !Loop.getCond() || !Loop.getInc())
    return std::nullopt;
  const auto *Cond = dyn_cast<clang::BinaryOperator>(peel(Loop.getCond()));
  const auto *Inc =
      dyn_cast<clang::UnaryOperator>(Loop.getInc()->IgnoreParens());
  clang::Expr::EvalResult First, Last;
  if (!Var->getType()->isSignedIntegerType() ||
      V.Ctx.getIntWidth(Var->getType()) < 32 || Vals.writes(Var).size() != 1 ||
      !Cond || (Cond->getOpcode() != BO_LT && Cond->getOpcode() != BO_LE) ||
      variableOf(Cond->getLHS()->IgnoreParenImpCasts()) != Var || !Inc ||
      !Inc->isIncrementOp() || variableOf(Inc->getSubExpr()) != Var ||
      Var->getInit()->isValueDependent() ||
      Cond->getRHS()->isValueDependent() ||
      !Cond->getRHS()->getType()->isSignedIntegerType() ||
      !Var->getInit()->EvaluateAsInt(First, V.Ctx) ||
      !Cond->getRHS()->EvaluateAsInt(Last, V.Ctx) ||
      breaksOut(V, Loop.getBody(), /*CountContinue=*/true))
    return std::nullopt;
  Distance D{0, Var, First.Val.getInt().getExtValue(),
             Last.Val.getInt().getExtValue()};
  if (D.Least < -MostDistance || D.Most > 2 * MostDistance)
    return std::nullopt;
  D.Most -= Cond->getOpcode() == BO_LT ? 1 : 0;
  return D.Least <= D.Most ? std::optional(D) : std::nullopt;
}

/// Does every active thread come there, with all values of the loops around?
bool HaloTiling::isAlways(const Stmt *Node) {
  for (const Stmt *At = Node; At;) {
    if (llvm::any_of(A.Checks.work(), [&](const Stmt *Work) {
          return isUnconditional(V, Work, At);
        }))
      return true;
    const ForStmt *Loop = nullptr;
    for (const Stmt *Up = V.parent(At); Up && !Loop; Up = V.parent(Up))
      Loop = dyn_cast<ForStmt>(Up);
    if (!Loop || !valuesOf(A.Vals, *Loop) ||
        !isUnconditional(V, Loop->getBody(), At))
      return false;
    if (llvm::is_contained(A.Checks.work(), Loop))
      return true;
    At = Loop;
  }
  return false;
}

/// \p P as a constant and perhaps a variable.
std::optional<Distance> HaloTiling::distance(const Poly &P, const Stmt *At) {
  Distance D;
  for (const auto &[Monomial, C] : P.terms()) {
    if (Monomial.empty())
      continue;
    if (D.Var || Monomial.size() != 1 || C != 1 ||
        Monomial[0].K != Atom::Kind::Value || Monomial[0].Index != 1)
      return std::nullopt;
    D.Var = static_cast<const VarDecl *>(Monomial[0].Node);
    const ForStmt *Loop = loopAround(V, D.Var, At);
    std::optional<Distance> Taken =
        Loop ? valuesOf(A.Vals, *Loop) : std::nullopt;
    if (!Taken)
      return std::nullopt;
    D.Least = Taken->Least;
    D.Most = Taken->Most;
  }
  D.Constant = P.constantPart();
  if (std::abs(D.Constant) > 4 * MostDistance)
    return std::nullopt;
  D.Least += D.Constant;
  D.Most += D.Constant;
  if (D.Least < -MostDistance || D.Most > MostDistance)
    return std::nullopt;
  return D;
}

std::optional<HaloAccess> HaloTiling::match(const Access &Each) {
  const Origin &From = Each.From;
  if (Each.K != Access::Kind::Load || !From.Index || !From.Whole ||
      Each.hasAddress())
    return std::nullopt;
  std::optional<Poly> P = global(*From.Index);
  if (!P)
    return std::nullopt;
  HaloAccess H{&Each, {}, {}, {}};
  bool HasFast = false;
  // The thread's own element.
  for (const auto &[Monomial, C] : P->terms()) {
    const auto IsGlobal = [](const Atom &At) {
      return At.K == Atom::Kind::Global;
    };
    if (llvm::none_of(Monomial, IsGlobal))
      continue;
    if (Monomial.size() == 1 && C == 1 && !HasFast) {
      HasFast = true;
      H.L.Fast = Monomial[0].Index;
    } else if (H.L.Slow) {
      return std::nullopt;
    } else if (Monomial.size() == 1 && C > 1) {
      H.L.Slow = Monomial[0].Index;
      H.L.Stride = C;
    } else if (Monomial.size() == 2 && C == 1) {
      // Sorted by kind: the global index is the first.
      const Atom &Global = Monomial[0], &By = Monomial[1];
      if (!IsGlobal(Global) || By.K != Atom::Kind::Symbol)
        return std::nullopt;
      H.L.Slow = Global.Index;
      H.L.Symbol = By.Index;
    } else {
      return std::nullopt;
    }
  }
  if (!HasFast || (H.L.Slow && *H.L.Slow == H.L.Fast))
    return std::nullopt;
  // How far from it: what the stride is a factor of, and the rest.
  Poly Along = *P - Poly::atom({Atom::Kind::Global, H.L.Fast}), Across;
  if (H.L.Slow) {
    const Poly Stride = H.L.Symbol
                            ? Poly::atom({Atom::Kind::Symbol, *H.L.Symbol})
                            : Poly::constant(H.L.Stride);
    Along = Along - Poly::atom({Atom::Kind::Global, *H.L.Slow}) * Stride;
    for (const auto &[Monomial, C] : Along.terms()) {
      Poly::Monomial Others = Monomial;
      int64_t Factor = C;
      if (H.L.Symbol) {
        auto At = llvm::find(Others, Atom{Atom::Kind::Symbol, *H.L.Symbol});
        if (At == Others.end())
          continue;
        Others.erase(At);
      } else {
        // The multiple that leaves the smallest rest.
        Factor =
            (C >= 0 ? C + H.L.Stride / 2 : C - H.L.Stride / 2) / H.L.Stride;
        if (!Others.empty() && Factor * H.L.Stride != C)
          continue;
      }
      Across.add(Others, Factor);
    }
    Along = Along - Across * Stride;
  }
  std::optional<Distance> X = distance(Along, Each.Node),
                          Y = distance(Across, Each.Node);
  if (!X || !Y || !isAlways(Each.Node))
    return std::nullopt;
  H.Along = *X;
  H.Across = *Y;
  return H;
}

/// The distances of \p Accesses as few boxes that cover them exactly.
static std::vector<Box> boxesOf(llvm::ArrayRef<HaloAccess> Accesses) {
  std::set<std::pair<int64_t, int64_t>> Points; // Row, column.
  for (const HaloAccess &H : Accesses)
    for (int64_t Y = H.Across.Least; Y <= H.Across.Most; ++Y)
      for (int64_t X = H.Along.Least; X <= H.Along.Most; ++X)
        Points.insert({Y, X});
  std::vector<Box> Boxes;
  for (const auto &[Y, X] : Points) {
    Box *Last = Boxes.empty() ? nullptr : &Boxes.back();
    if (Last && Last->FromY == Y && Last->ToX == X - 1)
      Last->ToX = X;
    else
      Boxes.push_back({X, X, Y, Y});
  }
  // Rows of the same columns become one box.
  std::vector<Box> Merged;
  for (const Box &B : Boxes) {
    auto Same = llvm::find_if(Merged, [&](const Box &Other) {
      return Other.FromX == B.FromX && Other.ToX == B.ToX &&
             Other.ToY == B.FromY - 1;
    });
    if (Same == Merged.end())
      Merged.push_back(B);
    else
      Same->ToY = B.ToY;
  }
  return Merged;
}

llvm::Error HaloTiling::findArrays() {
  std::string Reason =
      "no array is read at several constant distances from the thread's own "
      "element by every thread that passes the checks";
  std::vector<HaloArray> All;
  std::map<Layout, size_t> Votes;
  for (const PointerRef &Pointer : M.pointers()) {
    const ParmVarDecl *P = V.Fn.getParamDecl(Pointer.Param);
    if (M.written(Pointer) || !P->getType()->isPointerType() ||
        !A.Vals.isStable(P) || V.hasLocal(P->getName()))
      continue;
    HaloArray Array;
    Array.Pointer = Pointer;
    for (const Access *Each : M.through(Pointer))
      if (std::optional<HaloAccess> H = match(*Each)) {
        Array.Type = Each->From.Element.getUnqualifiedType();
        Array.Accesses.push_back(std::move(*H));
        ++Votes[Array.Accesses.back().L];
      }
    if (Array.Accesses.empty() || Array.Type.isVolatileQualified() ||
        !Array.Type.isTriviallyCopyableType(V.Ctx))
      continue;
    if (const auto *R = Array.Type->getAsCXXRecordDecl();
        R && (!R->hasTrivialDefaultConstructor() || !R->hasTrivialDestructor()))
      continue;
    All.push_back(std::move(Array));
  }
  size_t Most = 0;
  for (const auto &[Each, Count] : Votes)
    if (Count > Most) {
      Most = Count;
      L = Each;
    }
  for (HaloArray &Array : All) {
    llvm::erase_if(Array.Accesses,
                   [&](const HaloAccess &H) { return H.L != L; });
    Array.Boxes = boxesOf(Array.Accesses);
    // One distance alone is read once by each thread.
    if (Array.Boxes.empty() || (Array.Boxes.size() == 1 &&
                                Array.Boxes[0].FromX == Array.Boxes[0].ToX &&
                                Array.Boxes[0].FromY == Array.Boxes[0].ToY))
      continue;
    if (!Arrays.empty() && !V.Ctx.hasSameType(Arrays.front().Type, Array.Type))
      continue;
    std::vector<Constraint> Here;
    std::vector<Disjoint> Apart;
    if (llvm::Error E = M.keepApart(Array.Pointer, Ext, Apart, Here)) {
      Reason = llvm::toString(std::move(E));
      continue;
    }
    if (!Apart.empty())
      llvm::append_range(Needed, Here);
    llvm::append_range(Disjoints, Apart);
    Arrays.push_back(std::move(Array));
  }
  if (Arrays.empty())
    return findingError(Reason);
  for (const HaloArray &Array : Arrays)
    for (const Box &B : Array.Boxes) {
      Before = std::max(Before, -B.FromX);
      After = std::max(After, B.ToX);
      Above = std::max(Above, -B.FromY);
      Below = std::max(Below, B.ToY);
    }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The new text
//===----------------------------------------------------------------------===//

/// What stands at the head of the kernel.
std::string HaloTiling::fill() const {
  const std::string Type = V.typeText(Arrays.front().Type),
                    Base = V.freshName("base") + "_",
                    First = V.freshName("first") + "_",
                    Last = V.freshName("last") + "_", Row = V.freshName("row"),
                    Column = V.freshName("column"), F = letter(L.Fast);
  auto Size = [](unsigned Dim) {
    return "static_cast<int>(blockDim." + letter(Dim) + ")";
  };
  std::set<unsigned> Dims{L.Fast};
  if (L.Slow)
    Dims.insert(*L.Slow);
  for (const ActiveBound &B : Bounded)
    Dims.insert(B.Dim);
  const std::string Rows = L.Slow ? Size(*L.Slow) + plus(Above + Below) : "1";
  std::string Text = "\nextern __shared__ " + Type + " " + Tile + "[];\n" +
                     "const int " + Pitch + " = " + Size(L.Fast) +
                     plus(Before + After) + ";\n";
  for (size_t I = 1; I < Arrays.size(); ++I)
    Text += Type + " *const " + Tile + std::to_string(I) + " = " + Tile +
            " + " + std::to_string(I) + " * " + Pitch + " * (" + Rows + ");\n";
  Text += "{\n";
  std::string Some;
  for (unsigned Dim : Dims) {
    const std::string D = letter(Dim);
    Text += "  const long long " + Base + D +
            " = static_cast<long long>(blockIdx." + D + ") * blockDim." + D +
            ";\n  long long " + First + D + " = 0, " + Last + D + " = " +
            Size(Dim) + " - 1;\n";
    for (const ActiveBound &B : Bounded)
      if (B.Dim == Dim) {
        const std::string Name = (B.IsUpper ? Last : First) + D,
                          Value = B.Text + " - " + Base + D;
        Text += "  if (" + Value + (B.IsUpper ? " < " : " > ") + Name +
                ")\n    " + Name + " = " + Value + ";\n";
      }
    Some += (Some.empty() ? "" : " && ") + First + D + " <= " + Last + D;
  }
  Text += "  if (" + Some + ")\n";
  std::string Indent = "    ", Source = Base + F + " + " + Column;
  if (L.Slow) {
    const std::string W = letter(*L.Slow);
    Text += Indent + "for (int " + Row + " = static_cast<int>(threadIdx." + W +
            "); " + Row + " < " + Rows + "; " + Row + " += " + Size(*L.Slow) +
            ")\n";
    Indent += "  ";
    Source = "(" + Base + W + " + " + Row + plus(-Above) + ") * " + StrideText +
             " + " + Source;
  }
  Text += Indent + "for (int " + Column + " = static_cast<int>(threadIdx." + F +
          "); " + Column + " < " + Pitch + "; " + Column +
          " += " + Size(L.Fast) + ") {\n";
  auto Between = [](const std::string &Value, const std::string &From,
                    int64_t Least, const std::string &To, int64_t Most) {
    return Value + " >= " + From + plus(Least) + " && " + Value + " <= " + To +
           plus(Most);
  };
  for (size_t I = 0; I < Arrays.size(); ++I) {
    std::string Read;
    for (const Box &B : Arrays[I].Boxes) {
      std::string Inside = Between(Column, First + F, B.FromX + Before,
                                   Last + F, B.ToX + Before);
      if (L.Slow) {
        const std::string W = letter(*L.Slow);
        Inside += " && " + Between(Row, First + W, B.FromY + Above, Last + W,
                                   B.ToY + Above);
      }
      Read += (Read.empty() ? "(" : " || (") + Inside + ")";
    }
    const std::string Name =
        V.Fn.getParamDecl(Arrays[I].Pointer.Param)->getNameAsString();
    Text += Indent + "  if (" + Read + ")\n" + Indent + "    " + Tile +
            (I ? std::to_string(I) : "") + "[" +
            (L.Slow ? Row + " * " + Pitch + " + " : "") + Column +
            "] = " + Name + "[" + Source + plus(-Before) + "];\n";
  }
  return Text + Indent + "}\n}\n__syncthreads();\n";
}

llvm::Error HaloTiling::edit() {
  auto Body = V.range(V.Body.getSourceRange());
  if (!Body || V.text(Body->first, Body->first + 1) != "{")
    return findingError("the kernel's body comes from a macro");
  std::vector<Edit> Edits{{Body->first + 1, Body->first + 1, fill()}};
  for (size_t I = 0; I < Arrays.size(); ++I)
    for (const HaloAccess &H : Arrays[I].Accesses) {
      auto Place = [&](unsigned Dim, const Distance &D, int64_t Halo) {
        return "static_cast<int>(threadIdx." + letter(Dim) + ")" +
               (D.Var ? " + static_cast<int>(" + D.Var->getNameAsString() + ")"
                      : "") +
               plus(D.Constant + Halo);
      };
      std::string Index = Place(L.Fast, H.Along, Before);
      if (L.Slow)
        Index = "(" + Place(*L.Slow, H.Across, Above) + ") * " + Pitch + " + " +
                Index;
      const clang::Expr *Read = H.Of->hint() ? H.Of->Node : H.Of->LValue;
      auto R = V.range(Read->getSourceRange());
      if (!R)
        return findingError("the access at " + V.at(Read->getBeginLoc()) +
                            " comes from a macro");
      Edits.push_back(
          {R->first, R->second,
           Tile + (I ? std::to_string(I) : "") + "[" + Index + "]"});
    }
  if (!applyEdits(S.Text, std::move(Edits)))
    return findingError("the accesses cannot be edited");
  return llvm::Error::success();
}

llvm::Error HaloTiling::apply() {
  if (llvm::Error E = A.Fx.checkNone(
          {Effect::Shared, Effect::Fence, Effect::GridWait, Effect::Assembly,
           Effect::SpecialRead, Effect::Unknown, Effect::Jump, Effect::Lambda}))
    return E;
  for (const Stmt *Work : A.Checks.work())
    if (!returnsIn(Work).empty())
      return findingError("the work may be left by a return");
  for (const Bounds::Check &C : A.Checks.checks())
    if (llvm::Error E = addBounds(C.If->getCond(), C.Returns))
      return E;
  if (llvm::Error E = findArrays())
    return E;
  StrideText = std::to_string(L.Stride);
  if (L.Symbol) {
    const ScalarRef &Scalar = S.K.Scalars[*L.Symbol];
    const ParmVarDecl *P = V.Fn.getParamDecl(Scalar.Param);
    if (!P->getType()->isIntegerType() || V.hasLocal(P->getName()))
      return findingError(
          "the distance between rows is no argument of its own");
    StrideText = "static_cast<long long>(" + P->getNameAsString() + ")";
    // 64 bits, where the original has 32: the same, if neither overflows.
    S.requireAtLeast(Expr::constant(INT32_MAX),
                     (S.threads(*L.Slow) + Expr::constant(MostDistance)) *
                             Expr::symbol(*L.Symbol) +
                         S.threads(L.Fast));
  }
  Tile = V.freshName("tile");
  Pitch = V.freshName("pitch");
  const Launch &Old = S.launch();
  const Expr Columns = Old.Block[L.Fast] + Expr::constant(Before + After);
  const int64_t Bytes =
      int64_t(Arrays.size()) *
      V.Ctx.getTypeSizeInChars(Arrays.front().Type).getQuantity();
  Expr Cells = Columns;
  if (L.Slow)
    Cells = Columns * (Old.Block[*L.Slow] + Expr::constant(Above + Below));
  if (llvm::Error E = edit())
    return E;
  for (Constraint &C : Needed)
    S.require(std::move(C));
  for (Disjoint &D : Disjoints)
    S.require(std::move(D));
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    const bool IsUsed =
        Dim == L.Fast || Dim == L.Slow ||
        llvm::any_of(Bounded, [&](const auto &B) { return B.Dim == Dim; });
    // Indices of 32 bits stay exact.
    if (IsUsed)
      S.requireAtLeast(Expr::constant(INT32_MAX - MaxBlockThreads),
                       S.threads(Dim));
    // Each element is brought by one thread.
    if (Dim != L.Fast && Dim != L.Slow)
      S.requireZero(Old.Block[Dim] - Expr::constant(1));
    if (Blocks[Dim])
      S.requireZero(Old.Block[Dim] - Expr::constant(Blocks[Dim]));
  }
  S.launch().Shared = Cells * Expr::constant(Bytes);
  S.requireAtLeast(Expr::constant(UnrequestedShared), S.launch().Shared);
  return llvm::Error::success();
}

llvm::Error applyHaloTiling(RewriteState &S, const Gene &G) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    return refuse(G, HaloTiling(S, V).apply());
  });
}

} // namespace cupilot
