//===- DeviceCode.cpp - What PTX says of itself -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Portable/Digest.h"

using namespace llvm;

namespace cupilot {

std::string deviceCodeDigest(StringRef Ptx) {
  DigestBuilder Builder;
  while (!Ptx.empty()) {
    auto [Line, Rest] = Ptx.split('\n');
    Ptx = Rest;
    Line = Line.split("//").first.trim();
    if (!Line.empty() && !Line.starts_with(".file") &&
        !Line.starts_with(".loc"))
      Builder.add(Line);
  }
  return Builder.str();
}

std::vector<std::string> kernelsOf(StringRef Ptx) {
  std::vector<std::string> Symbols;
  for (StringRef Rest = Ptx; !Rest.empty();) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    auto [Before, Name] = Line.split(".entry ");
    if (Line.starts_with(".") && Before.size() < Line.size())
      Symbols.push_back(
          Name.take_until([](char C) { return C == '(' || C == ' '; }).str());
  }
  return Symbols;
}

} // namespace cupilot
