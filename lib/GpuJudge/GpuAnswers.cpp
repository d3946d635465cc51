//===- GpuAnswers.cpp - What a GPU answers about variants ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/JudgementBatch.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

json::Object byId(const runner::Batch &B, GpuResults Results) {
  json::Object All;
  for (auto [R, Result] : zip_equal(B.Requests, Results)) {
    Result.erase("samples");
    Result.erase("checksum");
    All[R.Id] = std::move(Result);
  }
  return All;
}

std::string wrongText(const json::Object &C) {
  if (C.getString("status").value_or("") != "ok")
    return (C.getString("reason").value_or("") + ": " +
            C.getString("message").value_or(""))
        .str();
  int64_t Wrong = 0, Far = 0, Unwritten = 0, Stray = 0, Changed = 0;
  if (const json::Array *Buffers = C.getArray("buffers"))
    for (const json::Value &V : *Buffers) {
      const json::Object *O = V.getAsObject();
      if (!O)
        continue;
      Wrong += O->getInteger("wrong").value_or(0);
      Far += O->getInteger("far_fields").value_or(0);
      Unwritten += O->getInteger("unwritten").value_or(0);
      Stray += O->getInteger("stray_before").value_or(0) +
               O->getInteger("stray_after").value_or(0);
      Changed += O->getBoolean("changed").value_or(false);
    }
  std::string Text =
      formatv("{0} number(s) wrong, {1} unwritten, {2} byte(s) written beside "
              "buffers, {3} input(s) changed",
              Wrong, Unwritten, Stray, Changed);
  if (Far)
    Text += formatv(", {0} buffer(s) too far off by the norm", Far);
  return Text;
}

namespace {
/// Whose doing an answer is.
enum class Answer { Fine, Variant, Original, Skipped, Batch };
} // namespace

static Answer answerOf(const json::Object &R) {
  StringRef Status = R.getString("status").value_or("");
  if (Status == "ok")
    return Answer::Fine;
  if (Status == "skipped")
    return Answer::Skipped;
  // It ended the runner or the machine three times.
  if (failureKindOf(R.getString("reason").value_or("")) ==
      FailureKind::Abandoned)
    return Answer::Variant;
  if (Status == "fault")
    return R.getString("who").value_or("") == "original" ? Answer::Original
                                                         : Answer::Variant;
  return Answer::Batch;
}

static Error batchError(StringRef Id, const json::Object &R) {
  return resourceError(
      "the GPU could not evaluate " + Id + ": " +
          R.getString("message").value_or("it says no reason") + " [" +
          R.getString("reason").value_or("unknown") + "]",
      "mend the batch (delete its folder to have it written anew) and run the "
      "same command again, a search with --resume");
}

/// Adds one answer to what is known of a launch.
static Error take(GpuLaunch &L, const json::Object &R, StringRef Id) {
  switch (answerOf(R)) {
  case Answer::Batch:
    return batchError(Id, R);
  case Answer::Original:
    L.OriginalFails = true;
    [[fallthrough]];
  case Answer::Variant:
    if (L.Wrong.empty())
      L.Wrong = wrongText(R);
    L.Right = false;
    return Error::success();
  case Answer::Skipped:
    return Error::success();
  case Answer::Fine:
    break;
  }
  return Error::success();
}

static void takeTime(GpuLaunch &L, const json::Object &T) {
  L.Call = T.getString("call").value_or("").str();
  L.Ratio = T.getNumber("ratio").value_or(0);
  L.Low = T.getNumber("low").value_or(0);
  L.High = T.getNumber("high").value_or(0);
  auto Median = [&](StringRef Who) {
    const json::Object *O = T.getObject(Who);
    return O ? O->getNumber("median_us").value_or(0) : 0;
  };
  L.OriginalUs = Median("original");
  L.VariantUs = Median("candidate");
  // Results that were right once and wrong while it was timed are wrong.
  if (!T.getBoolean("same").value_or(true)) {
    L.Right = false;
    L.Wrong = "other results while it was timed";
  } else if (L.Call == "invalid") {
    L.Right = false;
    L.Wrong = "the GPU's clock hides time that the host's shows";
  }
}

/// Whether the runner that answered \p Compare looked at norms.
static bool knowsNorm(const json::Object &Compare) {
  const json::Array *Buffers = Compare.getArray("buffers");
  return !Buffers || all_of(*Buffers, [](const json::Value &V) {
    const json::Object *O = V.getAsObject();
    return !O || O->get("far_fields");
  });
}

