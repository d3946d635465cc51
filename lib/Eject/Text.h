//===- Text.h - Variants as CUDA C++ -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After a kernel comes a namespace for the device code of each variant, one for
// the host code that decides, and the functions that launches call instead:
//
//   namespace scale_v_1a2b3c4d { __global__ void scale(...) { ... } }
//   namespace scale_choice { bool launch_v_1a2b3c4d(...) { ... } }
//   void scale_with_variants(dim3 grid, ...)
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EJECT_TEXT_H
#define CUPILOT_LIB_EJECT_TEXT_H

#include "Host.h"

namespace cupilot {

/// The device code of a variant, ready to stand in a namespace of its own.
struct EjectCode {
  const EjectVariant *V = nullptr;
  std::string Id;                    ///< "v_1a2b3c4d", unique in the group.
  std::string Body;                  ///< What its text has beyond the slice.
  std::vector<std::string> Kernels;  ///< Of its plan, seen from the namespace.
  std::vector<std::string> Includes; ///< "<cuda.h>": what the file may lack.
};

/// Helpers that the host code of a group uses.
struct EjectHelpers {
  bool Checked = false, Domain = false, FieldAt = false, Cluster = false,
       Scratch = false, TensorMap = false;
};

/// How launches are written; each has a function that stands in for it.
enum class EjectForm {
  Chevrons,    ///< scale<<<...>>>(...)
  Array,       ///< cudaLaunchKernel(scale, ...)
  Config,      ///< cudaLaunchKernelExC(config, scale, args)
  TypedConfig, ///< cudaLaunchKernelEx(config, scale, ...)
};

/// A member of a group with what the source gets of it.
struct EjectMember {
  const EjectHost *Host = nullptr;
  std::vector<EjectCode> Codes; ///< In the order in which they are tried.
};

/// A finding when \p V cannot be written as host code.
llvm::Error checkVariant(const EjectHost &Host, const EjectVariant &V);

/// "scale_v_1a2b3c4d".
std::string ejectNamespace(const EjectGroup &Group, const EjectCode &Code);

/// "dim3 grid, dim3 block, size_t shared, cudaStream_t stream, float *p", with
/// default arguments if \p Defaults. Of the launch's own only what \p Used
/// holds has a name, or all of it when that is null.
std::string ejectParameters(const EjectParams &P, bool Defaults = false,
                            const std::string *Used = nullptr);

/// The namespace of \p Code.
std::string deviceText(const EjectGroup &Group, const EjectCode &Code);

/// The function that launches \p Code where that is right and is false
/// elsewhere. Adds what it uses to \p Needs.
std::string attemptText(const EjectGroup &Group, const EjectHost &Host,
                        const EjectCode &Code, EjectHelpers &Needs);

/// The statements that refuse launches outside of the guard of \p V.
std::string guardText(const EjectHost &Host, const EjectVariant &V);
/// The statements that refuse launches outside of \p Where.
std::string domainText(const EjectHost &Host, const Domain &Where);
/// \p E in 64 bits, as a Checked.
std::string checkedText(const EjectHost &Host, const Expr &E);
/// \p E, which is no arithmetic, as a 64-bit integer.
std::string plainText(const EjectHost &Host, const Expr &E);
/// "grid.x", by LaunchDim.
const char *dimText(size_t Dim);
/// Of a pointer, as an integer.
std::string addressText(const EjectHost &Host, const PointerRef &P);

/// The namespace with helpers and the attempts of all members, and the
/// functions for launches of \p Forms.
std::string chooserText(const EjectGroup &Group,
                        llvm::ArrayRef<EjectMember> Members,
                        llvm::ArrayRef<EjectForm> Forms, bool Declared);
/// Declarations of those functions.
std::string chooserDeclarations(const EjectGroup &Group,
                                llvm::ArrayRef<EjectMember> Members,
                                llvm::ArrayRef<EjectForm> Forms);

} // namespace cupilot

#endif // CUPILOT_LIB_EJECT_TEXT_H
