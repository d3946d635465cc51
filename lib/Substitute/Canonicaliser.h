//===- Canonicaliser.h - The canonical text of a closure -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_CANONICALISER_H
#define CUPILOT_LIB_SUBSTITUTE_CANONICALISER_H

#include "cupilot/Substitute/BuildIdentity.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Writes the canonical text of a kernel's closure: the closure's walk lies in
/// BuildIdentity.cpp, single values in CanonicalValues.cpp.
class Canonicaliser {
public:
  explicit Canonicaliser(const llvm::Function &Kernel)
      : Kernel(Kernel), OS(Text) {}
  llvm::Expected<std::string> run(llvm::StringRef Context);
  /// What was reached, in the order of first use.
  llvm::ArrayRef<const llvm::GlobalValue *> reached() const { return Order; }

private:
  void function(const llvm::Function &F);
  void global(const llvm::GlobalVariable &G);
  void instruction(const llvm::Instruction &I);
  void payload(const llvm::Instruction &I);
  void call(const llvm::CallBase &C);
  void value(const llvm::Value *V);
  void constant(const llvm::Constant *C);
  void type(llvm::Type *T);
  void attributes(llvm::AttributeSet Set);
  void metadata(llvm::ArrayRef<std::pair<unsigned, llvm::MDNode *>> All);
  void metadata(const llvm::Metadata *M);
  void moduleFlags();
  void annotations();
  void text(llvm::StringRef S) { OS << S.size() << ":" << S; }
  void refuse(BuildReason R, llvm::ArrayRef<llvm::StringRef> Parts = {}) {
    if (!Refusal)
      Refusal = BuildNote(R, Parts);
  }
  bool dropped(const llvm::Instruction &I);
  unsigned number(const llvm::GlobalValue *G);

  const llvm::Function &Kernel;
  std::string Text;
  std::optional<BuildNote> Refusal;
  bool MayReadDriverState = false;
  llvm::raw_string_ostream OS;
  llvm::DenseMap<const llvm::MDNode *, unsigned> Nodes;
  llvm::DenseMap<const llvm::Value *, unsigned> Locals;
  llvm::DenseMap<const llvm::GlobalValue *, unsigned> Globals;
  std::vector<const llvm::GlobalValue *> Order; ///< Globals, by their number.
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_CANONICALISER_H