Expected<std::vector<GpuLaunch>> readJudgement(const json::Object &Results,
                                               const GpuOriginal &From,
                                               StringRef Id) {
  std::vector<GpuLaunch> All;
  for (const Workload &W : From.Workloads) {
    All.emplace_back();
    GpuLaunch &L = All.back();
    L.Workload = W.Name;
    const std::string Prefix = (Id + "-" + W.Name + "-").str();
    const json::Object *Compare = Results.getObject(Prefix + "compare");
    if (!Compare)
      continue;
    L.Asked = true;
    if (Error E = take(L, *Compare, Prefix + "compare"))
      return std::move(E);
    L.Right = Compare->getBoolean("same").value_or(false);
    if (L.Right && From.K && From.K->Contract.NormTolerance > 0 &&
        !knowsNorm(*Compare))
      return resourceError("the runner on the GPU's machine does not know "
                           "bounds of the norm: " +
                               Prefix + "compare",
                           "use a cupilot-runner of this version there");
    if (L.Right)
      ++L.Compared;
    else if (L.Wrong.empty() && answerOf(*Compare) == Answer::Fine)
      L.Wrong = wrongText(*Compare);
    for (StringRef Other : {"x3", "x001", "xminus"}) {
      std::string Name = Prefix + Other.str() + "-compare";
      const json::Object *R = Results.getObject(Name);
      if (!R || answerOf(*R) == Answer::Original)
        continue;
      if (Error E = take(L, *R, Name))
        return std::move(E);
      if (answerOf(*R) != Answer::Fine)
        continue;
      ++L.Compared;
      if (!R->getBoolean("same").value_or(false) && L.Wrong.empty()) {
        L.Right = false;
        L.Wrong = ("on inputs " + Other + ": " + wrongText(*R)).str();
      }
    }
    if (const json::Object *Run = Results.getObject(Prefix + "run"))
      if (Error E = take(L, *Run, Prefix + "run"))
        return std::move(E);
    if (const json::Object *T = Results.getObject(Prefix + "time")) {
      if (Error E = take(L, *T, Prefix + "time"))
        return std::move(E);
      if (answerOf(*T) == Answer::Fine)
        takeTime(L, *T);
    }
  }
  return All;
}

static Expected<std::optional<ElsewhereResults>>
readProgram(const json::Object *P, const Workload &W, StringRef Folder) {
  if (!P)
    return std::nullopt;
  ElsewhereResults R;
  auto Load = [&](StringRef Digest) -> Expected<std::vector<uint8_t>> {
    std::string Path =
        (Folder + "/results/data/" + Digest.substr(3) + ".bin").str();
    Expected<std::string> Bytes = readFile(Path);
    if (!Bytes)
      return Bytes.takeError();
    if (digest(*Bytes) != Digest)
      return resourceError("the output '" + Path + "' is damaged",
                           "copy it again");
    return std::vector<uint8_t>(Bytes->begin(), Bytes->end());
  };
  const json::Array *Buffers = P->getArray("buffers");
  if (!Buffers || Buffers->size() != W.Buffers.size())
    return std::nullopt;
  for (const json::Value &V : *Buffers) {
    const json::Object *O = V.getAsObject();
    // What is only read comes back as its digest.
    if (!O || !O->getBoolean("kept").value_or(false)) {
      R.Buffers.emplace_back();
      continue;
    }
    Expected<std::vector<uint8_t>> Bytes =
        Load(O->getString("digest").value_or(""));
    if (!Bytes)
      return Bytes.takeError();
    R.Buffers.push_back(std::move(*Bytes));
  }
  if (const json::Array *Variables = P->getArray("variables"))
    for (auto [V, G] : zip(*Variables, W.Globals)) {
      if (!V.getAsString())
        continue;
      Expected<std::vector<uint8_t>> Bytes = Load(*V.getAsString());
      if (!Bytes)
        return Bytes.takeError();
      R.Globals.push_back({G.Symbol, std::move(*Bytes)});
    }
  return R;
}

Expected<std::optional<std::pair<ElsewhereResults, ElsewhereResults>>>
readOutputs(const json::Object &Results, const GpuOriginal &From,
            size_t Workload, StringRef Id, StringRef Folder) {
  const cupilot::Workload &W = From.Workloads[Workload];
  const json::Object *Run =
      Results.getObject((Id + "-" + W.Name + "-run").str());
  if (!Run || answerOf(*Run) != Answer::Fine)
    return std::nullopt;
  std::pair<ElsewhereResults, ElsewhereResults> Both;
  for (auto [Word, To] :
       {std::pair("original", &Both.first), {"candidate", &Both.second}}) {
    Expected<std::optional<ElsewhereResults>> R =
        readProgram(Run->getObject(Word), W, Folder);
    if (!R)
      return R.takeError();
    if (!*R)
      return std::nullopt;
    *To = std::move(**R);
  }
  return Both;
}

std::string gpuName(const json::Object &Results) {
  for (const auto &[Id, Value] : Results)
    if (const json::Object *O = Value.getAsObject())
      if (const json::Object *Device = O->getObject("device"))
        if (std::optional<StringRef> Name = Device->getString("name"))
          return Name->str();
  return "";
}

Ceilings gpuCeilings(const json::Object &Results,
                     const GpuDescription *Described) {
  const std::string Name = gpuName(Results);
  Ceilings C;
  if (Described && Described->isNamed(Name))
    C = ceilingsOf(*Described);
  C.Gpu = Name;
  const json::Object *R = Results.getObject("ceilings");
  if (!R || answerOf(*R) != Answer::Fine)
    return C;
  if (!Described || !Described->isNamed(Name))
    if (const json::Object *Device = R->getObject("device"))
      C.L2Bytes = uint64_t(Device->getInteger("l2_bytes").value_or(0));
  if (Error E = addMeasured(C, json::Value(json::Object(*R)), "the batch"))
    consumeError(std::move(E)); // As if the request had failed.
  return C;
}

} // namespace cupilot
