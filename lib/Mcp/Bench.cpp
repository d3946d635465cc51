//===- Bench.cpp - What can be looked at -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mcp/Bench.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Driver/GpuFacts.h"
#include "cupilot/Driver/SearchStories.h"
#include "cupilot/Evolution/BenchAnswers.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Model/Genome.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

Error Bench::open() {
  if (Expected<ProjectStore> Store = ProjectStore::openOrCreate(R.Store);
      !Store)
    return Store.takeError();
  Expected<GpuDescription> Gpu = describeGpu(R.Gpu);
  if (!Gpu)
    return Gpu.takeError();
  GpuName = Gpu->Name;
  if (R.Workloads.empty())
    return Error::success();
  Expected<WorkloadSet> All = WorkloadSet::load(R.Workloads);
  if (!All)
    return All.takeError();
  Recorded = std::move(*All);
  return Error::success();
}

Expected<std::vector<StoredKernel>> Bench::stored() const {
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  return Store->kernels();
}

Expected<std::vector<Bench::NamedKernel>> Bench::named() {
  std::vector<NamedKernel> All;
  if (Recorded) {
    for (LaunchedKernel &L : launchedKernels(*Recorded)) {
      auto Known = Ready.find(L.Symbol);
      All.push_back({Known != Ready.end() ? Known->second.Problem.K.Name
                                          : NvccPtx::sourceName(L.Symbol),
                     L.Symbol, L.Share});
    }
    return All;
  }
  Expected<std::vector<StoredKernel>> Kept = stored();
  if (!Kept)
    return Kept.takeError();
  for (const StoredKernel &S : *Kept)
    if (none_of(All,
                [&](const NamedKernel &N) { return N.Symbol == S.K.Symbol; }))
      All.push_back({S.K.Name, S.K.Symbol});
  return All;
}

/// "heat" of "heat(float *, int)".
static StringRef bareName(StringRef Name) {
  return Name.take_until([](char C) { return C == '('; }).rtrim();
}

Expected<Bench::NamedKernel> Bench::find(StringRef Name) {
  Expected<std::vector<NamedKernel>> All = named();
  if (!All)
    return All.takeError();
  std::vector<NamedKernel> Fits;
  for (NamedKernel &N : *All) {
    if (N.Name == Name || N.Symbol == Name ||
        NvccPtx::sourceName(N.Symbol) == Name)
      return std::move(N);
    if (bareName(N.Name) == Name)
      Fits.push_back(std::move(N));
  }
  if (Fits.size() == 1)
    return std::move(Fits.front());
  return usageError("the program launches " +
                        Twine(Fits.empty() ? "no kernel" : "several kernels") +
                        " '" + Name.take_front(200) + "'",
                    "the tool 'kernels' lists them");
}

Expected<BenchKernel *> Bench::kernel(StringRef Name) {
  Expected<NamedKernel> N = find(Name);
  if (!N)
    return N.takeError();
  if (auto Known = Ready.find(N->Symbol); Known != Ready.end())
    return &Known->second;
  if (!hasProgram())
    return usageError("no program is given: the store can be looked at, and "
                      "nothing can be judged",
                      "start the server with a source (or -p DIR) and "
                      "--workloads=W.mlir");
  // A project is looked through for it, which takes its time.
  constexpr std::chrono::minutes Pause(1);
  if (auto Known = Failed.find(N->Symbol);
      Known != Failed.end() &&
      std::chrono::steady_clock::now() < Known->second.second)
    return findingError(Known->second.first,
                        "it is tried again a minute after it failed");
  Expected<BenchKernel *> Made = make(*N);
  if (Made)
    return Made;
  return handleErrors(
      Made.takeError(), [&](std::unique_ptr<ToolError> E) -> Error {
        if (E->code() == ExitCode::Finding)
          Failed[N->Symbol] = {E->text(),
                               std::chrono::steady_clock::now() + Pause};
        return Error(std::move(E));
      });
}

