//===- Host.h - Kernels as host code beside them names them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EJECT_HOST_H
#define CUPILOT_LIB_EJECT_HOST_H

#include "cupilot/Eject/Eject.h"

namespace clang {
class FunctionDecl;
} // namespace clang

namespace cupilot {

struct ParsedUnit;

/// The parameters of a kernel in a function of the host.
struct EjectParams {
  std::vector<std::string> Names;
  std::vector<std::string> Types;
  std::vector<std::string> Decls;     ///< "float *p", "Ts... rest".
  std::vector<std::string> Arguments; ///< "p", "rest...".
  std::vector<std::string> Defaults;  ///< "" where there is none.
};

/// A kernel, or one instance of a template.
struct EjectHost {
  const EjectKernel *Of = nullptr;
  std::string Original; ///< "scale", "both<64>", "S::run".
  std::string Args;     ///< "<64>"; "" for what is no instance.
  EjectParams Params;
  std::vector<std::string> Scalars;  ///< Of the kernel's scalars, in order.
  std::vector<std::string> Pointers; ///< Of its pointers, in order.
  /// Of the floating-point numbers that domains of its variants name.
  std::vector<std::pair<FloatRef, std::string>> Floats;
  bool ReadsBytes = false; ///< Some have no name: fieldAt reads them.
};

/// What the source has one text of: a kernel, or a template with instances.
struct EjectGroup {
  const clang::FunctionDecl *Pattern = nullptr;
  std::string Stem;     ///< "scale", "S_run": new names begin with it.
  std::string Callee;   ///< "scale", "S::run": seen from the namespace.
  std::string Scope;    ///< "blur::", of the namespace; "" if global.
  std::string Template; ///< "template <int N>"; "" for what is no template.
  std::string OwnArgs;  ///< "<N>".
  bool IsMember = false;
  EjectParams Params; ///< As the template has them.
  std::vector<EjectHost> Instances;

  std::string chooser() const { return Stem + "_with_variants"; }
  std::string launcher() const { return Stem + "_launched_with_variants"; }
  std::string choice() const { return Stem + "_choice"; }
};

/// The integer type that the scalar \p S is read as: "signed int".
std::string ejectType(const ScalarRef &S);

/// A finding, with a way out, when no host code can stand beside \p F.
llvm::Error checkKernel(const ParsedUnit &Unit, const clang::FunctionDecl *F);

/// The group of the kernel \p F, without instances.
EjectGroup ejectGroup(const ParsedUnit &Unit, const clang::FunctionDecl *F);

/// \p F, whose description is \p Kernel, as a member of \p Group.
EjectHost ejectHost(const ParsedUnit &Unit, const clang::FunctionDecl *F,
                    const EjectKernel &Kernel, const EjectGroup &Group);

} // namespace cupilot

#endif // CUPILOT_LIB_EJECT_HOST_H
