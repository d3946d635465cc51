//===- llm-faults.cpp - Many calls to an interface with faults -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llm-faults PORT CALLS: asks the server of test/LLM/Inputs/server.py so often,
// sixteen calls at once, one fault after the other in all four ways, and checks
// how each call ends. Exit status 1: an answer was lost, a fault not seen, or a
// call longer than its limits allow.
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Session.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

using namespace llvm;
using namespace cupilot;

namespace {
struct Expectation {
  const char *Fault;
  /// Nothing: the answer comes.
  std::optional<ProviderFault> Ends;
};

constexpr double Total = 4;
const Expectation Faults[] = {
    {"ok", std::nullopt},
    {"slow", std::nullopt},
    {"silent", ProviderFault::Inactive},
    {"stalled", ProviderFault::Inactive},
    {"drip", ProviderFault::OutOfTime},
    {"cut", ProviderFault::Connection},
    {"cut-once", std::nullopt},
    {"reset", ProviderFault::Connection},
    {"malformed", ProviderFault::Malformed},
    {"html", ProviderFault::Malformed},
    {"wrong-schema", std::nullopt}, // Its text comes; the reader refuses it.
    {"unauthorized", ProviderFault::Refused},
    {"forbidden", ProviderFault::Refused},
    {"bad-request", ProviderFault::Refused},
    {"limited", std::nullopt},
    {"limited-for-ever", ProviderFault::Limited},
    {"retry-after", std::nullopt},
    {"retry-after-hours", ProviderFault::Limited},
    {"broken", std::nullopt},
    {"broken-for-ever", ProviderFault::Server},
    {"redirect", ProviderFault::Redirect},
    {"huge", ProviderFault::TooLarge},
    {"huge-line", ProviderFault::TooLarge},
    {"huge-error", ProviderFault::Server},
    {"utf8", std::nullopt},
    {"cut-late", std::nullopt},
    {"hang-late", std::nullopt},
    {"stream-error", ProviderFault::Server},
};
constexpr std::pair<const char *, const char *> Ways[] = {{"openai", "yes"},
                                                          {"openai", "no"},
                                                          {"anthropic", "yes"},
                                                          {"anthropic", "no"}};

struct Count {
  unsigned Calls = 0, Right = 0;
  double Longest = 0;
};
std::mutex Guard;
std::map<std::string, Count> Counts;
} // namespace

static void call(StringRef Port, unsigned Number) {
  const Expectation &Want = Faults[Number % std::size(Faults)];
  auto [Kind, Stream] = Ways[Number / std::size(Faults) % std::size(Ways)];
  SessionOptions O;
  O.Providers.push_back(
      formatv("{0}:http://127.0.0.1:{1}/{2}/{3}/v1,model=m,key=LLM_FAULTS_KEY,"
              "backoff=0.02,retries=3,inactivity=0.5,total={4},max-bytes="
              "1000000,stream={5}",
              Kind, Port, Want.Fault, Number, Total, Stream)
          .str());
  ChatRequest R;
  R.System = "Be short.";
  R.Messages.push_back({ChatMessage::Role::User, "Greet in JSON."});
  R.Schema = json::Object{{"type", "object"}};
  R.MaxTokens = 500;
  auto Start = std::chrono::steady_clock::now();
  std::string Got;
  bool Right = false;
  if (auto S = Session::open(O)) {
    Expected<ChatAnswer> A = (*S)->ask(R);
    if (A) {
      Got = A->Text;
      Right = !Want.Ends && StringRef(A->Text).contains("greeting");
    } else {
      handleAllErrors(
          A.takeError(),
          [&](const ProviderError &E) {
            Got = (toString(E.fault()) + ": " + E.text()).str();
            Right = Want.Ends == E.fault();
          },
          [&](const ErrorInfoBase &E) { Got = E.message(); });
    }
  } else {
    Got = toString(S.takeError());
  }
  double Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  Right &= Seconds < Total + 2 && !StringRef(Got).contains("VerySecret");
  std::lock_guard Lock(Guard);
  Count &C = Counts[Want.Fault];
  ++C.Calls;
  C.Right += Right;
  C.Longest = std::max(C.Longest, Seconds);
  if (!Right)
    errs() << formatv("{0} ({1}, stream={2}), call {3}, {4:f2} s: {5}\n",
                      Want.Fault, Kind, Stream, Number, Seconds, Got);
}

int main(int Argc, char **Argv) {
  unsigned Calls = 0;
  if (Argc != 3 || StringRef(Argv[2]).getAsInteger(10, Calls)) {
    errs() << "usage: llm-faults PORT CALLS\n";
    return 2;
  }
  setenv("LLM_FAULTS_KEY", "sk-VerySecret0123456789", 1);
  std::atomic<unsigned> Next = 0;
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < 16; ++I)
    Threads.emplace_back([&] {
      for (unsigned Number; (Number = Next++) < Calls;)
        call(Argv[1], Number);
    });
  for (std::thread &T : Threads)
    T.join();
  unsigned Right = 0;
  outs()
      << "| fault | calls | as expected | longest, s |\n|---|---:|---:|---:|\n";
  for (const auto &[Name, C] : Counts) {
    outs() << formatv("| {0} | {1} | {2} | {3:f2} |\n", Name, C.Calls, C.Right,
                      C.Longest);
    Right += C.Right;
  }
  outs() << formatv("| all | {0} | {1} | |\n", Calls, Right);
  return Right == Calls ? 0 : 1;
}
