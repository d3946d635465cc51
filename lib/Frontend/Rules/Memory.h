//===- Memory.h - The memory accesses of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_MEMORY_H
#define CUPILOT_LIB_FRONTEND_RULES_MEMORY_H

#include "Effects.h"
#include "Values.h"

namespace cupilot {

class Extents;

/// Where memory comes from.
struct Origin {
  enum class Kind {
    Private,  ///< Of the thread.
    Argument, ///< Behind a pointer that the kernel gets.
    Shared,
    Constant, ///< Constant memory, literals.
    Variable, ///< A device variable.
    Unknown
  };
  Kind K = Kind::Unknown;
  PointerRef Pointer; ///< For Argument.
  /// How far behind the pointer, in elements; nothing when that is not known.
  std::optional<Poly> Index;
  clang::QualType Element; ///< The unit of Index.
  /// The lvalue is the whole element, not a member of it.
  bool Whole = true;
};

/// `__ldcs(&p[i])`, `__stcs(&p[i], v)`: a load or store with a cache hint (CUDA
/// C++ Programming Guide, "Load Functions Using Cache Hints", "Store Functions
/// Using Cache Hints").
struct HintedAccess {
  llvm::StringRef Function;
  const clang::Expr *LValue; ///< Null: the address is no `&lvalue`.
  const clang::Expr *Address;
  const clang::Expr *Value; ///< What is stored; null for loads.
};
/// Nothing for any other call. Those that fetch or write through each time,
/// `__ldcv` and `__stwt`, are volatile, and not among them.
std::optional<HintedAccess> hintedAccess(const clang::CallExpr &Call);

/// One access of the kernel's own text to memory that others can see.
struct Access {
  enum class Kind { Load, Store, Update, Atomic, Escape };
  Kind K;
  const clang::Expr *Node;   ///< What does it.
  const clang::Expr *LValue; ///< What is accessed, or its address.
  Origin From;
  bool reads() const { return K != Kind::Store; }
  bool writes() const { return K != Kind::Load; }
  /// Of a call that only loads or stores with a cache hint.
  std::optional<HintedAccess> hint() const;
  /// True if LValue is the address: `__ldcs(p + i)`.
  bool hasAddress() const;
};

/// All accesses of a kernel to memory that is not the thread's own.
class Memory {
public:
  Memory(Values &Vals, const Effects &Fx);

  const std::vector<Access> &accesses() const { return All; }
  /// Accesses through \p Pointer.
  std::vector<const Access *> through(const PointerRef &Pointer) const;
  /// The pointers that the kernel accesses memory through, in order.
  std::vector<PointerRef> pointers() const;
  bool written(const PointerRef &Pointer) const;
  bool isRestrict(const PointerRef &Pointer) const;
  /// The parameter's name, with ".field" when it is a field.
  std::string name(const PointerRef &Pointer) const;

  /// Shows that nothing but \p Pointer itself writes the memory that the kernel
  /// reaches through it, and, where it writes itself, that nothing else reads
  /// that: by __restrict__, or by what it adds to \p Disjoints and \p Needed. A
  /// finding says why it cannot. Another pointer of which \p MayBeSame is true
  /// may lead to the same array; to one that overlaps it in part, no domain
  /// lets it.
  llvm::Error keepApart(
      const PointerRef &Pointer, Extents &Ext, std::vector<Disjoint> &Disjoints,
      std::vector<Constraint> &Needed,
      llvm::function_ref<bool(const PointerRef &)> MayBeSame =
          [](const PointerRef &) { return false; }) const;

  Origin originOfPointer(const clang::Expr *E) const;
  Origin originOfLValue(const clang::Expr *E) const;

private:
  void visit(const clang::Stmt *S);
  void visitPointer(const clang::Expr *E);
  void visitLValue(const clang::Expr *E, std::optional<Access::Kind> K,
                   const clang::Expr *Node);
  void visitCall(const clang::CallExpr *Call);
  void visitArgument(const clang::Expr *Arg, clang::QualType Param);
  void record(Access::Kind K, const clang::Expr *Node,
              const clang::Expr *LValue, Origin From);
  void visitCallee(const clang::FunctionDecl *F);
  Origin originOfVariable(const clang::VarDecl *Var) const;

  Values &Vals;
  bool Jumps; ///< The kernel has labels.
  std::vector<Access> All;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_MEMORY_H
