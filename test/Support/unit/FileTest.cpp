//===- FileTest.cpp - Files that are whole whatever happens -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/File.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cupilot;
using namespace llvm;

/// The exit status that \p E leads to; its text must hold \p Part.
static int statusOf(Error E, StringRef Part) {
  int Status = 0;
  handleAllErrors(std::move(E), [&](const ToolError &T) {
    Status = static_cast<int>(T.code());
    EXPECT_TRUE(StringRef(T.text()).contains(Part)) << T.text();
  });
  return Status;
}

namespace {
class FileTest : public testing::Test {
protected:
  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("file-test"));
};
} // namespace

TEST_F(FileTest, WritesMakeFoldersAndReplace) {
  std::string Path = Dir.file("a/b/c");
  cantFail(writeFileAtomic(Path, "one"));
  cantFail(writeFileAtomic(Path, "two"));
  EXPECT_EQ(cantFail(readFile(Path)), "two");
}

TEST_F(FileTest, ZerosOfLargeFilesTakeNoRoom) {
  std::string Path = Dir.file("f"), Content(8 << 20, '\0');
  Content[3 << 20] = 'x';
  for (bool EndsInAHole : {true, false}) {
    if (!EndsInAHole)
      Content.back() = 'y';
    cantFail(writeFileAtomic(Path, Content));
    EXPECT_TRUE(cantFail(readFile(Path)) == Content);
    struct stat Status;
    ASSERT_EQ(::stat(Path.c_str(), &Status), 0);
    EXPECT_LT(Status.st_blocks * 512, 1 << 20);
  }
}

TEST_F(FileTest, UpdatesLeaveEqualFilesAlone) {
  std::string Path = Dir.file("f");
  cantFail(updateFile(Path, "one"));
  struct stat Before, After;
  ASSERT_EQ(::stat(Path.c_str(), &Before), 0);
  cantFail(updateFile(Path, "one"));
  ASSERT_EQ(::stat(Path.c_str(), &After), 0);
  EXPECT_EQ(Before.st_ino, After.st_ino); // A replaced file is another one.
  cantFail(updateFile(Path, "two"));
  EXPECT_EQ(cantFail(readFile(Path)), "two");
}

TEST_F(FileTest, ErrorsNameThePath) {
  cantFail(writeFileAtomic(Dir.file("f"), ""));
  EXPECT_EQ(statusOf(readFile(Dir.file("none")).takeError(), "none"), 2);
  EXPECT_EQ(statusOf(readFile(Dir.path()).takeError(), Dir.path()), 3);
  EXPECT_EQ(statusOf(writeFileAtomic(Dir.file("f/g"), ""), "f"), 3);
  EXPECT_EQ(statusOf(writeFileAtomic(Dir.path(), ""), Dir.path()), 3);
}

