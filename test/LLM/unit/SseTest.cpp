//===- SseTest.cpp - Server-sent events -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sse.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

static std::vector<std::string> parsed(StringRef Stream, size_t Step) {
  std::vector<std::string> All;
  SseParser P;
  auto Sink = [&](StringRef Event, StringRef Data) {
    All.push_back((Event + "|" + Data).str());
    return Error::success();
  };
  for (; !Stream.empty();
       Stream = Stream.drop_front(std::min(Step, Stream.size())))
    cantFail(P.feed(Stream.take_front(Step), Sink));
  cantFail(P.finish(Sink));
  return All;
}

TEST(Sse, HoweverTheBytesCome) {
  StringRef Stream =
      ": comment\r\n\r\nevent: a\r\ndata: 1\r\n\r\ndata:2\ndata: "
      "3\n\n\n\nid: 4\rdata\r\rdata: last";
  std::vector<std::string> Expected = {"a|1", "|2\n3", "|", "|last"};
  for (size_t Step = 1; Step < 20; ++Step)
    EXPECT_EQ(parsed(Stream, Step), Expected) << Step;
}

TEST(Sse, ErrorsEndIt) {
  SseParser P;
  unsigned Count = 0;
  Error E =
      P.feed("data: 1\n\ndata: 2\n\n", [&](StringRef, StringRef) -> Error {
        ++Count;
        return createStringError("stop");
      });
  EXPECT_EQ(toString(std::move(E)), "stop");
  EXPECT_EQ(Count, 1u);
}
