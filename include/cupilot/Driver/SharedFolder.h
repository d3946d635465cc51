//===- SharedFolder.h - Files that cuPilot comes with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SHAREDFOLDER_H
#define CUPILOT_DRIVER_SHAREDFOLDER_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace cupilot {

/// The path of \p Installed in an installed tree's share/cupilot; in a build
/// tree that of \p Source in the source's.
std::string sharedFile(llvm::StringRef Installed, llvm::StringRef Source);

/// The folders of the stores that \p Name means to commands which learn from
/// others: "examples" are those that cuPilot comes with (docs/Retrieval.md), a
/// folder of that name is "./examples".
std::vector<std::string> storesNamed(llvm::StringRef Name);

} // namespace cupilot

#endif // CUPILOT_DRIVER_SHAREDFOLDER_H
