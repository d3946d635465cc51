//===- NvccToClang.cpp - nvcc's command lines, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/NvccFlags.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Option/Option.h"

using namespace llvm;

namespace cupilot {

/// Clang's letter or word for an option that both have.
static StringRef sharedOption(nvcc::ID Id) {
  switch (Id) {
  case nvcc::OPT_define_macro:
    return "-D";
  case nvcc::OPT_undefine_macro:
    return "-U";
  case nvcc::OPT_include_path:
    return "-I";
  case nvcc::OPT_system_include:
    return "-isystem";
  case nvcc::OPT_pre_include:
    return "-include";
  case nvcc::OPT_optimize:
    return "-O";
  case nvcc::OPT_std:
    return "-std=";
  default:
    return "";
  }
}

/// Options whose arithmetic or architecture translateNvccFlags knows.
static bool isTranslated(nvcc::ID Id) {
  switch (Id) {
  case nvcc::OPT_gpu_architecture:
  case nvcc::OPT_generate_code:
  case nvcc::OPT_compiler_options:
  case nvcc::OPT_use_fast_math:
  case nvcc::OPT_ftz:
  case nvcc::OPT_fmad:
  case nvcc::OPT_default_stream:
  case nvcc::OPT_relocatable_device_code:
  case nvcc::OPT_device_c:
    return true;
  default:
    return false;
  }
}

/// What -Xcompiler hands on changes device code where it defines or finds
/// something.
static bool concernsText(StringRef Word) {
  for (StringRef Prefix : {"-D", "-U", "-I", "-std=", "-fopenmp", "-m"})
    if (Word.starts_with(Prefix))
      return true;
  return false;
}

Expected<std::vector<std::string>> clangFlagsOfNvcc(ArrayRef<std::string> Args,
                                                    StringRef Prepend,
                                                    StringRef Append) {
  Expected<NvccCommand> C = parseNvccCommand(Args, Prepend, Append);
  if (!C)
    return C.takeError();
  std::vector<std::string> Flags, Own;
  bool Level = false;
  for (auto &[Id, Value] : C->Options) {
    StringRef Shared = sharedOption(Id);
    if (isTranslated(Id)) {
      StringRef Name = nvccOptions().getOption(Id).getPrefixedName();
      Own.push_back(Value.empty() ? Name.str() : (Name + "=" + Value).str());
    } else if (Shared == "-I" || Shared == "-isystem" || Shared == "-include") {
      // Lists, as nvcc has them.
      SmallVector<StringRef> Parts;
      StringRef(Value).split(Parts, ',', -1, /*KeepEmpty=*/false);
      for (StringRef Part : Parts) {
        Flags.push_back(Shared.str());
        Flags.push_back(Part.str());
      }
    } else if (!Shared.empty()) {
      // nvcc optimises device code at every level.
      Level |= Shared == "-O";
      Flags.push_back(Shared == "-O" && (Value.empty() || Value == "0")
                          ? "-O2"
                          : (Shared + Value).str());
    } else if (Id == nvcc::OPT_device_debug) {
      Level = true;
      Flags.push_back("-O0");
    }
  }
  if (!Level)
    Flags.push_back("-O3");
  Expected<TranslatedFlags> More = translateNvccFlags(Own, NvccTarget::Parse);
  if (!More)
    return More.takeError();
  Flags.push_back(NvccMacroFlag.str());
  Flags.insert(Flags.end(), More->Args.begin(), More->Args.end());
  for (const std::string &Word : More->Host)
    if (concernsText(Word))
      Flags.push_back(Word);
  return Flags;
}

} // namespace cupilot
