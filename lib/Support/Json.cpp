//===- Json.cpp - JSON and other texts that nest -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Json.h"
#include "cupilot/Support/Error.h"
#include <algorithm>

using namespace llvm;

namespace cupilot {

unsigned nestingDepth(StringRef Text, bool Angles) {
  unsigned Depth = 0, Deepest = 0;
  auto Close = [&] { Depth -= Depth != 0; };
  for (size_t I = 0; I < Text.size(); ++I) {
    StringRef Rest = Text.substr(I);
    switch (Rest.front()) {
    case '"':
      for (++I; I < Text.size() && Text[I] != '"' && Text[I] != '\n'; ++I)
        I += Text[I] == '\\';
      break;
    case '<':
      if (!Angles || Rest.starts_with("<="))
        break;
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      Deepest = std::max(Deepest, ++Depth);
      break;
    case '>':
      if (!Angles || Rest.starts_with(">=") ||
          Text.take_front(I).ends_with("-"))
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      Close();
      break;
    default:
      break;
    }
  }
  return Deepest;
}

Expected<json::Value> parseJson(StringRef Text) {
  if (nestingDepth(Text) > MaxNesting)
    return usageError("it nests too deep");
  return json::parse(Text);
}

} // namespace cupilot
