//===- RecordedCalls.cpp - Models' answers, recorded and replayed -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Recording.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Channel = "llm";

json::Value recordOf(const ChatRequest &R) {
  json::Value V = toJSON(R);
  (*V.getAsObject())["prompt"] = json::fixUTF8(R.Prompt);
  return V;
}

json::Value recordOf(const ChatAnswer &A) {
  json::Object O{{"text", json::fixUTF8(A.Text)},
                 {"finish", A.Finish},
                 {"prompt_tokens", A.PromptTokens},
                 {"answer_tokens", A.AnswerTokens},
                 {"estimated", A.TokensEstimated},
                 {"cost", A.Cost},
                 {"seconds", A.Seconds},
                 {"attempts", A.Attempts},
                 {"provider", json::fixUTF8(A.Provider)},
                 {"model", json::fixUTF8(A.Model)}};
  if (A.ThinkingTokens)
    O["thinking_tokens"] = A.ThinkingTokens;
  if (A.Limit)
    O["limit"] = A.Limit;
  if (!A.Effort.empty())
    O["effort"] = A.Effort;
  if (!A.Uses.empty())
    O["calls"] = toJSON(A.Uses);
  if (A.Thoughts.kind() != json::Value::Null)
    O["thoughts"] = A.Thoughts;
  return O;
}

json::Value recordOf(const ProviderError &E) {
  return json::Object{{"fault", toString(E.fault())},
                      {"message", json::fixUTF8(E.text())},
                      {"hint", json::fixUTF8(E.hint())}};
}

Expected<ChatAnswer> answerFrom(const json::Value &V) {
  const json::Object *O = V.getAsObject();
  if (O && O->getString("fault")) {
    ProviderFault Fault = ProviderFault::Refused;
    for (auto I = static_cast<int>(ProviderFault::Refused);
         I <= static_cast<int>(ProviderFault::NoAnswer); ++I)
      if (toString(static_cast<ProviderFault>(I)) == *O->getString("fault"))
        Fault = static_cast<ProviderFault>(I);
    return providerError(Fault, O->getString("message").value_or(""),
                         O->getString("hint").value_or(""));
  }
  if (!O || !O->getString("text"))
    return usageError("a recorded answer has no text",
                      "restore the recording, or record again");
  auto Count = [&](StringRef Key) {
    return static_cast<uint64_t>(
        std::max<int64_t>(0, O->getInteger(Key).value_or(0)));
  };
  ChatAnswer A;
  A.Text = O->getString("text")->str();
  A.Finish = O->getString("finish").value_or("stop").str();
  A.PromptTokens = Count("prompt_tokens");
  A.AnswerTokens = Count("answer_tokens");
  A.ThinkingTokens = Count("thinking_tokens");
  A.Limit = static_cast<unsigned>(Count("limit"));
  A.Effort = O->getString("effort").value_or("").str();
  A.TokensEstimated = O->getBoolean("estimated").value_or(false);
  A.Cost = O->getNumber("cost").value_or(0);
  A.Seconds = O->getNumber("seconds").value_or(0);
  A.Attempts = static_cast<unsigned>(Count("attempts"));
  A.Provider = O->getString("provider").value_or("").str();
  A.Model = O->getString("model").value_or("").str();
  if (const json::Array *Uses = O->getArray("calls"))
    for (const json::Value &Use : *Uses)
      if (const json::Object *U = Use.getAsObject())
        A.Uses.push_back({U->getString("id").value_or("").str(),
                          U->getString("name").value_or("").str(),
                          U->getString("arguments").value_or("").str()});
  if (const json::Value *Thoughts = O->get("thoughts"))
    A.Thoughts = *Thoughts;
  return A;
}

namespace {
class RecordingProvider : public Provider {
public:
  RecordingProvider(Provider &From, Recording &To, bool Resume)
      : From(From), To(To), Resume(Resume) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override {
    return From.describe(R) + "recorded in: " + To.folder() + "\n";
  }

private:
  Provider &From;
  Recording &To;
  const bool Resume;
};

class ReplayProvider : public Provider {
public:
  ReplayProvider(Recording &From, bool Stop, ChangeNotice Notice)
      : From(From), Stop(Stop), Notice(std::move(Notice)) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override {
    return "recording: " + From.folder() + "\n";
  }

private:
  Recording &From;
  const bool Stop;
  const ChangeNotice Notice;
};
} // namespace

Expected<ChatAnswer> RecordingProvider::ask(const ChatRequest &R) {
  json::Value Request = recordOf(R);
  if (Resume)
    if (auto M = To.find(Channel, R.Step, Request); M && !M->Changed) {
      Expected<ChatAnswer> A = answerFrom(M->Answer);
      if (A)
        return A;
      consumeError(A.takeError()); // What failed then may succeed now.
    }
  Expected<ChatAnswer> A = From.ask(R);
  RecordedCall Call{Channel.str(), R.Step, std::move(Request), nullptr};
  if (A) {
    Call.Answer = recordOf(*A);
    if (Error E = To.put(Call))
      return std::move(E);
    return A;
  }
  Error Written = Error::success();
  Error Failed =
      handleErrors(A.takeError(), [&](std::unique_ptr<ProviderError> E) {
        // A budget's end is the run's and no answer.
        if (E->fault() != ProviderFault::Budget) {
          Call.Answer = recordOf(*E);
          Written = joinErrors(std::move(Written), To.put(Call));
        }
        return Error(std::move(E));
      });
  return joinErrors(std::move(Failed), std::move(Written));
}

Expected<ChatAnswer> ReplayProvider::ask(const ChatRequest &R) {
  std::optional<RecordedMatch> M = From.find(Channel, R.Step, recordOf(R));
  std::string Name = R.Step.empty() ? "a request" : "'" + R.Step + "'";
  if (!M)
    return providerError(ProviderFault::NoAnswer,
                         "the recording '" + From.folder() +
                             "' has no answer to " + Name,
                         "it is from another run, or from other options; "
                         "record again with a provider and --record");
  if (M->Changed && Stop)
    return providerError(ProviderFault::NoAnswer,
                         Name + " would now be asked differently than in '" +
                             From.folder() + "':\n" + M->Difference,
                         "without changed=stop the recorded answer is used");
  if (M->Changed && Notice)
    Notice(R.Step, M->Difference);
  return answerFrom(M->Answer);
}

std::unique_ptr<Provider> recordCalls(Provider &From, Recording &To,
                                      bool Resume) {
  return std::make_unique<RecordingProvider>(From, To, Resume);
}

std::unique_ptr<Provider> replayCalls(Recording &From, bool Stop,
                                      ChangeNotice Notice) {
  return std::make_unique<ReplayProvider>(From, Stop, std::move(Notice));
}

} // namespace cupilot
