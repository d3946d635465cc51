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

std::vector<std::string> wordsOfBuild(const BuildEntry &B) {
  StringRef Name = B.Compiler;
  // Of two builds of one name, the later one's says which it is.
  Name.consume_back(" " + shortDigest(B.Digest, 8));
  SmallVector<StringRef> Parts;
  Name.split(Parts, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> Words;
  for (StringRef Part : Parts)
    Words.push_back(Part.str());
  return Words;
}

Expected<std::vector<std::string>> flagsOfBuild(const BuildEntry &B) {
  std::vector<std::string> Words = wordsOfBuild(B);
  Words.erase(Words.begin());
  // Without what nvcc reads from the environment: the name says that too.
  if (isMadeByNvcc(B.Compiler))
    return clangFlagsOfNvcc(Words, "", "");
  return Words;
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

Variant &entryOf(StoredKernel &S, const Variant &V, StringRef Source,
                 const std::optional<Domain> &Where) {
  for (Variant &Known : S.Variants)
    if (Known.Name == V.Name && Known.Digest == V.Digest &&
        Known.Plan == V.Plan && Known.When == V.When && Known.Where == Where &&
        genomeText(Known.Genes) == genomeText(V.Genes))
      return Known;
  S.Variants.push_back(V);
  S.Variants.back().Where = Where;
  S.Variants.back().Evidence.clear();
  S.Sources.push_back(Source.str());
  return S.Variants.back();
}

} // namespace cupilot
