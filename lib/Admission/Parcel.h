//===- Parcel.h - Messages to and from cupilot-compile -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ADMISSION_PARCEL_H
#define CUPILOT_LIB_ADMISSION_PARCEL_H

#include "cupilot/Admission/TextCompiler.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// A message: any bytes, since texts and bitcode are.
using Parcel = std::vector<std::string>;

/// False when the other end is gone.
bool sendParcel(int FD, const Parcel &P);

enum class ParcelEnd { Whole, Closed, Late };
/// Waits \p Seconds at most for the next bytes; 0 is for ever.
ParcelEnd receiveParcel(int FD, Parcel &P, unsigned Seconds);

Parcel toParcel(const TextRequest &Text, const TextLimits &Limits);
std::optional<TextRequest> requestFrom(const Parcel &P, TextLimits &Limits);
Parcel toParcel(const CompiledText &Text);
std::optional<CompiledText> answerFrom(const Parcel &P);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_PARCEL_H
