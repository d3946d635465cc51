//===- Seeds.cpp - What helped similar kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Seeds.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/MachineCache.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace cupilot {

/// Any two kernels load, store and ask for their thread: points below this have
/// hardly more in common (benchmarks/retrieval/judge.py -v).
static constexpr double LeastSimilarity = 0.85;

namespace {
class SeedFinder {
public:
  SeedFinder(const KernelEmbedder &Embedder, StringRef Arch,
             ArrayRef<std::string> Flags)
      : Embedder(Embedder), Arch(Arch), Flags(variantFlags(Flags)) {}
  /// The point of the kernel \p Symbol that \p Slice defines.
  Expected<KernelPoint> pointOf(StringRef Slice, StringRef Symbol) const;

private:
  std::string cached(StringRef Slice, StringRef Symbol) const;
  const KernelEmbedder &Embedder;
  StringRef Arch;
  std::vector<std::string> Flags;
};
} // namespace

std::string SeedFinder::cached(StringRef Slice, StringRef Symbol) const {
  std::string Root = machineCacheDirectory();
  if (Root.empty())
    return "";
  DigestBuilder Key;
  Key.add(CUPILOT_VERSION)
      .add(Embedder.digest())
      .add(Arch)
      .add(Slice)
      .add(Symbol);
  for (const std::string &Flag : Flags)
    Key.add(Flag);
  return Root + "/points/" + shortDigest(Key.str(), 40) + ".json";
}

static json::Value toJSON(const KernelPoint &P) {
  json::Array Code;
  for (float Number : P.Code)
    Code.push_back(Number);
  return json::Object{{"class", P.Class ? toString(*P.Class) : ""},
                      {"code", std::move(Code)}};
}

/// What toJSON wrote; nothing where it is something else.
static std::optional<KernelPoint> pointFrom(StringRef Text) {
  Expected<json::Value> Known = json::parse(Text);
  if (!Known) {
    consumeError(Known.takeError());
    return std::nullopt;
  }
  const json::Object *O = Known->getAsObject();
  const json::Array *Code = O ? O->getArray("code") : nullptr;
  if (!Code || Code->empty())
    return std::nullopt;
  KernelPoint P;
  for (const json::Value &Each : *Code)
    P.Code.push_back(float(Each.getAsNumber().value_or(0)));
  for (Bottleneck B : {Bottleneck::Compute, Bottleneck::Memory,
                       Bottleneck::Latency, Bottleneck::Middle})
    if (toString(B) == O->getString("class").value_or(""))
      P.Class = B;
  return P;
}

Expected<KernelPoint> SeedFinder::pointOf(StringRef Slice,
                                          StringRef Symbol) const {
  std::string Cache = cached(Slice, Symbol);
  if (Expected<std::string> Text = readFile(Cache)) {
    if (std::optional<KernelPoint> Known = pointFrom(*Text))
      return std::move(*Known);
  } else {
    consumeError(Text.takeError());
  }
  Expected<std::string> Bitcode = compileTextToBitcode(Slice, Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<std::vector<EmbeddedKernel>> Kernels = Embedder.embed(*Bitcode);
  if (!Kernels)
    return Kernels.takeError();
  for (EmbeddedKernel &Each : *Kernels)
    if (Each.Symbol == Symbol) {
      // A cache that cannot be written is no reason to fail.
      if (!Cache.empty())
        consumeError(
            writeFileAtomic(Cache, formatv("{0}", toJSON(Each.Point)).str()));
      return std::move(Each.Point);
    }
  return findingError("the slice does not define '" + Symbol + "'");
}

Expected<std::vector<SeedGenome>>
seedGenomes(const Kernel &K, ArrayRef<std::string> Roots,
            const KernelEmbedder &Embedder, StringRef Arch,
            ArrayRef<std::string> Flags, size_t Count) {
  std::vector<StoredKernel> Known;
  std::vector<KernelPoint> Points;
  SeedFinder Finder(Embedder, Arch, Flags);
  for (const std::string &Root : Roots) {
    Expected<ProjectStore> Store = ProjectStore::open(Root);
    if (!Store)
      return Store.takeError();
    Expected<std::vector<StoredKernel>> Kernels = Store->kernels();
    if (!Kernels)
      return Kernels.takeError();
    for (StoredKernel &S : *Kernels) {
      erase_if(S.Variants, [&](const Variant &V) {
        return V.When &&
               capabilityNumber(V.When->Arch) > capabilityNumber(Arch);
      });
      // In the order of strictness.
      if (S.K.Digest == K.Digest || S.Variants.empty() ||
          S.K.Contract.K > K.Contract.K)
        continue;
      if (Error E = Store->readTexts(S))
        return std::move(E);
      Expected<KernelPoint> Point = Finder.pointOf(S.K.Slice, S.K.Symbol);
      if (!Point) {
        consumeError(Point.takeError());
        continue;
      }
      Points.push_back(std::move(*Point));
      Known.push_back(std::move(S));
    }
  }
  if (Known.empty())
    return std::vector<SeedGenome>();
  Expected<KernelPoint> Own = Finder.pointOf(K.Slice, K.Symbol);
  if (!Own)
    return Own.takeError();
  std::vector<SeedGenome> Seeds;
  StringSet<> Seen;
  for (const Neighbour &N : nearest(*Own, Points, Count)) {
    if (N.Similarity < LeastSimilarity)
      break;
    const StoredKernel &S = Known[N.Index];
    for (auto [V, Source] : zip_equal(S.Variants, S.Sources)) {
      std::string Text = genomeText(V.Genes);
      double Ratio = 0;
      std::string Provenance;
      // A start is a guess: an estimate will do, which the search tries anew.
      for (const Measurement &M : V.Evidence)
        if (double Least = M.Basis == Basis::Modelled ? M.Ratio : M.Low;
            Least > Ratio) {
          Ratio = Least;
          Provenance = wordOf(M.Basis).str();
          if (M.Basis != Basis::Modelled)
            Provenance += " on " + M.Device;
        }
      if (!Text.empty() && Ratio > 1 && Seen.insert(Text).second)
        Seeds.push_back({std::move(Text), S.K.Name, N.Similarity, Ratio, Source,
                         std::move(Provenance)});
    }
  }
  return Seeds;
}

} // namespace cupilot
