//===- GpuBinaryTest.cpp - What clang packs for its device linker -*- C++ -*-=//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/GpuBinary.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

/// The bytes of \p Image, of the language \p Kind, as clang packs them.
static std::string packed(StringRef Image, object::OffloadKind Kind) {
  object::OffloadBinary::OffloadingImage O;
  O.TheImageKind = object::IMG_Object;
  O.TheOffloadKind = Kind;
  O.StringData["arch"] = "sm_90";
  O.Image = MemoryBuffer::getMemBufferCopy(Image);
  SmallString<0> Bytes = object::OffloadBinary::write(O);
  return std::string(Bytes);
}

static const std::string Two("\x7f"
                             "ELF\0.text.one\0.text.two\0",
                             25),
    One("\x7f"
        "ELF\0.text.one\0",
        15);

TEST(GpuBinary, PackedImages) {
  std::string Bytes = packed(Two, object::OFK_Cuda) +
                      packed("not CUDA's", object::OFK_OpenMP) +
                      packed(One, object::OFK_Cuda);
  Expected<GpuBinary> B = GpuBinary::parse(Bytes);
  ASSERT_TRUE(bool(B)) << toString(B.takeError());
  EXPECT_EQ(B->images(), 2u);
  EXPECT_TRUE(B->allHold("one"));
  EXPECT_FALSE(B->allHold("two"));
  EXPECT_TRUE(B->anyHolds("tw"));
}

TEST(GpuBinary, BrokenPackedImages) {
  std::string Whole = packed(Two, object::OFK_Cuda);
  for (size_t I = 1; I < Whole.size(); ++I) {
    Expected<GpuBinary> B = GpuBinary::parse(StringRef(Whole).take_front(I));
    EXPECT_FALSE(bool(B)) << I;
    consumeError(B.takeError());
  }
  for (size_t I = 4; I < Whole.size(); ++I) {
    std::string Other = Whole;
    Other[I] = '\xff';
    if (Expected<GpuBinary> B = GpuBinary::parse(Other); !B)
      consumeError(B.takeError());
  }
}
