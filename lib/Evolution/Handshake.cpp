//===- Handshake.cpp - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a strategy looks like in code stands in the library (shown_by, evident,
// reads): here are the facts, probes and values that it can name. A gene is
// denied only where code with it cannot look so; a strategy without signs stays
// when the model names it. A gene is added only where code without it cannot
// look so, and the original does not.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Model/LaunchPlan.h"
#include "cupilot/Ptx/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace cupilot {

/// Whether \p Text has \p Pattern, at the begin of a word if it begins one.
static bool hasPattern(StringRef Text, StringRef Pattern) {
  for (size_t At = Text.find(Pattern); At != StringRef::npos;
       At = Text.find(Pattern, At + 1))
    if (At == 0 || !isAlnum(Pattern.front()) || !isAlnum(Text[At - 1]))
      return true;
  return false;
}

bool PtxFacts::has(StringRef Pattern) const {
  return hasPattern(Words, Pattern) || any_of(Lines, [&](const PtxLine &L) {
           return hasPattern(L.Text, Pattern);
         });
}

static bool isShared(ptx::Space S) {
  return S == ptx::Space::Shared || S == ptx::Space::SharedCta ||
         S == ptx::Space::SharedCluster;
}

static unsigned vectorSize(const ptx::Instruction &I) {
  return I.has("v8") ? 8 : I.has("v4") ? 4 : I.has("v2") ? 2 : 1;
}

/// Bytes that "ld.global.nc.v4.f32" moves; 0 for other instructions.
static unsigned globalBytes(const ptx::Instruction &I) {
  if (I.Opcode != "ld" && I.Opcode != "st")
    return 0;
  unsigned Bits = 0;
  for (std::string_view Modifier : I.Modifiers) {
    // Without a space it may be any; those of other spaces say so.
    if (std::optional<ptx::Space> S = ptx::spaceOf(Modifier);
        S && *S != ptx::Space::Global)
      return 0;
    if (std::optional<ptx::Type> T = ptx::typeOf(Modifier))
      Bits = ptx::bitsOf(*T);
  }
  return vectorSize(I) * Bits / 8;
}

namespace {
/// Collects facts of one module.
class FactReader {
public:
  void read(const ptx::Module &M);
  PtxFacts F;

private:
  void read(const ptx::Function &Each);
  void read(ptx::Instruction I);
  void read(ptx::Declaration D);

  std::set<std::string_view> Labels; ///< Of the function, up to here.
};
} // namespace

void FactReader::read(ptx::Instruction I) {
  ++F.Instructions;
  unsigned Bytes = globalBytes(I);
  F.WidestAccess = std::max(F.WidestAccess, Bytes);
  F.Vectors |= Bytes != 0 && vectorSize(I) > 1;
  for (std::string_view Modifier : I.Modifiers)
    if (std::optional<ptx::Space> S = ptx::spaceOf(Modifier))
      F.Shared |= isShared(*S);
  if (I.Opcode == "bra" && !I.Operands.empty())
    F.BackwardBranches += Labels.contains(I.Operands.front().Name);
  // A predicate is no part of the instruction.
  I.Guard = {};
  ptx::InstructionFigures Figures = ptx::figuresOf(I);
  F.Lines.push_back({ptx::print(ptx::Statement{std::move(I), {}}), Figures});
}

void FactReader::read(ptx::Declaration D) {
  for (ptx::Variable &V : D.Variables) {
    F.Shared |= isShared(V.In);
    V.Initial = {};
  }
  F.Words += ptx::print(ptx::Statement{std::move(D), {}}) + "\n";
}

