//===- RandomLaunch.h - Launches at random -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H
#define CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H

#include "LaunchMemory.h"
#include "cupilot/Evaluation/Element.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Portable/Random.h"

namespace cupilot {

/// A launch with its data.
struct RandomLaunch {
  std::string Text; ///< Shape and scalars, for people.
  LaunchShape Shape;
  std::vector<std::vector<uint8_t>> Args;
  std::vector<WorkloadPointer> Pointers;
  std::vector<BufferContent> Buffers;
  std::vector<ElementKind> Kinds; ///< Of the buffers.
  std::vector<std::pair<std::string, std::vector<uint8_t>>> Globals;
  /// Buffers are as large as the drawn sizes may need: the original's accesses
  /// tell how much of them.
  bool Grown = false;
};

/// Numbers of blocks along \p Axis that follow from the sizes of \p Is as
/// those of \p Was did: so many blocks, or a block for so many of it.
std::vector<int64_t> followers(const Bindings &Was, const Bindings &Is,
                               unsigned Axis);
/// Writes \p Value into the arguments of \p W.
void writeScalar(const ScalarRef &S, int64_t Value, Workload &W);
/// The largest value of \p S in at most \p MostBits bits.
int64_t mostOf(const ScalarRef &S, unsigned MostBits = 31);
/// The launch that \p W describes in words.
llvm::Expected<RandomLaunch> launchOf(const Workload &W);
/// Its shape, arguments and pointers alone.
RandomLaunch withoutContents(const Workload &W);
/// Begins L.Text with the shape.
void describeShape(RandomLaunch &L);

/// Draws launches around given ones: buffers keep their sizes, scalars get
/// smaller, values come from several distributions, launch dimensions change.
/// Given a domain, scalars, dimensions, floating arguments, null and equal
/// pointers come from all over it, its ends among them, and buffers grow.
/// Whether the kernel bears a launch is for the caller to see.
class LaunchSource {
public:
  LaunchSource(const Kernel &K, llvm::ArrayRef<Workload> Around, uint64_t Seed,
               const Domain *Inside = nullptr)
      : K(K), Around(Around), State(Seed * SplitMixStep + 1), Inside(Inside) {}
  /// Nothing where many attempts missed the domain.
  llvm::Expected<std::optional<RandomLaunch>> next();
  /// A launch that a range of \p Where leaves out, as small as it can be
  /// otherwise; nothing where no attempt made one of a size that can be run.
  /// With \p Bits, some size or product of sizes passes 2^Bits.
  llvm::Expected<std::optional<RandomLaunch>> beyond(const Domain &Where,
                                                     unsigned Bits = 0);
  /// A launch out of \p Where whose floating numbers, or squares of them, are
  /// zero or denormal, or nearly so; sizes may be among \p Constants. Nothing
  /// where no attempt made one.
  llvm::Expected<std::optional<RandomLaunch>>
  faint(const Domain &Where, llvm::ArrayRef<RangeClause> Constants);
  /// A launch out of \p Where in which one of \p Narrowed is passed, so that it
  /// no longer fits into the bits that are left. Each call tries the next
  /// figure: which sizes or sides of the grid are large, and how a block lies.
  /// Nothing where none is left.
  llvm::Expected<std::optional<RandomLaunch>>
  unfit(const Domain &Where, llvm::ArrayRef<RangeClause> Narrowed);
  /// A launch out of \p Where in which one size is a constant of
  /// \p Constants, next to one, or just beyond the end of a range of \p Where.
  /// Each call takes the next; nothing where none is left.
  llvm::Expected<std::optional<RandomLaunch>>
  atConstant(const Domain &Where, llvm::ArrayRef<RangeClause> Constants);

private:
  uint64_t draw() { return splitMix64(State); }
  uint64_t below(uint64_t N) { return N ? draw() % N : 0; }
  double unit() { return double(draw() >> 11) * 0x1p-53; }
  bool chance(double P) { return unit() < P; }
  void drawShape(RandomLaunch &L);
  void drawScalars(RandomLaunch &L);
  /// Around the least number of full precision.
  double faintSize(ElementKind Kind);
  void drawFloats(ElementKind Kind, std::vector<uint8_t> &Content);
  void drawIntegers(ElementKind Kind, std::vector<uint8_t> &Content);
  bool drawFarIntegers(ElementKind Kind, std::vector<uint8_t> &Content);
  llvm::Error drawContents(const Workload &W, RandomLaunch &L);
  // DomainLaunch.cpp: attempts at a launch in a box, which change W.
  int64_t drawFrom(llvm::ArrayRef<Interval> In, int64_t Was);
  int64_t onResidue(const DomainBox &Box, const Expr &E, int64_t V);
  void drawSymbols(const DomainBox &Box, const Bindings &Was, Workload &W);
  void drawDims(const DomainBox &Box, const Bindings &Was, Workload &W);
  void drawFloatArguments(const DomainBox &Box, Workload &W);
  void drawPointers(const DomainBox &Box, Workload &W);
  bool grow(const Bindings &Was, const Bindings &Is, Workload &W);
  llvm::Expected<std::optional<RandomLaunch>> drawInside(const Workload &W);
  // BeyondDomain.cpp.
  int64_t goalBeyond(int64_t Most);
  bool lieAlong(const Bindings &Was, const ScalarRef &Size, int64_t Goal,
                Workload &W);
  void shrink(const Bindings &Was, Workload &W);
  void setAll(const Bindings &Was, int64_t Value, Workload &W);
  bool follow(const Bindings &Was, bool Always, Workload &W,
              std::optional<unsigned> Large = std::nullopt);
  bool exceed(const Bindings &Was, const Expr &E, int64_t Goal, Workload &W);
  /// What raise() raises: a size or a side of the grid.
  struct Raised {
    std::optional<unsigned> Size, Axis;
  };
  bool raise(const Bindings &Was, const Raised &What, const Expr &E,
             int64_t Goal, Workload &W);
  llvm::Expected<std::optional<RandomLaunch>> filled(const Workload &Recorded,
                                                     const Bindings &Was,
                                                     const Domain &Where,
                                                     Workload &W);
  bool stretch(const Bindings &Was, unsigned Bits, Workload &W);
  // UnfitLaunch.cpp.
  struct Figure;
  std::vector<Figure> figures(const Bindings &Was);
  void shape(const Figure &F, int64_t Value, Workload &W);
  llvm::Expected<std::optional<int64_t>> raised(const Figure &F, const Expr &E,
                                                int64_t Goal, Workload &W);
  llvm::Error planUnfit(const Workload &Recorded, const Bindings &Was,
                        llvm::ArrayRef<RangeClause> Narrowed);
  bool fade(const Bindings &Was, llvm::ArrayRef<RangeClause> Constants,
            Workload &W);
  bool pass(const Domain &Where, const Bindings &Was, Workload &W);
  bool growFor(const Workload &Recorded, const Bindings &Was, Workload &W);

  const Kernel &K;
  llvm::ArrayRef<Workload> Around;
  uint64_t State;
  const Domain *Inside;
  uint64_t Turn = 0;             ///< Of stretch(), unfit() and atConstant().
  bool Beyond = false;           ///< What is drawn lies out of a domain.
  std::vector<Workload> Planned; ///< By unfit(), without buffers.
  /// Sizes that are larger than in the recorded launch: before, now.
  std::vector<std::pair<int64_t, int64_t>> Grown;
  bool Faint = false; ///< Numbers are about as small as they can be.
  bool Far = false;   ///< Sizes are beyond what bits hold.
  /// What all integers of a launch beyond are, but for a few of them.
  std::optional<int64_t> Common;
};

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H
