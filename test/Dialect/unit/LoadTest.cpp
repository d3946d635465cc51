//===- LoadTest.cpp - Modules from files -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace cupilot::test;

namespace {

/// The message of \p E, which must be a usage error; with its hint.
std::string usage(llvm::Error E) {
  std::string Text = "no usage error";
  llvm::handleAllErrors(
      std::move(E),
      [&](const ToolError &T) {
        if (T.code() == ExitCode::Usage)
          Text = T.text() + " | " + T.hint();
      },
      [](const llvm::ErrorInfoBase &) {});
  return Text;
}

std::string parseFailure(llvm::StringRef Text) {
  mlir::MLIRContext C;
  auto M = parseModule(C, Text, "some.mlir");
  return M ? "it parsed" : usage(M.takeError());
}

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

TEST(Load, TextThatDoesNotParse) {
  std::string Message = parseFailure("module { cupilot.nonsense }");
  EXPECT_TRUE(contains(Message, "'some.mlir' is no valid cupilot module"))
      << Message;
  EXPECT_TRUE(contains(Message, "\"some.mlir\":1:10")) << Message;
}

TEST(Load, TextThatDoesNotVerify) {
  std::string Message = parseFailure(
      "cupilot.strategy @a bottleneck(memory) min_arch(50) params({x = []}) "
      "requires([]) conflicts([]) \"s\"");
  EXPECT_TRUE(contains(Message, "parameter 'x' needs a domain")) << Message;
}

TEST(Load, MapsWithManyResults) {
  // As domains have them: long, but each result is short.
  std::string Results = "s0", Sum = "s0";
  for (int I = 0; I < 300; ++I) {
    Results += ", s0 * " + std::to_string(1000000 + I);
    Sum += " + s0 * " + std::to_string(1000000 + I);
  }
  auto Module = [](const std::string &Map) {
    return "#map = affine_map<()[s0] -> (" + Map +
           ")>\nmodule attributes {t.a = #map} {}\n";
  };
  EXPECT_EQ(parseFailure(Module(Results)), "it parsed");
  EXPECT_TRUE(contains(parseFailure(Module(Sum)), "nests too deep"));
}

TEST(Load, NewerFormat) {
  // Also when it holds what this version cannot parse.
  for (const char *Body : {"", "cupilot.tomorrow <<>>"}) {
    std::string Message =
        parseFailure(std::string("module attributes {cupilot.format = 8 : "
                                 "i64} {\n") +
                     Body + "}");
    EXPECT_TRUE(contains(Message, "'some.mlir' has format 8; this cupilot "
                                  "supports formats up to 7"))
        << Message;
    EXPECT_TRUE(contains(Message, "use the cupilot that wrote it")) << Message;
  }
}

TEST(Load, MissingFile) {
  mlir::MLIRContext C;
  auto M = loadModule(C, "/nonexistent/kernel.mlir");
  ASSERT_FALSE(bool(M));
  EXPECT_TRUE(
      contains(llvm::toString(M.takeError()), "/nonexistent/kernel.mlir"));
}

TEST(Load, Library) {
  auto Folder = TemporaryDirectory::create("cupilot-library");
  ASSERT_TRUE(bool(Folder)) << llvm::toString(Folder.takeError());
  auto Strategy = [](const std::string &Name, const std::string &Rest) {
    return "cupilot.strategy @" + Name +
           " bottleneck(memory) min_arch(80) params({width = [2, 4], mode = "
           "[\"a\", \"b\"]}) " +
           Rest + " \"s\"\n";
  };
  mlir::MLIRContext C;
  auto Empty = loadLibrary(C, Folder->path());
  ASSERT_FALSE(bool(Empty));
  EXPECT_TRUE(contains(usage(Empty.takeError()), "there is no strategy "
                                                 "library"));
  auto Missing = loadLibrary(C, Folder->file("gone"));
  ASSERT_FALSE(bool(Missing));
  EXPECT_TRUE(
      contains(usage(Missing.takeError()), "cannot read the strategy library"));

  ASSERT_FALSE(bool(writeFileAtomic(
      Folder->file("1.mlir"),
      Strategy("first", "requires([@second]) conflicts([@third])"))));
  ASSERT_FALSE(bool(writeFileAtomic(Folder->file("2.mlir"),
                                    Strategy("second", "requires([]) "
                                                       "conflicts([])"))));
  auto Library = loadLibrary(C, Folder->path());
  ASSERT_TRUE(bool(Library)) << llvm::toString(Library.takeError());
  std::vector<StrategyInfo> All = strategiesOf(**Library);
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Name, "first");
  EXPECT_EQ(All[0].Requires, std::vector<std::string>{"second"});
  EXPECT_EQ(All[0].Conflicts, std::vector<std::string>{"third"});
  ASSERT_EQ(All[0].Params.size(), 2u);
  EXPECT_EQ(All[0].Params[0].Name, "mode");
  EXPECT_EQ(All[0].Params[0].Words, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(All[0].Params[1].Values, (std::vector<int64_t>{2, 4}));

  // The same strategy in two files.
  ASSERT_FALSE(bool(writeFileAtomic(Folder->file("3.mlir"),
                                    Strategy("second", "requires([]) "
                                                       "conflicts([])"))));
  auto Twice = loadLibrary(C, Folder->path());
  ASSERT_FALSE(bool(Twice));
  std::string Message = usage(Twice.takeError());
  EXPECT_TRUE(contains(Message, "redefinition of symbol named 'second'"))
      << Message;
}

} // namespace
