//===- SimilarCommand.cpp - cupilot similar -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Retrieval/Embedding.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace similar_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::list<std::string> Inputs{cl::Positional, cl::OneOrMore, In,
                               cl::value_desc("F.cu"),
                               cl::desc("CUDA sources")};
  cl::list<std::string> Stores{
      "store", In, cl::value_desc("DIR|examples"),
      cl::desc("Compare with the kernels of this store (default: with those of "
               "the sources); may be repeated")};
  cl::opt<unsigned> Count{
      "count", cl::init(3), In, cl::value_desc("N"),
      cl::desc("Number of similar kernels to print for each (default 3)")};
  cl::opt<bool> Json{"json", In, cl::desc("Print JSON")};
  cl::opt<std::string> Vocabulary{
      "vocabulary", In, cl::value_desc("FILE"),
      cl::desc("Vocabulary for IR2Vec (default: cuPilot's)")};
};
} // namespace

static const char Examples[] =
    "  cupilot similar heat.cu -- -O2\n"
    "  cupilot similar heat.cu --store ../other/.cupilot --count 5 -- -O2\n\n"
    "A similarity of 1 means that two kernels do the same operations in the "
    "same proportions, 0 that\n"
    "they have nothing in common. Kernels of different roofline classes score "
    "slightly lower.\n";

namespace {
struct Place {
  std::string Name, File, Class;
};

/// Kernels with their points, in the order found.
struct Collection {
  std::vector<Place> Places;
  std::vector<KernelPoint> Points;
};
} // namespace

/// Adds the kernels of the unit \p File, which users know as \p Called.
static Error collect(const KernelEmbedder &Embedder, StringRef File,
                     StringRef Called, ArrayRef<std::string> Flags,
                     Collection &To) {
  Expected<std::string> Bitcode =
      compileDeviceBitcode(File, gpuArchitectures(Flags).front(), Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<std::vector<EmbeddedKernel>> Kernels = Embedder.embed(*Bitcode);
  if (!Kernels)
    return Kernels.takeError();
  for (EmbeddedKernel &K : *Kernels) {
    To.Places.push_back(
        {demangle(K.Symbol), Called.str(),
         K.Point.Class ? toString(*K.Point.Class).str() : "unknown"});
    To.Points.push_back(std::move(K.Point));
  }
  return Error::success();
}

static Error collectStore(const KernelEmbedder &Embedder, StringRef Root,
                          ArrayRef<std::string> Flags, Collection &To) {
  Expected<ProjectStore> Store = ProjectStore::open(Root);
  if (!Store)
    return Store.takeError();
  Expected<std::vector<StoredKernel>> Kernels = Store->kernels();
  if (!Kernels)
    return Kernels.takeError();
  for (const StoredKernel &S : *Kernels)
    if (Error E =
            collect(Embedder, (Root + "/" + S.Folder + "/original.cu").str(),
                    (Root + "/" + S.Folder).str(), variantFlags(Flags), To))
      return E;
  return Error::success();
}

using Findings = std::vector<std::vector<Neighbour>>;

static void printText(const Collection &Asked, const Collection &Among,
                      const Findings &Found) {
  for (size_t I = 0; I < Found.size(); ++I) {
    outs() << Asked.Places[I].Name << "  (" << Asked.Places[I].Class << ")\n";
    for (const Neighbour &N : Found[I])
      outs() << format("  %.3f  ", N.Similarity) << Among.Places[N.Index].Name
             << "  (" << Among.Places[N.Index].Class << ")  "
             << Among.Places[N.Index].File << "\n";
  }
}

static void printJson(const Collection &Asked, const Collection &Among,
                      const Findings &Found) {
  json::OStream J(outs(), 2);
  auto Print = [&](const Place &P) {
    J.attribute("kernel", P.Name);
    J.attribute("file", P.File);
    J.attribute("class", P.Class);
  };
  J.array([&] {
    for (size_t I = 0; I < Found.size(); ++I)
      J.object([&] {
        Print(Asked.Places[I]);
        J.attributeArray("similar", [&] {
          for (const Neighbour &N : Found[I])
            J.object([&] {
              Print(Among.Places[N.Index]);
              J.attribute("similarity", N.Similarity);
            });
        });
      });
  });
  outs() << "\n";
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  if (O.Count == 0)
    return usageError("--count must be at least 1", "the default is 3");
  Expected<KernelEmbedder> Embedder = KernelEmbedder::load(
      O.Vocabulary.empty() ? sharedFile("retrieval/vocabulary.json",
                                        "lib/Retrieval/vocabulary.json")
                           : O.Vocabulary.getValue());
  if (!Embedder)
    return Embedder.takeError();
  Collection Asked, Stored;
  for (const std::string &Input : O.Inputs)
    if (Error E = collect(*Embedder, Input, Input, Flags.Args, Asked))
      return E;
  for (const std::string &Name : O.Stores)
    for (const std::string &Store : storesNamed(Name))
      if (Error E = collectStore(*Embedder, Store, Flags.Args, Stored))
        return E;
  const Collection &Among = O.Stores.empty() ? Asked : Stored;
  Findings Found;
  for (size_t I = 0; I < Asked.Points.size(); ++I) {
    Found.push_back(nearest(Asked.Points[I], Among.Points,
                            size_t(O.Count) + O.Stores.empty()));
    // Each is nearest to itself.
    if (O.Stores.empty())
      erase_if(Found.back(), [&](const Neighbour &N) { return N.Index == I; });
    if (Found.back().size() > O.Count)
      Found.back().pop_back();
  }
  if (O.Json)
    printJson(Asked, Among, Found);
  else
    printText(Asked, Among, Found);
  return Error::success();
}

static const Command Registered("similar",
                                "Find kernels that do similar things", "FLAGS",
                                Examples, run);

} // namespace similar_command
