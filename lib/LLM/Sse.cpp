//===- Sse.cpp - Server-sent events -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sse.h"

using namespace llvm;

namespace cupilot {

Error SseParser::line(StringRef Line, Sink OnEvent) {
  if (Line.empty()) {
    Error E = Error::success();
    if (HasData)
      E = joinErrors(std::move(E), OnEvent(Event, Data));
    Event.clear();
    Data.clear();
    HasData = false;
    return E;
  }
  auto [Field, Value] = Line.split(':');
  Value.consume_front(" ");
  if (Field == "event") {
    Event = Value.str();
  } else if (Field == "data") {
    if (HasData)
      Data += '\n';
    Data += Value;
    HasData = true;
  } // A comment has no field's name; others say nothing here.
  return Error::success();
}

Error SseParser::feed(StringRef Bytes, Sink OnEvent) {
  for (char C : Bytes) {
    bool LineFeedOfPair = C == '\n' && SkipLineFeed;
    SkipLineFeed = C == '\r';
    if (LineFeedOfPair)
      continue;
    if (C != '\n' && C != '\r') {
      Partial += C;
      continue;
    }
    std::string Whole;
    std::swap(Whole, Partial);
    if (Error E = line(Whole, OnEvent))
      return E;
  }
  return Error::success();
}

Error SseParser::finish(Sink OnEvent) {
  std::string Whole;
  std::swap(Whole, Partial);
  if (!Whole.empty())
    if (Error E = line(Whole, OnEvent))
      return E;
  return line("", OnEvent);
}

} // namespace cupilot
