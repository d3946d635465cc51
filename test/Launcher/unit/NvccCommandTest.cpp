//===- NvccCommandTest.cpp - Reading nvcc's command lines -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

static NvccCommand parse(std::vector<std::string> Args, StringRef Prepend = "",
                         StringRef Append = "") {
  Expected<NvccCommand> C = parseNvccCommand(Args, Prepend, Append);
  EXPECT_TRUE(bool(C)) << toString(C.takeError());
  return C ? *C : NvccCommand();
}

static std::string failure(std::vector<std::string> Args) {
  Expected<NvccCommand> C = parseNvccCommand(Args, "", "");
  return C ? "" : toString(C.takeError());
}

using Words = std::vector<std::string>;

TEST(NvccCommand, OneObject) {
  NvccCommand C = parse({"-c", "a.cu", "-o", "b.o", "-MD", "-MF", "b.d"});
  EXPECT_FALSE(C.Unchanged);
  EXPECT_EQ(C.Inputs, Words{"a.cu"});
  EXPECT_EQ(C.Output, "b.o");
  EXPECT_EQ(C.DepFile, "b.d");
  // As nvcc names them.
  C = parse({"--compile", "dir/a.cu", "-MMD"});
  EXPECT_EQ(C.Output, "a.o");
  EXPECT_EQ(C.DepFile, "a.d");
  C = parse({"-c", "-x", "cu", "a.cpp", "--output-file=z.o"});
  EXPECT_FALSE(C.Unchanged);
  EXPECT_EQ(C.Output, "z.o");
  // -MF alone writes nothing.
  EXPECT_EQ(parse({"-c", "a.cu", "-MF", "b.d"}).DepFile, "");
}

