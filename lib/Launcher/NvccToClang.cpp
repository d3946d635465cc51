//===- NvccToClang.cpp - nvcc's command lines, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Support/NvccFlags.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

/// Clang's letter or word for an option that both have.
static StringRef sharedOption(StringRef Name) {
  return StringSwitch<StringRef>(Name)
      .Cases({"D", "define-macro"}, "-D")
      .Cases({"U", "undefine-macro"}, "-U")
      .Cases({"I", "include-path"}, "-I")
      .Cases({"isystem", "system-include"}, "-isystem")
      .Cases({"include", "pre-include"}, "-include")
      .Cases({"O", "optimize"}, "-O")
      .Case("std", "-std=")
      .Default("");
}

/// Options whose arithmetic or architecture translateNvccFlags knows.
static bool isTranslated(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases({"arch", "gpu-architecture", "gencode", "generate-code",
              "Xcompiler", "compiler-options", "use_fast_math", "ftz", "fmad",
              "default-stream"},
             true)
      .Cases({"rdc", "relocatable-device-code", "dc", "device-c"}, true)
      .Default(false);
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
  for (auto &[Name, Value] : C->Options) {
    StringRef Shared = sharedOption(Name);
    if (isTranslated(Name)) {
      Own.push_back(Value.empty() ? "-" + Name : "-" + Name + "=" + Value);
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
    } else if (Name == "G" || Name == "device-debug") {
      Level = true;
      Flags.push_back("-O0");
    }
  }
  if (!Level)
    Flags.push_back("-O3");
  Expected<TranslatedFlags> More = translateNvccFlags(Own, NvccTarget::Parse);
  if (!More)
    return More.takeError();
  Flags.insert(Flags.end(), More->Args.begin(), More->Args.end());
  for (const std::string &Word : More->Host)
    if (concernsText(Word))
      Flags.push_back(Word);
  return Flags;
}

} // namespace cupilot
