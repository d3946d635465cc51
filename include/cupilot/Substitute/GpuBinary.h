//===- GpuBinary.h - What a GPU binary holds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_GPUBINARY_H
#define CUPILOT_SUBSTITUTE_GPUBINARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The images of an embedded GPU binary: a fat binary of cubins, what clang's
/// new driver packs of relocatable ones, or, for the cpu device, plain LLVM
/// bitcode. It keeps what it needs of the bytes.
class GpuBinary {
public:
  /// A format that is not understood is a usage error.
  static llvm::Expected<GpuBinary> parse(llvm::StringRef Bytes);

  size_t images() const { return Images.size(); }
  /// True when every image defines the kernel \p Symbol.
  bool allHold(llvm::StringRef Symbol) const;
  /// True when some image defines a kernel whose name starts with \p Prefix.
  bool anyHolds(llvm::StringRef Prefix) const;

private:
  /// The sorted names of one image's kernels.
  using Image = std::vector<std::string>;
  std::vector<Image> Images;
};

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_GPUBINARY_H
