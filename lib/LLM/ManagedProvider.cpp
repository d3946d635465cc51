//===- ManagedProvider.cpp - Calls with retries, limits and a budget -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManagedProvider.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <thread>

using namespace llvm;

namespace cupilot {

/// No wait between two attempts is longer, but where the server asks for it.
static constexpr double LongestWait = 60;

/// One of the provider's simultaneous calls.
class ManagedProvider::Slot {
public:
  explicit Slot(ManagedProvider &P) : P(P) {
    std::unique_lock Lock(P.Guard);
    P.Left.wait(Lock, [&] { return P.Busy < P.Spec.Jobs; });
    ++P.Busy;
  }
  Slot(const Slot &) = delete;
  Slot &operator=(const Slot &) = delete;
  ~Slot() {
    {
      std::lock_guard Lock(P.Guard);
      --P.Busy;
    }
    P.Left.notify_one();
  }

private:
  ManagedProvider &P;
};

double ManagedProvider::costOf(uint64_t PromptTokens,
                               uint64_t AnswerTokens) const {
  Price P = Spec.Cost.value_or(Price());
  return (static_cast<double>(PromptTokens) * P.Prompt +
          static_cast<double>(AnswerTokens) * P.Answer) *
         1e-6;
}

/// The prompt that made \p R: whose role it is.
static StringRef promptOf(const ChatRequest &R) {
  return StringRef(R.Prompt).split(' ').first;
}

std::string ManagedProvider::describe(const ChatRequest &R) const {
  ChatRequest Limited = R;
  Limited.MaxTokens = Spec.firstTokens(promptOf(R), R.MaxTokens);
  uint64_t Bound = From->promptBound(Limited);
  std::string Text = "provider: " + Spec.name() + "\n" +
                     From->describe(Limited) +
                     formatv("reserved of the budget: at most {0} tokens",
                             Bound + Limited.MaxTokens)
                         .str();
  if (Spec.Cost)
    Text += formatv(", a cost of {0:f4}", costOf(Bound, Limited.MaxTokens));
  return Text + "\n";
}

Expected<ChatAnswer> ManagedProvider::attempt(const ChatRequest &R, bool First,
                                              double Seconds) {
  uint64_t Bound = From->promptBound(R);
  Spending Most{First ? 1u : 0u, Bound, R.MaxTokens,
                costOf(Bound, R.MaxTokens)};
  if (Error E = Purse.reserve(Most))
    return std::move(E);
  if (R.Reserved)
    R.Reserved();
  Spending Real{Most.Calls, 0, 0, 0};
  Expected<ChatAnswer> A = From->attempt(R, Seconds);
  if (A) {
    if (A->TokensEstimated) {
      A->PromptTokens = guessTokens(textOf(R).size());
      size_t Bytes = A->Text.size();
      for (const ToolUse &U : A->Uses)
        Bytes += U.Name.size() + U.Arguments.size();
      A->AnswerTokens = guessTokens(Bytes) + A->ThinkingTokens;
    }
    A->Cost = costOf(A->PromptTokens, A->AnswerTokens);
    Real.PromptTokens = A->PromptTokens;
    Real.AnswerTokens = A->AnswerTokens;
  } else {
    // A broken answer was paid for as far as it came.
    Error Told = handleErrors(
        A.takeError(), [&](std::unique_ptr<ProviderError> E) -> Error {
          if (E->Received) {
            Real.PromptTokens = guessTokens(textOf(R).size());
            Real.AnswerTokens =
                std::min<uint64_t>(guessTokens(E->Received), R.MaxTokens);
          }
          return Error(std::move(E));
        });
    A = std::move(Told);
  }
  Real.Cost = costOf(Real.PromptTokens, Real.AnswerTokens);
  Purse.settle(Most, Real);
  return A;
}

double ManagedProvider::waitBefore(unsigned Retry, const ProviderError &E) {
  double Most = std::min(LongestWait, Spec.Backoff * std::ldexp(1.0, Retry));
  double Jitter;
  {
    std::lock_guard Lock(Guard);
    Jitter = std::uniform_real_distribution<double>(0.5, 1)(Random);
  }
  // Many clients that were told the same time must not come all at once.
  if (E.RetryAfter)
    return *E.RetryAfter + (Jitter - 0.5) * std::min(1.0, Spec.Backoff);
  return Most * Jitter;
}

unsigned ManagedProvider::roomFor(const ChatRequest &R) {
  const StringRef Prompt = promptOf(R);
  unsigned First = Spec.firstTokens(Prompt, R.MaxTokens);
  std::lock_guard Lock(Guard);
  const Room &Known = Rooms[Prompt.str()];
  return std::min(std::max(First, Known.Needed), Known.Allowed);
}

std::optional<unsigned> ManagedProvider::moreRoom(const ChatRequest &R) {
  constexpr unsigned Times = 4;
  const StringRef Prompt = promptOf(R);
  std::lock_guard Lock(Guard);
  Room &Known = Rooms[Prompt.str()];
  const unsigned Most = std::min(Spec.mostTokens(Prompt), Known.Allowed);
  if (R.MaxTokens >= Most)
    return std::nullopt;
  // Those that ask the same need it, too.
  return Known.Needed = static_cast<unsigned>(
             std::min<uint64_t>(Most, uint64_t(Times) * R.MaxTokens));
}

void ManagedProvider::refuseRoom(const ChatRequest &R, unsigned Had) {
  std::lock_guard Lock(Guard);
  Room &Known = Rooms[promptOf(R).str()];
  Known.Allowed = std::min(Known.Allowed, std::max(Had, R.MaxTokens / 2));
  Known.Needed = std::min(Known.Needed, Known.Allowed);
}

Expected<ChatAnswer> ManagedProvider::ask(const ChatRequest &Asked) {
  using Clock = std::chrono::steady_clock;
  ChatRequest R = Asked;
  R.MaxTokens = roomFor(Asked);
  Slot Mine(*this);
  Clock::time_point Start = Clock::now();
  auto Elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - Start).count();
  };
  // An answer that was cut off, while the request has more room.
  std::optional<ChatAnswer> Cut;
  unsigned Larger = 0;
  for (unsigned Attempt = 0;; ++Attempt) {
    Expected<ChatAnswer> A =
        attempt(R, Attempt == 0, std::max(0.001, Spec.Total - Elapsed()));
    if (A) {
      A->Attempts = Attempt + 1;
      A->Seconds = Elapsed();
      A->Provider = Spec.name();
      A->Effort = Spec.Effort;
      A->Limit = R.MaxTokens;
      if (A->Model.empty())
        A->Model = Spec.Model;
      if (Cut) {
        A->PromptTokens += Cut->PromptTokens;
        A->AnswerTokens += Cut->AnswerTokens;
        A->ThinkingTokens += Cut->ThinkingTokens;
        A->TokensEstimated |= Cut->TokensEstimated;
        A->Cost += Cut->Cost;
      }
      std::optional<unsigned> More =
          A->Finish == "length" ? moreRoom(R) : std::nullopt;
      if (!More)
        return A;
      Cut = std::move(*A);
      R.MaxTokens = *More;
      ++Larger;
      continue;
    }
    // What was cut off is an answer still, if there is no larger one.
    if (Cut) {
      bool IsRefused = false;
      Error Other = handleErrors(
          A.takeError(), [&](std::unique_ptr<ProviderError> E) -> Error {
            IsRefused = E->fault() == ProviderFault::Refused;
            if (IsRefused || E->fault() == ProviderFault::Budget)
              return Error::success();
            return Error(std::move(E));
          });
      if (!Other) {
        if (!IsRefused)
          return std::move(*Cut);
        refuseRoom(R, Cut->Limit);
        R.MaxTokens = Cut->Limit;
        std::optional<unsigned> Less = moreRoom(R);
        if (!Less)
          return std::move(*Cut);
        R.MaxTokens = *Less;
        ++Larger;
        continue;
      }
      A = std::move(Other);
    }
    double Wait = -1;
    Error Failed = handleErrors(
        A.takeError(), [&](std::unique_ptr<ProviderError> E) -> Error {
          if (!E->worthAnother())
            return Error(std::move(E));
          double Next = waitBefore(Attempt, *E);
          bool TooLate = Elapsed() + Next >= Spec.Total;
          if (Attempt - Larger < Spec.Retries && !TooLate) {
            Wait = Next;
            return Error::success();
          }
          std::string Text = E->text();
          if (Attempt)
            Text += formatv(" ({0} attempts)", Attempt + 1).str();
          if (TooLate && Attempt - Larger < Spec.Retries)
            Text += formatv("; another attempt after {0:f1} s would pass the "
                            "call's {1:f1} s",
                            Next, Spec.Total)
                        .str();
          auto Last =
              std::make_unique<ProviderError>(E->fault(), Text, E->hint());
          Last->RetryAfter = E->RetryAfter;
          return Error(std::move(Last));
        });
    if (Failed)
      return std::move(Failed);
    std::this_thread::sleep_for(std::chrono::duration<double>(Wait));
  }
}

} // namespace cupilot
