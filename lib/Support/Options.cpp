//===- Options.cpp - Command lines by option tables -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Options.h"
#include "cupilot/Support/Error.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

using namespace llvm;

namespace cupilot {

Error readOptions(
    const opt::OptTable &Table, ArrayRef<std::string> Words,
    function_ref<Error(const opt::Arg &A, size_t First, size_t Last)> Use) {
  std::vector<const char *> Raw;
  Raw.reserve(Words.size());
  for (const std::string &Word : Words)
    Raw.push_back(Word.c_str());
  unsigned MissingIndex = 0, MissingCount = 0;
  opt::InputArgList Args = Table.ParseArgs(Raw, MissingIndex, MissingCount,
                                           opt::Visibility(opt::DefaultVis));
  std::vector<const opt::Arg *> All(Args.begin(), Args.end());
  size_t End = MissingCount ? MissingIndex : Words.size();
  for (size_t I = 0; I < All.size(); ++I) {
    // Empty words are no arguments; they stay behind the one before.
    size_t First = I ? All[I]->getIndex() : 0,
           Last = I + 1 < All.size() ? All[I + 1]->getIndex() : End;
    if (Error E = Use(*All[I], First, Last))
      return E;
  }
  if (MissingCount)
    return usageError("'" + Words[MissingIndex] + "' needs a value");
  return Error::success();
}

StringRef valueOf(const opt::Arg &A) {
  return A.getNumValues() ? A.getValue() : "";
}

} // namespace cupilot