/// Parses its unit and compiles it.
Expected<BenchKernel *> Bench::make(const NamedKernel &N) {
  auto Planned = [&]() -> SearchItem * {
    for (const std::unique_ptr<SearchPlan> &P : Plans)
      for (SearchItem &I : P->Items)
        if (I.K && I.K->Symbol == N.Symbol)
          return &I;
    return nullptr;
  };
  SearchItem *Item = Planned();
  if (!Item && (R.isProject() || Plans.empty())) {
    EvolveRequest One = R;
    if (R.isProject())
      One.Only = NvccPtx::sourceName(N.Symbol);
    Expected<SearchPlan> Made = SearchPlan::of(One, *Recorded, errs());
    if (!Made)
      return Made.takeError();
    Plans.push_back(std::make_unique<SearchPlan>(std::move(*Made)));
    Item = Planned();
    for (SearchItem &I : Plans.back()->Items)
      if (!Item && !I.K && !I.Row.Why.empty())
        return findingError("'" + N.Name +
                            "' cannot be worked on: " + I.Row.Why);
  }
  if (!Item)
    return findingError("the source does not define '" + N.Name + "'");
  if (Item->K->Refusal)
    return findingError("'" + N.Name +
                        "' cannot be worked on: " + *Item->K->Refusal);
  Expected<SearchProblem> P =
      searchProblem(R, *Recorded, *Item->Unit, *Item->K);
  if (!P)
    return P.takeError();
  Expected<std::string> Bitcode =
      compileTextToBitcode(P->K.Slice, P->Arch, P->Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<OriginalCode> Code = OriginalCode::ofBitcode(*Bitcode);
  if (!Code)
    return Code.takeError();
  return &Ready
              .emplace(N.Symbol,
                       BenchKernel{Item, std::move(*P), std::move(*Code)})
              .first->second;
}

//===----------------------------------------------------------------------===//
// Facts of the original, as work finds them
//===----------------------------------------------------------------------===//

std::string Bench::factsPath(StringRef Symbol) const {
  DigestBuilder B;
  B.add(Symbol).add(R.Gpu).add(R.Device == "cpu" ? "cpu" : "gpu");
  return journal() + ".mcp/facts-" + shortDigest(B.str(), 16) + ".json";
}

std::optional<json::Object> Bench::facts(StringRef Symbol) const {
  if (!sys::fs::exists(factsPath(Symbol)))
    return std::nullopt;
  Expected<std::string> Text = readFile(factsPath(Symbol));
  Expected<json::Value> V =
      Text ? parseJson(*Text) : Expected<json::Value>(Text.takeError());
  if (!V) {
    consumeError(V.takeError());
    return std::nullopt;
  }
  if (const json::Object *O = V->getAsObject())
    return *O;
  return std::nullopt;
}

void Bench::makeReady(BenchKernel &K) {
  constexpr double Little = 2; // Seconds in which nobody else is served.
  if (K.Evaluator)
    return;
  const std::optional<json::Object> Known = facts(K.Problem.K.Symbol);
  const double Took =
      Known && Known->getString("identity") == K.Problem.K.Digest
          ? numberIn(*Known, "ready_seconds")
          : 0;
  if (Took <= 0 || Took > Little)
    return;
  // A worker would meet the same error, and tell it.
  consumeError(CandidateEvaluator::create(K.Problem).moveInto(K.Evaluator));
  if (K.Evaluator)
    consumeError(K.Evaluator->runOriginalQuickly(Little));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static json::Object toJSON(const Measurement &M) {
  return json::Object{{"ratio", M.Ratio},
                      {"low", M.Low},
                      {"high", M.High},
                      {"basis", wordOf(M.Basis)},
                      {"device", M.Device},
                      {"compiler", M.Compiler},
                      {"architecture", M.Arch},
                      {"gate", int64_t(M.Gate)},
                      {"checks", int64_t(M.Checks)}};
}

/// The fastest by its first evidence; null without any.
static const Variant *bestOf(ArrayRef<StoredKernel> All, StringRef Symbol,
                             StringRef Identity) {
  const Variant *Best = nullptr;
  for (const StoredKernel &S : All) {
    if (S.K.Symbol != Symbol || (!Identity.empty() && S.K.Digest != Identity))
      continue;
    for (const Variant &V : S.Variants)
      if (!V.Evidence.empty() &&
          (!Best || V.Evidence.front().Ratio > Best->Evidence.front().Ratio))
        Best = &V;
  }
  return Best;
}

static json::Object bestJson(const Variant &V) {
  json::Object O = toJSON(V.Evidence.front());
  O["variant"] = V.Name;
  return O;
}

std::optional<json::Object> Bench::best(StringRef Symbol,
                                        StringRef Identity) const {
  Expected<std::vector<StoredKernel>> Kept = stored();
  if (!Kept) {
    consumeError(Kept.takeError());
    return std::nullopt;
  }
  if (const Variant *Best = bestOf(*Kept, Symbol, Identity))
    return bestJson(*Best);
  return std::nullopt;
}

Expected<json::Object> Bench::kernels() {
  Expected<std::vector<NamedKernel>> All = named();
  if (!All)
    return All.takeError();
  Expected<std::vector<StoredKernel>> Kept = stored();
  if (!Kept)
    return Kept.takeError();
  json::Array Rows;
  for (const NamedKernel &N : *All) {
    json::Object Row{{"kernel", json::fixUTF8(N.Name)}, {"symbol", N.Symbol}};
    if (Recorded)
      Row["share"] = N.Share;
    int64_t Launches = 0;
    if (Recorded)
      for (const Workload &W : Recorded->All)
        if (W.Symbol == N.Symbol && W.isTimed())
          Launches += int64_t(W.Count);
    if (Launches)
      Row["launches"] = Launches;
    if (const Variant *Best = bestOf(*Kept, N.Symbol, ""))
      Row["best"] = bestJson(*Best);
    if (std::optional<json::Object> Known = facts(N.Symbol))
      Row["original"] = std::move(*Known);
    Rows.push_back(std::move(Row));
  }
  json::Object O{{"kernels", std::move(Rows)},
                 {"store", R.Store},
                 {"device", R.Device},
                 {"gpu", GpuName}};
  if (Recorded)
    O["share_basis"] = wordOf(all_of(Recorded->All,
                                     [](const Workload &W) {
                                       return W.WeightBasis == Basis::Measured;
                                     })
                                  ? Basis::Measured
                                  : Basis::Modelled);
  return O;
}

Expected<json::Object> Bench::describe(StringRef Name) {
  Expected<BenchKernel *> B = kernel(Name);
  if (!B)
    return B.takeError();
  const SearchProblem &P = (*B)->Problem;
  json::Object Facts =
      kernelFacts({P.K, P.Gpu.Name, P.Arch, P.Workloads, &P.Gpu});
  json::Array Flags(P.Flags);
  json::Object O{{"kernel", json::fixUTF8(P.K.Name)},
                 {"symbol", P.K.Symbol},
                 {"identity", P.K.Digest},
                 {"slice", json::fixUTF8(P.K.Slice)},
                 {"file", P.K.File},
                 {"line", int64_t(P.K.Line)},
                 {"share", (*B)->Item->Row.Share},
                 {"contract", contractText(P.K.Contract)},
                 {"architecture", P.Arch},
                 {"compiler", P.Compiler},
                 {"flags", std::move(Flags)}};
  for (const char *Key : {"parameters", "workloads", "card"})
    if (json::Value *V = Facts.get(Key))
      O[Key] = std::move(*V);
  Expected<std::vector<StoredKernel>> Kept = stored();
  if (!Kept)
    return Kept.takeError();
  if (const Variant *Best = bestOf(*Kept, P.K.Symbol, P.K.Digest)) {
    json::Object Row = bestJson(*Best);
    if (Best->Where)
      Row["domain"] = domainText(*Best->Where, launchNames(P.K));
    O["best"] = std::move(Row);
  }
  if (std::optional<json::Object> Known = facts(P.K.Symbol))
    O["original"] = std::move(*Known);
  return O;
}

//===----------------------------------------------------------------------===//
// What was tried
//===----------------------------------------------------------------------===//

/// The source identity of the kernel \p Symbol, as far as it is known without
/// parsing.
static std::string identityOf(ArrayRef<StoredKernel> All, StringRef Symbol) {
  for (const StoredKernel &S : All)
    if (S.K.Symbol == Symbol)
      return S.K.Digest;
  return "";
}

Expected<json::Object>
Bench::tried(StringRef Name, size_t Most,
             ArrayRef<std::pair<std::string, WorkStatus>> Work) {
  Expected<NamedKernel> N = find(Name);
  if (!N)
    return N.takeError();
  Expected<std::vector<StoredKernel>> Kept = stored();
  if (!Kept)
    return Kept.takeError();
  std::string Identity = identityOf(*Kept, N->Symbol);
  if (hasProgram()) {
    Expected<BenchKernel *> B = kernel(Name);
    if (!B)
      return B.takeError();
    Identity = (*B)->Problem.K.Digest;
  }
  std::vector<json::Object> Rows;
  std::set<std::string> InStore;
  for (const StoredKernel &S : *Kept)
    for (const Variant &V : S.Variants)
      if (S.K.Digest == Identity)
        InStore.insert(V.Name);
  Expected<Journal> J = Journal::open(journal());
  if (!J)
    return J.takeError();
  Expected<std::vector<std::string>> Runs = runsOf(*J, Identity);
  if (!Runs)
    return Runs.takeError();
  for (const std::string &Run : *Runs) {
    Expected<std::vector<CandidateRecord>> All = J->candidates(Run);
    if (!All)
      return All.takeError();
    auto IsHandedIn = [](const CandidateRecord &C) {
      const std::optional<Genome> G = parseGenome(C.Genome);
      return G && isSubmission(*G);
    };
    const bool IsSweep = any_of(*All, [&](const CandidateRecord &C) {
      return C.Open && IsHandedIn(C);
    });
    for (const CandidateRecord &C : *All) {
      json::Object Row{
          {"name", variantName(C)},
          {"from", "search"},
          {"genome",
           json::fixUTF8(C.Carried.empty() ? "no strategy" : C.Carried)},
          {"outcome", wordOf(C.Outcome)},
          {"quick", false},
          {"kept", InStore.count(variantName(C)) != 0}};
      if (IsSweep || IsHandedIn(C))
        Row["from"] = wordOf(IsSweep ? Tool::Tune : Tool::Submit);
      if (std::string Why = reasonText(C); !Why.empty())
        Row["reason"] = json::fixUTF8(Why);
      if (C.Ratio > 0) {
        Row["ratio"] = C.Ratio;
        Row["basis"] = wordOf(C.Evidence && C.Evidence->Gpu ? Basis::Measured
                                                            : Basis::Modelled);
      }
      if (C.Evidence) {
        if (C.Evidence->High > 0) {
          Row["low"] = C.Evidence->Low;
          Row["high"] = C.Evidence->High;
        }
        Row["times"] = timesJson(C.Evidence->times());
      }
      Rows.push_back(std::move(Row));
    }
  }
  // What is on the bench, by whomever; submissions are in the journal.
  for (const auto &[Handle, S] : Work) {
    if (S.Request.Identity != Identity || S.Request.Tool == Tool::Profile ||
        S.Request.Tool == Tool::Knowledge ||
        (S.State == WorkState::Done &&
         (S.Request.Tool == Tool::Submit || S.Request.Tool == Tool::Tune)))
      continue;
    json::Object Row{{"name", Handle},
                     {"from", wordOf(S.Request.Tool)},
                     {"client", json::fixUTF8(S.Request.Client)},
                     {"outcome", wordOf(S.State)},
                     {"quick", true},
                     {"kept", false}};
    if (S.State == WorkState::Done)
      for (const char *Key :
           {"outcome", "quick", "reason", "ratio", "low", "high", "basis"})
        if (const json::Value *V = S.Result.get(Key))
          Row[Key] = *V;
    if (S.State == WorkState::Failed)
      Row["reason"] = json::fixUTF8(S.Error);
    Rows.push_back(std::move(Row));
  }
  json::Array Latest;
  const size_t All = Rows.size();
  for (size_t I = All - std::min(All, Most); I < All; ++I)
    Latest.push_back(std::move(Rows[I]));
  return json::Object{{"kernel", json::fixUTF8(N->Name)},
                      {"candidates", std::move(Latest)},
                      {"all", int64_t(All)}};
}

Expected<json::Object> Bench::variant(StringRef Name, StringRef Wanted) {
  Expected<NamedKernel> N = find(Name);
  if (!N)
    return N.takeError();
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  Expected<std::vector<StoredKernel>> Kept = Store->kernels();
  if (!Kept)
    return Kept.takeError();
  std::vector<std::string> Identities;
  for (StoredKernel &S : *Kept) {
    if (S.K.Symbol != N->Symbol)
      continue;
    Identities.push_back(S.K.Digest);
    if (none_of(S.Variants, [&](const Variant &V) { return V.Name == Wanted; }))
      continue;
    if (Error E = Store->readTexts(S))
      return std::move(E);
    for (auto [V, Source] : zip_equal(S.Variants, S.Sources))
      if (V.Name == Wanted && V.Plan && V.When) {
        json::Object O = variantJson(V.Name, {Source, *V.Plan, *V.When}, S.K);
        O["genome"] = genomeText(V.Genes);
        if (V.Where)
          O["domain"] = domainText(*V.Where, launchNames(S.K));
        json::Array Evidence;
        for (const Measurement &M : V.Evidence)
          Evidence.push_back(toJSON(M));
        O["evidence"] = std::move(Evidence);
        return O;
      }
  }
  if (hasProgram()) {
    Expected<BenchKernel *> B = kernel(Name);
    if (!B)
      return B.takeError();
    const Kernel &K = (*B)->Problem.K;
    Expected<Journal> J = Journal::open(journal());
    if (!J)
      return J.takeError();
    Expected<std::vector<std::string>> Runs = runsOf(*J, K.Digest);
    if (!Runs)
      return Runs.takeError();
    for (const std::string &Run : *Runs) {
      Expected<std::vector<CandidateRecord>> All = J->candidates(Run);
      if (!All)
        return All.takeError();
      for (const CandidateRecord &C : *All)
        if (variantName(C) == Wanted && C.Code) {
          json::Object O = variantJson(Wanted, *C.Code, K);
          O["genome"] = json::fixUTF8(C.Carried);
          O["outcome"] = wordOf(C.Outcome);
          if (std::string Why = reasonText(C); !Why.empty())
            O["reason"] = json::fixUTF8(Why);
          return O;
        }
    }
  }
  return usageError("'" + N->Name + "' has no variant '" +
                        Wanted.take_front(100) + "' with code",
                    "the tool 'tried' lists them");
}

} // namespace cupilot
