//===- Vectorized.cpp - vectorized_access -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "LaunchRules.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace cupilot {

namespace {
/// An array whose accesses become wide.
struct Wide {
  PointerRef Pointer;
  std::string Lanes, Address, Scalar, Vector;
  bool Loads = false, Stores = false;
  /// The hinted function of all loads, and of all stores; "": a plain access.
  std::optional<std::string> LoadBy, StoreBy;
};
} // namespace

/// What one more access by \p Function leaves of the hint of those before it.
static void joinHint(std::optional<std::string> &Hint,
                     llvm::StringRef Function) {
  Hint = !Hint || *Hint == Function ? Function.str() : "";
}

/// CUDA's vector type of that many elements, with the alignment of its size.
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

/// Does every thread that passes the checks evaluate \p S?
static bool isInEveryThread(const KernelView &V, const Bounds &Checks,
                            const Stmt *S) {
  return llvm::any_of(Checks.work(), [&](const Stmt *Work) {
    return isUnconditional(V, Work, S);
  });
}

/// Is \p P the index in x plus what is a multiple of \p Width? Adds the
/// integer arguments that must be multiples of it.
static bool isUnitStride(const Poly &P, int64_t Width,
                         std::vector<Constraint> &Needed) {
  std::array<int64_t, 3> Blocks{-1, -1, -1};
  std::optional<Poly> G = Values::toGlobal(P, 1, Blocks);
  if (!G)
    return false;
  Poly Rest = *G - Poly::atom({Atom::Kind::Global, 0});
  if (Rest.uses(Atom::Kind::Global, 0) || Rest.uses(Atom::Kind::Total, 0))
    return false;
  for (const auto &[M, C] : Rest.terms()) {
    // A value of the kernel may be another one in the neighbouring thread.
    if (llvm::any_of(M, [](const Atom &A) { return A.K == Atom::Kind::Value; }))
      return false;
    if (C % Width == 0)
      continue;
    auto It = llvm::find_if(
        M, [](const Atom &A) { return A.K == Atom::Kind::Symbol; });
    if (It == M.end())
      return false;
    Needed.push_back({mod(Expr::symbol(It->Index), Width), true});
  }
  return true;
}

/// The array behind \p Pointer, if all its accesses are to the one element that
/// belongs to the thread; else a finding says why not.
static llvm::Expected<Wide> widen(Analysis &A, const Memory &M,
                                  const PointerRef &Pointer, int64_t Width,
                                  llvm::StringRef Base,
                                  std::vector<Constraint> &Needed) {
  KernelView &V = A.Vals.V;
  Wide W;
  W.Pointer = Pointer;
  std::optional<Poly> Index;
  bool Always = false;
  for (const Access *Each : M.through(Pointer)) {
    const Origin &O = Each->From;
    if (Each->K == Access::Kind::Escape || Each->K == Access::Kind::Atomic ||
        !O.Index || !O.Whole)
      return findingError(M.name(Pointer) +
                          " is not accessed by plain subscripts alone");
    if (Index && *Index != *O.Index)
      return findingError(M.name(Pointer) +
                          " is accessed with several subscripts");
    if (!Index) {
      Index = O.Index;
      W.Scalar = V.typeText(O.Element);
      W.Vector = vectorType(V.Ctx, O.Element, Width);
      std::optional<std::string> Text =
          A.Uses.textAtHead(Each->LValue, 0, Base);
      if (!isUnitStride(*Index, Width, Needed) || !Text)
        return findingError(
            M.name(Pointer) +
            " is not accessed with unit stride at a multiple of the width");
      W.Address = "&(" + *Text + ")";
    }
    W.Loads |= Each->reads();
    W.Stores |= Each->writes();
    std::optional<HintedAccess> Hint = Each->hint();
    llvm::StringRef Function = Hint ? Hint->Function : "";
    if (Each->reads())
      joinHint(W.LoadBy, Function);
    if (Each->writes())
      joinHint(W.StoreBy, Function);
    // A wide load may not touch what the thread might not touch.
    Always |= isInEveryThread(V, A.Checks, Each->Node) &&
              (Each->writes() || !M.written(Pointer));
  }
  if (W.Vector.empty())
    return findingError("there is no vector type of " + std::to_string(Width) +
                        " " + W.Scalar);
  if (!Always)
    return findingError(M.name(Pointer) + " is accessed under a condition");
  return W;
}

