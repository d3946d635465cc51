//===- ModuleLowering.h - PTX modules as NVPTX IR ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_MODULELOWERING_H
#define CUPILOT_LIB_CPUDEVICE_PTX_MODULELOWERING_H

#include "BodyLowering.h"
#include "llvm/IR/DIBuilder.h"
#include <unordered_set>

namespace cupilot {

/// Something in a PTX module that is not known. Its function runs not.
struct PtxLack {
  std::string Function; ///< "": a variable of the module.
  unsigned Line = 0;    ///< Of the PTX text.
  std::string What;     ///< "'tex.1d.v4.f32.s32 ...'".
  std::string Source;   ///< "app.cu:12:3", where .loc says it; else "".
};

/// Marks the call that stands for a function which is not known; its metadata
/// of this name says why.
inline constexpr char RefusedPtxName[] = "cupilot.refused";

/// A PTX module on its way to IR of the form that clang makes of CUDA: kernels
/// have the calling convention, arguments and attributes of NVPTX, variables
/// its address spaces.
class ModuleLowering {
public:
  /// With \p Only, what these names stand for, and nothing else of the module.
  ModuleLowering(const ptx::Module &Source, llvm::Module &M,
                 ForeignStatement Foreign,
                 const std::unordered_set<std::string_view> *Only = nullptr);
  void run();

  /// As BodyLowering::AsSource; what instructions imply is marked there, as in
  /// inline assembly.
  bool AsSource = false;
  const ptx::Module &Source;
  llvm::Module &M;
  std::vector<PtxLack> Lacks;

  // For functions.

  /// A variable, or a function that can be called; null for none.
  llvm::Constant *find(llvm::StringRef Name) const {
    return Symbols.lookup(Name);
  }
  /// The variable in memory that \p V describes, of the module or of a
  /// function; null when it cannot be.
  llvm::GlobalVariable *addVariable(const ptx::Variable &V);
  /// Of a parameter or result as functions pass it.
  llvm::Type *passedType(const ptx::Variable &V);
  llvm::FunctionType *functionType(llvm::ArrayRef<ptx::Variable> Results,
                                   llvm::ArrayRef<ptx::Variable> Parameters);
  /// Where the text says that a function's code comes from.
  llvm::DebugLoc location(const ptx::Location &L, llvm::Function &F);
  ForeignStatement foreign() const { return Foreign; }
  /// The line of the text; fast, since every statement may be unknown.
  unsigned lineOf(ptx::Place At) const;

private:
  llvm::Function *declareKernel(const ptx::Function &F);
  llvm::Function *declareFunction(const ptx::Function &F);
  void readFiles();
  void addInitialisers();
  llvm::Constant *initialiser(const ptx::Variable &V, uint64_t Bytes);
  void refuse(llvm::Function &F, const std::string &What);
  void lack(llvm::StringRef Function, ptx::Place At, std::string What);

  bool isWanted(std::string_view Name) const {
    return !Only || Only->contains(Name);
  }

  mutable std::vector<uint32_t> LineEnds; ///< Once a line is asked for.
  const std::unordered_set<std::string_view> *Only;
  llvm::DIBuilder Debug;
  llvm::DenseMap<uint64_t, llvm::DIFile *> Files;
  ForeignStatement Foreign;
  llvm::StringMap<llvm::Constant *> Symbols;
  std::vector<std::pair<llvm::GlobalVariable *, const ptx::Variable *>>
      Initialised;
};

/// Bytes of a variable; nothing for an array without a size, and for one that
/// is too large.
std::optional<uint64_t> bytesOf(const ptx::Variable &V);

/// Emits the body of \p F, which is \p Target. What is not known is added to
/// the module's lacks; \p Target is then to be refused.
void lowerFunction(ModuleLowering &Module, const ptx::Function &F,
                   llvm::Function &Target);

/// Turns registers into values, and integers that are addresses of variables
/// back into pointers to them, so that checks know the variable. \p
/// OfArguments: and those that are addresses in what arguments point to.
void recoverPointers(llvm::Function &F, bool OfArguments = false);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_MODULELOWERING_H
