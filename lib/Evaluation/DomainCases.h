//===- DomainCases.h - The launches that make a domain wide -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Other cases ask whether a variant is right near the recorded launch, and one
// that is not is rejected. These ask how far it stays right: degenerate and
// huge sizes, flags, null pointers, equal buffers. A variant that is wrong on
// one of them gets a domain without it.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DOMAINCASES_H
#define CUPILOT_LIB_EVALUATION_DOMAINCASES_H

#include "BranchCoverage.h"
#include "Compare.h"
#include "DeriveDomain.h"
#include "LaunchModel.h"
#include <map>
#include <set>

namespace cupilot {

/// The scalars that \p Own compares with constants alone: modes and switches.
llvm::SmallVector<unsigned> flagsOf(const Kernel &K, const CodeFacts &Own,
                                    const GateCase &Base);

/// \p C as a launch that nobody recorded.
GateCase another(GateCase C);

/// \p C without what lies behind pointer \p P, or, where it is null, with a
/// buffer like its peers have.
std::optional<GateCase> nullToggled(const Kernel &K, const KernelLayout &Types,
                                    const GateCase &C, PointerRef P);

/// Other numbers of the kinds that \p From has: integers in another order, so
/// that indices stay indices; floats half to twice as large, and in every
/// fourth round some a thousand times (addSpikes), in another fourth one of
/// each row (addPeaks), in a third one the last like others (addTwins). \p
/// Lengths: those of rows, perhaps; \p Was: in the base.
void refill(GateCase &C, const GateCase &From, uint64_t Seed, unsigned Round,
            llvm::ArrayRef<int64_t> Lengths, llvm::ArrayRef<int64_t> Was);

/// The multiple at or below \p V of the power of two, at most 16, that all of
/// what \p Like divides by: wide accesses bear no other sizes.
int64_t evenLike(int64_t V, int64_t Like);

/// The launches of one base, in a fixed order. What the original does on them
/// is found once, when it is asked for.
class DomainCases {
public:
  /// \p Own are the facts of the original's code.
  static llvm::Expected<std::unique_ptr<DomainCases>>
  of(OriginalRuns &O, const JudgedCase &Base, const CodeFacts &Own);

  /// Launches that every variant gets ...
  size_t count() const { return Entries.size(); }
  /// ... with the original's results; null where it does not bear it, or it
  /// costs too much.
  llvm::Expected<const JudgedCase *> get(size_t Index);
  /// Launches for variants that are about to be kept. They are large, and made
  /// anew for each. What they cost counts \p Factor times, but for those that
  /// follow from the recorded ones: programs need these. What is left out for
  /// \p Factor alone is added to \p TooDear.
  size_t deepCount() const { return Deep.size(); }
  llvm::Expected<std::unique_ptr<JudgedCase>>
  deep(size_t Index, double Factor, std::vector<TriedLaunch> &TooDear);
  /// Whether a variant would run on a launch.
  using Admission = llvm::function_ref<bool(const GateCase &)>;
  /// The sizes at which \p Theirs, the facts of a variant, makes a difference
  /// that the original's code does not make, and random ones that follow from
  /// \p Salt, a digest of its code. \p Built: what is only in what another
  /// compiler makes of it.
  llvm::Expected<std::vector<const JudgedCase *>>
  around(const CodeFacts &Theirs, const CodeFacts &Built, uint64_t Salt,
         Admission Admits);

  /// The largest sizes among the launches that every variant gets, where the
  /// guard keeps these out: one of each size, among others and with as many
  /// blocks as it admits.
  llvm::Expected<std::vector<const JudgedCase *>> grown(Admission Admits);

  /// \p Wrong differs from the base in several sizes: the launches that differ
  /// in one of them each.
  llvm::Expected<std::vector<const JudgedCase *>> apart(const Bindings &Wrong);

  /// Half way, by the logarithm, from the largest sizes below those of
  /// \p Wrong on which \p Tried was right. Null where nothing is there.
  llvm::Expected<const JudgedCase *> between(llvm::ArrayRef<TriedLaunch> Tried,
                                             const Bindings &Wrong);

  /// Sizes that were right by themselves, all together; half, a quarter, ... of
  /// each where that costs too much.
  llvm::Expected<const JudgedCase *> corner(llvm::ArrayRef<TriedLaunch> Tried,
                                            Admission Admits);

  /// The largest sizes of \p Box, all together, likewise.
  llvm::Expected<const JudgedCase *> corner(const DomainBox &Box,
                                            Admission Admits);

