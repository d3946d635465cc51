//===- EjectPatch.h - The patch that puts variants into a source -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DRIVER_EJECTPATCH_H
#define CUPILOT_DRIVER_EJECTPATCH_H

#include "cupilot/Driver/BuildCommand.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Which variants are to be put into which source.
struct EjectRequest {
  std::string Input;    ///< The source.
  BuildCommand Command; ///< Clang's.
  std::string Store;    ///< Folder.
  std::string Only;     ///< Kernels whose names hold it; "": all.
};

/// The patch, for the repository's root. The changed source is compiled, and
/// the device code of each variant compared with what was proved. Kernels and
/// launches that stay as they are are named in \p Log. That no variant could be
/// put in is a finding.
llvm::Expected<std::string> ejectPatch(const EjectRequest &R,
                                       llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_EJECTPATCH_H
