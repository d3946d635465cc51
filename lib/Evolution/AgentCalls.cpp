//===- AgentCalls.cpp - Calls of agents, beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgentCalls.h"
#include "cupilot/Portable/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace cupilot {

/// Providers have limits of their own; this one is for their queue.
static constexpr size_t MostThreads = 64;

std::string stepPrefix(const Kernel &K) {
  StringRef Name = StringRef(K.Name).split('(').first.split('<').first;
  Name = Name.rsplit(' ').second.empty() ? Name : Name.rsplit(' ').second;
  std::string Safe;
  for (char C : Name)
    Safe += isAlnum(C) || C == '_' ? C : '_';
  return Safe + "-" + shortDigest(K.Digest, 8) + "/";
}

bool AskOrder::wait(size_t Place) {
  std::unique_lock Lock(Guard);
  Changed.wait(Lock, [&] { return Next >= Place; });
  return FirstRefused >= Place;
}

void AskOrder::begin(size_t Place) {
  {
    std::lock_guard Lock(Guard);
    Begun[Place] = true;
    while (Next < Begun.size() && Begun[Next])
      ++Next;
  }
  Changed.notify_all();
}

void AskOrder::refuse(size_t Place) {
  std::lock_guard Lock(Guard);
  FirstRefused = std::min(FirstRefused, Place);
}

/// The first call of a question. What follows it finds its place begun.
Expected<ChatAnswer> CallLog::askInOrder(const ChatRequest &R) {
  if (!Place->Order.wait(Place->Index))
    return providerError(ProviderFault::Budget,
                         "the budget was spent by a question before");
  ChatRequest InOrder = R;
  InOrder.Reserved = [this] { Place->Order.begin(Place->Index); };
  Expected<ChatAnswer> A = From.ask(InOrder);
  if (A)
    return A;
  return handleErrors(A.takeError(),
                      [&](std::unique_ptr<ProviderError> E) -> Error {
                        if (E->fault() == ProviderFault::Budget)
                          Place->Order.refuse(Place->Index);
                        return Error(std::move(E));
                      });
}

Expected<ChatAnswer> CallLog::ask(const ChatRequest &R) {
  Expected<ChatAnswer> A = Place ? askInOrder(R) : From.ask(R);
  if (A)
    Notes.push_back({R.Step, R.Prompt, digestOf(R), digest(A->Text),
                     A->Provider, A->Model, A->PromptTokens, A->AnswerTokens,
                     A->Cost, A->Seconds});
  return A;
}

void CallLog::addTo(CallCount &To) const {
  To.Used += static_cast<unsigned>(Notes.size());
  append_range(To.Notes, Notes);
}

Error askAll(size_t Count, function_ref<Error(AskPlace)> One) {
  std::vector<std::optional<Error>> Failed(Count);
  AskOrder Order(Count);
  std::atomic<size_t> Next = 0;
  std::atomic<bool> Stop = false;
  auto Work = [&] {
    for (size_t I; !Stop && (I = Next++) < Count;) {
      Error E = One({Order, I});
      Order.begin(I); // Some end without a call.
      if (!E)
        continue;
      bool Waits = false;
      E = handleErrors(std::move(E),
                       [&](std::unique_ptr<ProviderError> P) -> Error {
                         Waits = P->fault() == ProviderFault::NoAnswer;
                         return Error(std::move(P));
                       });
      if (!Waits)
        Stop = true;
      Failed[I].emplace(std::move(E));
    }
  };
  std::vector<std::thread> Threads;
  for (size_t I = 1; I < std::min(Count, MostThreads); ++I)
    Threads.emplace_back(Work);
  Work();
  for (std::thread &T : Threads)
    T.join();
  Error First = Error::success();
  for (std::optional<Error> &E : Failed) {
    if (!E)
      continue;
    if (First)
      consumeError(std::move(*E));
    else
      First = std::move(*E);
  }
  return First;
}

} // namespace cupilot
