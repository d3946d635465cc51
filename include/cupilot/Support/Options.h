//===- Options.h - Command lines by option tables -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_OPTIONS_H
#define CUPILOT_SUPPORT_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm::opt {
class Arg;
class OptTable;
} // namespace llvm::opt

namespace cupilot {

/// Reads \p Words as \p Table has its options, and hands each argument to
/// \p Use: inputs and unknown words too, with the words [First, Last) that it
/// is made of. Aliases are resolved. A missing value is a usage error.
llvm::Error
readOptions(const llvm::opt::OptTable &Table, llvm::ArrayRef<std::string> Words,
            llvm::function_ref<llvm::Error(const llvm::opt::Arg &A,
                                           size_t First, size_t Last)>
                Use);

/// The same by the table of clang's driver.
llvm::Error
readClangFlags(llvm::ArrayRef<std::string> Words,
               llvm::function_ref<llvm::Error(const llvm::opt::Arg &A,
                                              size_t First, size_t Last)>
                   Use);

/// The value of \p A; "" of one without.
llvm::StringRef valueOf(const llvm::opt::Arg &A);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_OPTIONS_H
