//===- WideAccess.h - Several elements in one access -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_WIDEACCESS_H
#define CUPILOT_LIB_FRONTEND_RULES_WIDEACCESS_H

#include "Memory.h"

namespace cupilot {

/// An array whose accesses become wide: its elements are loaded together into
/// the array Lanes of the thread, and stored together from there.
struct WideArray {
  PointerRef Pointer;
  std::string Lanes, Address, Scalar, Vector;
  std::string Before; ///< A declaration that Address needs.
  bool Loads = false, Stores = false;
  /// The hinted function of all loads, and of all stores; "": a plain access.
  std::optional<std::string> LoadBy, StoreBy;
  /// Notes what one more access does.
  void add(const Access &A);
};

/// CUDA's vector type of that many elements, with the alignment of its size;
/// "" if there is none, or it is larger than 16 bytes.
std::string vectorType(const clang::ASTContext &Ctx, clang::QualType T,
                       int64_t Width);

/// A name for the lanes of \p Pointer.
std::string lanesName(const KernelView &V, const PointerRef &Pointer);

/// Puts \p Element in the place of the access. False: it cannot be edited.
bool editAccess(const KernelView &V, const Access &A,
                const std::string &Element, std::vector<Edit> &Edits);

/// Removes edits that lie inside others.
void dropNested(std::vector<Edit> &Edits);

/// The declaration of the lanes, and what fills them. \p Name: of a variable.
std::string loadText(const WideArray &W, int64_t Width,
                     const std::string &Name);
/// What writes the lanes; "" if nothing is stored.
std::string storeText(const WideArray &W, int64_t Width,
                      const std::string &Name);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_WIDEACCESS_H
