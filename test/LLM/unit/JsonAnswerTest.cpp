//===- JsonAnswerTest.cpp - JSON in what models write -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/JsonAnswer.h"
#include "cupilot/LLM/Schema.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

static json::Value schema(StringRef Text) {
  return cantFail(json::parse(Text));
}

static const char *Greeting = R"({"type": "object",
  "properties": {"greeting": {"type": "string"}, "count": {"type": "integer"}},
  "required": ["greeting", "count"], "additionalProperties": false})";

static std::string read(StringRef Text, const char *Schema = Greeting) {
  Expected<json::Value> V = readAnswer(Text, schema(Schema));
  if (!V)
    return "error: " + toString(V.takeError());
  return formatv("{0}", *V).str();
}

TEST(JsonAnswer, WhereverItStands) {
  const char *Good = R"({"count":1,"greeting":"a"})";
  for (const char *Text :
       {R"({"greeting": "a", "count": 1})",
        "\n```json\n{\"greeting\": \"a\", \"count\": 1}\n```\n",
        "Sure:\n```\n{\"greeting\": \"a\", \"count\": 1}\n```\nDone.",
        "~~~~ JSON\n{\"greeting\": \"a\", \"count\": 1}\n~~~~~",
        "It is {\"greeting\": \"a\", \"count\": 1}, as you see.",
        "f(x) { return; } then {\"greeting\": \"a\", \"count\": 1}",
        // The last of several, and not what was thought.
        "First {\"greeting\": \"b\", \"count\": 1}. No: {\"greeting\": \"a\", "
        "\"count\": 1}",
        "<think>{\"greeting\": \"b\", \"count\": 1}</think>{\"greeting\": "
        "\"a\", \"count\": 1}",
        // What does not fit does not count.
        "{\"greeting\": \"a\", \"count\": 1} {\"other\": 1}",
        // Forgiven.
        "{\"greeting\": \"a\", \"count\": 1,}",
        "{\"greeting\": \"a\", \"count\": \"1\"}"})
    EXPECT_EQ(read(Text), Good) << Text;
  EXPECT_EQ(read("{\"greeting\": \"a\nb\t[1,]\", \"count\": 1}"),
            R"({"count":1,"greeting":"a\nb\t[1,]"})");
  EXPECT_EQ(read("{\"greeting\": 5, \"count\": 1}"),
            R"({"count":1,"greeting":"5"})");
}

TEST(JsonAnswer, SaysWhatIsWrong) {
  EXPECT_EQ(read(""), "error: the answer is empty");
  EXPECT_EQ(read("No idea."), "error: the answer has no JSON object in it");
  EXPECT_EQ(read("{\"greeting\": \"a\""),
            "error: the answer has no JSON object in it");
  EXPECT_EQ(read("{\"greeting\": \"a\"}"),
            "error: the answer: there is no 'count'");
  EXPECT_EQ(read("{\"greeting\": \"a\", \"count\": 1.5}"),
            "error: count: it is no integer");
  EXPECT_EQ(read("{\"greeting\": \"a\", \"count\": 1, \"more\": 2}"),
            "error: the answer: 'more' does not belong there");
  EXPECT_EQ(read(std::string(100000, '{')),
            "error: the answer has no JSON object in it");
  EXPECT_EQ(read(std::string(100000, '[')),
            "error: the answer has no JSON object in it");
}

static const char *Coded = R"({"type": "object",
  "properties": {"source": {"type": "string", "minLength": 1, "contentMediaType": "text/x-cuda"},
                 "notes": {"type": "string"}},
  "required": ["source", "notes"], "additionalProperties": false})";

TEST(JsonAnswer, CodeInItsOwnFence) {
  EXPECT_EQ(
      read("```cuda\nint x;\n```\n```json\n{\"notes\": \"n\"}\n```", Coded),
      R"({"notes":"n","source":"int x;\n"})");
  EXPECT_EQ(read("```json\n{\"notes\": \"n\", \"source\": \"see below\"}\n```\n"
                 "```cpp\nint x;\n```",
                 Coded),
            R"({"notes":"n","source":"int x;\n"})");
  // Which of two is meant nobody can say.
  EXPECT_EQ(read("```cuda\nint x;\n```\n```cuda\nint y;\n```\n{\"notes\": "
                 "\"n\"}",
                 Coded),
            "error: the answer: there is no 'source'");
  // Code in the object stays.
  EXPECT_EQ(read("```cuda\nint x;\n```\n{\"notes\": \"\", \"source\": "
                 "\"int z;\\n\"}",
                 Coded),
            R"({"notes":"","source":"int z;\n"})");
}

TEST(Schema, Checks) {
  auto Check = [](StringRef V, const char *S) {
    return toString(checkSchema(cantFail(json::parse(V)), schema(S)));
  };
  const char *List =
      R"({"type": "array", "minItems": 1, "maxItems": 2, "items":
          {"type": ["integer", "string"], "minimum": 2, "maximum": 4, "pattern": "^a"}})";
  EXPECT_EQ(Check("[2, \"ab\"]", List), "");
  EXPECT_EQ(Check("[]", List), "the answer: it has 0 elements, fewer than 1");
  EXPECT_EQ(Check("[2,3,4]", List),
            "the answer: it has 3 elements, more than 2");
  EXPECT_NE(Check("[2, 5]", List).find("[1]: 5"), std::string::npos);
  EXPECT_NE(Check("[1]", List).find("less than 2"), std::string::npos);
  EXPECT_EQ(Check("[\"b\"]", List), "[0]: 'b' does not match ^a");
  EXPECT_EQ(Check("[true]", List), "[0]: it is no integer or string");
  EXPECT_EQ(Check("\"c\"", R"({"enum": ["a", 1]})"),
            "the answer: \"c\" is none of \"a\", 1");
  const char *Any = R"({"anyOf": [{"type": "null"}, {"type": "string"}]})";
  EXPECT_EQ(Check("null", Any), "");
  EXPECT_EQ(Check("1", Any), "the answer: it is no null");
}

TEST(Schema, WhatIsNotCheckedIsNotWritten) {
  auto Bad = [](const char *S) { return toString(checkIsSchema(schema(S))); };
  EXPECT_EQ(Bad(Coded), "");
  EXPECT_NE(Bad(R"({"properties": {"a": {"oneOf": []}}})").find("'oneOf'"),
            std::string::npos);
  for (const char *S : {"[]", R"({"items": 1})", R"({"enum": []})",
                        R"({"required": [1]})", R"({"pattern": "("})"})
    EXPECT_NE(Bad(S), "") << S;
}

TEST(Schema, WhatProvidersGet) {
  EXPECT_EQ(schemaForProvider(schema(Coded)), schema(R"({"type": "object",
  "properties": {"source": {"type": "string"}, "notes": {"type": "string"}},
  "required": ["source", "notes"], "additionalProperties": false})"));
}
