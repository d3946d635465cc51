//===- Endpoint.h - One attempt at an answer -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LLM_ENDPOINT_H
#define CUPILOT_LIB_LLM_ENDPOINT_H

#include "cupilot/LLM/Provider.h"
#include "cupilot/LLM/ProviderSpec.h"
#include "cupilot/LLM/Secrets.h"
#include <functional>
#include <memory>

namespace cupilot {

/// A place where answers come from, asked once: no retries, no budget.
class Endpoint {
public:
  virtual ~Endpoint();
  /// \p Seconds is what is left of the call's time. Fills in text, finish and
  /// what is known of tokens. Errors hold no keys.
  virtual llvm::Expected<ChatAnswer> attempt(const ChatRequest &R,
                                             double Seconds) = 0;
  virtual std::string describe(const ChatRequest &R) const = 0;
  /// The most tokens that the prompt can come to: no tokeniser in use makes
  /// more tokens than bytes.
  virtual uint64_t promptBound(const ChatRequest &R) const;
};

/// Tokens of \p Bytes bytes, where nobody tells: code comes to about three
/// bytes a token.
inline uint64_t guessTokens(uint64_t Bytes) { return (Bytes + 2) / 3; }

/// A missing key (but with \p DryRun), or one that would travel without TLS, is
/// a usage error.
llvm::Expected<std::unique_ptr<Endpoint>>
makeHttpEndpoint(const ProviderSpec &Spec, Secrets &Hidden, bool DryRun);
std::unique_ptr<Endpoint> makeExecEndpoint(const ProviderSpec &Spec);
/// \p Notice is told once for each answer that is waited for.
std::unique_ptr<Endpoint>
makeSpoolEndpoint(const ProviderSpec &Spec,
                  std::function<void(llvm::StringRef)> Notice);

} // namespace cupilot

#endif // CUPILOT_LIB_LLM_ENDPOINT_H
