//===- ParseDevice.h - A translation unit as the device sees it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_PARSEDEVICE_H
#define CUPILOT_LIB_FRONTEND_PARSEDEVICE_H

#include "clang/Frontend/CompilerInstance.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cupilot {

/// An `#include` in a user's file.
struct IncludeDirective {
  clang::SourceLocation Hash; ///< Of the '#'.
  std::string Text;           ///< "#include <cmath>".
  clang::FileID Entered;      ///< The file it opened; invalid when skipped.
};

/// A parsed unit; keeps everything alive that its AST needs.
struct DeviceUnit {
  std::string Messages; ///< The compiler's diagnostics.
  llvm::raw_string_ostream Stream{Messages};
  std::unique_ptr<clang::CompilerInstance> CI;
  std::vector<IncludeDirective> Includes; ///< Of system headers, in user files.
  clang::ASTContext &context() const { return CI->getASTContext(); }
  clang::SourceManager &sources() const { return CI->getSourceManager(); }
};

/// Parses \p File for the device with \p Flags (clang's, of a driver). \p Text,
/// when given, stands for the file's content. Code that does not parse is a
/// usage error with the compiler's diagnostics.
llvm::Expected<std::unique_ptr<DeviceUnit>>
parseForDevice(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               std::optional<llvm::StringRef> Text = std::nullopt);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_PARSEDEVICE_H
