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
  /// Takes the type of the elements, \p Width of which are one access.
  void setElement(const KernelView &V, clang::QualType Element, int64_t Width);
  /// Notes what one more access does.
  void add(const Access &A);
};

/// A finding where \p A cannot become a part of a wide access.
llvm::Error checkPlain(const Memory &M, const PointerRef &Pointer,
                       const Access &A);

/// What \p Pointer must be aligned to for accesses of \p Width elements.
Alignment wideAlignment(const KernelView &V, const Memory &M,
                        const PointerRef &Pointer, int64_t Width);

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