void FactReader::read(const ptx::Function &Each) {
  Labels.clear();
  ptx::Function Head;
  Head.Name = Each.Name;
  Head.IsKernel = Each.IsKernel;
  Head.Link = Each.Link;
  Head.Results = Each.Results;
  Head.Parameters = Each.Parameters;
  Head.Tunings = Each.Tunings;
  F.Words += ptx::print(ptx::Item{std::move(Head), {}});
  for (const auto &[Kind, Numbers] : Each.Tunings)
    if (Kind == ptx::Tuning::ReqNCtaPerCluster) {
      uint64_t Blocks = 1;
      for (uint64_t N : Numbers)
        Blocks *= N;
      F.ClusterBlocks = std::max(F.ClusterBlocks, unsigned(Blocks));
    }
  for (const ptx::Statement &S : Each.Body) {
    if (const auto *I = S.as<ptx::Instruction>())
      read(*I);
    else if (const auto *L = S.as<ptx::Label>())
      Labels.insert(L->Name);
    else if (const auto *D = S.as<ptx::Declaration>())
      read(*D);
  }
}

void FactReader::read(const ptx::Module &M) {
  F.Known = true;
  for (const ptx::Item &Each : M.Items) {
    if (const auto *Code = Each.as<ptx::Function>())
      read(*Code);
    else if (const auto *D = Each.as<ptx::Declaration>())
      read(*D);
  }
}

PtxFacts ptxFacts(StringRef Ptx) {
  FactReader Reader;
  ptx::Diagnostic Why;
  if (std::optional<ptx::Module> M = ptx::readModule(Ptx.str(), Why))
    Reader.read(*M);
  return std::move(Reader.F);
}

namespace {
/// What was found of a sign.
struct Sighting {
  enum class Kind { Seen, Missing, Unknown } Is = Kind::Seen;
  std::string Why; ///< It is missing.
  bool seen() const { return Is == Kind::Seen; }
  static Sighting unknown() { return {Kind::Unknown, ""}; }
  /// Seen where \p Shown, else missing: \p Why.
  static Sighting of(bool Shown, const Twine &Why) {
    return Shown ? Sighting() : Sighting{Kind::Missing, Why.str()};
  }
};

/// One candidate's hands.
class Handshake {
public:
  Handshake(const HandshakeCode &Code)
      : P(Code.P), Plan(Code.Variant.Record.Code->Plan),
        Source(Code.Variant.Record.Code->Source),
        Old(ptxFacts(Code.OriginalPtx)), New(ptxFacts(Code.Variant.Ptx)) {}
  /// Whether all signs of the strategy are there. May put the gene's values
  /// right.
  Sighting look(Gene &G, const LibraryStrategy &S) const;
  /// Whether the variant's code shows the strategy, and the original's not.
  bool showsAnew(Gene &G, const LibraryStrategy &S) const;
  /// The value of \p Param that the code tells, which is in its domain.
  std::optional<GeneParam> read(const StrategyInfo::Param &Param,
                                const LibraryStrategy &S) const;

private:
  Sighting look(PlanFact F) const;
  Sighting look(CodeProbe Probe, Gene &G, const LibraryStrategy &S) const;
  Sighting instructions(ArrayRef<mlir::StringAttr> Any) const;
  Sighting blockThreads(Gene &G, const LibraryStrategy &S) const;
  Sighting widerAccess() const;
  bool originalShows(SignAttr Sign) const;
  std::optional<int64_t> number(CodeValue Value,
                                const LibraryStrategy &S) const;
  std::string word(CodeValue Value, const LibraryStrategy &S) const;
  std::vector<const ptx::InstructionFigures *>
  figures(const LibraryStrategy &S) const;
  /// Threads (or blocks) of all launches of the plan, and of the original, on
  /// the first workload that can be reckoned.
  std::optional<std::pair<double, double>> sizes(bool Blocks) const;

  const SearchProblem &P;
  const LaunchPlan &Plan;
  StringRef Source;
  const PtxFacts Old, New;
};
} // namespace

Sighting Handshake::instructions(ArrayRef<mlir::StringAttr> Any) const {
  if (!New.Known)
    return Sighting::unknown();
  auto Patterns =
      map_range(Any, [](mlir::StringAttr A) { return A.getValue(); });
  return Sighting::of(any_of(Patterns, [&](StringRef T) { return New.has(T); }),
                      "no " + join(Patterns, ", ") + " in the device code");
}