TEST(NvccCommand, PassedOn) {
  for (Words Args :
       {Words{"-c", "-dlto", "a.cu"},
        {"-dc", "-gencode", "arch=compute_90,code=[sm_90,lto_90]", "a.cu"},
        {"-dc", "-arch=compute_90", "-code=lto_90", "a.cu"},
        {"-c", "-ewp", "a.cu"},
        {"-c", "-G", "a.cu"},
        {"-c", "--keep", "a.cu"},
        {"-c", "-save-temps", "a.cu"},
        {"-c", "-objtemp", "a.cu"},
        {"a.cu", "-o", "app"},
        {"-c", "a.cu", "b.cu"},
        {"-c", "a.cu", "-o", "a.obj"},
        {"-c", "a.cu", "-Xcompiler=/MD,/O2", "--output-file=A.OBJ"},
        {"-ccbin", "C:\\VC\\bin\\CL.exe", "-c", "a.cu"},
        {"--compiler-bindir=cl", "a.cu", "b.cu", "-o", "app.exe"},
        {"-ccbin=clang-cl", "-Xcompiler", "/MD", "-c", "a.cu"}}) {
    NvccCommand C = parse(Args);
    EXPECT_TRUE(C.Unchanged) << Args[0] << " " << Args[1];
    EXPECT_TRUE(C.UnchangedRemark) << Args[0] << " " << Args[1];
    EXPECT_EQ(C.Args, Args);
  }
  // No CUDA code becomes an object: nobody wants to hear of it.
  for (Words Args : {Words{"-c", "a.cpp"},
                     {"-ptx", "a.cu"},
                     {"-E", "a.cu"},
                     {"-M", "a.cu"},
                     {"--version"},
                     {"a.o", "-o", "app"},
                     {"-c", "-x", "c++", "a.cu"},
                     {"-dlink", "a.o"},
                     {"-lib", "a.o", "-o", "b.a"},
                     {"--dryrun", "-c", "a.cu"}}) {
    NvccCommand C = parse(Args);
    EXPECT_TRUE(C.Unchanged) << Args[0];
    EXPECT_FALSE(C.UnchangedRemark) << Args[0];
    EXPECT_EQ(C.Args, Args);
  }
  EXPECT_FALSE(parse({"-c", "-rdc=false", "a.cu"}).Unchanged);
  EXPECT_FALSE(parse({"-c", "a.cu", "-ccbin=/usr/bin/clang++"}).Unchanged);
  // What can be done source by source, and what cannot.
  NvccCommand C = parse({"-O2", "a.cu", "b.cpp", "-o", "app", "-lm"});
  EXPECT_TRUE(C.Splits);
  EXPECT_TRUE(C.Links);
  EXPECT_EQ(C.InputAt, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(C.OutputAt, (std::vector<size_t>{3, 4}));
  EXPECT_TRUE(parse({"-c", "a.cu", "b.cu"}).Splits);
  for (Words Args : {Words{"-c", "a.cu", "b.cu", "-o", "c.o"},
                     {"-x", "cu", "a.cu", "-o", "app"},
                     {"a.cu", "-o", "app", "-MD"},
                     {"a.cu", "-dlto", "-o", "app"},
                     {"-ccbin=cl.exe", "a.cu", "b.cu", "-o", "app.exe"},
                     {"a.cpp", "-o", "app"}})
    EXPECT_FALSE(parse(Args).Splits) << Args[0] << " " << Args[1];
}

TEST(NvccCommand, RelocatableDeviceCode) {
  for (Words Args : {Words{"-dc", "a.cu"},
                     {"-c", "-rdc=true", "a.cu"},
                     {"-c", "-rdc", "true", "a.cu"}}) {
    NvccCommand C = parse(Args);
    EXPECT_FALSE(C.Unchanged) << Args[0];
    EXPECT_TRUE(C.Relocatable) << Args[0];
    EXPECT_EQ(C.Output, "a.o");
  }
  NvccCommand C = parse({"-dw", "a.cu"});
  EXPECT_FALSE(C.Unchanged);
  EXPECT_FALSE(C.Relocatable);
  // Sources are compiled one by one, and the rest is linked, or becomes a
  // library.
  C = parse({"-rdc=true", "a.cu", "b.o", "-o", "app"});
  EXPECT_TRUE(C.Splits);
  EXPECT_TRUE(C.Links);
  C = parse({"-lib", "-rdc=true", "a.cu", "b.cu", "-o", "c.a"});
  EXPECT_TRUE(C.Splits);
  EXPECT_TRUE(C.Links);
  EXPECT_EQ(C.OutputAt, (std::vector<size_t>{0, 4, 5}));
  EXPECT_FALSE(parse({"a.cu", "-o", "c.a"}, "-lib").Splits);
}

TEST(NvccCommand, OwnArguments) {
  NvccCommand C =
      parse({"-fplugin=cupilot", "-c", "a.cu", "-fplugin-arg-cupilot-store=s",
             "-Rpass=cupilot", "-Rpass-missed=.*",
             "-fplugin-arg-cupilot-limit=3", "-fplugin=/x/lib/cupilot.so"});
  EXPECT_EQ(C.Args, (Words{"-c", "a.cu"}));
  EXPECT_TRUE(C.PluginGiven);
  EXPECT_EQ(C.Plugin.Store, "s");
  EXPECT_EQ(C.Plugin.Limit, 3u);
  EXPECT_EQ(C.Remarks, "cupilot");
  EXPECT_EQ(C.MissedRemarks, ".*");
  // Other plugins are others' business.
  EXPECT_EQ(parse({"-c", "a.cu", "-fplugin=clad.so"}).Args.size(), 3u);
  EXPECT_NE(failure({"-fplugin-arg-cupilot-frob=1"}).find("unknown argument"),
            std::string::npos);
  EXPECT_NE(failure({"-fplugin-arg-cupilot-limit=x"}).find("bad value"),
            std::string::npos);
  EXPECT_NE(failure({"-Rpass=("}).find("not a regular expression"),
            std::string::npos);
  EXPECT_NE(failure({"-c", "a.cu", "-o"}).find("needs a value"),
            std::string::npos);
}

TEST(NvccCommand, DeviceFlags) {
  NvccCommand C =
      parse({"-c", "a.cu", "-O3", "--use_fast_math", "-std", "c++20", "-Ifoo",
             "-DX=1", "-Xcompiler=-fPIC,-Wall", "-Xptxas", "-O1,-v",
             "-maxrregcount=64", "-march=native", "-lineinfo", "-t4"});
  EXPECT_EQ(C.Device.Flags, (Words{"--use_fast_math", "-std=c++20",
                                   "-maxrregcount=64", "-lineinfo"}));
  EXPECT_EQ(C.Device.context(), "-O1 -maxrregcount=64");
  EXPECT_EQ(C.Inputs, Words{"a.cu"});
}

TEST(NvccCommand, VariablesAndFiles) {
  NvccCommand C =
      parse({"-c", "a.cu"}, "-ftz=true -fplugin=cupilot", "-dlto -DX=1");
  EXPECT_EQ(C.Device.Flags, Words{"-ftz=true"});
  EXPECT_TRUE(C.UnchangedRemark);
  EXPECT_EQ(C.Environment, Words{"NVCC_PREPEND_FLAGS=-ftz=true"});
  EXPECT_EQ(C.Args, (Words{"-c", "a.cu"}));

  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("nvcc-command");
  ASSERT_TRUE(bool(Dir));
  ASSERT_FALSE(bool(writeFileAtomic(Dir->file("x"), "-ftz=true 'b c.cu'\n-c")));
  C = parse({"--options-file", Dir->file("x")});
  EXPECT_FALSE(C.Unchanged);
  EXPECT_EQ(C.Inputs, Words{"b c.cu"});
  EXPECT_EQ(C.Args, (Words{"--options-file", Dir->file("x")}));
  // With something of ours in it, nvcc gets the words instead.
  ASSERT_FALSE(bool(
      writeFileAtomic(Dir->file("y"), "-fplugin-arg-cupilot-strict -c a.cu")));
  C = parse({"-optf=" + Dir->file("y")});
  EXPECT_TRUE(C.Plugin.Strict);
  EXPECT_EQ(C.Args, (Words{"-c", "a.cu"}));
  EXPECT_NE(failure({"-optf", Dir->file("gone")}).find("there is no file"),
            std::string::npos);
  ASSERT_FALSE(
      bool(writeFileAtomic(Dir->file("z"), "-optf " + Dir->file("z"))));
  EXPECT_NE(
      failure({"-optf", Dir->file("z")}).find("include each other recursively"),
      std::string::npos);
}

TEST(NvccVariant, MemoryHasALimit) {
  Expected<Toolchain> Tools = Toolchain::find({});
  if (!Tools)
    consumeError(Tools.takeError());
  const std::string Nvcc = Tools ? Tools->CudaPath + "/bin/nvcc" : "";
  if (!sys::fs::can_execute(Nvcc))
    GTEST_SKIP() << "no nvcc";
  TemporaryDirectory Dir =
      cantFail(TemporaryDirectory::create("nvcc-variant-test"));
  const std::string Source = Dir.file("v.cu");
  cantFail(
      writeFileAtomic(Source, "__global__ void k(float *p) { *p = 1; }\n"));
  auto Compiled = [&](uint64_t MiB) {
    return compileNvccPtx(Nvcc, Source, "sm_90", {}, /*Files=*/nullptr,
                          ProcessLimits{60, MiB << 20});
  };
  Expected<NvccPtx> Enough = Compiled(4096);
  ASSERT_TRUE(bool(Enough)) << toString(Enough.takeError());
  EXPECT_EQ(Enough->kernels(), Words{"_Z1kPf"});
  // Less than the compiler itself takes.
  Expected<NvccPtx> Less = Compiled(64);
  ASSERT_FALSE(bool(Less));
  Error E = Less.takeError();
  EXPECT_TRUE(E.isA<BuildError>());
  consumeError(std::move(E));
}
