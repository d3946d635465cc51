//===- Files.h - Whole files, read and written -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_FILES_H
#define CUPILOT_PORTABLE_FILES_H

#include <string>
#include <string_view>
#include <system_error>

namespace cupilot {

/// The bytes of the file \p Path.
std::error_code loadFile(const std::string &Path, std::string &Bytes);
/// Writes \p Bytes to \p Path so that the file is there whole or not at all.
/// \p Flushed: when this returns, the disk has it.
std::error_code replaceFile(const std::string &Path, std::string_view Bytes,
                            bool Flushed = false);

} // namespace cupilot

#endif // CUPILOT_PORTABLE_FILES_H