std::optional<std::pair<double, double>> Handshake::sizes(bool Blocks) const {
  for (const Workload &W : P.Workloads) {
    Expected<Bindings> B = bindLaunch(W.Shape, P.K.Scalars, W.Args);
    if (!B) {
      consumeError(B.takeError());
      continue;
    }
    double Before = 1, After = 0;
    for (unsigned I = 0; I < 3; ++I)
      Before *=
          double(W.Shape.Grid[I]) * (Blocks ? 1 : double(W.Shape.Block[I]));
    bool Known = true;
    for (const Launch &L : Plan.Launches) {
      double Size = 1;
      for (unsigned I = 0; I < 3; ++I) {
        std::optional<int64_t> G = evaluate(L.Grid[I], *B),
                               T = evaluate(L.Block[I], *B);
        Known &= G && T;
        Size *= double(G.value_or(0)) * (Blocks ? 1 : double(T.value_or(0)));
      }
      // The others prepare or combine: the largest one does the work.
      After = std::max(After, Size);
    }
    if (Known)
      return std::pair(Before, After);
  }
  return std::nullopt;
}

Sighting Handshake::blockThreads(Gene &G, const LibraryStrategy &S) const {
  GeneParam *Threads = G.Params.empty() ? nullptr : &G.Params.front();
  std::vector<int64_t> Sizes;
  for (const Launch &L : Plan.Launches) {
    if (L.Block == Launch().Block)
      continue;
    std::optional<int64_t> First = evaluate(L.Block[0], Bindings()),
                           Product = First;
    for (unsigned I = 1; I < 3; ++I)
      if (std::optional<int64_t> Size = evaluate(L.Block[I], Bindings());
          Size && Product)
        *Product *= *Size;
      else
        Product.reset();
    // Sizes that depend on the launch have no one number.
    if (!First || *First <= 0 || !Product || *Product <= 0)
      return Sighting::unknown();
    if (Threads && (*First == Threads->Value || *Product == Threads->Value))
      return {};
    Sizes.push_back(*Product);
    Sizes.push_back(*First);
  }
  if (Sizes.empty())
    return Sighting::of(false, "the plan's blocks are those of the original");
  for (const StrategyInfo::Param &Domain : S.Info.Params)
    for (int64_t Size : Sizes)
      if (Threads && Domain.Name == Threads->Name &&
          is_contained(Domain.Values, Size)) {
        Threads->Value = Size;
        return {};
      }
  return Sighting::of(false, "the plan's blocks have " + Twine(Sizes.front()) +
                                 " threads");
}

Sighting Handshake::widerAccess() const {
  // How many elements a register holds is not to be seen: of widths nothing
  // is said.
  return Sighting::of(
      New.Vectors || New.WidestAccess > Old.WidestAccess,
      "no access to global memory is wider than the original's " +
          Twine(Old.WidestAccess) + " bytes");
}

Sighting Handshake::look(PlanFact F) const {
  switch (F) {
  case PlanFact::MoreLaunches:
    return Sighting::of(Plan.Launches.size() > 1, "the plan has one launch");
  case PlanFact::MoreBlocks: {
    auto Blocks = sizes(/*Blocks=*/true);
    return !Blocks ? Sighting::unknown()
                   : Sighting::of(Blocks->second > Blocks->first,
                                  "no more blocks are launched");
  }
  case PlanFact::FewerThreads: {
    auto Threads = sizes(/*Blocks=*/false);
    return !Threads ? Sighting::unknown()
                    : Sighting::of(Threads->second < Threads->first,
                                   "no fewer threads are launched");
  }
  case PlanFact::ResidentBlocks: {
    auto Blocks = sizes(/*Blocks=*/true);
    double Most = double(P.Gpu.Multiprocessors) * P.Gpu.MaxBlocksPerSM;
    return !Blocks
               ? Sighting::unknown()
               : Sighting::of(Blocks->second <= Most,
                              "more blocks are launched than the GPU can hold");
  }
  case PlanFact::Cluster:
    return Sighting::of(
        any_of(Plan.Launches, [](const Launch &L) { return !!L.Cluster; }),
        "the plan launches no clusters");
  case PlanFact::Scratch:
    return Sighting::of(!Plan.Scratch.empty(),
                        "the plan has no scratch buffer");
  case PlanFact::TensorMap:
    return Sighting::of(!Plan.TensorMaps.empty(), "the plan has no tensor map");
  }
  llvm_unreachable("a fact without a reader");
}