  /// \p Corner with blocks of one thread, where a side of its grid is larger
  /// than in the base and follows no size: wide blocks leave the last of so
  /// many nothing to do. Null: there is none.
  llvm::Expected<const JudgedCase *> narrowCorner(const JudgedCase &Corner,
                                                  Admission Admits);

  /// The sizes of \p Sizes with the flags and pointers of \p Box, which are not
  /// those of the base. Null: there is none, or it cannot be run.
  llvm::Expected<const JudgedCase *>
  like(const Bindings &Sizes, const DomainBox &Box, Admission Admits);

  /// \p Launch with blocks of the base's shape: the same sizes, and no fewer
  /// blocks, where that is in \p Box. Null likewise.
  llvm::Expected<const JudgedCase *>
  withOwnBlocks(const Bindings &Launch, const DomainBox &Box, Admission Admits);

  /// The base with \p Sizes (beside model().vars()), and blocks of \p Threads
  /// along x and \p Height along y (0: as in the base), where that is in
  /// \p Box; with \p SameThreads as many blocks as make up for that; with
  /// \p Content other numbers in its buffers, for each of its values others.
  /// Null likewise.
  llvm::Expected<const JudgedCase *>
  sized(llvm::ArrayRef<int64_t> Sizes, const DomainBox &Box, Admission Admits,
        uint64_t Threads = 0, bool SameThreads = false, uint64_t Height = 0,
        std::optional<unsigned> Content = std::nullopt);

  /// The base with other floating arguments, where that is in \p Box. Null
  /// likewise.
  llvm::Expected<const JudgedCase *>
  numbered(llvm::ArrayRef<std::pair<FloatRef, double>> Numbers,
           const DomainBox &Box, Admission Admits);

  /// The base with \p Sizes, and as little dynamic shared memory as \p Box has
  /// and the original bears. Null likewise.
  llvm::Expected<const JudgedCase *>
  tight(llvm::ArrayRef<int64_t> Sizes, const DomainBox &Box, Admission Admits);

  /// The base with \p Sizes, and as many blocks in \p Dims of the grid as \p
  /// Box allows for them. Null likewise.
  llvm::Expected<const JudgedCase *> crowded(llvm::ArrayRef<int64_t> Sizes,
                                             llvm::ArrayRef<unsigned> Dims,
                                             const DomainBox &Box,
                                             Admission Admits);

  /// The launch of \p P, or one with smaller sizes beside those of \p P, with
  /// the original's results; null where that does not bear it, or it costs too
  /// much.
  llvm::Expected<const JudgedCase *> propose(const SideProposal &P,
                                             Admission Admits);

