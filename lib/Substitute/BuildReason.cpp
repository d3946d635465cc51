//===- BuildReason.cpp - Why a build did what it did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/BuildReason.h"

using namespace llvm;

namespace cupilot {

namespace {
struct Row {
  StringLiteral Word, Text;
};
} // namespace

static constexpr Row Table[] = {
#define CUPILOT_BUILD_REASON(Name, Word, Text) {Word, Text},
#include "cupilot/Substitute/BuildReason.def"
};

StringRef wordOf(BuildReason R) { return Table[static_cast<size_t>(R)].Word; }

ArrayRef<BuildReason> allBuildReasons() {
  static constexpr BuildReason All[] = {
#define CUPILOT_BUILD_REASON(Name, Word, Text) BuildReason::Name,
#include "cupilot/Substitute/BuildReason.def"
  };
  return All;
}

BuildNote::BuildNote(BuildReason Reason, ArrayRef<StringRef> Parts)
    : Reason(Reason), Parts(Parts.begin(), Parts.end()) {}

std::string BuildNote::text() const {
  StringRef Rest = Table[static_cast<size_t>(Reason)].Text;
  std::string Text;
  for (const std::string &Part : Parts) {
    // The holes come in their order.
    auto [Before, After] = Rest.split('{');
    Text += Before;
    Text += Part;
    Rest = After.split('}').second;
  }
  return Text + Rest.str();
}

char BuildError::ID = 0;

Error buildError(BuildReason R, ArrayRef<StringRef> Parts) {
  return make_error<BuildError>(BuildNote(R, Parts));
}

BuildNote noteOf(Error E) {
  if (!E.isA<BuildError>())
    return {BuildReason::Other, {toString(std::move(E))}};
  BuildNote Note = BuildReason::Other;
  handleAllErrors(std::move(E), [&](const BuildError &B) { Note = B.note(); });
  return Note;
}

} // namespace cupilot
