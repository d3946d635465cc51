//===- Describe.h - Contents by their description -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Large contents in a few words: "f32 rand low=-1 high=1 zeros=0.25 seed=7"
// makes numbers like those that a launch began with (docs/Gate.md, "Described
// workloads").
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_DESCRIBE_H
#define CUPILOT_CAPTURE_DESCRIBE_H

#include "cupilot/Capture/Record.h"
#include "cupilot/Runner/Numbers.h"

namespace cupilot::capture {

/// What a recording has of large contents.
enum class Keeping {
  Whole,    ///< Their bytes.
  Describe, ///< Their description.
  Both
};

/// "whole", "describe", "both", and back.
const char *wordOf(Keeping K);
std::optional<Keeping> keepingOf(std::string_view Word);

/// What makes numbers like those in \p Bytes: of their type, in their range,
/// with their share of zeros; integers lie between the least and the greatest
/// one. The seed follows from \p Digest. Nothing where more counts than that:
/// numbers that are not finite, integers that ascend or are all different.
std::optional<std::string> describeNumbers(runner::NumberKind Kind,
                                           std::string_view Bytes,
                                           std::string_view Digest);

/// Describes the contents of more than \p Above bytes that the kept launches of
/// \p R begin with, and whose type the kernels' names tell. Their bytes lie in
/// \p Folder and stay there.
std::optional<Failure> describeContents(const std::string &Folder,
                                        uint64_t Above, Record &R);

/// Removes the bytes of described contents from \p Folder, and what their
/// launches made of them: nothing else makes the same.
std::optional<Failure> dropDescribed(const std::string &Folder, Record &R);

/// Whether \p Folder has all bytes that \p L began with.
bool hasContents(const std::string &Folder, const Launch &L);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_DESCRIBE_H
