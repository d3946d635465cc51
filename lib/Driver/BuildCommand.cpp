//===- BuildCommand.cpp - The command that builds a source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cupilot {

/// Of outputs, depfiles, remarks and plugins.
static bool isOfCommand(const opt::Option &O, bool ForNvcc) {
  namespace o = clang::options;
  static const unsigned Clangs[] = {
      o::OPT_M_Group,    o::OPT_R_Group,     o::OPT_S, o::OPT_c,
      o::OPT_fplugin_EQ, o::OPT_fplugin_arg, o::OPT_o};
  static const unsigned Nvccs[] = {nvcc::OPT_NoObjectGroup, nvcc::OPT_OwnGroup,
                                   nvcc::OPT_OutputGroup, nvcc::OPT_device_c,
                                   nvcc::OPT_fplugin};
  return O.getName().contains("optimization-record") ||
         any_of(ForNvcc ? ArrayRef(Nvccs) : ArrayRef(Clangs),
                [&](unsigned Id) { return O.matches(Id); });
}

Expected<std::vector<std::string>> sourceFlags(ArrayRef<std::string> Flags,
                                               StringRef Input, bool ForNvcc) {
  std::vector<std::string> Kept;
  auto Keep = [&](const opt::Arg &A, size_t First, size_t Last) {
    const bool IsInput =
        A.getOption().getKind() == opt::Option::InputClass &&
        (valueOf(A) == Input || sys::fs::equivalent(valueOf(A), Input));
    if (!IsInput && !isOfCommand(A.getOption(), ForNvcc))
      append_range(Kept, Flags.slice(First, Last - First));
    return Error::success();
  };
  if (Error E = ForNvcc ? readOptions(nvccOptions(), Flags, Keep)
                        : readClangFlags(Flags, Keep))
    return std::move(E);
  return Kept;
}

Expected<BuildCommand> readBuildCommand(ArrayRef<std::string> Args,
                                        StringRef Input) {
  Args = withoutLaunchers(Args);
  if (Args.empty() || StringRef(Args.front()).starts_with("-"))
    return usageError(
        "no compiler was given",
        "end the command with '-- clang++-22 FLAGS' or '-- nvcc FLAGS'");
  Expected<UnitCommand> Read = unitCommandFor(Input, Args, "");
  if (!Read)
    return Read.takeError();
  BuildCommand C;
  C.Nvcc = std::move(Read->Nvcc);
  C.Archs = gpuArchitectures(Read->Flags);
  C.Flags = withoutArchitectures(Read->Flags);
  // The first architecture is the one that device code is seen as.
  C.Flags.push_back("--cuda-gpu-arch=" + C.Archs.front());
  return C;
}

} // namespace cupilot
