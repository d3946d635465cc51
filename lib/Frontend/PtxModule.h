//===- PtxModule.h - The definitions of a PTX module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_PTXMODULE_H
#define CUPILOT_LIB_FRONTEND_PTXMODULE_H

#include "cupilot/Ptx/Module.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// The definitions of a PTX module, by name.
class PtxModule {
public:
  /// Text that is no PTX is a usage error.
  static llvm::Expected<PtxModule> parse(std::string Text);
  /// The code of the kernel \p Symbol with all that it refers to, independent
  /// of order and of the numbering of labels and private names; "" when there
  /// is no such kernel.
  std::string closureOf(llvm::StringRef Symbol) const;

private:
  ptx::Module M;
};

/// The PTX that clang makes of \p File for the first architecture in \p Flags.
/// __LINE__ and __FILE__ are neutral in it. A file that does not compile is a
/// usage error.
llvm::Expected<std::string> compileToPtx(llvm::StringRef File,
                                         llvm::StringRef Arch,
                                         llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_PTXMODULE_H
