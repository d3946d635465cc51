//===- BitcodeTest.cpp - Device code behind parsed headers ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "PrefixFixture.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace cupilot;

namespace {
class Bitcode : public PrefixFixture {
protected:
  std::string source(llvm::StringRef Text) const {
    std::string Path = Dir.file("k.cu");
    llvm::cantFail(writeFileAtomic(Path, Text));
    return Path;
  }
  /// What clang makes when it reads all headers.
  static llvm::Expected<std::string> plain(llvm::StringRef Source,
                                           llvm::ArrayRef<std::string> Flags) {
    return compileDevice(Source, "sm_90", Flags, bitcodeOutput());
  }

  /// The module of \p Bitcode as text. Where inline assembly stood in the
  /// headers differs, and means nothing.
  static std::string text(llvm::StringRef Bitcode) {
    llvm::LLVMContext C;
    auto M = llvm::cantFail(
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(Bitcode, "k"), C));
    for (llvm::Function &F : *M)
      for (llvm::Instruction &I : llvm::instructions(F))
        I.setMetadata("srcloc", nullptr);
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    M->print(OS, nullptr);
    return Text;
  }
};
} // namespace

TEST_F(Bitcode, IsTheSameBehindParsedHeaders) {
  // Calls into the headers' functions, their templates and libdevice; variables
  // and assertions, whose code depends on the order of declarations.
  std::string Source = source(R"(
#include <cuda_fp16.h>
#include <cassert>
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
template <typename T> __device__ T twice(T x) { return x + x; }
__global__ void k(float *p, const __half *h, int n) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  s[threadIdx.x % 32] = __half2float(h[i]) * table[i % 4];
  __syncthreads();
  if (i < n)
    p[i] = twice(sinf(__ldg(&p[i]))) + __shfl_down_sync(~0u, s[i % 32], 1);
  atomicAdd(&counter, max(i, __popc(n)));
}
)");
  for (const std::vector<std::string> &Flags :
       {std::vector<std::string>{"-O2"},
        {"-O2", "-std=c++20", "-ffast-math"},
        {"-O2", "-gline-tables-only"},
        {"-O0", "-DNDEBUG"}}) {
    llvm::Expected<std::string> Plain = plain(Source, Flags);
    ASSERT_TRUE(bool(Plain)) << llvm::toString(Plain.takeError());
    for (int Run = 0; Run < 2; ++Run) {
      llvm::Expected<std::string> Code =
          compileDeviceBitcode(Source, "sm_90", Flags);
      ASSERT_TRUE(bool(Code)) << llvm::toString(Code.takeError());
      EXPECT_EQ(text(*Code), text(*Plain)) << llvm::join(Flags, " ");
    }
  }
  EXPECT_EQ(kept().size(), 4u);
}

TEST_F(Bitcode, MessagesAreThoseOfThePlainCompilation) {
  std::string Source = source("__global__ void k(int *p) { *p = oops; }\n");
  llvm::Expected<std::string> Plain = plain(Source, {"-O2"});
  llvm::Expected<std::string> Code =
      compileDeviceBitcode(Source, "sm_90", {"-O2"});
  ASSERT_FALSE(bool(Plain));
  ASSERT_FALSE(bool(Code));
  // The command names a temporary folder.
  auto Message = [](llvm::Error E) {
    return llvm::StringRef(toString(std::move(E)))
        .split("(the command")
        .first.str();
  };
  std::string Said = Message(Code.takeError());
  EXPECT_EQ(Said, Message(Plain.takeError()));
  EXPECT_NE(Said.find("oops"), std::string::npos);
}

TEST_F(Bitcode, ForcedIncludesAndDamageAreNoObstacle) {
  llvm::cantFail(writeFileAtomic(Dir.file("value.h"), "#define VALUE 3\n"));
  std::string Source = source("__global__ void k(int *p) { *p = VALUE; }\n");
  std::vector<std::string> Forced = {"-O2", "-include", Dir.file("value.h")};
  EXPECT_TRUE(bool(compileDeviceBitcode(Source, "sm_90", Forced)));
  EXPECT_TRUE(kept().empty());
  std::vector<std::string> Defined = {"-O2", "-DVALUE=3"};
  llvm::Expected<std::string> First =
      compileDeviceBitcode(Source, "sm_90", Defined);
  ASSERT_TRUE(bool(First));
  ASSERT_EQ(kept().size(), 1u);
  llvm::cantFail(writeFileAtomic(kept().front(), "damaged"));
  llvm::Expected<std::string> Second =
      compileDeviceBitcode(Source, "sm_90", Defined);
  ASSERT_TRUE(bool(Second));
  EXPECT_TRUE(*First == *Second);
}
