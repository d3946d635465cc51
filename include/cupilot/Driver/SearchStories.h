//===- SearchStories.h - A journal as the report shows it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SEARCHSTORIES_H
#define CUPILOT_DRIVER_SEARCHSTORIES_H

#include "cupilot/Evolution/Journal.h"
#include "cupilot/Report/Story.h"
#include "cupilot/Store/ProjectStore.h"

namespace cupilot {

/// Runs of the journal that searched the kernel with source identity
/// \p Identity, oldest first.
llvm::Expected<std::vector<std::string>> runsOf(Journal &J,
                                                llvm::StringRef Identity);

/// The searches of \p S in \p J; variants that are kept are shown against the
/// original. \p Root is the store's, whose records of strategies are shown.
llvm::Expected<std::vector<SearchStory>>
storiesOf(const StoredKernel &S, Journal &J, llvm::StringRef Root);

} // namespace cupilot

#endif // CUPILOT_DRIVER_SEARCHSTORIES_H