/// Removes edits that lie inside others.
static void dropNested(std::vector<Edit> &Edits) {
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

static std::string loadText(const Wide &W, int64_t Width,
                            const std::string &Name) {
  static const char *const Fields[] = {"x", "y", "z", "w"};
  std::string T =
      "  " + W.Scalar + " " + W.Lanes + "[" + std::to_string(Width) + "];\n";
  if (!W.Loads)
    return T;
  T += "  {\n    const " + W.Vector + " " + Name + " = " +
       (W.LoadBy->empty() ? "*" : *W.LoadBy + "(") + "reinterpret_cast<const " +
       W.Vector + " *>(" + W.Address + ")" + (W.LoadBy->empty() ? "" : ")") +
       ";\n";
  for (int64_t L = 0; L < Width; ++L)
    T += "    " + W.Lanes + "[" + std::to_string(L) + "] = " + Name + "." +
         Fields[L] + ";\n";
  return T + "  }\n";
}

static std::string storeText(const Wide &W, int64_t Width,
                             const std::string &Name) {
  static const char *const Fields[] = {"x", "y", "z", "w"};
  if (!W.Stores)
    return "";
  std::string T = "  {\n    " + W.Vector + " " + Name + ";\n";
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

/// The checks as text for the head of the body, and their removal below.
static llvm::Expected<std::string> moveChecks(Analysis &A, llvm::StringRef Base,
                                              std::vector<Edit> &Edits) {
  KernelView &V = A.Vals.V;
  std::string Head;
  for (const Bounds::Check &C : A.Checks.checks()) {
    std::optional<std::string> Cond =
        A.Uses.textAtHead(C.If->getCond(), 0, Base);
    auto R = V.statementRange(*C.If);
    auto Then = V.range(C.If->getThen()->getSourceRange());
    if (!Cond || !R || !Then)
      return findingError("the check at " + V.at(C.If->getBeginLoc()) +
                          " cannot be moved");
    Head += "  if (" + (C.Returns ? *Cond : "!(" + *Cond + ")") +
            ")\n    return;\n";
    Edits.push_back({R->first, C.Returns ? R->second : Then->first, ""});
  }
  return Head;
}

llvm::Error applyVectorized(RewriteState &S, const Gene &G) {
  int64_t Width = valueOf(G, "width");
  if (Width != 2 && Width != 4)
    return refuse(G, "the width must be 2 or 4");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/1);
    if (llvm::Error E = checkMergedThreads(V, A))
      return refuse(G, std::move(E));
    if (!A.Uses.usesGlobal(0) || A.Uses.usesTotal(0))
      return refuse(G, "the kernel has not one index in x per thread");
    if (A.Uses.assumedBlock(0))
      return refuse(G, "the source assumes a block size");
    if (llvm::count_if(A.Checks.terms(),
                       [](const auto &T) { return T.Dim == 0; }) != 1)
      return refuse(G, "the index in x is not checked against one bound before "
                       "the work");
    if (const clang::Expr *Other = A.Checks.otherCondition(0))
      return refuse(G, "the check at " + V.at(Other->getBeginLoc()) +
                           " tests more than whether the index in x is "
                           "below a bound");
    if (llvm::Error E = checkRepeatedWork(V, A))
      return refuse(G, std::move(E));
    std::vector<Constraint> Needed;
    std::optional<Expr> Limit = A.Checks.limit(0, Needed);
    if (!Limit)
      return refuse(G, "the bound of the index cannot be determined from "
                       "arguments and launch");
    Memory M(A.Vals, A.Fx);
    Extents Ext(A.Vals, A.Checks);
    std::string Base = V.freshName("base"), Lane = V.freshName("lane"),
                Index = V.freshName("index");
    std::vector<Edit> Edits;
    if (llvm::Error E = A.Uses.replaceGlobal(0, Index, Edits))
      return refuse(G, std::move(E));
    llvm::Expected<std::string> Checks = moveChecks(A, Base, Edits);
    if (!Checks)
      return refuse(G, Checks.takeError());

    std::string Reason = "the kernel accesses no arrays of its arguments",
                Loads, Stores;
    std::vector<Disjoint> Disjoints;
    std::vector<Alignment> Alignments;
    bool Any = false;
    for (const PointerRef &Pointer : M.pointers()) {
      std::vector<Constraint> Here;
      std::vector<Disjoint> Apart;
      llvm::Expected<Wide> W = widen(A, M, Pointer, Width, Base, Here);
      if (!W) {
        Reason = llvm::toString(W.takeError());
        continue;
      }
      if (llvm::Error E = M.keepApart(Pointer, Ext, Apart, Here)) {
        Reason = llvm::toString(std::move(E));
        continue;
      }
      std::vector<Edit> Accesses;
      W->Lanes = V.freshName(
          "lanes" + std::to_string(Pointer.Param) +
          (Pointer.Offset ? "_" + std::to_string(Pointer.Offset) : ""));
      for (const Access *Each : M.through(Pointer)) {
        std::optional<HintedAccess> Hint = Each->hint();
        auto R = V.range((Hint ? Each->Node : Each->LValue)->getSourceRange());
        // Of a store with a hint, the value stays where it is.
        const clang::Expr *Stored = Hint ? Hint->Value : nullptr;
        auto Value = Stored ? V.range(Stored->getSourceRange()) : R;
        if (!R || !Value) {
          Accesses.clear();
          break;
        }
        std::string Element = W->Lanes + "[" + Lane + "]";
        if (Stored) {
          Accesses.push_back({R->first, Value->first, Element + " = ("});
          Accesses.push_back({Value->second, R->second, ")"});
        } else {
          Accesses.push_back({R->first, R->second, Element});
        }
      }
      if (Accesses.empty()) {
        Reason = "an access to " + M.name(Pointer) + " cannot be edited";
        continue;
      }
      Any = true;
      llvm::append_range(Edits, Accesses);
      llvm::append_range(Needed, Here);
      llvm::append_range(Disjoints, Apart);
      uint64_t Bytes =
          Width *
          V.Ctx.getTypeSizeInChars(M.through(Pointer).front()->From.Element)
              .getQuantity();
      Alignments.push_back({Pointer, static_cast<unsigned>(Bytes)});
      Loads += loadText(*W, Width, V.freshName("vector"));
      Stores += storeText(*W, Width, V.freshName("vector"));
    }
    if (!Any)
      return refuse(G, Reason);

    auto Open = V.offset(V.Body.getLBracLoc()),
         Close = V.offset(V.Body.getRBracLoc());
    if (!Open || !Close)
      return refuse(G, "the kernel's body comes from a macro");
    dropNested(Edits);
    std::string Lanes = std::to_string(Width);
    Edits.push_back({*Open + 1, *Open + 1,
                     "\n  const unsigned int " + Base +
                         " = (blockIdx.x * blockDim.x + threadIdx.x) * " +
                         Lanes + ";\n" + *Checks + Loads +
                         "#pragma unroll\n  for (unsigned int " + Lane +
                         " = 0; " + Lane + " < " + Lanes + "; ++" + Lane +
                         ") {\n  const unsigned int " + Index + " = " + Base +
                         " + " + Lane + ";"});
    Edits.push_back({*Close, *Close, "  }\n" + Stores});
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the accesses cannot be edited");

    S.requireAtLeast(Expr::constant(INT32_MAX - Width * 2048), S.threads(0));
    S.requireAtLeast(S.threads(0), *Limit);
    S.requireZero(mod(*Limit, Width));
    for (Constraint &C : Needed)
      S.require(std::move(C));
    for (Disjoint &D : Disjoints)
      S.require(std::move(D));
    for (const Alignment &Each : Alignments)
      S.require(Each);
    S.launch().Grid[0] = ceilDiv(S.launch().Grid[0], Width);
    S.MoreThreadsHarmless[0] = true;
    return llvm::Error::success();
  });
}

} // namespace cupilot
