//===- StoredGenomes.cpp - Genomes of a store, read from its code ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/StoredGenomes.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/ProposedStrategies.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace cupilot {

static Expected<std::string> ptxOf(StringRef Text, StringRef Arch,
                                   ArrayRef<std::string> Flags) {
  Expected<std::string> Bitcode = compileTextToBitcode(Text, Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  return generatePtx(*Bitcode, Arch);
}

namespace {
/// The genomes of one kernel's variants.
class GenomeReader {
public:
  GenomeReader(const StoredKernel &S, StringRef Root,
               ArrayRef<LibraryStrategy> Library)
      : S(S), Root(Root), Library(Library) {}
  Expected<HandshakeResult> read(const Variant &V, StringRef Source);

private:
  const StoredKernel &S;
  StringRef Root;
  ArrayRef<LibraryStrategy> Library;
  StringMap<std::string> Originals; ///< Their PTX, by architecture.
};
} // namespace

Expected<HandshakeResult> GenomeReader::read(const Variant &V,
                                             StringRef Source) {
  const std::vector<std::string> Flags = {"-O2"};
  const std::string &Arch = V.When->Arch;
  std::string &Original = Originals[Arch];
  if (Original.empty()) {
    Expected<std::string> Ptx = ptxOf(S.K.Slice, Arch, Flags);
    if (!Ptx)
      return Ptx.takeError();
    Original = std::move(*Ptx);
  }
  Expected<std::string> Ptx = ptxOf(Source, Arch, Flags);
  if (!Ptx)
    return Ptx.takeError();
  SearchProblem P = storedProblem(S, Root, Arch, Flags, /*Seed=*/1);
  P.Gpu = gpuOfArch(Arch);
  Candidate C;
  C.Ptx = std::move(*Ptx);
  C.Record.Code =
      Translation{Source.str(), *V.Plan, *V.When, languageOfFile(V.Source)};
  return shakeHands(V.Genes, nullptr, {P, Original, C}, Library);
}

Expected<unsigned> readGenomes(ProjectStore &Store,
                               MutableArrayRef<StoredKernel> Kernels,
                               raw_ostream &Log) {
  mlir::MLIRContext Context;
  loadDialect(Context);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> Module =
      loadLibrary(Context, sharedFile("strategies", "strategies"));
  if (!Module)
    return Module.takeError();
  if (Error E = addStoredStrategies(**Module, Store.root()))
    return std::move(E);
  const std::vector<LibraryStrategy> Library =
      libraryStrategies(Module->get().getOperation());
  unsigned Changed = 0;
  for (StoredKernel &S : Kernels) {
    if (Error E = Store.readTexts(S))
      return std::move(E);
    GenomeReader Reader(S, Store.root(), Library);
    // A variant has an entry for each domain.
    StringMap<Genome> Read;
    bool Differs = false;
    for (auto [V, Source] : zip_equal(S.Variants, S.Sources)) {
      if (!V.Plan || !V.When)
        continue;
      const std::string Before = genomeText(V.Genes);
      auto [Known, New] =
          Read.try_emplace(V.Name + " " + V.Digest + " " + Before, V.Genes);
      if (New) {
        Expected<HandshakeResult> R = Reader.read(V, Source);
        if (R)
          Known->second = std::move(R->Carried);
        else if (Error E = absorbFinding(R.takeError(), [&](StringRef Why) {
                   Log << S.K.Name << ": variant " << V.Name
                       << " is as it was: " << Why << "\n";
                 }))
          return std::move(E);
      }
      V.Genes = Known->second;
      const std::string After = genomeText(V.Genes);
      if (After == Before)
        continue;
      Differs = true;
      if (!New)
        continue;
      ++Changed;
      Log << S.K.Name << ": variant " << V.Name << "\n  had " << Before
          << "\n  has " << After << "\n";
    }
    if (Differs)
      if (Error E = Store.put(S))
        return std::move(E);
  }
  return Changed;
}

} // namespace cupilot
