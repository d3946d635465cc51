//===- ModulePartsTest.cpp - Kernels compiled one by one, and kept --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"
#include "ModuleSource.h"
#include "TableArchive.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <thread>

using namespace cupilot;
using namespace llvm;

namespace {

/// Kernels that share variables of all kinds.
constexpr StringRef Source =
    "__device__ int counter = 5;\n"
    "__constant__ int scale = 3;\n"
    "__device__ const char *words[] = {\"one\", \"two\"};\n"
    "static __device__ int hidden[4];\n"
    "__device__ __noinline__ int deep(int n) { return n < 2 ? 1 : n * deep(n - "
    "1); }\n"
    "extern \"C\" __global__ void add(int n) {\n"
    "  counter += n * scale; hidden[n & 3] = counter; }\n"
    "extern \"C\" __global__ void get(int *out) {\n"
    "  out[0] = counter; out[1] = words[counter & 1][0];\n"
    "  out[2] = hidden[2]; out[3] = deep(5); }\n"
    "extern \"C\" __global__ void far(int *out) { out[1 << 20] = 1; }\n";

class ModuleParts : public CpuDeviceFixture {
protected:
  void SetUp() override {
    CpuDeviceFixture::SetUp();
    if (IsSkipped())
      return;
    Dir.emplace(cantFail(TemporaryDirectory::create("parts")));
    if (const char *Set = std::getenv("CUPILOT_CACHE_DIR"))
      Before = Set;
    setenv("CUPILOT_CACHE_DIR", Dir->file("cache").c_str(), 1);
    Bitcode = compiled(Source);
    Ptx = cantFail(generatePtx(Bitcode, "sm_90"));
  }
  void TearDown() override {
    if (Before)
      setenv("CUPILOT_CACHE_DIR", Before->c_str(), 1);
    else
      unsetenv("CUPILOT_CACHE_DIR");
  }

  std::string compiled(StringRef Text) {
    cantFail(writeFileAtomic(Dir->file("k.cu"), Text));
    return cantFail(compileDeviceBitcode(Dir->file("k.cu"), "sm_90",
                                         {"-O2", "-gline-tables-only"}));
  }
  /// Loads the code of one form.
  void load(bool OfPtx, const CpuDeviceOptions &O) {
    Module = OfPtx ? cantFail(loadPtx(Ptx, O))
                   : cantFail(CpuModule::load(Bitcode, O));
    Memory = DeviceMemory::create();
    for (const std::string &Name : Module->globals())
      Memory->addBuffer(Module->global(Name)->first,
                        Module->global(Name)->second);
    Out.assign(8, 0);
    Memory->addBuffer(Out.data(), Out.size() * sizeof(int));
  }
  std::vector<int> addAndGet() {
    int Two = 2, *To = Out.data();
    LaunchResult A = launch("add", {}, Two);
    EXPECT_FALSE(A.Fault) << A.Fault->str();
    LaunchResult G = launch("get", {}, To);
    EXPECT_FALSE(G.Fault) << G.Fault->str();
    return {Out.begin(), Out.begin() + 4};
  }
  /// Entries of the machine cache of a kind.
  std::vector<std::string> kept(StringRef Kind) const {
    std::vector<std::string> Files;
    std::error_code EC;
    for (sys::fs::directory_iterator
             It(Dir->file("cache") + "/" + Kind.str(), EC),
         End;
         !EC && It != End; It.increment(EC))
      if (sys::path::extension(It->path()) == ".bin")
        Files.push_back(It->path());
    return Files;
  }

