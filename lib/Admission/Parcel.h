//===- Parcel.h - Texts and what becomes of them as messages -*- C++ -*-===//
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

namespace cupilot {

Parcel toParcel(const TextRequest &Text, const ProcessLimits &Limits);
std::optional<TextRequest> requestFrom(const Parcel &P, ProcessLimits &Limits);
Parcel toParcel(const CompiledText &Text);
std::optional<CompiledText> answerFrom(const Parcel &P);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_PARCEL_H
