//===- DeviceCode.h - Device code before optimisation -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_DEVICECODE_H
#define CUPILOT_LIB_FRONTEND_DEVICECODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace clang {
class CompilerInvocation;
}

namespace cupilot {

class TemporaryDirectory;

/// Device code as clang hands it to the optimiser: what build identities are
/// taken of.
struct DeviceCode {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Module;
};

/// What clang's driver makes of \p File and \p Flags (as parseFlags leaves
/// them) for device code of \p Arch: unoptimised code if \p EmitCode, else
/// syntax only. Flags that clang does not take are a usage error.
llvm::Expected<std::shared_ptr<clang::CompilerInvocation>>
deviceInvocation(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
                 llvm::StringRef Arch, bool EmitCode);

/// Compiles texts with the same flags, in this process. What clang includes
/// before every CUDA file, and headers with which several texts begin, are
/// parsed once.
class SliceCompiler {
public:
  /// \p Flags are the unit's, as parseFlags leaves them; \p Texts will be
  /// compiled.
  static llvm::Expected<SliceCompiler>
  create(llvm::StringRef Arch, llvm::ArrayRef<std::string> Flags,
         llvm::ArrayRef<llvm::StringRef> Texts);
  SliceCompiler(SliceCompiler &&) noexcept;
  ~SliceCompiler();

  /// The code of \p Text, which diagnostics call \p Name. Text that does not
  /// compile is a usage error with the diagnostics. Safe in several threads.
  llvm::Expected<std::unique_ptr<DeviceCode>>
  compile(llvm::StringRef Text, const std::string &Name) const;

private:
  SliceCompiler();
  void parseHeaders(llvm::StringRef Prefix);
  std::shared_ptr<clang::CompilerInvocation> Invocation;
  llvm::StringMap<std::string> Headers; ///< Parsed ones, by their text.
  std::unique_ptr<TemporaryDirectory> Folder;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_DEVICECODE_H
