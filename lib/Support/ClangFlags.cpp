//===- ClangFlags.cpp - Clang's flags, by its own table -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Options.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/OptTable.h"

using namespace llvm;

namespace cupilot {

Error readClangFlags(
    ArrayRef<std::string> Words,
    function_ref<Error(const opt::Arg &A, size_t First, size_t Last)> Use) {
  return readOptions(clang::getDriverOptTable(), Words, Use);
}

/// It belongs to the unit's own text, its outputs or its link.
static bool isOfUnit(const opt::Option &O) {
  namespace o = clang::options;
  if (O.matches(o::OPT_isysroot))
    return false; // Of the toolkit's headers too.
  for (o::ID Id :
       {o::OPT_INPUT, o::OPT_D, o::OPT_U, o::OPT_I_Group, o::OPT_clang_i_Group,
        o::OPT_M_Group, o::OPT_Link_Group, o::OPT_o, o::OPT_x, o::OPT_c,
        o::OPT_S, o::OPT_E, o::OPT_fplugin_EQ, o::OPT_fplugin_arg})
    if (O.matches(Id))
      return true;
  return false;
}

std::vector<std::string> variantFlags(ArrayRef<std::string> Flags) {
  std::vector<std::string> Kept;
  // What has no value is left to clang, which says so.
  consumeError(
      readClangFlags(Flags, [&](const opt::Arg &A, size_t First, size_t Last) {
        if (!isOfUnit(A.getOption()))
          append_range(Kept, Flags.slice(First, Last - First));
        return Error::success();
      }));
  return Kept;
}

} // namespace cupilot
