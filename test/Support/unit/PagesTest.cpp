//===- PagesTest.cpp - Pages that are in use ------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Pages.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace cupilot;

TEST(Pages, KnowsWhatWasTouchedAndWritten) {
  const uint64_t Page = pageSize(), Pages = 512;
  int File = ::memfd_create("pages", MFD_CLOEXEC);
  ASSERT_GE(File, 0);
  ASSERT_EQ(::ftruncate(File, off_t(Page * Pages)), 0);
  void *Place = ::mmap(nullptr, Page * Pages, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE, File, 0);
  ::close(File);
  ASSERT_NE(Place, MAP_FAILED);
  auto *Bytes = static_cast<volatile char *>(Place);
  EXPECT_EQ(Bytes[3 * Page], 0);
  Bytes[400 * Page + 1] = 1;

  PageMap Map;
  std::vector<bool> Written =
      Map.used(Place, Page * Pages, PageMap::Use::Written);
  ASSERT_EQ(Written.size(), Pages);
  EXPECT_EQ(std::count(Written.begin(), Written.end(), true), 1);
  EXPECT_TRUE(Written[400]);
  // Pages of a file come with their neighbours.
  std::vector<bool> Touched =
      Map.used(Place, Page * Pages, PageMap::Use::Touched);
  EXPECT_TRUE(Touched[3] && Touched[400]);
  EXPECT_FALSE(Touched[200]);
  // Parts of pages are pages.
  EXPECT_EQ(
      Map.used(static_cast<char *>(Place) + Page - 1, 2, PageMap::Use::Touched)
          .size(),
      2u);
  EXPECT_TRUE(Map.used(Place, 0, PageMap::Use::Touched).empty());
  ::munmap(Place, Page * Pages);
}