Sighting Handshake::look(CodeProbe Probe, Gene &G,
                         const LibraryStrategy &S) const {
  if (!New.Known || !Old.Known)
    return Sighting::unknown();
  switch (Probe) {
  case CodeProbe::SharedMemory:
    return Sighting::of(New.Shared, "the device code has no shared memory");
  case CodeProbe::WiderAccess:
    return widerAccess();
  case CodeProbe::MoreUnrolled:
    // The original's loops may have been unrolled by the compiler, too: where
    // the source asks for it, the number of instructions says nothing.
    return Sighting::of(
        Source.contains("unroll") || New.Instructions > Old.Instructions ||
            New.BackwardBranches < Old.BackwardBranches ||
            Old.BackwardBranches == 0,
        "the source does not ask for it, there are as many loops as in the "
        "original, and no more instructions");
  case CodeProbe::BlockThreads:
    return blockThreads(G, S);
  case CodeProbe::InlineAssembly:
    return Sighting::of(Source.contains("asm"), "the source has no inline PTX");
  }
  llvm_unreachable("a probe without a reader");
}

Sighting Handshake::look(Gene &G, const LibraryStrategy &S) const {
  Sighting All;
  for (SignAttr Sign : S.ShownBy) {
    SmallVector<std::string> Missing;
    Sighting::Kind Best = Sighting::Kind::Missing;
    // True when one of the alternatives is there.
    auto Shows = [&](Sighting One) {
      if (One.Is == Sighting::Kind::Missing)
        Missing.push_back(std::move(One.Why));
      else if (Best == Sighting::Kind::Missing || One.seen())
        Best = One.Is;
      return One.seen();
    };
    if (any_of(Sign.getPlan(), [&](PlanFact F) { return Shows(look(F)); }) ||
        any_of(Sign.getProbes(),
               [&](CodeProbe Each) { return Shows(look(Each, G, S)); }) ||
        (!Sign.getInstructions().empty() &&
         Shows(instructions(Sign.getInstructions()))))
      continue;
    // Nothing is denied that cannot be seen.
    if (Best == Sighting::Kind::Missing)
      return {Best, join(Missing, ", and ")};
    All = Sighting::unknown();
  }
  return All;
}

/// Probes that compare, and the plan, say nothing of the original.
bool Handshake::originalShows(SignAttr Sign) const {
  return any_of(Sign.getInstructions(),
                [&](mlir::StringAttr A) { return Old.has(A.getValue()); }) ||
         (Old.Shared &&
          is_contained(Sign.getProbes(), CodeProbe::SharedMemory));
}

bool Handshake::showsAnew(Gene &G, const LibraryStrategy &S) const {
  return New.Known && Old.Known && !S.ShownBy.empty() && look(G, S).seen() &&
         !all_of(S.ShownBy, [&](SignAttr A) { return originalShows(A); });
}

/// Of the instructions by which the strategy shows.
std::vector<const ptx::InstructionFigures *>
Handshake::figures(const LibraryStrategy &S) const {
  std::vector<const ptx::InstructionFigures *> All;
  for (const PtxLine &L : New.Lines)
    if (any_of(S.ShownBy, [&](SignAttr Sign) {
          return any_of(Sign.getInstructions(), [&](mlir::StringAttr A) {
            return hasPattern(L.Text, A.getValue());
          });
        }))
      All.push_back(&L.Figures);
  return All;
}

