//===- CardJudge.cpp - Candidates of a search on a card -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/CardJudge.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Evolution/CardBatch.h"
#include "cupilot/Roofline/CountsJson.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <thread>

using namespace llvm;

namespace cupilot {

CardJudge::~CardJudge() = default;

namespace {
/// What the workloads of a candidate come to together.
struct Overall {
  double Ratio = 0, Low = 0, High = 0;
  std::string Slower; ///< A workload that has become slower; "" if none.
};

class Judge : public CardJudge {
public:
  Judge(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
        StringRef Run, GpuPatience Patience)
      : P(P), E(E), J(J), Run(Run), Patience(std::move(Patience)) {}
  std::unique_ptr<GpuDevice> Device;

  Error judge(StringRef Step, std::vector<WaitingCandidate> &Waiting) override;
  Error accept(CandidateRecord &Record) override;
  const MeasuredFile &measured() const override { return Measured; }

private:
  CardOriginal original() const;
  Expected<CardVariant> variantOf(WaitingCandidate &W) const;
  Error prepare(MutableArrayRef<WaitingCandidate> Waiting) const;
  Expected<json::Object>
  answers(StringRef Step, function_ref<Error(CardBatch &B)> Fill,
          function_ref<Error(json::Object &Results, StringRef Folder)> Check);
  Error addReferences(json::Object &Results, StringRef Folder, StringRef Id);
  Error settle(CandidateRecord &R, const json::Object &Results);
  std::optional<bool> makesRecorded(const json::Object &Results, StringRef Id,
                                    size_t Index) const;
  Overall overall(ArrayRef<CardLaunch> Launches,
                  const std::map<std::string, double> &OriginalUs) const;
  std::optional<ExecutionCounts> workOf(const json::Object &Evidence,
                                        size_t Workload) const;
  void note(const CandidateRecord *R, const json::Object &Evidence,
            const json::Object &Results);

