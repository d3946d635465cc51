//===- Recording.cpp - Answers kept so that a run can be repeated -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Recording.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/LineDiff.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

static constexpr int64_t RecordingFormat = 1;

std::string RecordedCall::digest() const {
  return cupilot::digest(formatv("{0}", Request).str());
}

/// Texts of several lines as {"lines": [...]}, for people and for diffs.
static json::Value withLines(const json::Value &V) {
  if (auto Text = V.getAsString(); Text && Text->contains('\n')) {
    json::Array Lines;
    for (StringRef Line : split(*Text, '\n'))
      Lines.push_back(Line);
    return json::Object{{"lines", std::move(Lines)}};
  }
  if (const json::Array *A = V.getAsArray()) {
    json::Array Result;
    for (const json::Value &Item : *A)
      Result.push_back(withLines(Item));
    return Result;
  }
  if (const json::Object *O = V.getAsObject()) {
    json::Object Result;
    for (const auto &[Key, Item] : *O)
      Result[Key] = withLines(Item);
    // An object that looks like lines must not become a text.
    if (O->size() == 1 && O->get("lines"))
      return json::Object{{"object", std::move(Result)}};
    if (O->size() == 1 && O->get("object"))
      return json::Object{{"object", std::move(Result)}};
    return Result;
  }
  return V;
}

static json::Value withoutLines(const json::Value &V) {
  if (const json::Array *A = V.getAsArray()) {
    json::Array Result;
    for (const json::Value &Item : *A)
      Result.push_back(withoutLines(Item));
    return Result;
  }
  const json::Object *O = V.getAsObject();
  if (!O)
    return V;
  auto Members = [](const json::Object &From) {
    json::Object Result;
    for (const auto &[Key, Item] : From)
      Result[Key] = withoutLines(Item);
    return Result;
  };
  if (O->size() == 1) {
    if (const json::Array *Lines = O->getArray("lines")) {
      std::string Text;
      for (auto [I, Line] : enumerate(*Lines))
        Text += (I ? "\n" : "") + Line.getAsString().value_or("").str();
      return Text;
    }
    if (const json::Object *Inner = O->getObject("object"))
      return Members(*Inner);
  }
  return Members(*O);
}

std::string stepFileName(StringRef Step, StringRef Digest) {
  if (Step.empty())
    return shortDigest(Digest);
  std::string Name;
  bool Odd = Step.size() > 100;
  for (char C : Step.take_front(100)) {
    bool Plain = isAlnum(C) || C == '-' || C == '_' || C == '.';
    Odd |= !Plain && C != '/';
    Name += Plain ? C : '-';
  }
  // "a/b" and "a-b" are two steps.
  Odd |= Step.contains('/') && Step.contains('-');
  Odd |= Name.front() == '.';
  return (Name.front() == '.' ? "_" : "") + Name +
         (Odd ? "-" + shortDigest(cupilot::digest(Step), 6) : "");
}

Expected<std::unique_ptr<Recording>> Recording::open(StringRef Folder,
                                                     bool Create) {
  if (!sys::fs::is_directory(Folder)) {
    if (!Create)
      return usageError("there is no recording '" + Folder + "'",
                        "--record DIR creates one");
    if (Error E = ensureDirectory(Folder))
      return std::move(E);
  }
  std::unique_ptr<Recording> R(new Recording(Folder));
  std::error_code EC;
  std::vector<std::string> Paths;
  for (sys::fs::recursive_directory_iterator It(Folder, EC), End;
       It != End && !EC; It.increment(EC))
    if (sys::path::extension(It->path()) == ".json")
      Paths.push_back(It->path());
  if (EC)
    return resourceError("cannot read '" + Folder + "': " + EC.message());
  llvm::sort(Paths);
  for (const std::string &Path : Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    auto Broken = [&](const Twine &Why) {
      return usageError("the recording '" + Path + "' is damaged: " + Why,
                        "restore it, or delete it and record again");
    };
    Expected<json::Value> V = parseJson(*Text);
    if (!V)
      return Broken(toString(V.takeError()));
    const json::Object *O = V->getAsObject();
    if (!O || !O->getInteger("format"))
      return Broken("it has no format");
    if (*O->getInteger("format") > RecordingFormat)
      return usageError("the recording '" + Path +
                            "' was written by a newer cupilot",
                        "use that version");
    auto Channel = O->getString("channel"), Step = O->getString("step"),
         Digest = O->getString("digest");
    const json::Value *Request = O->get("request"), *Answer = O->get("answer");
    if (!Channel || !Step || !Digest || !Request || !Answer)
      return Broken(
          "it does not have a channel, step, digest, request or answer");
    RecordedCall Call{Channel->str(), Step->str(), withoutLines(*Request),
                      withoutLines(*Answer)};
    if (Call.digest() != *Digest)
      return Broken("the digest of its request does not match");
    R->Calls.insert_or_assign(std::pair(Call.Channel, Call.Step),
                              std::move(Call));
  }
  return std::move(R);
}

