//===- NvccOptions.h - nvcc's options and what they mean -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_LIB_LAUNCHER_NVCCOPTIONS_H
#define CUPILOT_LIB_LAUNCHER_NVCCOPTIONS_H

#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// What an option means to the launcher.
enum class NvccMeaning {
  Other,            ///< Neither changes device code nor what the command makes.
  OtherValue,       ///< The same, with a value.
  Device,           ///< Changes device code; goes to variants.
  DeviceValue,      ///< The same, with a value.
  Ptxas,            ///< Arguments for ptxas.
  Registers,        ///< -maxrregcount N.
  Object,           ///< -c.
  NoObject,         ///< Makes something else than an object, or nothing.
  Relocatable,      ///< -dc, -dlto.
  RelocatableValue, ///< -rdc=true.
  Debug,            ///< -G.
  Keep,             ///< -keep, -save-temps.
  KeepValue,        ///< -keep-dir D.
  ObjectFolder,     ///< -objtemp.
  Output,           ///< -o.
  OutputDirectory,
  DepFile,      ///< -MF.
  Dependencies, ///< -MD, -MMD.
  Language,     ///< -x.
  Pass,         ///< -Rpass=
  PassMissed,   ///< -Rpass-missed=
  OptionsFile
};

/// By the name of an option without its dashes; nvcc takes one or two.
NvccMeaning nvccMeaning(llvm::StringRef Name);

/// True where the option has a value.
bool nvccTakesValue(NvccMeaning M);

/// Options of one letter, and some more, take their value joined on: -O2,
/// -Ifoo. Sets \p Option to the option's name.
bool isJoinedNvcc(llvm::StringRef Name, llvm::StringRef &Option);

} // namespace cupilot

#endif // CUPILOT_LIB_LAUNCHER_NVCCOPTIONS_H