  const LaunchModel &model() const { return Model; }
  const JudgedCase &base() const { return Base; }
  /// OriginalRuns::estimate() of a launch that is too large.
  static constexpr double TooMuch = -2;
  /// What a launch may cost, in instructions of all threads.
  static double mostCost(bool Deep);

private:
  static constexpr double MostShallowCost = 8e6;
  static constexpr uint64_t MostBytes = uint64_t(2) << 20;
  DomainCases(OriginalRuns &O, const JudgedCase &Base, LaunchModel Model)
      : O(O), Base(Base), Model(std::move(Model)) {}
  using Values = std::vector<int64_t>;
  /// What \p Launch has in the model's variables.
  std::optional<Values> sizesOf(const Bindings &Launch) const;
  using CaseMade = std::function<std::optional<GateCase>()>;
  struct Entry {
    CaseMade Make;
    bool Prepared = false;
    std::unique_ptr<JudgedCase> Judged;
    /// The same with more memory, for what faults without.
    CaseMade Roomy;
    unsigned Group = 0; ///< Of this the first that can be run is enough; 0: of
                        ///< none.
    bool IsRecorded = false; ///< It follows from what was recorded.
    /// Not needed where the original bears this one.
    std::optional<size_t> Unless = std::nullopt;
  };
  llvm::Error addCombinations(const CodeFacts &Own);
  Values smallValues() const;
  void addAll(const GateCase &From,
              llvm::function_ref<int64_t(int64_t)> Change);
  void addLadder(const GateCase &From);
  void addRestsAmongOnes(const GateCase &From, const CodeFacts &Facts);
  void addCompactLadder(const GateCase &From, const CodeFacts &Own);
  void addNumbers(const GateCase &From,
                  llvm::ArrayRef<FloatThresholdFact> Thresholds);
  void addResidues(const CodeFacts &Facts, std::vector<Values> &To) const;
  /// What \p Facts compare with constants: these, and their neighbours.
  void addThresholds(const CodeFacts &Facts, std::vector<Values> &To) const;
  /// \p Count random sizes up to the recorded ones; with \p Growth, all
  /// together up to so many times those, and one of them alone further.
  std::vector<Values>
  randomSizes(uint64_t State, unsigned Count,
              std::optional<int64_t> Growth = std::nullopt) const;
  void addRandomSizes(const GateCase &From, unsigned Count, int64_t Growth,
                      std::vector<Entry> &To);
  void addDeepLadder();
  void addRecordedLadder(const GateCase &From);
  void addFullDeepLadder(const GateCase &From);
  void addData(const CodeFacts &Own);
  void addOtherData(const GateCase &From, const CodeFacts &Own);
  void addLeastShared(const GateCase &From);
  /// More blocks than cover the sizes.
  void addSurplus(const GateCase &From);
  std::optional<GateCase> withLeastShared(const GateCase &From,
                                          const Values &V);
  void addShifts(const GateCase &From, uint64_t Element);
  void add(const GateCase &From, Values V, std::vector<Entry> &To);
  /// Sizes for those of a launch that nobody asked for.
  struct Smaller {
    Values Small, Least; ///< The latter as small as the variant admits.
    Admission Admits;
  };
  Smaller smallerFor(Admission Admits) const;
  llvm::Expected<const JudgedCase *> together(const Values &Most,
                                              Admission Admits);
  Values leastAdmitted(const Values &From, Admission Admits) const;
  /// \p V, with more blocks where the grid follows no size, as far as a variant
  /// admits a launch only with these. Nothing: it admits none.
  std::optional<Values> withAdmittedBlocks(const Values &V,
                                           Admission Admits) const;
  /// Changes a grid; false: there is none.
  using GridOf = llvm::function_ref<bool(GateCase &)>;
  /// The launch with the sizes \p V, or, where that costs too much, one with
  /// those and smaller others. Null: there is none.
  llvm::Expected<const JudgedCase *> findNear(const GateCase &From,
                                              const Values &V,
                                              const Smaller &Others,
                                              GridOf Grid, double &LeftOver);
  /// \p From with the sizes \p V, as \p Change changes it; false: there is
  /// none.
  llvm::Expected<const JudgedCase *>
  findAt(const GateCase &From, const Values &V, Admission Admits,
         llvm::function_ref<bool(GateCase &)> Change);
  llvm::Error addAtConstants(const CodeFacts &Theirs, const Smaller &Others,
                             double &LeftOver,
                             std::vector<const JudgedCase *> &To);
  llvm::Expected<const JudgedCase *> find(std::optional<GateCase> C,
                                          double Most, double &LeftOver);
  llvm::Expected<std::optional<std::vector<BufferCoverage>>> trim(GateCase &C);
  /// \p TooDear: what it costs, where it is left out for \p Factor alone.
  llvm::Expected<std::unique_ptr<JudgedCase>>
  prepare(std::optional<GateCase> C, const CaseMade &Roomy, double Most,
          double &LeftOver, double Factor = 1,
          std::optional<double> *TooDear = nullptr);

  OriginalRuns &O;
  const JudgedCase &Base;
  /// Bytes behind what the original touches of each buffer of the base.
  std::optional<std::vector<uint64_t>> Behind;
  LaunchModel Model;
  std::vector<std::unique_ptr<GateCase>> Froms; ///< Of the combinations.
  std::vector<Entry> Entries, Deep;
  std::vector<std::vector<int64_t>> Known; ///< Sizes that Entries have, ...
  std::vector<size_t> KnownAt;             ///< ... and which of these do.
  bool isJudged(const Values &V) const;
  struct FurtherCase {
    std::unique_ptr<JudgedCase> Judged;
    double Cost = 0;
  };
  std::map<std::string, FurtherCase> Around; ///< By the names of the cases.
  double MostCost = MostShallowCost;         ///< Of a launch that is not deep.
  double Left = 0, DeepLeft = 0, RecordedLeft = 0;
  uint64_t DeepBytesLeft = 0, RecordedBytesLeft = 0;
  unsigned Groups = 0;
  std::set<unsigned> GroupsDone;
  size_t Next = 0; ///< The first entry that is not prepared.
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DOMAINCASES_H
