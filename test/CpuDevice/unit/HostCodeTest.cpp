//===- HostCodeTest.cpp - Host code from a process of its own -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/HostCode.h"
#include "CpuDeviceFixture.h"
#include "cupilot/Support/Bitcode.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace cupilot;
using namespace llvm;

namespace {

class HostCode : public CpuDeviceFixture {
protected:
  void SetUp() override {
    CpuDeviceFixture::SetUp();
    if (IsSkipped())
      return;
    auto Dir = cantFail(TemporaryDirectory::create("hostcode"));
    cantFail(writeFileAtomic(
        Dir.file("k.cu"),
        "__device__ int calls;\n"
        "__global__ void k(int *out, int n) {\n"
        "  if (n > 3) out[threadIdx.x] = n * 2; else out[threadIdx.x] = n;\n"
        "  if (threadIdx.x == 0) ++calls;\n"
        "}\n"));
    Bitcode =
        cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90", {"-O2"}));
  }
  /// The results of two launches, the calls, and the sides that were taken.
  std::vector<int> run(const CpuDeviceOptions &O) {
    Module = cantFail(CpuModule::load(Bitcode, O));
    Memory = DeviceMemory::create();
    auto Calls = Module->global("calls");
    Memory->addBuffer(Calls->first, Calls->second);
    std::vector<int> All(64);
    int *Out = buffer(All);
    LaunchShape Shape;
    Shape.Block = {32, 1, 1};
    for (int N : {2, 5}) {
      EXPECT_FALSE(launch("_Z1kPii", Shape, Out, N).Fault);
      Out += 32;
    }
    All.push_back(*static_cast<int *>(Calls->first));
    BitVector Decided = Module->decided();
    for (unsigned I = 0; I < Decided.size(); ++I)
      All.push_back(Decided[I]);
    return All;
  }
  std::string Bitcode;
};

TEST_F(HostCode, IsTheSameFromAnotherProcess) {
  for (bool Decisions : {false, true}) {
    CpuDeviceOptions O;
    O.CheckRaces = O.CheckWritten = true;
    O.Decisions = Decisions;
    std::vector<int> Here = run(O);
    EXPECT_EQ(Here[31], 2);
    EXPECT_EQ(Here[63], 10);
    EXPECT_EQ(Here[64], 2);
    EXPECT_EQ(Here.size() > 65, Decisions);
    O.Apart = ProcessLimits();
    EXPECT_EQ(run(O), Here);
  }
}

/// What becomes of making code of \p Bitcode.
std::optional<HostCodeError::Kind>
fate(StringRef Bitcode, const ProcessLimits &Limits, std::string &Message) {
  CpuDeviceOptions O;
  O.Apart = Limits;
  std::optional<HostCodeError::Kind> K;
  // A module with one kernel is compiled at once.
  handleAllErrors(CpuModule::load(Bitcode, O).takeError(),
                  [&](const HostCodeError &E) {
                    K = E.kind();
                    Message = E.text();
                  });
  return K;
}

TEST_F(HostCode, CrashesAndLimitsAreFindings) {
  std::string Message;
  EXPECT_EQ(fate(Bitcode, {}, Message), std::nullopt);
  // The code generator ends its process: no processor here has such vectors.
  LLVMContext Context;
  std::unique_ptr<llvm::Module> M = cantFail(parseBitcode(Bitcode, Context));
  BasicBlock &Entry = M->getFunction("_Z1kPii")->getEntryBlock();
  IRBuilder<> B(&*Entry.getFirstInsertionPt());
  B.CreateStore(B.CreateIntrinsic(B.getInt64Ty(), Intrinsic::vscale, {}),
                B.CreateAlloca(B.getInt64Ty()), /*isVolatile=*/true);
  std::string Broken;
  raw_string_ostream OS(Broken);
  WriteBitcodeToFile(*M, OS);
  EXPECT_EQ(fate(Broken, {}, Message), HostCodeError::Kind::Crash);
  EXPECT_EQ(Message, "the compiler crashes on the host code of it");
  ProcessLimits Small;
  Small.AddressBytes = uint64_t(64) << 20;
  EXPECT_EQ(fate(Bitcode, Small, Message), HostCodeError::Kind::Limits);
  EXPECT_EQ(Message, "the compiler needs more than 64 MiB for it");
  // The next code finds a process.
  EXPECT_EQ(fate(Bitcode, {}, Message), std::nullopt);
}

} // namespace