std::optional<int64_t> Handshake::number(CodeValue Value,
                                         const LibraryStrategy &S) const {
  int64_t Most = 0;
  if (Value == CodeValue::ClusterBlocks) {
    Most = New.ClusterBlocks;
    for (const Launch &L : Plan.Launches) {
      int64_t Blocks = L.Cluster.has_value();
      for (unsigned I = 0; L.Cluster && I < 3; ++I)
        Blocks *= evaluate((*L.Cluster)[I], Bindings()).value_or(0);
      Most = std::max(Most, Blocks);
    }
  } else {
    for (const ptx::InstructionFigures *F : figures(S))
      Most = std::max(Most, int64_t(Value == CodeValue::Columns
                                        ? F->Columns.value_or(0)
                                    : Value == CodeValue::Matrices
                                        ? F->Matrices.value_or(0)
                                        : F->Immediate.value_or(0)));
  }
  if (Most <= 0)
    return std::nullopt;
  return Most;
}

/// "" where the code tells none.
std::string Handshake::word(CodeValue Value, const LibraryStrategy &S) const {
  if (Value == CodeValue::Swizzle) {
    unsigned Most = 0;
    for (const TensorMapPlan &M : Plan.TensorMaps)
      Most = std::max(Most, M.Swizzle);
    return Plan.TensorMaps.empty() || Most >= tensorSwizzleWords().size()
               ? ""
               : tensorSwizzleWords()[Most].str();
  }
  for (const ptx::InstructionFigures *F : figures(S))
    if (F->Factors)
      return std::string(ptx::wordOf(*F->Factors));
  return "";
}

std::optional<GeneParam> Handshake::read(const StrategyInfo::Param &Param,
                                         const LibraryStrategy &S) const {
  auto R = find_if(S.Reads, [&](ReadingAttr Each) {
    return Each.getParam().getValue() == Param.Name;
  });
  if (R == S.Reads.end() || !New.Known)
    return std::nullopt;
  if (Param.Values.empty()) {
    std::string Word = word(R->getValue(), S);
    if (!is_contained(Param.Words, Word))
      return std::nullopt;
    return GeneParam{Param.Name, 0, std::move(Word)};
  }
  std::optional<int64_t> Number = number(R->getValue(), S);
  if (!Number)
    return std::nullopt;
  auto Nearest = std::min_element(
      Param.Values.begin(), Param.Values.end(), [&](int64_t A, int64_t B) {
        return std::abs(A - *Number) < std::abs(B - *Number);
      });
  return GeneParam{Param.Name, *Nearest, ""};
}

namespace {
/// A genome that follows what the code shows.
class ReadGenome {
public:
  ReadGenome(const Handshake &Hands, ArrayRef<LibraryStrategy> Library)
      : Hands(Hands), Library(Library) {}
  void keep(Gene G, bool Named);
  void addEvident();
  void addNamed(ArrayRef<std::string> CarriedOut);
  void dropUnsupported();
  void sort();
  HandshakeResult R;

private:
  bool add(Gene G, const LibraryStrategy &S, bool Evident);
  bool complete(const LibraryStrategy &S, Genome &With) const;
  const LibraryStrategy *find(StringRef Name) const;
  static bool holds(const Genome &G, StringRef Name) {
    return any_of(G, [&](const Gene &Each) { return Each.Strategy == Name; });
  }
  void putRight(Gene &G, const LibraryStrategy &S) const;

  const Handshake &Hands;
  ArrayRef<LibraryStrategy> Library;
  bool Added = false;
};
} // namespace

const LibraryStrategy *ReadGenome::find(StringRef Name) const {
  for (const LibraryStrategy &S : Library)
    if (S.Info.Name == Name)
      return &S;
  return nullptr;
}

