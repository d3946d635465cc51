//===- PtxAgainstBitcode.cpp - Both forms of kernels, compared --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-against-bitcode F.cu F.ptx [FLAG...]
//
// F.cu has comments as docs/Mutation.md describes them; FLAGs are clang's. Runs
// each original's launches by the bitcode that clang makes and by the PTX, with
// all checks, and compares the bits of all buffers. A line for each launch:
// "bits": they are the same; "same": each is within that contract of the other,
// both against the float64 run of the bitcode; or what is wrong. Behind that,
// how many times the bitcode's instructions the PTX has, as limits and costs of
// launches count them. Exit status 1: something is wrong.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Original.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evaluation/GateCase.h"
#include "cupilot/Mutation/SuiteUnit.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace cupilot;

namespace {
struct FreeMemory {
  void operator()(void *P) const { std::free(P); }
};
using Buffer = std::unique_ptr<void, FreeMemory>;

/// What a launch leaves.
struct Left {
  std::vector<Bytes> Buffers;
  std::string Fault;
  double Steps = 0; ///< Instructions of all threads.
};
} // namespace

static Expected<Left> launch(CpuModule &M, const std::string &Symbol,
                             const GateCase &C) {
  auto Memory = DeviceMemory::create();
  std::vector<Buffer> Buffers;
  for (const Bytes &Content : C.Buffers) {
    size_t Size = (Content.size() + 511) / 256 * 256;
    Buffers.emplace_back(std::aligned_alloc(256, Size));
    if (!Content.empty())
      std::memcpy(Buffers.back().get(), Content.data(), Content.size());
    Memory->addBuffer(Buffers.back().get(), Content.size());
  }
  for (const std::string &Name : M.globals())
    if (auto Global = M.global(Name)) {
      Memory->addBuffer(Global->first, Global->second);
      for (const auto &[Symbol, Content] : C.Globals)
        if (Symbol == Name && Content.size() == Global->second)
          std::memcpy(Global->first, Content.data(), Content.size());
    }
  std::vector<Bytes> Args = C.Args;
  for (const WorkloadPointer &P : C.Pointers) {
    uint8_t *Target =
        static_cast<uint8_t *>(Buffers[P.Buffer].get()) + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, sizeof(Target));
  }
  std::vector<const void *> Pointers;
  Pointers.reserve(Args.size());
  for (const Bytes &Arg : Args)
    Pointers.push_back(Arg.data());
  Expected<LaunchResult> R = M.launch(Symbol, C.Shape, Pointers, *Memory);
  if (!R)
    return R.takeError();
  Left Result;
  Result.Steps = R->Steps;
  if (R->Fault)
    Result.Fault = R->Fault->str();
  for (auto [Base, Content] : zip(Buffers, C.Buffers)) {
    auto *Begin = static_cast<const uint8_t *>(Base.get());
    Result.Buffers.emplace_back(Begin, Begin + Content.size());
  }
  return Result;
}

/// What breaks the contract "same", if \p B stands for \p A and the other way
/// round; "" when nothing does.
static std::string broken(const GateCase &C, const Left &A, const Left &B,
                          const Left &Reference,
                          ArrayRef<std::vector<double>> Sensitivity = {}) {
  static const PrecisionContract Same;
  for (size_t I = 0; I < A.Buffers.size(); ++I)
    for (bool Turned : {false, true}) {
      const Bytes &Original = (Turned ? B : A).Buffers[I],
                  &Got = (Turned ? A : B).Buffers[I];
      if (Original == Got)
        continue;
      ErrorRange Errors;
      std::optional<BufferMismatch> M = compareBuffer(
          Got, Reference.Buffers[I], Original, C.Layouts[I],
          {Same,
           Sensitivity.empty() ? ArrayRef<double>() : ArrayRef(Sensitivity[I]),
           16, /*OwnInputs=*/true},
          Errors);
      if (!M)
        continue;
      std::string Text;
      raw_string_ostream(Text)
          << "buffer " << I << ", byte " << M->At << ": "
          << (M->Bitwise ? "no floats" : "floats") << ", "
          << (Turned ? "bitcode" : "PTX")
          << format(" has error %.2e, the other %.2e", M->Mine, M->Own);
      return Text;
    }
  return "";
}

namespace {
class Comparison {
public:
  Comparison(const SuiteUnit &U, CpuModule &Ptx, const CpuDeviceOptions &O)
      : U(U), Ptx(Ptx), O(O) {}
  Error entry(const SuiteEntry &E);
  bool Bad = false;

private:
  const SuiteUnit &U;
  CpuModule &Ptx;
  const CpuDeviceOptions &O;
};
} // namespace

