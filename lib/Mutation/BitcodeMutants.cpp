//===- BitcodeMutants.cpp - Mutants of clang's bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Ptx.h"
#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Mutation/MutantMaker.h"

using namespace llvm;

namespace cupilot {

MutantMaker::~MutantMaker() = default;

namespace {
class BitcodeMutants : public MutantMaker {
public:
  BitcodeMutants(std::string Bitcode, StringRef Symbol,
                 ArrayRef<Workload> Recorded, StringRef Arch)
      : Bitcode(std::move(Bitcode)), Symbol(Symbol.str()),
        Recorded(Recorded.vec()), Arch(Arch.str()) {}

  Expected<std::vector<Mutation>> list() override {
    return listMutations(Bitcode, Symbol, Recorded);
  }

  Expected<MutantCode> original() override {
    if (!Original)
      if (Error E = codeOf(Bitcode).moveInto(Original))
        return std::move(E);
    return *Original;
  }

  Expected<MutantCode> make(unsigned Index) override {
    Expected<std::string> Mutant =
        applyMutation(Bitcode, Symbol, Index, Recorded);
    if (!Mutant)
      return Mutant.takeError();
    return codeOf(std::move(*Mutant));
  }

  Expected<std::string> text(unsigned Index) override {
    Expected<std::string> Mutant =
        applyMutation(Bitcode, Symbol, Index, Recorded);
    if (!Mutant)
      return Mutant.takeError();
    return printModule(*Mutant);
  }

private:
  Expected<MutantCode> codeOf(std::string Of) const {
    Expected<std::string> Ptx = generatePtx(Of, Arch);
    if (!Ptx)
      return Ptx.takeError();
    return MutantCode{GateCode(std::move(Of)), deviceCodeDigest(*Ptx), ""};
  }

  std::string Bitcode, Symbol;
  std::vector<Workload> Recorded;
  std::string Arch;
  std::optional<MutantCode> Original;
};
} // namespace

std::unique_ptr<MutantMaker> bitcodeMutants(std::string Bitcode,
                                            StringRef Symbol,
                                            ArrayRef<Workload> Recorded,
                                            StringRef Arch) {
  return std::make_unique<BitcodeMutants>(std::move(Bitcode), Symbol, Recorded,
                                          Arch);
}

} // namespace cupilot
