//===- ObjectFile.h - Changing what nvcc made -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_OBJECTFILE_H
#define CUPILOT_LAUNCHER_OBJECTFILE_H

#include "cupilot/Substitute/ObjectDispatch.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/TargetParser/Triple.h"

namespace cupilot {

/// What must be known of an object to redirect its launches.
struct ObjectFacts {
  llvm::Triple Target;
  std::vector<std::string> Entries; ///< Of redirectedEntries(), those it uses.
};

/// An object that cannot be changed (another format or machine) is a finding.
llvm::Expected<ObjectFacts> readObject(llvm::MemoryBufferRef Bytes);

/// Names, as the source has them, of the data of an object that nobody may
/// write. What the host knows of a device variable stands there when that is
/// const. Costly: every symbol is demangled.
llvm::Expected<llvm::StringSet<>> readConstants(llvm::MemoryBufferRef Bytes);
/// The same for a file.
llvm::Expected<llvm::StringSet<>> readConstants(llvm::StringRef Path);

/// Replaces the object \p Path by one whose launches reach \p Kernels'
/// variants.
/// \p Folder is for temporary files. The result is checked: what cannot be
/// done leaves \p Path as it is and is an error.
llvm::Error addDispatch(llvm::StringRef Path,
                        llvm::ArrayRef<ObjectKernel> Kernels,
                        llvm::StringRef Folder);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_OBJECTFILE_H
