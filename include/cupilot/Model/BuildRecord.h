//===- BuildRecord.h - What the store tells a build about one kernel -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_BUILDRECORD_H
#define CUPILOT_MODEL_BUILDRECORD_H

#include "cupilot/Model/Basis.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Model/LaunchNames.h"
#include <optional>

namespace cupilot {

/// One variant that a build may put in place of a kernel.
struct BuildVariant {
  std::string Name;         ///< As in the MLIR: "g2_v7".
  std::string Source;       ///< Path of its .cu, relative to the store.
  std::string SourceDigest; ///< Digest of that file.
  std::string Canonical; ///< Build identity of the variant's own kernel under
                         ///< the record's compiler and flags.
  LaunchPlan Plan;
  Guard When;
  std::string Genome; ///< For remarks: "block_size{x=128}, unroll{factor=4}".
  /// Of Low. Records of formats 1 and 2, which are ordered already, have none.
  std::optional<cupilot::Basis> Basis = {};
  double Low = 0; ///< The original's time over the variant's, at the least.
  /// The same as modelled, and at the most; 0 where it was measured, and in
  /// records from before the model had an interval.
  double Ratio = 0, High = 0;
  /// Where it runs, under its guard; nothing in records of formats before 7,
  /// which builds take on request only.
  std::optional<Domain> Where = {};
};

/// Everything a build needs to know of the kernel with this build identity, and
/// no more. A store keeps one for each variant in `builds/`, with that variant
/// alone or, once it was taken out, with none; mergeRecords() makes them one.
struct BuildRecord {
  /// The newest. Records of format 6 have no domains. Stores of format 1 to 5
  /// have one record for all variants, of format 1, or 2 where a plan is
  /// extended.
  static constexpr int Format = 7;
  std::string Identity; ///< "b3:...".
  std::string Kernel;   ///< Qualified name with parameter types, for people.
  std::string Symbol;   ///< Mangled name of the original as clang has it.
  std::string Compiler; ///< "clang-22".
  std::string Arch;     ///< "sm_90".
  std::vector<ScalarRef> Scalars;
  unsigned Params = 0;          ///< Of the kernel; not in records of format 1.
  std::string Contract;         ///< "same"; "" in records of formats 1 and 2.
  std::vector<ParamName> Names; ///< Of its parameters; not before format 7.
  std::vector<BuildVariant> Variants; ///< Best first; the first whose guard
                                      ///< and domain hold runs.
  /// For texts of guards and domains.
  LaunchNames names() const { return {Names, Scalars}; }
};

/// The command that writes the build records and domains of the store \p Root
/// anew, in quotes, for messages about them.
std::string verifyCommand(llvm::StringRef Root);

llvm::json::Value toJSON(const BuildRecord &R);
/// A record of a newer format, or text that is no record, is a usage error
/// that names \p Path and says what to do.
llvm::Expected<BuildRecord> parseBuildRecord(llvm::StringRef Text,
                                             llvm::StringRef Path);

/// The records of one build identity and symbol as one. Variants stand best
/// first: measured before modelled ones, then by Low, then by name and source;
/// one that two searches found stands once, with the boxes of both. Where they
/// were proved under different contracts, those under the strictest stay.
BuildRecord mergeRecords(std::vector<BuildRecord> Records);

} // namespace cupilot

#endif // CUPILOT_MODEL_BUILDRECORD_H
