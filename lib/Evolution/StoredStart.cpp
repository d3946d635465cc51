//===- StoredStart.cpp - A search that begins with a store's code ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/StoredStart.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace cupilot {

Expected<std::vector<SubmittedVariant>>
storedVariants(const Kernel &K, const ProjectStore &Store, StringRef Arch) {
  Expected<std::vector<StoredKernel>> Kernels = Store.kernels();
  if (!Kernels)
    return Kernels.takeError();
  std::vector<std::pair<double, SubmittedVariant>> Found;
  for (StoredKernel &S : *Kernels) {
    // Contracts are in the order of strictness.
    if (S.K.Digest != K.Digest || S.K.Contract.K > K.Contract.K)
      continue;
    if (Error E = Store.readTexts(S))
      return std::move(E);
    for (auto [V, Source] : zip_equal(S.Variants, S.Sources)) {
      if (V.When && capabilityNumber(V.When->Arch) > capabilityNumber(Arch))
        continue;
      SubmittedVariant Each;
      Each.Code.Source = std::move(Source);
      Each.Code.Language = languageOfFile(V.Source);
      if (V.Plan)
        Each.Code.Plan = *V.Plan;
      if (V.When)
        Each.Code.When = *V.When;
      Each.Code.When.Arch.clear();
      Each.Digest = DigestBuilder()
                        .add(V.Digest)
                        .add(formatv("{0}", toJSON(Each.Code.Plan)).str())
                        .add(formatv("{0}", toJSON(Each.Code.When)).str())
                        .str();
      for (const Gene &G : V.Genes)
        Each.CarriedOut.push_back(G.Strategy);
      Each.Genes = V.Genes;
      Each.By = V.By;
      Each.Prompts = V.Prompts;
      Found.emplace_back(V.Fitness.value_or(0), std::move(Each));
    }
  }
  llvm::sort(Found, [](const auto &A, const auto &B) {
    return std::pair(-A.first, A.second.Digest) <
           std::pair(-B.first, B.second.Digest);
  });
  std::vector<SubmittedVariant> Best;
  for (auto &[Fitness, Each] : Found)
    if (none_of(Best, [&](const SubmittedVariant &Other) {
          return Other.Digest == Each.Digest;
        }))
      Best.push_back(std::move(Each));
  return Best;
}

Expected<std::vector<SubmittedVariant>>
chooseStored(std::vector<SubmittedVariant> Stored, Journal &J, StringRef Run) {
  static constexpr size_t Most = 4;
  static constexpr char Step[] = "begun-with"; // No batch is called that.
  Expected<std::optional<BatchRecord>> Begun = J.findBatch(Run, Step);
  if (!Begun)
    return Begun.takeError();
  if (*Begun) {
    SmallVector<StringRef> Digests;
    StringRef((*Begun)->Results).split(Digests, '\n', -1, /*KeepEmpty=*/false);
    std::vector<SubmittedVariant> Same;
    for (StringRef Digest : Digests)
      for (SubmittedVariant &S : Stored)
        if (S.Digest == Digest)
          Same.push_back(std::move(S));
    return Same;
  }
  Stored.resize(std::min(Stored.size(), Most));
  std::vector<std::string> Digests;
  for (const SubmittedVariant &S : Stored)
    Digests.push_back(S.Digest);
  // A list of none is a list, too.
  if (Error E = J.saveBatch(Run, Step, {"", join(Digests, "\n") + "\n"}))
    return std::move(E);
  return Stored;
}

} // namespace cupilot
