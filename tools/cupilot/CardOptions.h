//===- CardOptions.h - The card that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_CARDOPTIONS_H
#define CUPILOT_TOOLS_CUPILOT_CARDOPTIONS_H

#include "Command.h"
#include "cupilot/Roofline/MeasuredFile.h"

namespace cupilot {

/// A card, what it can do, and what was measured on it.
struct CardFacts {
  GpuDescription Gpu;
  Ceilings C;
  MeasuredFile Measured;
};

/// --gpu, --ceilings and --measured.
class CardOptions {
public:
  explicit CardOptions(llvm::cl::SubCommand &Sub);
  /// An unknown card, a file that cannot be read, and times of another card
  /// are usage errors. Without --measured, what \p Known holds of the card is
  /// taken, if that file is there.
  llvm::Expected<CardFacts> load(llvm::StringRef Known = "") const;

private:
  llvm::cl::opt<std::string> Measured, Ceilings, Gpu;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_CARDOPTIONS_H
