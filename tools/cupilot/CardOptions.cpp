//===- CardOptions.cpp - The card that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CardOptions.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

CardOptions::CardOptions(cl::SubCommand &Sub)
    : Measured("measured", cl::sub(Sub), cl::value_desc("M.json"),
               cl::desc("Times and counters that were measured")),
      Ceilings("ceilings", cl::sub(Sub), cl::value_desc("C.json"),
               cl::desc("What cupilot-runner --ceilings wrote (default: "
                        "the machine cache, else the card's description)")),
      Gpu("gpu", cl::sub(Sub), cl::init("H200"), cl::value_desc("NAME"),
          cl::desc("The card (default H200)")) {}

Expected<CardFacts> CardOptions::load() const {
  CardFacts Facts;
  Expected<GpuDescription> Described = describeGpu(Gpu);
  if (!Described)
    return Described.takeError();
  Facts.Gpu = std::move(*Described);
  Expected<cupilot::Ceilings> C =
      loadCeilings(Facts.Gpu, Ceilings, machineCacheDirectory());
  if (!C)
    return C.takeError();
  Facts.C = std::move(*C);
  if (Measured.empty())
    return Facts;
  Expected<MeasuredFile> Loaded = loadMeasured(Measured);
  if (!Loaded)
    return Loaded.takeError();
  Facts.Measured = std::move(*Loaded);
  if (!Facts.Measured.Card.empty() && Facts.Measured.Card != Facts.C.Card)
    return usageError("'" + Measured + "' was measured on the " +
                          Facts.Measured.Card + ", not on the " + Facts.C.Card,
                      "name the card with --gpu");
  return Facts;
}

} // namespace cupilot