std::string Recording::stepOf(StringRef Channel, StringRef Step,
                              StringRef Digest,
                              std::map<std::string, unsigned> &Count) {
  if (!Step.empty())
    return Step.str();
  unsigned Number = Count[(Channel + " " + Digest).str()]++;
  return shortDigest(Digest) + (Number ? "." + utostr(Number) : "");
}

Error Recording::put(const RecordedCall &Call) {
  std::lock_guard Lock(Guard);
  RecordedCall Kept = Call;
  std::string Digest = Call.digest();
  Kept.Step = stepOf(Call.Channel, Call.Step, Digest, Put);
  json::Value File = json::Object{{"format", RecordingFormat},
                                  {"channel", Kept.Channel},
                                  {"step", Kept.Step},
                                  {"digest", Digest},
                                  {"request", withLines(Kept.Request)},
                                  {"answer", withLines(Kept.Answer)}};
  SmallString<128> Path(Folder);
  sys::path::append(Path, stepFileName(Kept.Channel, ""),
                    stepFileName(Kept.Step, "") + ".json");
  if (Error E = writeFileAtomic(Path, formatv("{0:2}\n", File).str()))
    return E;
  Calls.insert_or_assign(std::pair(Kept.Channel, Kept.Step), Kept);
  return Error::success();
}

/// A request for people: its long texts as they are.
static std::string readable(const json::Value &Request) {
  const json::Object *O = Request.getAsObject();
  if (!O)
    return formatv("{0:2}\n", withLines(Request)).str();
  std::map<StringRef, const json::Value *> Sorted;
  for (const auto &[Key, V] : *O)
    Sorted[Key] = &V;
  std::string Text;
  for (const auto &[Key, V] : Sorted)
    if (auto S = V->getAsString())
      Text += (Key + ":\n" + *S + "\n").str();
    else
      Text += Key.str() + ": " + formatv("{0:2}\n", withLines(*V)).str();
  return Text;
}

std::optional<RecordedMatch> Recording::find(StringRef Channel, StringRef Step,
                                             const json::Value &Request) {
  std::lock_guard Lock(Guard);
  std::string Digest = digest(formatv("{0}", Request).str());
  std::string Name = stepOf(Channel, Step, Digest, Asked);
  auto At = Calls.find(std::pair(Channel.str(), Name));
  if (At == Calls.end())
    return std::nullopt;
  Used.insert(At->first);
  RecordedMatch M;
  M.Answer = At->second.Answer;
  M.Changed = At->second.digest() != Digest;
  if (M.Changed)
    M.Difference = diffHunks(readable(At->second.Request), readable(Request));
  return M;
}

size_t Recording::size() const {
  std::lock_guard Lock(Guard);
  return Calls.size();
}

std::vector<std::string> Recording::unused(StringRef Channel) const {
  std::lock_guard Lock(Guard);
  std::vector<std::string> Steps;
  for (const auto &[Key, Call] : Calls)
    if (Key.first == Channel && !Used.count(Key))
      Steps.push_back(Key.second);
  return Steps;
}

Spending Recording::spent(StringRef StepsOf) const {
  std::lock_guard Lock(Guard);
  Spending All;
  for (const auto &[Key, Call] : Calls) {
    if (Key.first != "llm" || !StringRef(Key.second).starts_with(StepsOf))
      continue;
    ++All.Calls;
    Expected<ChatAnswer> A = answerFrom(Call.Answer);
    if (!A) {
      consumeError(A.takeError());
      continue;
    }
    All.PromptTokens += A->PromptTokens;
    All.AnswerTokens += A->AnswerTokens;
    All.Cost += A->Cost;
  }
  return All;
}

} // namespace cupilot
