//===- StoredBuild.cpp - A stored kernel as it was compiled ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

std::string clangName(ArrayRef<std::string> Flags) {
  std::string Name = CUPILOT_CLANG;
  for (StringRef Flag : variantFlags(withoutArchitectures(Flags)))
    if (!Flag.starts_with("-O") && !Flag.starts_with("-W") &&
        !Flag.starts_with("-g") && !Flag.starts_with("-std=") &&
        !Flag.starts_with("--cuda-path"))
      Name += (" " + Flag).str();
  return Name;
}

Expected<std::vector<std::string>> flagsOfBuild(const BuildEntry &B) {
  StringRef Name = B.Compiler;
  // Of two builds of one name, the later one's says which it is.
  Name.consume_back(" " + shortDigest(B.Digest, 8));
  SmallVector<StringRef> Words;
  Name.split(Words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> Flags;
  for (StringRef Word : drop_begin(Words))
    Flags.push_back(Word.str());
  // Without what nvcc reads from the environment: the name says that too.
  if (isMadeByNvcc(Name))
    return clangFlagsOfNvcc(Flags, "", "");
  return Flags;
}

SearchProblem storedProblem(const StoredKernel &S, StringRef Root,
                            StringRef Arch, std::vector<std::string> Flags,
                            uint64_t Seed) {
  SearchProblem P;
  P.K = S.K;
  P.Workloads = S.Workloads;
  P.DataFolder = Root.str();
  P.Flags = std::move(Flags);
  P.Arch = Arch.str();
  P.Seed = Seed;
  return P;
}

} // namespace cupilot
