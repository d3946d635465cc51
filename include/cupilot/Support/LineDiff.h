//===- LineDiff.h - Two texts line by line -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_LINEDIFF_H
#define CUPILOT_SUPPORT_LINEDIFF_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace cupilot {

/// What differs between two texts, as the hunks of a unified diff with three
/// lines around each change; "" where they are equal. The fewest lines differ,
/// unless that are thousands: then all between the first and the last change.
std::string diffHunks(llvm::StringRef Old, llvm::StringRef New);

/// The same below the names of both, as `patch` reads it.
std::string unifiedDiff(const llvm::Twine &OldName, const llvm::Twine &NewName,
                        llvm::StringRef Old, llvm::StringRef New);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_LINEDIFF_H