void ReadGenome::putRight(Gene &G, const LibraryStrategy &S) const {
  for (const StrategyInfo::Param &Param : S.Info.Params)
    if (std::optional<GeneParam> Told = Hands.read(Param, S))
      for (GeneParam &Each : G.Params)
        if (Each.Name == Param.Name)
          Each = *Told;
}

/// A gene that was asked for.
void ReadGenome::keep(Gene G, bool Named) {
  const std::string Asked = G.str();
  const LibraryStrategy *S = find(G.Strategy);
  std::string Why;
  if (!Named && !(S && S->Evident && Hands.showsAnew(G, *S)))
    Why = "the model does not name it";
  else if (S)
    if (Sighting Seen = Hands.look(G, *S); Seen.Is == Sighting::Kind::Missing)
      Why = Seen.Why;
  if (!Why.empty()) {
    R.Denied.push_back({Asked, std::move(Why)});
    return;
  }
  if (S)
    putRight(G, *S);
  R.Carried.push_back(std::move(G));
}

/// Adds to \p With what \p S requires. A value that the code does not tell is
/// the first of its domain. False where the code denies one.
bool ReadGenome::complete(const LibraryStrategy &S, Genome &With) const {
  for (const std::string &Name : S.Info.Requires) {
    if (holds(R.Carried, Name) || holds(With, Name))
      continue;
    const LibraryStrategy *Other = find(Name);
    if (!Other)
      return false;
    std::vector<Gene> First = Other->Info.genes(1);
    if (First.empty() ||
        Hands.look(First[0], *Other).Is == Sighting::Kind::Missing)
      return false;
    putRight(First[0], *Other);
    With.push_back(std::move(First[0]));
    if (!complete(*Other, With))
      return false;
  }
  return true;
}

/// Adds a gene that the code shows, with all that it requires.
bool ReadGenome::add(Gene G, const LibraryStrategy &S, bool Evident) {
  Genome With = {std::move(G)};
  if (!complete(S, With))
    return false;
  auto Excludes = [](const LibraryStrategy *A, StringRef B) {
    return A && is_contained(A->Info.Conflicts, B);
  };
  std::vector<std::pair<std::string, std::string>> Displaced;
  for (const Gene &New : With)
    for (const Gene &Known : R.Carried) {
      const LibraryStrategy *Other = find(Known.Strategy);
      if (!Excludes(find(New.Strategy), Known.Strategy) &&
          !Excludes(Other, New.Strategy))
        continue;
      // What code shows is more than what a model says.
      if (!Evident || !Other || !Other->ShownBy.empty())
        return false;
      Displaced.emplace_back(Known.Strategy, New.Strategy);
    }
  for (const auto &[Old, New] : Displaced) {
    auto At = find_if(R.Carried,
                      [&](const Gene &Each) { return Each.Strategy == Old; });
    if (At == R.Carried.end())
      continue;
    R.Denied.push_back(
        {At->str(), "it conflicts with " + New + ", which the code has"});
    R.Carried.erase(At);
  }
  for (Gene &Each : With)
    R.Carried.push_back(std::move(Each));
  return Added = true;
}

void ReadGenome::addEvident() {
  for (const LibraryStrategy &S : Library) {
    if (!S.Evident || holds(R.Carried, S.Info.Name))
      continue;
    Gene G{S.Info.Name, {}};
    for (const StrategyInfo::Param &Param : S.Info.Params)
      if (std::optional<GeneParam> Told = Hands.read(Param, S))
        G.Params.push_back(std::move(*Told));
    if (G.Params.size() == S.Info.Params.size() && Hands.showsAnew(G, S))
      add(std::move(G), S, /*Evident=*/true);
  }
}

