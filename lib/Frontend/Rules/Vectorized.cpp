//===- Vectorized.cpp - vectorized_access -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "LaunchRules.h"
#include "VectorizedLoops.h"
#include "WideAccess.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace cupilot {

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
static llvm::Expected<WideArray> widen(Analysis &A, const Memory &M,
                                       const PointerRef &Pointer, int64_t Width,
                                       llvm::StringRef Base,
                                       std::vector<Constraint> &Needed) {
  KernelView &V = A.Vals.V;
  WideArray W;
  W.Pointer = Pointer;
  std::optional<Poly> Index;
  bool Always = false;
  for (const Access *Each : M.through(Pointer)) {
    const Origin &O = Each->From;
    if (llvm::Error E = checkPlain(M, Pointer, *Each))
      return std::move(E);
    if (Index && *Index != *O.Index)
      return findingError(M.name(Pointer) +
                          " is accessed with several subscripts");
    if (!Index) {
      Index = O.Index;
      W.setElement(V, O.Element, Width);
      std::optional<std::string> Text =
          A.Uses.textAtHead(Each->LValue, 0, Base);
      if (!isUnitStride(*Index, Width, Needed) || !Text)
        return findingError(
            M.name(Pointer) +
            " is not accessed with unit stride at a multiple of the width");
      W.Address = Each->hasAddress() ? *Text : "&(" + *Text + ")";
    }
    W.add(*Each);
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

/// Whether each thread reads its element through one of the two, and then
/// writes the same element, once, through the other: as kernels do that
/// programs call in place. Wide loads come before all stores there, too.
static bool maybeInPlace(Analysis &A, const Memory &M, const PointerRef &P,
                         const PointerRef &Q) {
  const PointerRef &Written = M.written(P) ? P : Q;
  const PointerRef &Read = M.written(P) ? Q : P;
  std::vector<const Access *> Stores = M.through(Written);
  if (M.written(Read) || Stores.size() != 1 ||
      Stores.front()->K != Access::Kind::Store)
    return false;
  const Access &Store = *Stores.front();
  KernelView &V = A.Vals.V;
  auto End = V.range(Store.Node->getSourceRange());
  return End && Store.From.Index && isInEveryThread(V, A.Checks, Store.Node) &&
         llvm::all_of(M.through(Read), [&](const Access *Load) {
           auto At = V.range(Load->Node->getSourceRange());
           return Load->K == Access::Kind::Load && At &&
                  At->second <= End->second && Load->From.Index &&
                  *Load->From.Index == *Store.From.Index &&
                  V.Ctx.hasSameUnqualifiedType(Load->From.Element,
                                               Store.From.Element);
         });
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

/// A kernel with one index in x per thread: each thread takes neighbouring
/// ones.
static llvm::Error vectorizeThreads(RewriteState &S, KernelView &V,
                                    int64_t Width) {
  Analysis A(V, S, /*Mask=*/1);
  if (llvm::Error E = checkMergedThreads(V, A))
    return E;
  if (!A.Uses.usesGlobal(0) || A.Uses.usesTotal(0))
    return findingError("the kernel has not one index in x per thread");
  if (A.Uses.assumedBlock(0))
    return findingError("the source assumes a block size");
  if (llvm::count_if(A.Checks.terms(),
                     [](const auto &T) { return T.Dim == 0; }) != 1)
    return findingError(
        "the index in x is not checked against one bound before "
        "the work");
  if (const clang::Expr *Other = A.Checks.otherCondition(0))
    return findingError("the check at " + V.at(Other->getBeginLoc()) +
                        " tests more than whether the index in x is "
                        "below a bound");
  if (llvm::Error E = checkRepeatedWork(V, A))
    return E;
  std::vector<Constraint> Needed;
  std::optional<Expr> Limit = A.Checks.limit(0, Needed);
  if (!Limit)
    return findingError("the bound of the index cannot be determined from "
                        "arguments and launch");
  Memory M(A.Vals, A.Fx);
  Extents Ext(A.Vals, A.Checks);
  std::string Base = V.freshName("base"), Lane = V.freshName("lane"),
              Index = V.freshName("index");
  std::vector<Edit> Edits;
  if (llvm::Error E = A.Uses.replaceGlobal(0, Index, Edits))
    return E;
  llvm::Expected<std::string> Checks = moveChecks(A, Base, Edits);
  if (!Checks)
    return Checks.takeError();

  std::string Reason = "the kernel accesses no arrays of its arguments", Loads,
              Stores;
  std::vector<Disjoint> Disjoints;
  std::vector<Alignment> Alignments;
  bool Any = false;
  for (const PointerRef &Pointer : M.pointers()) {
    std::vector<Constraint> Here;
    std::vector<Disjoint> Apart;
    llvm::Expected<WideArray> W = widen(A, M, Pointer, Width, Base, Here);
    if (!W) {
      Reason = llvm::toString(W.takeError());
      continue;
    }
    if (llvm::Error E = M.keepApart(Pointer, Ext, Apart, Here,
                                    [&](const PointerRef &Other) {
                                      return maybeInPlace(A, M, Pointer, Other);
                                    })) {
      Reason = llvm::toString(std::move(E));
      continue;
    }
    std::vector<Edit> Accesses;
    W->Lanes = lanesName(V, Pointer);
    for (const Access *Each : M.through(Pointer))
      if (!editAccess(V, *Each, W->Lanes + "[" + Lane + "]", Accesses)) {
        Accesses.clear();
        break;
      }
    if (Accesses.empty()) {
      Reason = "an access to " + M.name(Pointer) + " cannot be edited";
      continue;
    }
    Any = true;
    llvm::append_range(Edits, Accesses);
    llvm::append_range(Needed, Here);
    llvm::append_range(Disjoints, Apart);
    Alignments.push_back(wideAlignment(V, M, Pointer, Width));
    Loads += loadText(*W, Width, V.freshName("vector"));
    Stores += storeText(*W, Width, V.freshName("vector"));
  }
  if (!Any)
    return findingError(Reason);

  auto Open = V.offset(V.Body.getLBracLoc()),
       Close = V.offset(V.Body.getRBracLoc());
  if (!Open || !Close)
    return findingError("the kernel's body comes from a macro");
  dropNested(Edits);
  std::string Lanes = std::to_string(Width);
  // The loads come before the kernel's own wait.
  const std::string Wait =
      A.Fx.has(Effect::GridWait) ? "  cudaGridDependencySynchronize();\n" : "";
  Edits.push_back({*Open + 1, *Open + 1,
                   "\n  const unsigned int " + Base +
                       " = (blockIdx.x * blockDim.x + threadIdx.x) * " + Lanes +
                       ";\n" + *Checks + Wait + Loads +
                       "#pragma unroll\n  for (unsigned int " + Lane +
                       " = 0; " + Lane + " < " + Lanes + "; ++" + Lane +
                       ") {\n  const unsigned int " + Index + " = " + Base +
                       " + " + Lane + ";"});
  Edits.push_back({*Close, *Close, "  }\n" + Stores});
  if (!applyEdits(S.Text, std::move(Edits)))
    return findingError("the accesses cannot be edited");

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
}

llvm::Error applyVectorized(RewriteState &S, const Gene &G) {
  int64_t Width = valueOf(G, "width");
  if (Width != 2 && Width != 4)
    return refuse(G, "the width must be 2 or 4");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    llvm::Error Threads = vectorizeThreads(S, V, Width);
    if (!Threads)
      return Threads;
    llvm::Expected<bool> Loops = vectorizeLoops(S, V, Width);
    if (Loops && !*Loops)
      return refuse(G, std::move(Threads));
    llvm::consumeError(std::move(Threads));
    return Loops ? llvm::Error::success() : refuse(G, Loops.takeError());
  });
}

} // namespace cupilot
