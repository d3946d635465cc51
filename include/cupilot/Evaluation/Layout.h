//===- Layout.h - The numbers in buffers and arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_LAYOUT_H
#define CUPILOT_EVALUATION_LAYOUT_H

#include "cupilot/Evaluation/Element.h"
#include "cupilot/Model/Kernel.h"
#include "llvm/ADT/StringMap.h"

namespace cupilot {

/// A number in an element.
struct LayoutField {
  uint64_t Offset = 0; ///< Bytes from the element's beginning.
  ElementKind Kind = ElementKind::Bytes;
};

/// The elements of a buffer: numbers, vectors, or structs of numbers.
struct Layout {
  uint64_t Stride = 1;             ///< Bytes from one element to the next.
  std::vector<LayoutField> Fields; ///< Empty: nothing is known of the bytes.
  bool hasFloats() const;
  bool hasIntegers() const;
};

/// What a module's types say about a kernel's data.
struct KernelLayout {
  std::vector<Layout> Pointees;    ///< Of pointer parameters.
  std::vector<Layout> Values;      ///< Of the parameters themselves.
  llvm::StringMap<Layout> Globals; ///< Of device variables.
  bool NoSpecialValues = false;    ///< Compiled as if there were no NaN.
};

/// Reads \p Bitcode, as clang wrote it. What lies behind pointers to void and
/// to bytes is what its loads and stores agree on. Structs are known by their
/// LLVM type of the same name; what is not known has no fields.
llvm::Expected<KernelLayout> layoutOf(const Kernel &K, llvm::StringRef Bitcode);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_LAYOUT_H
