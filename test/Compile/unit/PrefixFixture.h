//===- PrefixFixture.h - Tests with parsed headers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_PREFIXFIXTURE_H
#define CUPILOT_TEST_PREFIXFIXTURE_H

#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"
#include <cstdlib>

namespace cupilot {

/// Tests with a machine cache of their own and the headers of a toolkit.
class PrefixFixture : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      llvm::consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    Cuda = Tools->CudaPath;
    use(Dir.file("cache"));
  }
  void TearDown() override {
    ::unsetenv("CUPILOT_CACHE_DIR");
    if (WasSet)
      ::setenv("CUPILOT_CACHE_DIR", Before.c_str(), 1);
  }
  static void use(const std::string &Folder) {
    ::setenv("CUPILOT_CACHE_DIR", Folder.c_str(), 1);
  }
  /// The prefixes that the cache holds.
  std::vector<std::string> kept() const {
    return llvm::cantFail(filesIn(Dir.file("cache/prefixes"), ".pch"));
  }

  TemporaryDirectory Dir =
      llvm::cantFail(TemporaryDirectory::create("prefix-test"));
  std::string Cuda;
  const char *Old = std::getenv("CUPILOT_CACHE_DIR");
  bool WasSet = Old != nullptr;
  std::string Before = Old ? Old : "";
};

} // namespace cupilot

#endif // CUPILOT_TEST_PREFIXFIXTURE_H