  std::optional<TemporaryDirectory> Dir;
  std::optional<std::string> Before;
  std::string Bitcode, Ptx;
  std::vector<int> Out;
};

TEST_F(ModuleParts, KernelsShareVariables) {
  for (bool OfPtx : {false, true}) {
    load(OfPtx, {});
    EXPECT_EQ(addAndGet(), (std::vector<int>{11, 't', 11, 120})) << OfPtx;
    // The program writes them, too.
    int Seven = 7;
    std::memcpy(Module->global("counter")->first, &Seven, sizeof(Seven));
    std::memcpy(Module->global("scale")->first, &Seven, sizeof(Seven));
    EXPECT_EQ(addAndGet(), (std::vector<int>{21, 't', 21, 120})) << OfPtx;
    int *To = Out.data();
    LaunchResult Far = launch("far", {}, To);
    ASSERT_TRUE(Far.Fault) << OfPtx;
    EXPECT_EQ(Far.Fault->Kind, FaultKind::OutOfBoundsWrite);
  }
}

TEST_F(ModuleParts, AnArrayOfTheModuleKeepsItsBounds) {
  Bitcode = compiled("__device__ int a[4], b[4];\n"
                     "extern \"C\" __global__ void one(int i) { a[i] = 1; }\n"
                     "extern \"C\" __global__ void two(int i) { b[i] = 1; }\n");
  Ptx = cantFail(generatePtx(Bitcode, "sm_90"));
  for (bool OfPtx : {false, true}) {
    load(OfPtx, {});
    int Last = 3, Beyond = 4;
    EXPECT_FALSE(launch("one", {}, Last).Fault);
    EXPECT_TRUE(launch("one", {}, Beyond).Fault);
    EXPECT_TRUE(launch("two", {}, Beyond).Fault);
  }
}

TEST_F(ModuleParts, NothingIsKeptUnasked) {
  load(/*OfPtx=*/true, {});
  addAndGet();
  EXPECT_TRUE(kept("device-code").empty());
  EXPECT_TRUE(kept("device-modules").empty());
}

TEST_F(ModuleParts, KeptKernelsAreTakenFromTheCache) {
  CpuDeviceOptions O;
  O.Cache = true;
  for (bool OfPtx : {false, true}) {
    for (unsigned Time = 0; Time < 2; ++Time) {
      load(OfPtx, O);
      EXPECT_EQ(Module->arch(), 90u);
      EXPECT_EQ(Module->kernels(),
                (std::vector<std::string>{"add", "get", "far"}));
      EXPECT_EQ(cantFail(Module->paramSizes("add")), std::vector<uint64_t>{4});
      EXPECT_EQ(addAndGet(), (std::vector<int>{11, 't', 11, 120}));
      // Two kernels and the variables, once for each form.
      EXPECT_EQ(kept("device-code").size(), OfPtx ? 6u : 3u) << Time;
      EXPECT_EQ(kept("device-modules").size(), OfPtx ? 2u : 1u) << Time;
    }
  }
  // Another code for other checks; the faults' lines are kept, too.
  O.CheckRaces = true;
  for (unsigned Time = 0; Time < 2; ++Time) {
    load(/*OfPtx=*/false, O);
    int *To = Out.data();
    LaunchResult Far = launch("far", {}, To);
    ASSERT_TRUE(Far.Fault);
    EXPECT_TRUE(StringRef(Far.Fault->Location).ends_with("k.cu:11:57"))
        << Far.Fault->Location;
    EXPECT_EQ(kept("device-modules").size(), 3u);
  }
}

TEST_F(ModuleParts, DamagedEntriesAreMadeAgain) {
  CpuDeviceOptions O;
  O.Cache = true;
  load(/*OfPtx=*/true, O);
  addAndGet();
  for (StringRef Kind : {"device-code", "device-modules"})
    for (const std::string &File : kept(Kind)) {
      std::string Bytes = cantFail(readFile(File));
      Bytes[Bytes.size() / 2] = char(Bytes[Bytes.size() / 2] ^ 1);
      cantFail(writeFileAtomic(File, Bytes));
    }
  load(/*OfPtx=*/true, O);
  EXPECT_EQ(addAndGet(), (std::vector<int>{11, 't', 11, 120}));
}

TEST_F(ModuleParts, ThreadsMayAskAtTheSameTime) {
  load(/*OfPtx=*/true, {});
  std::vector<std::thread> Threads;
  for (const char *Name : {"add", "get", "far", "add", "get", "far"})
    Threads.emplace_back(
        [&, Name] { EXPECT_EQ(cantFail(Module->localBytes(Name)), 0u); });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(addAndGet(), (std::vector<int>{11, 't', 11, 120}));
}

TEST_F(ModuleParts, PointersToFunctionsKeepAModuleWhole) {
  Bitcode = compiled(
      "__device__ int twice(int n) { return 2 * n; }\n"
      "__device__ int (*f)(int);\n"
      "extern \"C\" __global__ void set() { f = twice; }\n"
      "extern \"C\" __global__ void call(int *out) { *out = f(21); }\n");
  Ptx = cantFail(generatePtx(Bitcode, "sm_90"));
  CpuDeviceOptions O;
  O.Cache = true;
  for (bool OfPtx : {false, true})
    for (unsigned Time = 0; Time < 2; ++Time) {
      load(OfPtx, O);
      int *To = Out.data();
      EXPECT_FALSE(launch("set", {}).Fault);
      LaunchResult R = launch("call", {}, To);
      EXPECT_FALSE(R.Fault) << R.Fault->str();
      EXPECT_EQ(Out[0], 42);
    }
}

TEST_F(ModuleParts, BytesThatAreNoTablesAreNone) {
  LoweredModule Tables;
  Tables.Arch = 90;
  Tables.Kernels.emplace_back().Name = "k";
  Tables.Kernels.back().ParamSizes = {8, 4};
  Tables.CallTypes["i32"] = 7;
  Tables.Ops.emplace_back().Name = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
  std::string Bytes = archived(Tables);
  std::optional<LoweredModule> Again = tablesOf(Bytes);
  ASSERT_TRUE(Again);
  EXPECT_EQ(Again->Kernels[0].ParamSizes, Tables.Kernels[0].ParamSizes);
  EXPECT_EQ(Again->CallTypes, Tables.CallTypes);
  EXPECT_TRUE(Again->Ops[0].Rule.Run);
  EXPECT_EQ(archived(*Again), Bytes);
  for (size_t Size = 0; Size < Bytes.size(); ++Size)
    EXPECT_FALSE(tablesOf(StringRef(Bytes).take_front(Size))) << Size;
  EXPECT_FALSE(tablesOf(Bytes + "x"));
  Tables.Ops[0].Name = "nothing";
  EXPECT_FALSE(tablesOf(archived(Tables)));
  EXPECT_FALSE(moduleIndexOf(std::string(64, '\xff')));
}

} // namespace