TEST_F(FileTest, PipesAndDevicesAreWrittenTo) {
  std::string Path = Dir.file("pipe");
  ASSERT_EQ(::mkfifo(Path.c_str(), 0600), 0);
  int Reader = ::open(Path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(Reader, 0);
  cantFail(writeFileAtomic(Path, "text"));
  char Buffer[8] = {};
  EXPECT_EQ(::read(Reader, Buffer, sizeof(Buffer)), 4);
  EXPECT_STREQ(Buffer, "text");
  ::close(Reader);
  struct stat Status;
  ASSERT_EQ(::stat(Path.c_str(), &Status), 0);
  EXPECT_TRUE(S_ISFIFO(Status.st_mode));
}

TEST_F(FileTest, FullDevicesAreResourceErrors) {
  // A link, so that a fault of ours replaces the link and not the device.
  std::string Path = Dir.file("full");
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  ASSERT_FALSE(sys::fs::create_link("/dev/full", Path));
  EXPECT_EQ(statusOf(writeFileAtomic(Path, "text"), "No space left"), 3);
  sys::fs::file_status Status;
  ASSERT_FALSE(sys::fs::status(Path, Status, /*follow=*/false));
  EXPECT_EQ(Status.type(), sys::fs::file_type::symlink_file);
}

TEST_F(FileTest, AKilledWriterLeavesTheOldFileOrTheNewOne) {
  std::string Path = Dir.file("f");
  const std::string Texts[2] = {std::string(300000, 'a'),
                                std::string(700000, 'b')};
  cantFail(writeFileAtomic(Path, Texts[0]));
  for (unsigned Round = 0; Round < 40; ++Round) {
    pid_t Child = ::fork();
    ASSERT_GE(Child, 0);
    if (Child == 0)
      for (unsigned I = 1;; ++I)
        if (Error E = writeFileAtomic(Path, Texts[I % 2]))
          ::_exit(1);
    ::usleep(200 + Round * 397);
    ::kill(Child, SIGKILL);
    int Status = 0;
    ASSERT_EQ(::waitpid(Child, &Status, 0), Child);
    ASSERT_TRUE(WIFSIGNALED(Status));
    std::string Text = cantFail(readFile(Path));
    ASSERT_TRUE(Text == Texts[0] || Text == Texts[1]) << Text.size();
  }
}

TEST_F(FileTest, LocksExcludeByPlace) {
  std::string Path = Dir.file("lock");
  auto First = cantFail(FileLock::tryLock(Path, ~0ull));
  ASSERT_TRUE(First);
  EXPECT_FALSE(cantFail(FileLock::tryLock(Path, ~0ull)));
  EXPECT_TRUE(cantFail(FileLock::tryLock(Path, 1000)));
  First.reset();
  EXPECT_TRUE(cantFail(FileLock::tryLock(Path, ~0ull)));
}

TEST_F(FileTest, AKilledHolderGivesItsLockBack) {
  std::string Path = Dir.file("lock");
  int Ready[2];
  ASSERT_EQ(::pipe(Ready), 0);
  pid_t Child = ::fork();
  ASSERT_GE(Child, 0);
  if (Child == 0) {
    auto Lock = cantFail(FileLock::tryLock(Path, 5));
    char Byte = Lock ? 'y' : 'n';
    if (::write(Ready[1], &Byte, 1) != 1)
      ::_exit(1);
    for (;;)
      ::pause();
  }
  char Byte = 0;
  ASSERT_EQ(::read(Ready[0], &Byte, 1), 1);
  EXPECT_EQ(Byte, 'y');
  EXPECT_FALSE(cantFail(FileLock::tryLock(Path, 5)));
  ::kill(Child, SIGKILL);
  ASSERT_EQ(::waitpid(Child, nullptr, 0), Child);
  EXPECT_TRUE(cantFail(FileLock::tryLock(Path, 5)));
}

TEST(FileLock, EndsThoughAForkedProcessHasTheFileOpen) {
  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("lock"));
  const std::string Path = Dir.file("lock");
  std::optional<FileLock> Lock = cantFail(FileLock::tryLock(Path, 0));
  ASSERT_TRUE(Lock);
  const pid_t Child = ::fork();
  if (Child == 0)
    for (;;)
      ::pause();
  Lock.reset();
  EXPECT_TRUE(cantFail(FileLock::tryLock(Path, 0)));
  ::kill(Child, SIGKILL);
  ::waitpid(Child, nullptr, 0);
}

TEST(TemporaryDirectory, TheSamePathForTheSameContent) {
  auto At = [](StringRef Content) {
    return cantFail(TemporaryDirectory::createFor(
        "cupilot-test", Content, std::chrono::milliseconds(40)));
  };
  std::string First;
  {
    TemporaryDirectory Dir = At("a");
    First = Dir.path().str();
    cantFail(writeFileAtomic(Dir.file("left"), "behind"));
    // While it is in use, others get another one after a while.
    EXPECT_NE(At("a").path(), First);
    EXPECT_NE(At("b").path(), First);
  }
  EXPECT_FALSE(sys::fs::exists(First));
  // Who waits gets it.
  {
    std::optional<TemporaryDirectory> Dir(At("a"));
    std::thread Waits([&] {
      EXPECT_EQ(
          cantFail(TemporaryDirectory::createFor("cupilot-test", "a")).path(),
          First);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    Dir.reset();
    Waits.join();
  }
  // What a process that was killed left does not matter.
  cantFail(writeFileAtomic(First + "/left", "behind"));
  TemporaryDirectory Again = At("a");
  EXPECT_EQ(Again.path(), First);
  EXPECT_FALSE(sys::fs::exists(Again.file("left")));
}
