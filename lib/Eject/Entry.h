//===- Entry.h - Where new text goes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EJECT_ENTRY_H
#define CUPILOT_LIB_EJECT_ENTRY_H

#include "Body.h"
#include "Sites.h"
#include <set>

namespace cupilot {

/// A place for new text.
struct EjectPlace {
  clang::FileID File;
  unsigned Offset = 0;
};

/// A group on its way into the source.
struct EjectEntry {
  EjectGroup Group;
  std::vector<EjectHost> Hosts;
  std::vector<EjectMember> Members;
  EjectPlace Definitions; ///< After the kernel.
  EjectPlace Before; ///< For declarations: of the kernel, or before its class.
  bool Foreign = false;  ///< In 'extern "C" {'.
  bool Declared = false; ///< Launches before the definition need it.
  std::set<EjectForm> Forms;
  std::vector<SourceEdit> Sites;
  std::set<clang::SourceLocation> Launches; ///< Which are changed.
  const std::string &name() const { return Hosts.front().Of->K.Name; }
};

/// Finds where \p E's text goes; false when there is no such place: the kernel
/// is in no file of the project, or a macro makes what is around it.
bool findPlaces(const ParsedUnit &Unit, const PieceTable &Pieces,
                EjectEntry &E);

/// True when \p P is a place, and the compiler comes to it before \p Loc.
bool isBefore(const ParsedUnit &Unit, const EjectPlace &P,
              clang::SourceLocation Loc);

/// Where the file of \p P can include \p Header ("<cuda.h>"), after what it
/// includes before \p P; nothing when it does already.
std::optional<unsigned> includePlace(const ParsedUnit &Unit,
                                     const EjectPlace &P,
                                     llvm::StringRef Header);

} // namespace cupilot

#endif // CUPILOT_LIB_EJECT_ENTRY_H