/// What a model did beside what it was asked for, and the code shows.
void ReadGenome::addNamed(ArrayRef<std::string> CarriedOut) {
  for (StringRef Text : CarriedOut) {
    std::optional<Genome> Named = parseGenome(Text.trim(" \t`'\"@"));
    if (!Named || Named->size() != 1)
      continue;
    Gene &G = Named->front();
    const LibraryStrategy *S = find(G.Strategy);
    if (!S || holds(R.Carried, G.Strategy) ||
        any_of(R.Denied, [&](const DeniedGene &D) {
          std::optional<Genome> Known = parseGenome(D.Gene);
          return Known && holds(*Known, G.Strategy);
        }))
      continue;
    // Only the library's own genes verify.
    putRight(G, *S);
    if (is_contained(map_range(S->Info.genes(size_t(-1)),
                               [](const Gene &Each) { return Each.str(); }),
                     G.str()) &&
        Hands.showsAnew(G, *S))
      add(std::move(G), *S, /*Evident=*/false);
  }
}

/// What cannot stand alone goes with what it stands on.
void ReadGenome::dropUnsupported() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = 0; I < R.Carried.size(); ++I) {
      const LibraryStrategy *S = find(R.Carried[I].Strategy);
      if (!S)
        continue;
      auto Missing = find_if(S->Info.Requires, [&](const std::string &Name) {
        return !holds(R.Carried, Name);
      });
      if (Missing == S->Info.Requires.end())
        continue;
      R.Denied.push_back({R.Carried[I].str(), "it requires " + *Missing});
      R.Carried.erase(R.Carried.begin() + I);
      Changed = true;
      break;
    }
  }
}

/// The library's order, as genomes have it that were bred.
void ReadGenome::sort() {
  if (!Added)
    return;
  auto Place = [&](const Gene &G) {
    const LibraryStrategy *S = find(G.Strategy);
    return std::pair(S ? size_t(S - Library.begin()) : Library.size(),
                     StringRef(G.Strategy));
  };
  llvm::sort(R.Carried,
             [&](const Gene &A, const Gene &B) { return Place(A) < Place(B); });
}

HandshakeResult shakeHands(const Genome &Asked,
                           const std::vector<std::string> *CarriedOut,
                           const HandshakeCode &Code,
                           ArrayRef<LibraryStrategy> Library) {
  Handshake Hands(Code);
  ReadGenome Genes(Hands, Library);
  for (const Gene &Each : Asked)
    // Models write "unroll" as well as "unroll{factor=4}".
    Genes.keep(Each, !CarriedOut || any_of(*CarriedOut, [&](StringRef Text) {
                 return Text.take_until(
                                [](char C) { return C == '{' || C == '('; })
                            .trim(" \t`'\"@") == Each.Strategy;
               }));
  Genes.addEvident();
  if (CarriedOut)
    Genes.addNamed(*CarriedOut);
  Genes.dropUnsupported();
  Genes.sort();
  return std::move(Genes.R);
}

Genome genesNamed(ArrayRef<std::string> Names, const Genome &Before,
                  ArrayRef<LibraryStrategy> Library) {
  Genome All;
  for (StringRef Text : Names) {
    const StringRef Name = strategyIn(Text);
    const auto *S = find_if(
        Library, [&](const LibraryStrategy &S) { return S.Info.Name == Name; });
    auto IsIt = [&](const Gene &G) { return G.Strategy == Name; };
    if (S == Library.end() || any_of(All, IsIt))
      continue;
    auto Old = find_if(Before, IsIt);
    Gene New = Old != Before.end() ? *Old : S->Info.genes(1).front();
    if (std::optional<Genome> Said = parseGenome(Text.trim(" \t`'\"@"));
        Said && Said->size() == 1)
      for (GeneParam &Value : New.Params)
        for (const GeneParam &Given : Said->front().Params)
          for (const StrategyInfo::Param &Domain : S->Info.Params)
            if (Domain.Name == Value.Name && Given.Name == Value.Name &&
                (Domain.Words.empty() ? is_contained(Domain.Values, Given.Value)
                                      : is_contained(Domain.Words, Given.Word)))
              Value = Given;
    All.push_back(std::move(New));
  }
  return All;
}

} // namespace cupilot