Error Comparison::entry(const SuiteEntry &E) {
  Expected<const Kernel *> K = U.kernel(E.Kernel);
  if (!K)
    return K.takeError();
  Kernel Original = **K;
  Original.Contract = E.Contract;
  GateSetup Setup;
  Setup.Original = &Original;
  Setup.DataFolder = ".";
  for (const std::string &Text : E.Workloads) {
    Expected<Workload> W = parseWorkload(
        Text, Original, "w" + std::to_string(Setup.Workloads.size()));
    if (!W)
      return W.takeError();
    Setup.Workloads.push_back(std::move(*W));
  }
  Expected<std::string> Alone = onlyKernel(U.Bitcode, Original.Symbol);
  if (!Alone)
    return Alone.takeError();
  Setup.Code = *Alone;
  Expected<KernelLayout> Types = layoutOf(Original, *Alone);
  if (!Types)
    return Types.takeError();
  for (size_t I = 0; I < Setup.Workloads.size(); ++I) {
    Expected<GateCase> C = capturedCase(Setup, *Types, I);
    if (!C)
      return C.takeError();
    // A module of its own: launches change variables.
    auto M = CpuModule::load(*Alone, O);
    if (!M)
      return M.takeError();
    outs() << E.Kernel << " w" << I << ": ";
    Expected<Left> A = launch(**M, Original.Symbol, *C);
    if (!A)
      return A.takeError();
    Expected<Left> B = launch(Ptx, Original.Symbol, *C);
    if (!B) {
      outs() << "cannot run: " << toString(B.takeError()) << "\n";
      Bad = true;
      continue;
    }
    if (A->Fault.empty() != B->Fault.empty()) {
      outs() << (A->Fault.empty() ? "only PTX has a fault: "
                                  : "only bitcode has a fault: ")
             << A->Fault << B->Fault << "\n";
      Bad = true;
      continue;
    }
    if (!A->Fault.empty() || A->Buffers == B->Buffers) {
      outs() << (A->Fault.empty() ? "bits" : "a fault in both")
             << format(", %.2f\n", B->Steps / A->Steps);
      continue;
    }
    CpuDeviceOptions Widened;
    Widened.WidenFloats = true;
    auto Wide = CpuModule::load(*Alone, Widened);
    if (!Wide)
      return Wide.takeError();
    Expected<Left> Reference = launch(**Wide, Original.Symbol, *C);
    if (!Reference)
      return Reference.takeError();
    std::string Wrong = broken(*C, *A, *B, *Reference);
    // As the gate does, what moves with the inputs is asked only then.
    if (!Wrong.empty()) {
      Expected<std::unique_ptr<OriginalRuns>> Runs =
          OriginalRuns::create(Setup);
      if (!Runs)
        return Runs.takeError();
      Expected<std::unique_ptr<JudgedCase>> J = (*Runs)->prepare(*C);
      if (!J)
        return J.takeError();
      if (*J) {
        if (Error Failed = (*Runs)->findSensitivity(**J))
          return Failed;
        Wrong = broken(*C, *A, *B, *Reference, (*J)->Sensitivity);
      }
    }
    outs() << (Wrong.empty() ? "same" : "not same: " + Wrong)
           << format(", %.2f\n", B->Steps / A->Steps);
    Bad |= !Wrong.empty();
  }
  return Error::success();
}

static Expected<bool> compareFiles(StringRef Source, StringRef Ptx,
                                   ArrayRef<std::string> Flags) {
  Expected<std::string> Text = readFile(Source);
  Expected<std::string> PtxText = readFile(Ptx);
  if (!Text || !PtxText)
    return joinErrors(Text.takeError(), PtxText.takeError());
  Expected<std::vector<SuiteEntry>> Entries = parseSuite(*Text, Source);
  if (!Entries)
    return Entries.takeError();
  Expected<SuiteUnit> U = SuiteUnit::load(Source, "sm_90", Flags);
  if (!U)
    return U.takeError();
  CpuDeviceOptions O;
  O.CheckRaces = O.CheckWritten = true;
  O.CheckSameValueRaces = false;
  O.CanonicalNans = true;
  O.CountSteps = true; // It takes a limit, however large.
  O.MaxLaunchInstructions = uint64_t(1) << 60;
  Expected<std::unique_ptr<CpuModule>> M = loadPtx(*PtxText, O);
  if (!M)
    return M.takeError();
  Comparison C(*U, **M, O);
  for (const SuiteEntry &E : *Entries)
    if (Error Failed = C.entry(E))
      return std::move(Failed);
  return C.Bad;
}

int main(int Argc, char **Argv) {
  if (Argc < 3) {
    errs() << "usage: ptx-against-bitcode F.cu F.ptx [FLAG...]\n";
    return 2;
  }
  Expected<bool> Bad = compareFiles(
      Argv[1], Argv[2], std::vector<std::string>(Argv + 3, Argv + Argc));
  if (!Bad)
    return reportError(Bad.takeError(), "ptx-against-bitcode");
  return *Bad ? 1 : 0;
}
