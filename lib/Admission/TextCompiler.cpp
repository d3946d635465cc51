//===- TextCompiler.cpp - Texts compiled in processes of their own -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/TextCompiler.h"
#include "Parcel.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

Expected<CompiledText> TextCompiler::compile(const TextRequest &Text) {
  Expected<Parcel> Answer = Servers.ask(toParcel(Text, Limits));
  if (!Answer)
    return Answer.takeError();
  std::optional<CompiledText> Result = answerFrom(*Answer);
  if (!Result)
    return resourceError("cupilot-compile gives an answer that nobody reads",
                         "install cuPilot as a whole");
  return std::move(*Result);
}

} // namespace cupilot
