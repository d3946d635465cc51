//===- TextFilesTest.cpp - What a text may see of the machine ---===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Support/File.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <sys/stat.h>

using namespace cupilot;
namespace fs = llvm::sys::fs;

TEST(TextFiles, ShowTheToolkitAlone) {
  TemporaryDirectory Dir =
      llvm::cantFail(TemporaryDirectory::create("cupilot-files"));
  auto Write = [&](const char *Name) {
    llvm::cantFail(writeFileAtomic(Dir.file(Name), Name));
  };
  Write("toolkit/a.h");
  Write("toolkit/sub/b.h");
  Write("toolkit2/c.h");
  Write("secret/key");
  ASSERT_EQ(::mkfifo(Dir.file("toolkit/pipe").c_str(), 0600), 0);
  ASSERT_FALSE(fs::create_link(Dir.file("toolkit"), Dir.file("by-link")));
  clang::CompilerInvocation Invocation;
  Invocation.getHeaderSearchOpts().ResourceDir.clear();
  for (const char *Folder : {"toolkit", "gone", "by-link"})
    Invocation.getHeaderSearchOpts().AddPath(
        Dir.file(Folder), clang::frontend::System, false, true);
  auto Files = toolkitFiles(Invocation, llvm::vfs::getRealFileSystem());
  auto Reads = [&](const std::string &Name) {
    auto File = Files->openFileForRead(Dir.file(Name));
    EXPECT_EQ(bool(File), Files->exists(Dir.file(Name))) << Name;
    return bool(File);
  };
  EXPECT_TRUE(Reads("toolkit/a.h"));
  EXPECT_TRUE(Reads("toolkit/sub/b.h"));
  EXPECT_TRUE(Reads("toolkit/sub/../a.h"));
  EXPECT_TRUE(Reads("by-link/a.h"));
  EXPECT_TRUE(Reads("toolkit2/../toolkit/a.h"));
  EXPECT_FALSE(Reads("toolkit2/c.h"));
  EXPECT_FALSE(Reads("secret/key"));
  EXPECT_FALSE(Reads("toolkit/../secret/key"));
  EXPECT_FALSE(Reads("toolkit/sub/../../secret/key"));
  EXPECT_FALSE(Reads("toolkit/pipe")) << "and does not wait";
  EXPECT_FALSE(Files->exists("/dev/stdin"));
  EXPECT_FALSE(Files->exists("/etc/passwd"));
  EXPECT_FALSE(Files->openFileForRead("/dev/zero"));
  std::error_code EC;
  EXPECT_TRUE(Files->dir_begin(Dir.file("secret"), EC) ==
              llvm::vfs::directory_iterator());
  EXPECT_TRUE(bool(EC));
}

TEST(TextFiles, ACrashEndsTheWorkAlone) {
  EXPECT_TRUE(runGuarded([] {}));
  EXPECT_FALSE(runGuarded([] { *static_cast<volatile int *>(nullptr) = 1; }));
  EXPECT_TRUE(runGuarded([] {}));
}
