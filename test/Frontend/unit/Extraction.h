//===- Extraction.h - Extraction of literal sources -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_FRONTEND_EXTRACTION_H
#define CUPILOT_TEST_FRONTEND_EXTRACTION_H

#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include <gtest/gtest.h>

/// Skips a test where no CUDA toolkit is found.
#define REQUIRE_TOOLKIT()                                                      \
  do {                                                                         \
    auto Tools = cupilot::Toolchain::find({});                                 \
    ASSERT_TRUE(static_cast<bool>(Tools));                                     \
    if (Tools->CudaPath.empty())                                               \
      GTEST_SKIP() << "no CUDA toolkit";                                       \
  } while (false)

struct SourceFile {
  std::string Name, Text;
};

/// Writes \p Files into a folder and extracts the first.
inline llvm::Expected<std::vector<cupilot::Kernel>>
extractSources(const std::vector<SourceFile> &Files, bool Verify,
               std::vector<std::string> Flags = {}) {
  auto Dir = cupilot::TemporaryDirectory::create("cupilot-frontend-test");
  if (!Dir)
    return Dir.takeError();
  for (const SourceFile &F : Files)
    if (llvm::Error E = cupilot::writeFileAtomic(Dir->file(F.Name), F.Text))
      return std::move(E);
  Flags.insert(Flags.begin(), {"-O2", "--cuda-gpu-arch=sm_90", "-std=c++17",
                               "-I" + Dir->file("include")});
  cupilot::ExtractOptions Options;
  Options.VerifySlices = Verify;
  return cupilot::extractKernels(Dir->file(Files.front().Name), Flags, Options);
}

/// The one kernel of \p Text.
inline cupilot::Kernel extractOne(const std::string &Text, bool Verify = true,
                                  std::vector<std::string> Flags = {}) {
  auto Kernels = extractSources({{"unit.cu", Text}}, Verify, std::move(Flags));
  if (!Kernels) {
    ADD_FAILURE() << llvm::toString(Kernels.takeError());
    return {};
  }
  EXPECT_EQ(Kernels->size(), 1u);
  return Kernels->empty() ? cupilot::Kernel() : Kernels->front();
}

#endif // CUPILOT_TEST_FRONTEND_EXTRACTION_H
