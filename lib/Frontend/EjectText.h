//===- EjectText.h - Plans and guards as CUDA C++ -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_EJECTTEXT_H
#define CUPILOT_LIB_FRONTEND_EJECTTEXT_H

#include "cupilot/Frontend/Eject.h"

namespace cupilot {

/// How the host code of a kernel spells it.
struct EjectNames {
  std::string Kernel;  ///< "scale".
  std::string Chooser; ///< "scale_with_variants".
  std::vector<std::string> ParamNames;
  std::vector<std::string> ParamDecls; ///< "float *p", "int n = 3".
  /// True for parameters that are classes: their fields have no name here.
  std::vector<bool> IsClass;
};

/// "scale_v_1a2b3c4d", the namespace of a variant.
std::string ejectNamespace(const EjectNames &Names, const EjectVariant &V);

/// Why \p V cannot be written as host code; "" when it can.
std::string ejectRefusal(const EjectKernel &K, const EjectNames &Names,
                         const EjectVariant &V);

/// The namespace of \p V: \p Body, its device code, and its launch function,
/// which is false where the original must run.
std::string variantText(const EjectKernel &K, const EjectNames &Names,
                        const EjectVariant &V, llvm::StringRef Body);

/// The function that launches the first of \p Variants that may run, else the
/// original.
std::string chooserText(const EjectKernel &K, const EjectNames &Names,
                        llvm::ArrayRef<const EjectVariant *> Variants);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_EJECTTEXT_H
