//===- Recording.h - Answers kept so that a run can be repeated -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_RECORDING_H
#define CUPILOT_LLM_RECORDING_H

#include "cupilot/LLM/Budget.h"
#include "cupilot/LLM/Provider.h"
#include <functional>
#include <map>
#include <set>

namespace cupilot {

/// One question and its answer. Of models the channel is "llm"; other sources
/// of answers that a run depends on (a device) have channels of their own.
struct RecordedCall {
  std::string Channel; ///< Letters, digits, '-'.
  std::string Step;    ///< Where in the run: unique in its channel.
  llvm::json::Value Request = nullptr;
  llvm::json::Value Answer = nullptr;
  /// Of the request: "b3:...".
  std::string digest() const;
};

/// What a recording says of a request.
struct RecordedMatch {
  llvm::json::Value Answer = nullptr;
  bool Changed = false;   ///< The step had another request ...
  std::string Difference; ///< ... which differs so: lines with '-' and '+'.
};

/// A folder of calls, one JSON file each, CHANNEL/STEP.json, meant to be
/// committed: long texts are lists of lines. May be used by several threads.
class Recording {
public:
  /// Reads what is there. No such folder: a usage error, or, with \p Create, an
  /// empty recording. A broken file is a usage error that names it.
  static llvm::Expected<std::unique_ptr<Recording>> open(llvm::StringRef Folder,
                                                         bool Create);
  /// Writes the call before it returns; replaces an older one of its step.
  llvm::Error put(const RecordedCall &Call);
  /// The answer to the request; first by step. A request without a step is
  /// found by its digest, the n-th one as the n-th that was recorded.
  std::optional<RecordedMatch> find(llvm::StringRef Channel,
                                    llvm::StringRef Step,
                                    const llvm::json::Value &Request);
  size_t size() const;
  /// Steps of \p Channel that nobody asked for, in order.
  std::vector<std::string> unused(llvm::StringRef Channel) const;
  /// What the answers of models cost in steps whose names begin so.
  Spending spent(llvm::StringRef StepsOf = "") const;
  const std::string &folder() const { return Folder; }

private:
  explicit Recording(llvm::StringRef Folder) : Folder(Folder) {}
  std::string stepOf(llvm::StringRef Channel, llvm::StringRef Step,
                     llvm::StringRef Digest, std::map<std::string, unsigned> &);
  const std::string Folder;
  mutable std::mutex Guard;
  std::map<std::pair<std::string, std::string>, RecordedCall> Calls;
  std::set<std::pair<std::string, std::string>> Used;
  std::map<std::string, unsigned> Asked, Put; ///< Without step, by digest.
};

/// "g1/c3/translate" as a file's name without its end: "g1-c3-translate".
/// Without a step it is made of the digest. Odd characters are replaced and
/// tell in a few digits of the digest.
std::string stepFileName(llvm::StringRef Step, llvm::StringRef Digest);

/// The channel of models: requests and answers as JSON. Failures are answers
/// too, so that a replay fails as the run did.
llvm::json::Value recordOf(const ChatAnswer &A);
llvm::json::Value recordOf(const ProviderError &E);
/// The answer, or the error, that was recorded.
llvm::Expected<ChatAnswer> answerFrom(const llvm::json::Value &V);
/// Of a request: what is sent, and which prompt made it.
llvm::json::Value recordOf(const ChatRequest &R);

/// Answers from \p From and keeps each in \p To. With \p Resume, a call that
/// \p To has already, with the same request, is not made again.
std::unique_ptr<Provider> recordCalls(Provider &From, Recording &To,
                                      bool Resume);

/// Told of each request that differs from the recorded one: step, difference.
using ChangeNotice = std::function<void(llvm::StringRef, llvm::StringRef)>;
/// Answers from \p From alone. With \p Stop, a request that differs now is an
/// error; else it is told and gets the recorded answer.
std::unique_ptr<Provider> replayCalls(Recording &From, bool Stop,
                                      ChangeNotice Notice);

} // namespace cupilot

#endif // CUPILOT_LLM_RECORDING_H
