//===- MachineCacheTest.cpp - Entries that hold or are none -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/MachineCache.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace cupilot;
using namespace llvm;

namespace {
class MachineCache : public testing::Test {
protected:
  void SetUp() override { use(Dir.file("cache")); }
  void TearDown() override {
    ::unsetenv("CUPILOT_CACHE_DIR");
    if (WasSet)
      ::setenv("CUPILOT_CACHE_DIR", Before.c_str(), 1);
  }
  static void use(const std::string &Folder) {
    ::setenv("CUPILOT_CACHE_DIR", Folder.c_str(), 1);
  }
  static MachineCacheEntry entry(StringRef Key) {
    return {"kind", ".bytes", DigestBuilder().add(Key)};
  }
  std::string manifest(const MachineCacheEntry &E) const {
    return StringRef(E.file()).drop_back(6).str() + ".files";
  }
  static std::string bytesOf(const MachineCacheEntry &E) {
    std::optional<CachedBytes> Known = E.load();
    return Known ? Known->Bytes : "none";
  }

  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("cache-test"));
  const char *Old = std::getenv("CUPILOT_CACHE_DIR");
  bool WasSet = Old != nullptr;
  std::string Before = Old ? Old : "";
};
} // namespace

TEST_F(MachineCache, GivesBackWhatItGot) {
  std::string File = Dir.file("made of");
  cantFail(writeFileAtomic(File, "text"));
  for (const std::string &Bytes :
       {std::string(), std::string("a\0b\n", 4), std::string(100000, 'x')})
    for (const std::vector<std::string> &Notes :
         {std::vector<std::string>{}, {"one"}, {"one", "ns::two words"}})
      for (const std::vector<std::string> &Files :
           {std::vector<std::string>{}, {File}, {File, "<built-in>"}}) {
        MachineCacheEntry E = entry("k");
        EXPECT_TRUE(E.store({Bytes, Notes}, Files));
        std::optional<CachedBytes> Known = E.load();
        ASSERT_TRUE(Known.has_value());
        EXPECT_EQ(Known->Bytes, Bytes);
        EXPECT_EQ(Known->Notes, Notes);
      }
  EXPECT_EQ(bytesOf(entry("another")), "none");
}

TEST_F(MachineCache, EveryDamageIsSeen) {
  MachineCacheEntry E = entry("k");
  ASSERT_TRUE(E.store({"bytes", {"note"}}, {}));
  for (const std::string &Path : {E.file(), manifest(E)}) {
    std::string Whole = cantFail(readFile(Path));
    for (size_t I = 0; I < Whole.size(); ++I) {
      std::string Other = Whole;
      Other[I] ^= 1;
      cantFail(writeFileAtomic(Path, Other));
      EXPECT_EQ(bytesOf(E), "none") << Path << " " << I;
    }
    for (const std::string &Other : {std::string(), Whole + "x"}) {
      cantFail(writeFileAtomic(Path, Other));
      EXPECT_EQ(bytesOf(E), "none") << Path;
    }
    cantFail(writeFileAtomic(Path, Whole));
    EXPECT_EQ(bytesOf(E), "bytes");
    sys::fs::remove(Path);
    EXPECT_EQ(bytesOf(E), "none");
    cantFail(writeFileAtomic(Path, Whole));
  }
}

TEST_F(MachineCache, ChangedFilesMakeNone) {
  std::string File = Dir.file("made of");
  cantFail(writeFileAtomic(File, "text"));
  MachineCacheEntry E = entry("k");
  ASSERT_TRUE(E.store({"bytes", {}}, {File}));
  EXPECT_EQ(bytesOf(E), "bytes");
  cantFail(writeFileAtomic(File, "texts"));
  EXPECT_EQ(bytesOf(E), "none");
  ASSERT_TRUE(E.store({"bytes", {}}, {File}));
  sys::fs::remove(File);
  EXPECT_EQ(bytesOf(E), "none");
}

TEST_F(MachineCache, WithoutAPlaceThereIsNothing) {
  cantFail(writeFileAtomic(Dir.file("file"), ""));
  for (const std::string &Folder : {std::string(), Dir.file("file/below")}) {
    use(Folder);
    MachineCacheEntry E = entry("k");
    EXPECT_FALSE(E.isWritable());
    EXPECT_FALSE(E.store({"bytes", {}}, {}));
    EXPECT_EQ(bytesOf(E), "none");
  }
  EXPECT_FALSE(MachineCacheEntry());
  EXPECT_EQ(bytesOf(MachineCacheEntry()), "none");
}

TEST_F(MachineCache, TheYoungestStay) {
  for (unsigned I = 0; I < 5; ++I) {
    MachineCacheEntry E = entry(std::to_string(I));
    ASSERT_TRUE(E.store({std::to_string(I), {}}, {}));
    int FD = -1;
    ASSERT_FALSE(
        sys::fs::openFileForWrite(manifest(E), FD, sys::fs::CD_OpenExisting));
    sys::TimePoint<> Time(std::chrono::seconds(1000000 + I));
    EXPECT_FALSE(sys::fs::setLastAccessAndModificationTime(FD, Time, Time));
    sys::fs::file_t Handle = sys::fs::convertFDToNativeFile(FD);
    sys::fs::closeFile(Handle);
  }
  entry("0").keepYoungest(2);
  EXPECT_EQ(bytesOf(entry("2")), "none");
  EXPECT_FALSE(sys::fs::exists(entry("2").file()));
  EXPECT_EQ(bytesOf(entry("3")), "3");
  EXPECT_EQ(bytesOf(entry("4")), "4");
}
