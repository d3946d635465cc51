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
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/OptTable.h"

using namespace llvm;
namespace o = clang::options;

namespace cupilot {

Error readClangFlags(
    ArrayRef<std::string> Words,
    function_ref<Error(const opt::Arg &A, size_t First, size_t Last)> Use) {
  return readOptions(clang::getDriverOptTable(), Words, Use);
}

/// It belongs to the unit's own text, its outputs or its link.
static bool isOfUnit(const opt::Option &O) {
  if (O.matches(o::OPT_isysroot))
    return false; // Of the toolkit's headers too.
  for (o::ID Id :
       {o::OPT_INPUT, o::OPT_D, o::OPT_U, o::OPT_I_Group, o::OPT_clang_i_Group,
        o::OPT_M_Group, o::OPT_Link_Group, o::OPT_o, o::OPT_x, o::OPT_c,
        o::OPT_S, o::OPT_E, o::OPT_fplugin_EQ, o::OPT_fplugin_arg,
        // Nothing of a text alone is in another unit.
        o::OPT_fgpu_rdc, o::OPT_fno_gpu_rdc})
    if (O.matches(Id))
      return true;
  return false;
}

static void eachFlag(
    ArrayRef<std::string> Flags,
    function_ref<void(const opt::Arg &A, ArrayRef<std::string> Words)> Use) {
  // What has no value is left to clang, which says so.
  consumeError(
      readClangFlags(Flags, [&](const opt::Arg &A, size_t First, size_t Last) {
        Use(A, Flags.slice(First, Last - First));
        return Error::success();
      }));
}

std::vector<std::string> variantFlags(ArrayRef<std::string> Flags) {
  std::vector<std::string> Kept;
  eachFlag(Flags, [&](const opt::Arg &A, ArrayRef<std::string> Words) {
    if (!isOfUnit(A.getOption()))
      append_range(Kept, Words);
  });
  return Kept;
}

std::vector<std::string> withoutArchitectures(ArrayRef<std::string> Flags) {
  std::vector<std::string> Kept;
  size_t Read = 0;
  eachFlag(Flags, [&](const opt::Arg &A, ArrayRef<std::string> Words) {
    Read += Words.size();
    if (!A.getOption().matches(o::OPT_offload_arch_EQ) &&
        !A.getOption().matches(o::OPT_no_offload_arch_EQ))
      append_range(Kept, Words);
  });
  append_range(Kept, Flags.drop_front(Read));
  return Kept;
}

std::vector<std::string> gpuArchitectures(ArrayRef<std::string> Flags) {
  std::vector<std::string> Archs;
  eachFlag(Flags, [&](const opt::Arg &A, ArrayRef<std::string>) {
    if (A.getOption().matches(o::OPT_offload_arch_EQ))
      for (StringRef Value : A.getValues())
        for (StringRef Arch : split(Value, ','))
          if (!is_contained(Archs, Arch))
            Archs.push_back(Arch.str());
  });
  return Archs.empty() ? std::vector<std::string>{"sm_90"} : Archs;
}

std::vector<std::string> llvmArguments(ArrayRef<std::string> Flags) {
  std::vector<std::string> Args;
  bool Pending = false; // -Xclang -mllvm came, whose value the next one has.
  eachFlag(Flags, [&](const opt::Arg &A, ArrayRef<std::string>) {
    StringRef Value = valueOf(A);
    bool Direct = A.getOption().matches(o::OPT_Xclang);
    if (A.getOption().matches(o::OPT_mllvm) ||
        (Direct &&
         (std::exchange(Pending, false) || Value.consume_front("-mllvm="))))
      Args.push_back(Value.str());
    else if (A.getOption().matches(o::OPT_fcuda_short_ptr) ||
             (Direct && Value == "-fcuda-short-ptr"))
      Args.push_back("--nvptx-short-ptr");
    else
      Pending |= Direct && Value == "-mllvm";
  });
  return Args;
}

} // namespace cupilot
