//===- SourceLanguage.h - What kernels and variants are written in -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_SOURCELANGUAGE_H
#define CUPILOT_MODEL_SOURCELANGUAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include <optional>

namespace cupilot {

/// What a text of device code is written in.
enum class SourceLanguage { Cuda, Mlir };

/// The word that files and answers of models hold, and the extension of a
/// file's name.
inline llvm::StringRef wordOf(SourceLanguage L) {
  switch (L) {
  case SourceLanguage::Cuda:
    return "cuda";
  case SourceLanguage::Mlir:
    return "mlir";
  }
  llvm_unreachable("all languages are named");
}
inline llvm::StringRef extensionOf(SourceLanguage L) {
  return L == SourceLanguage::Mlir ? ".mlir" : ".cu";
}

/// The language that wordOf() calls \p Word; nothing for other words.
inline std::optional<SourceLanguage> sourceLanguage(llvm::StringRef Word) {
  for (SourceLanguage L : {SourceLanguage::Cuda, SourceLanguage::Mlir})
    if (wordOf(L) == Word)
      return L;
  return std::nullopt;
}

/// The language of the file \p Name, by its extension.
inline SourceLanguage languageOfFile(llvm::StringRef Name) {
  return llvm::sys::path::extension(Name) == extensionOf(SourceLanguage::Mlir)
             ? SourceLanguage::Mlir
             : SourceLanguage::Cuda;
}

} // namespace cupilot

#endif // CUPILOT_MODEL_SOURCELANGUAGE_H
