//===- BinaryTargets.cpp - Readers of what compilers make -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include "Targets.h"
#include "cupilot/Launcher/ObjectFile.h"
#include "cupilot/Ptx/Print.h"
#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "llvm/Support/MemoryBufferRef.h"

using namespace llvm;

namespace cupilot::fuzz {

void runGpuBinary(StringRef Bytes) {
  Expected<GpuBinary> B = GpuBinary::parse(Bytes);
  if (!B)
    return consumeError(B.takeError());
  B->allHold("kernel");
  B->anyHolds("kernel");
}

void runObject(StringRef Bytes) {
  Expected<ObjectFacts> F = readObject(MemoryBufferRef(Bytes, "input.o"));
  if (!F)
    consumeError(F.takeError());
  Expected<StringSet<>> C = readConstants(MemoryBufferRef(Bytes, "input.o"));
  if (!C)
    consumeError(C.takeError());
}

/// What is read can be printed, and reads again to the same module.
static void runPtxReader(StringRef Bytes) {
  ptx::Diagnostic Why;
  std::optional<ptx::Module> M = ptx::readModule(Bytes.str(), Why);
  if (!M)
    return require(Why.Line > 0 && Why.Column > 0 && !Why.Message.empty(),
                   "an error without a place or a text");
  std::optional<ptx::Module> Again = ptx::readModule(ptx::print(*M), Why);
  require(Again && *Again == *M, "PTX that is printed reads otherwise");
}

void runPtx(StringRef Bytes) {
  runPtxReader(Bytes);
  Expected<NvccPtx> M = NvccPtx::parse(Bytes.str());
  if (!M)
    return consumeError(M.takeError());
  // Some: all of them against all would be slow, and say no more.
  for (const std::string &Name : ArrayRef(M->kernels()).take_front(4)) {
    KernelIdentity Id = M->identify(Name);
    require(Id.Digest.empty() == Id.Refusal.has_value(),
            "neither an identity nor a reason");
    require(M->find(Name) == Name, "a kernel is not found by its name");
    // One that is not there is compared as the source has it.
    M->find("_Z1f" + Name);
    M->find(StringRef(Name).drop_back());
    if (Expected<NvccPtx::Closure> V = M->closure(Name); !V)
      consumeError(V.takeError());
    // A kernel under another name is the same kernel.
    static constexpr StringRef Other = "cupilot_fuzz_name";
    if (Bytes.contains(Other))
      continue;
    Expected<NvccPtx> Renamed = NvccPtx::parse(
        M->renamed(std::pair(std::string(Name), std::string(Other))));
    if (!Renamed)
      consumeError(Renamed.takeError());
    require(bool(Renamed), "renaming a kernel breaks the PTX");
    require(Renamed->identify(Other).Digest == Id.Digest,
            "renaming a kernel changes its identity");
  }
}

void runLowering(StringRef Bytes) {
  LLVMContext Context;
  std::vector<PtxLack> Lacks;
  // A module that LLVM does not verify is a fault of ours.
  Expected<std::unique_ptr<Module>> M = moduleOfPtx(Bytes, Context, Lacks);
  if (!M) {
    std::string Why = toString(M.takeError());
    require(!StringRef(Why).contains("fault of cupilot"), Why.c_str());
  }
}

} // namespace cupilot::fuzz
