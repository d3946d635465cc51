//===- Embedding.cpp - Kernels as points -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Retrieval/Embedding.h"
#include "DeviceWords.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Roofline/StaticFigures.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/Analysis/IR2Vec.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <cmath>
#include <numeric>

using namespace llvm;

namespace cupilot {

struct KernelEmbedder::Words {
  explicit Words(ir2vec::VocabStorage Storage) : Known(std::move(Storage)) {}
  ir2vec::Vocabulary Known;
};

KernelEmbedder::KernelEmbedder(std::unique_ptr<Words> W)
    : Known(std::move(W)) {}
KernelEmbedder::KernelEmbedder(KernelEmbedder &&) noexcept = default;
KernelEmbedder &KernelEmbedder::operator=(KernelEmbedder &&) noexcept = default;
KernelEmbedder::~KernelEmbedder() = default;

Expected<KernelEmbedder> KernelEmbedder::load(StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  auto Broken = [&](Error E) {
    return usageError("'" + Path +
                          "' is no vocabulary: " + toString(std::move(E)),
                      "it comes with cuPilot: install it again");
  };
  Expected<json::Value> Parsed = json::parse(*Text);
  if (!Parsed)
    return Broken(Parsed.takeError());
  unsigned Dimension = 0;
  ir2vec::VocabStorage::VocabMap All;
  for (StringRef Section : {"Opcodes", "Types", "Arguments"}) {
    unsigned Own = 0;
    if (Error E =
            ir2vec::VocabStorage::parseVocabSection(Section, *Parsed, All, Own))
      return Broken(std::move(E));
    if (Dimension && Own != Dimension)
      return Broken(
          createStringError("its sections have different dimensions"));
    Dimension = Own;
  }
  // In the order of Vocabulary's own index: opcodes, types, operands,
  // predicates. What the code at hand never had stands at the origin.
  using ir2vec::Vocabulary;
  size_t Ends[] = {Vocabulary::MaxOpcodes,
                   Vocabulary::MaxOpcodes + Vocabulary::MaxCanonicalTypeIDs,
                   Vocabulary::MaxOpcodes + Vocabulary::MaxCanonicalTypeIDs +
                       Vocabulary::MaxOperandKinds,
                   Vocabulary::getCanonicalSize()};
  std::vector<std::vector<ir2vec::Embedding>> Sections(std::size(Ends));
  for (size_t Position = 0, Section = 0; Position < Ends[3]; ++Position) {
    Section += Position == Ends[Section];
    auto Found = All.find(Vocabulary::getStringKey(Position).str());
    Sections[Section].push_back(
        Found == All.end() ? ir2vec::Embedding(Dimension) : Found->second);
  }
  KernelEmbedder Embedder(
      std::make_unique<Words>(ir2vec::VocabStorage(std::move(Sections))));
  Embedder.Digest = cupilot::digest(*Text);
  return Embedder;
}

/// Scales \p Part to length \p Length and appends it.
static void append(std::vector<float> &Point, ArrayRef<double> Part,
                   double Length) {
  double Sum = 0;
  for (double Each : Part)
    Sum += Each * Each;
  double Scale = Sum > 0 ? Length / std::sqrt(Sum) : 0;
  for (double Each : Part)
    Point.push_back(float(Each * Scale));
}

std::vector<float> KernelEmbedder::point(const Function &Kernel) const {
  ir2vec::Embedding Code =
      ir2vec::Embedder::create(IR2VecKind::Symbolic, Kernel, Known->Known)
          ->getFunctionVector();
  DeviceWords Words = countWords(Kernel);
  // Roots, so that what is everywhere does not hide what is rare and telling.
  for (double &Each : Words)
    Each = std::sqrt(Each);
  std::vector<float> Point;
  append(Point, Code.getData(), 0.6);
  append(Point, Words, 0.8);
  return Point;
}

/// By code alone: who is near must not depend on a launch.
static Expected<std::optional<Bottleneck>> classOf(StringRef Bitcode,
                                                   StringRef Symbol) {
  static const Ceilings C = ceilingsOf(defaultGpu());
  Expected<StaticFigures> Figures = staticFigures(Bitcode, Symbol);
  if (!Figures)
    return Figures.takeError();
  return opinionOfCode(*Figures, defaultGpu(), C, /*Shape=*/nullptr).Class;
}

Expected<std::vector<EmbeddedKernel>>
KernelEmbedder::embed(StringRef Bitcode) const {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  Pipeline Optimizer;
  Optimizer.run(Optimizer.level(OptimizationLevel::O2), **M);
  std::vector<EmbeddedKernel> Kernels;
  for (const Function &F : **M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    Expected<std::optional<Bottleneck>> Class = classOf(Bitcode, F.getName());
    if (!Class)
      return Class.takeError();
    Kernels.push_back({F.getName().str(), {point(F), *Class}});
  }
  return Kernels;
}

/// The cosine of the angle between two directions.
static double cosine(ArrayRef<float> A, ArrayRef<float> B) {
  if (A.size() != B.size())
    return 0;
  double Product = std::inner_product(A.begin(), A.end(), B.begin(), 0.0);
  double Lengths =
      std::sqrt(std::inner_product(A.begin(), A.end(), A.begin(), 0.0)) *
      std::sqrt(std::inner_product(B.begin(), B.end(), B.begin(), 0.0));
  return Lengths > 0 ? Product / Lengths : 0;
}

double similarity(const KernelPoint &A, const KernelPoint &B) {
  // What lies so near together is told apart by its class; more would hide that
  // one kind of kernel can be written for either (docs/Retrieval.md).
  constexpr double OtherClass = 0.05;
  bool Apart = A.Class && B.Class && *A.Class != *B.Class;
  return std::max(0.0, cosine(A.Code, B.Code) - (Apart ? OtherClass : 0));
}

std::vector<Neighbour> nearest(const KernelPoint &Point,
                               ArrayRef<KernelPoint> Among, size_t Count) {
  std::vector<Neighbour> All;
  All.reserve(Among.size());
  for (size_t I = 0; I < Among.size(); ++I)
    All.push_back({I, similarity(Point, Among[I])});
  llvm::sort(All, [](const Neighbour &A, const Neighbour &B) {
    return std::pair(-A.Similarity, A.Index) <
           std::pair(-B.Similarity, B.Index);
  });
  if (All.size() > Count)
    All.resize(Count);
  return All;
}

} // namespace cupilot
