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

/// The images of an embedded GPU binary: a fat binary of cubins, or, for the
/// cpu device, plain LLVM bitcode.
class GpuBinary {
public:
  /// A format that is not understood is a usage error.
  static llvm::Expected<GpuBinary> parse(llvm::StringRef Bytes);

  size_t images() const { return Images.size(); }
  /// True when every image defines the kernel \p Symbol.
  bool allHold(llvm::StringRef Symbol) const;

private:
  /// Machine code, or (IsBitcode) bitcode with its kernels' names in Names.
  struct Image {
    llvm::StringRef Bytes;
    bool IsBitcode = false;
    std::vector<std::string> Names;
  };
  std::vector<Image> Images;
};

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_GPUBINARY_H
