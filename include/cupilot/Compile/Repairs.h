//===- Repairs.h - Forms that nvcc takes and clang does not -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_REPAIRS_H
#define CUPILOT_COMPILE_REPAIRS_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clang {
class CompilerInstance;
class Diagnostic;
} // namespace clang

namespace cupilot {

/// Changes of a program's files, for a parse alone, that write in clang's form
/// what only nvcc takes. Both compilers take the new form, and nvcc makes the
/// same code of both. Each answers an error of clang's, so no text changes that
/// clang takes.
class Repairs {
public:
  /// Notes what mends the error \p Info, if anything does.
  void note(const clang::Diagnostic &Info, const clang::CompilerInstance &CI);
  /// Makes the changes that were noted. False if there are none, or if there
  /// were changes too often.
  bool apply();
  /// \p Below with the changed files.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
  over(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below) const;

private:
  struct Change {
    unsigned Offset, Length; ///< Of the bytes that go.
    std::string Text;        ///< What comes there.
  };
  struct ChangedFile {
    std::shared_ptr<const std::string> Text;
    std::vector<Change> Noted;
  };
  using FileMap = std::map<llvm::sys::fs::UniqueID, ChangedFile>;
  class Layer;

  FileMap Files;
  unsigned Rounds = 0;
};

} // namespace cupilot

#endif // CUPILOT_COMPILE_REPAIRS_H