  const SearchProblem &P;
  CandidateEvaluator &E;
  Journal &J;
  std::string Run;
  GpuPatience Patience;
  MeasuredFile Measured;
  bool OriginalNoted = false;
};
} // namespace

/// Requests are named after the genome: "c" and ten digits.
static std::string idOf(const CandidateRecord &R) {
  return "c" + shortDigest(digest(R.Genome), 10);
}

std::string CardJudge::finalStep(const CandidateRecord &Record) {
  return "final-" + idOf(Record);
}

CardOriginal Judge::original() const {
  return {&P.K,
          E.originalBitcode().str(),
          P.Workloads,
          P.DataFolder,
          P.Arch,
          P.Flags,
          std::vector<bool>(E.cardOnly().begin(), E.cardOnly().end())};
}

/// Makes the code of those that came from the journal; two beside each other.
Error Judge::prepare(MutableArrayRef<WaitingCandidate> Waiting) const {
  std::vector<WaitingCandidate *> Todo;
  for (WaitingCandidate &W : Waiting)
    if (!W.Made)
      Todo.push_back(&W);
  Error Failure = Error::success();
  for (size_t First = 0; First < Todo.size(); First += 2) {
    size_t Count = std::min<size_t>(2, Todo.size() - First);
    std::vector<std::optional<Expected<Candidate>>> Made(Count);
    std::vector<std::thread> Threads;
    for (size_t I = 0; I < Count; ++I)
      Threads.emplace_back([&, I] {
        const CandidateRecord &R = Todo[First + I]->Record;
        std::optional<Genome> G = parseGenome(R.Genome);
        Expected<Translation> T = translationOf(R);
        if (!T)
          Made[I].emplace(T.takeError());
        else
          Made[I].emplace(G ? E.prepare(*G, std::move(*T))
                            : Expected<Candidate>(resourceError(
                                  "the journal holds a genome that cannot be "
                                  "read: " +
                                  R.Genome)));
      });
    for (std::thread &T : Threads)
      T.join();
    for (size_t I = 0; I < Count; ++I) {
      if (!*Made[I]) {
        Failure = joinErrors(std::move(Failure), Made[I]->takeError());
        continue;
      }
      if ((*Made[I])->Record.DeviceDigest !=
          Todo[First + I]->Record.DeviceDigest)
        Failure = joinErrors(std::move(Failure),
                             resourceError("the tools make other code of '" +
                                               Todo[First + I]->Record.Genome +
                                               "' than when the search began",
                                           "search anew, without --resume"));
      Todo[First + I]->Made = std::move(**Made[I]);
    }
  }
  return Failure;
}

Expected<CardVariant> Judge::variantOf(WaitingCandidate &W) const {
  const Candidate &C = *W.Made;
  return CardVariant{idOf(W.Record), C.Ptx, C.Translated.Plan,
                     C.Translated.When};
}

/// The results of the step's batch: from the journal, else from the card.
Expected<json::Object> Judge::answers(
    StringRef Step, function_ref<Error(CardBatch &B)> Fill,
    function_ref<Error(json::Object &Results, StringRef Folder)> Check) {
  Expected<std::optional<BatchRecord>> Known = J.findBatch(Run, Step);
  if (!Known)
    return Known.takeError();
  if (*Known && !(*Known)->Results.empty()) {
    Expected<json::Value> V = json::parse((*Known)->Results);
    if (V && V->getAsObject())
      return std::move(*V->getAsObject());
    if (!V)
      consumeError(V.takeError());
    return resourceError("the journal holds broken results of " + (*Known)->Id,
                         "it may be deleted; the search then starts anew");
  }
  Expected<std::unique_ptr<CardBatch>> B = CardBatch::create(original());
  if (!B)
    return B.takeError();
  if (Error Failure = Fill(**B))
    return std::move(Failure);
  GpuBatch &G = (*B)->batch();
  G.finish();
  BatchRecord Record{G.batch().Id, ""};
  if (*Known && (*Known)->Id != Record.Id && Patience.Tell)
    Patience.Tell((*Known)->Id +
                  " is of other tools or data and is not used "
                  "any more; now it is " +
                  Record.Id);
  if (Error Failure = J.saveBatch(Run, Step, Record))
    return std::move(Failure);
  Expected<GpuResults> Results = awaitResults(*Device, G, Patience);
  if (!Results)
    return Results.takeError();
  json::Object All = byId(G.batch(), std::move(*Results));
  if (Error Failure = Check(All, Device->folder(G)))
    return std::move(Failure);
  Record.Results = formatv("{0}", json::Value(json::Object(All))).str();
  if (Error Failure = J.saveBatch(Run, Step, Record))
    return std::move(Failure);
  return All;
}

/// Holds the outputs that came back against the float64 runs here; what came of
/// it goes to the results, since the outputs' files need not stay.
Error Judge::addReferences(json::Object &Results, StringRef Folder,
                           StringRef Id) {
  const CardOriginal From = original();
  for (size_t I = 0; I < P.Workloads.size(); ++I) {
    auto Outputs = readOutputs(Results, From, I, Id, Folder);
    if (!Outputs)
      return Outputs.takeError();
    if (!*Outputs)
      continue;
    Expected<ReferenceVerdict> V =
        E.judgeElsewhere(I, (*Outputs)->first, (*Outputs)->second);
    if (!V)
      return V.takeError();
    json::Object O{{"compared", V->Compared},
                   {"error", V->MaxError},
                   {"original_error", V->OriginalError}};
    if (V->Finding)
      O["finding"] =
          (wordOf(V->Finding->Reason) + ": " + V->Finding->Evidence).str();
    (*Results.getObject(
        (Id + "-" + P.Workloads[I].Name + "-run").str()))["float64"] =
        std::move(O);
  }
  return Error::success();
}

std::optional<ExecutionCounts> Judge::workOf(const json::Object &Evidence,
                                             size_t Workload) const {
  const json::Array *All = Evidence.getArray("work");
  ExecutionCounts Counts;
  json::Path::Root Root;
  if (!All || Workload >= All->size() || !(*All)[Workload].getAsObject() ||
      !fromJSON((*All)[Workload], Counts, Root))
    return std::nullopt;
  return Counts;
}

/// Whether the original made of workload \p Index on the card, byte for byte,
/// what it had made when it was recorded; nothing where that is not known.
std::optional<bool> Judge::makesRecorded(const json::Object &Results,
                                         StringRef Id, size_t Index) const {
  const Workload &W = P.Workloads[Index];
  const json::Object *Run =
      Results.getObject((Id + "-" + W.Name + "-run").str());
  const json::Object *Own = Run ? Run->getObject("original") : nullptr;
  const json::Array *Buffers = Own ? Own->getArray("buffers") : nullptr;
  if (!Buffers || Buffers->size() != W.After.size())
    return std::nullopt;
  bool Any = false, Same = true;
  for (auto [V, Digest] : zip_equal(*Buffers, W.After)) {
    const json::Object *O = V.getAsObject();
    if (!O || Digest.empty())
      continue;
    Any = true;
    Same &= O->getString("digest").value_or("") == Digest;
  }
  return Any ? std::optional(Same) : std::nullopt;
}

/// All workloads together, each with the number of launches that it stands for;
/// where the guard keeps one out, the original runs. The bounds are those of
/// all workloads at once: at least as careful as each one's.
Overall Judge::overall(ArrayRef<CardLaunch> Launches,
                       const std::map<std::string, double> &OriginalUs) const {
  Overall O;
  double Before = 0, After = 0, Slow = 0, Fast = 0;
  for (auto [L, W] : zip_equal(Launches, P.Workloads)) {
    auto Known = OriginalUs.find(L.Workload);
    double Time = L.Asked                     ? L.OriginalUs
                  : Known == OriginalUs.end() ? 0
                                              : Known->second;
    Time *= double(W.Count);
    Before += Time;
    After += L.Asked ? Time / L.Ratio : Time;
    Slow += L.Asked ? Time / L.Low : Time;
    Fast += L.Asked ? Time / L.High : Time;
    if (L.Asked && (L.Call == "slower" || L.High < 1 / P.Margin))
      O.Slower = formatv("{0}: x{1:f3} ({2:f3} to {3:f3})", L.Workload, L.Ratio,
                         L.Low, L.High);
  }
  if (Before > 0) {
    O.Ratio = Before / After;
    O.Low = Before / Slow;
    O.High = Before / Fast;
  }
  return O;
}

Error Judge::settle(CandidateRecord &R, const json::Object &Results) {
  Expected<std::vector<CardLaunch>> Launches =
      readJudgement(Results, original(), idOf(R));
  if (!Launches)
    return Launches.takeError();
  Expected<json::Value> Parsed = json::parse(R.Evidence);
  if (!Parsed)
    return Parsed.takeError();
  json::Object &Evidence = *Parsed->getAsObject();
  const Ceilings Limits = cardCeilings(Results, &P.Gpu);
  json::Array PerWorkload;
  std::string Wrong, Impossible, Untimed;
  unsigned Compared = 0, AgainstFloat64 = 0;
  std::map<std::string, double> OriginalUs;
  for (const auto &[Id, Value] : Results)
    for (const Workload &W : P.Workloads)
      if (StringRef(Id).ends_with("-" + W.Name + "-time"))
        if (const json::Object *T = Value.getAsObject())
          if (const json::Object *O = T->getObject("original"))
            OriginalUs[W.Name] = O->getNumber("median_us").value_or(0);
  for (auto [I, L] : enumerate(*Launches)) {
    if (L.OriginalFails)
      return findingError(
          "the original itself fails on the card, on workload " + L.Workload +
          ": " + L.Wrong);
    if (!L.Asked)
      continue;
    Compared += L.Compared;
    json::Object O{{"workload", L.Workload},   {"call", L.Call},
                   {"ratio", L.Ratio},         {"low", L.Low},
                   {"high", L.High},           {"original_us", L.OriginalUs},
                   {"variant_us", L.VariantUs}};
    if (E.cardOnly()[I])
      O["card_only"] = true;
    if (const json::Object *Run =
            Results.getObject(idOf(R) + "-" + L.Workload + "-run"))
      if (const json::Object *F = Run->getObject("float64")) {
        AgainstFloat64 += F->getBoolean("compared").value_or(false);
        if (std::optional<StringRef> Found = F->getString("finding");
            Found && L.Wrong.empty()) {
          L.Right = false;
          L.Wrong = ("against float64: " + *Found).str();
        }
        O["float64"] = json::Object(*F);
      }
    if (std::optional<bool> Same = makesRecorded(Results, idOf(R), I))
      O["recorded"] = *Same;
    if (!L.Right && Wrong.empty())
      Wrong = L.Workload + ": " + L.Wrong;
    if (L.Right && !(L.Ratio > 0 && L.Low > 0 && L.High > 0))
      Untimed = L.Workload;
    if (std::optional<ExecutionCounts> Counts = workOf(Evidence, I);
        Counts && L.VariantUs > 0)
      if (Error TooFast =
              checkPossible(Limits, *Counts, L.VariantUs, L.Workload))
        if (Error Other = absorbFinding(std::move(TooFast), [&](StringRef Why) {
              Impossible = Why.str();
            }))
          return Other;
    PerWorkload.push_back(std::move(O));
  }
  json::Object Card{{"device", cardName(Results)},
                    {"compared", Compared},
                    {"float64", AgainstFloat64},
                    {"ceilings", Limits.Origin},
                    {"workloads", std::move(PerWorkload)}};
  R.Ratio = 0;
  if (!Wrong.empty()) {
    R.Outcome = "gate";
    R.Reason = "card (" + Wrong + ")";
  } else if (const json::Object *No = Results.getObject(idOf(R) + "-refused")) {
    R.Outcome = "gate";
    R.Reason = ("card: " + No->getString("message").value_or("")).str();
  } else if (Compared == 0) {
    R.Outcome = "gate";
    R.Reason = "never-admitted: the guard admits none of the workloads";
  } else if (!Impossible.empty()) {
    R.Outcome = "gate";
    R.Reason = "card: " + Impossible;
  } else if (!Untimed.empty()) {
    R.Outcome = "slower";
    R.Reason =
        "the time budget was too small to say how fast it is on " + Untimed;
  } else {
    Overall O = overall(*Launches, OriginalUs);
    R.Ratio = O.Ratio;
    Card["ratio"] = O.Ratio;
    Card["low"] = O.Low;
    Card["high"] = O.High;
    std::string Text =
        formatv("x{0:f3} ({1:f3} to {2:f3})", O.Ratio, O.Low, O.High);
    R.Reason.clear();
    R.Outcome = "slower";
    if (!O.Slower.empty())
      R.Reason = "slower on a workload, " + O.Slower;
    else if (O.Low < P.Margin)
      R.Reason = "not faster than the original beyond the margin: " + Text;
    else
      R.Outcome = "accepted";
  }
  Evidence["card"] = std::move(Card);
  R.Evidence = formatv("{0}", *Parsed).str();
  return Error::success();
}

Error Judge::judge(StringRef Step, std::vector<WaitingCandidate> &Waiting) {
  json::Object Refused;
  Expected<json::Object> Results = answers(
      Step,
      [&](CardBatch &B) -> Error {
        if (Error Failure = prepare(Waiting))
          return Failure;
        B.addCeilings();
        for (WaitingCandidate &W : Waiting) {
          Expected<CardVariant> V = variantOf(W);
          if (!V)
            return V.takeError();
          // What ptxas refuses, or what is no launch there, says nothing of the
          // others.
          if (Error Other =
                  handleErrors(B.addJudgement(*V),
                               [&](std::unique_ptr<ToolError> T) -> Error {
                                 if (T->code() == ExitCode::Resource)
                                   return Error(std::move(T));
                                 Refused[V->Id + "-refused"] =
                                     json::Object{{"status", "skipped"},
                                                  {"message", T->text()}};
                                 return Error::success();
                               }))
            return Other;
        }
        return Error::success();
      },
      [&](json::Object &Results, StringRef Folder) -> Error {
        for (auto &[Id, Why] : Refused)
          Results[Id] = std::move(Why);
        for (const WaitingCandidate &W : Waiting) {
          // What is wrong with the batch is said before it counts as answered.
          if (auto L = readJudgement(Results, original(), idOf(W.Record)); !L)
            return L.takeError();
          if (Error Failure = addReferences(Results, Folder, idOf(W.Record)))
            return Failure;
        }
        return Error::success();
      });
  if (!Results)
    return Results.takeError();
  for (WaitingCandidate &W : Waiting)
    if (Error Failure = settle(W.Record, *Results))
      return Failure;
  return Error::success();
}

/// Tools that found something in \p Mine and nothing in \p Own, with the first
/// line of what they say; "" if none.
static std::string foundAlone(const json::Object *Mine,
                              const json::Object *Own) {
  const json::Object *Tools = Mine ? Mine->getObject("tools") : nullptr;
  const json::Object *OwnTools = Own ? Own->getObject("tools") : nullptr;
  if (!Tools)
    return "";
  for (const auto &[Tool, Value] : *Tools) {
    const json::Object *O = Value.getAsObject();
    if (!O || O->getString("outcome").value_or("") != "found")
      continue;
    const json::Object *Its = OwnTools ? OwnTools->getObject(Tool) : nullptr;
    if (Its && Its->getString("outcome").value_or("") == "found")
      continue;
    std::string Line;
    if (const json::Array *Lines = O->getArray("lines"))
      if (!Lines->empty())
        Line = Lines->front().getAsString().value_or("").str();
    return (StringRef(Tool) + ": " + Line).str();
  }
  return "";
}

/// "clean", "found", ... of each tool, or why there is no answer.
static json::Value sanitized(const json::Object *R) {
  if (!R)
    return nullptr;
  const json::Object *Tools = R->getObject("tools");
  if (!Tools)
    return R->getString("reason").value_or("no answer");
  json::Object All;
  for (const auto &[Tool, Value] : *Tools)
    if (const json::Object *O = Value.getAsObject())
      All[Tool] = O->getString("outcome").value_or("");
  return All;
}

/// Keeps what the profiler said of the original, or of \p R.
void Judge::note(const CandidateRecord *R, const json::Object &Evidence,
                 const json::Object &Results) {
  const std::string Id = R ? idOf(*R) : "o";
  Measured.Card = cardName(Results);
  const json::Object *Card = Evidence.getObject("card");
  const json::Array *List = Card ? Card->getArray("workloads") : nullptr;
  if (!List)
    return;
  for (const json::Value &Each : *List) {
    const json::Object *O = Each.getAsObject();
    std::string Workload = O->getString("workload").value_or("").str();
    const json::Object *Profile =
        Results.getObject(Id + "-" + Workload + "-profile");
    MeasuredFile::Entry New;
    New.Kernel = P.K.Symbol;
    New.Workload = Workload;
    if (R)
      New.Variant = variantName(*R);
    New.Launch.Microseconds =
        O->getNumber(R ? "variant_us" : "original_us").value_or(0);
    if (!(New.Launch.Microseconds > 0))
      continue;
    if (Profile) {
      if (const json::Object *M = Profile->getObject("metrics"))
        for (const auto &[Key, Value] : *M)
          if (std::optional<double> Number = Value.getAsNumber())
            New.Launch.Metrics[Key.str()] = *Number;
      New.Launch.NoMetrics =
          Profile->getString("why_not")
              .value_or(Profile->getString("reason").value_or(""))
              .str();
    } else {
      New.Launch.NoMetrics = "not profiled";
    }
    Measured.Entries.push_back(std::move(New));
  }
}

Error Judge::accept(CandidateRecord &Record) {
  std::vector<WaitingCandidate> One(1);
  One.front().Record = Record;
  const std::string Id = idOf(Record);
  Expected<json::Object> Results = answers(
      finalStep(Record),
      [&](CardBatch &B) -> Error {
        if (Error Failure = prepare(One))
          return Failure;
        Expected<CardVariant> V = variantOf(One.front());
        if (!V)
          return V.takeError();
        if (Error Failure = B.addAcceptance(nullptr, "o"))
          return Failure;
        return B.addAcceptance(&*V, Id);
      },
      [](json::Object &, StringRef) { return Error::success(); });
  if (!Results)
    return Results.takeError();
  Expected<json::Value> Parsed = json::parse(Record.Evidence);
  if (!Parsed)
    return Parsed.takeError();
  json::Object &Evidence = *Parsed->getAsObject();
  json::Object Sanitizer, Classes;
  const Ceilings Limits = cardCeilings(*Results, &P.Gpu);
  for (auto [I, W] : enumerate(P.Workloads)) {
    const json::Object *Mine =
        Results->getObject(Id + "-" + W.Name + "-sanitize");
    if (!Mine)
      continue;
    Sanitizer[W.Name] = sanitized(Mine);
    std::string Found =
        foundAlone(Mine, Results->getObject("o-" + W.Name + "-sanitize"));
    if (!Found.empty() && Record.Outcome == "accepted") {
      Record.Outcome = "gate";
      Record.Reason = "sanitizer (" + W.Name + "): " + Found;
    }
  }
  if (!OriginalNoted)
    note(nullptr, Evidence, *Results);
  OriginalNoted = true;
  if (Record.Outcome == "accepted")
    note(&Record, Evidence, *Results);
  for (const MeasuredFile::Entry &Entry : Measured.Entries)
    for (auto [I, W] : enumerate(P.Workloads)) {
      if (W.Name != Entry.Workload || Entry.Launch.Metrics.empty() ||
          (!Entry.Variant.empty() && Entry.Variant != variantName(Record)))
        continue;
      const ExecutionCounts *Own = E.originalCounts(I);
      std::optional<ExecutionCounts> Work =
          Entry.Variant.empty() ? (Own ? std::optional(*Own) : std::nullopt)
                                : workOf(Evidence, I);
      Opinion O = opinionOfMeasurement(
          Entry.Launch,
          timesAtCeilings(Limits, Work.value_or(ExecutionCounts())));
      if (O.Class)
        Classes[W.Name + (Entry.Variant.empty() ? " original" : "")] =
            toString(*O.Class);
    }
  if (json::Object *Card = Evidence.getObject("card")) {
    (*Card)["sanitizer"] = std::move(Sanitizer);
    (*Card)["class"] = std::move(Classes);
    if (Record.Outcome != "accepted")
      (*Card)["rejected"] = Record.Reason;
  }
  Record.Evidence = formatv("{0}", *Parsed).str();
  return Error::success();
}

Expected<std::unique_ptr<CardJudge>>
CardJudge::create(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
                  StringRef Run, StringRef Device, GpuPatience Patience) {
  Expected<std::unique_ptr<GpuDevice>> D = GpuDevice::create(Device);
  if (!D)
    return D.takeError();
  auto Made = std::make_unique<Judge>(P, E, J, Run, std::move(Patience));
  Made->Device = std::move(*D);
  return std::move(Made);
}

} // namespace cupilot
