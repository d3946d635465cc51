//===- ThreadContextTest.cpp - The layout that code and run time share ----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Abi/LoweredModule.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

TEST(ThreadContext, HasOneLayout) {
  LLVMContext Context;
  DataLayout Host(Triple(sys::getProcessTriple()).computeDataLayout());
  EXPECT_TRUE(contextLayoutAgrees(Host, Context));
  // Pointers of four bytes move what stands behind them.
  DataLayout Narrow("e-p:32:32-i64:64");
  EXPECT_FALSE(contextLayoutAgrees(Narrow, Context));
}

TEST(ThreadContext, FieldsAreNumberedAsTheyStand) {
  LLVMContext Context;
  DataLayout Host(Triple(sys::getProcessTriple()).computeDataLayout());
  const StructLayout *Own = Host.getStructLayout(contextType(Context));
  EXPECT_EQ(Own->getElementOffset(FieldLinear),
            offsetof(ThreadContext, Linear));
  EXPECT_EQ(Own->getElementOffset(FieldOpenStamp),
            offsetof(ThreadContext, OpenStamp));
  EXPECT_TRUE(contextType(Context)->getElementType(FieldTid)->isArrayTy());
  EXPECT_TRUE(contextType(Context)->getElementType(FieldSites)->isPointerTy());
}
