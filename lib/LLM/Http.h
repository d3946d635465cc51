//===- Http.h - One HTTP request under limits that bind -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LLM_HTTP_H
#define CUPILOT_LIB_LLM_HTTP_H

#include "cupilot/LLM/Provider.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cupilot {

struct HttpLimits {
  double Connect = 30;         ///< Seconds until there is a connection.
  double Inactivity = 300;     ///< Seconds in which nothing moves.
  double Total = 1800;         ///< Seconds of everything.
  uint64_t MaxBytes = 8 << 20; ///< Of the answer as it comes.
};

struct HttpReply {
  long Status = 0;
  std::string ContentType, RetryAfter, Location;
  /// What came: all of it, or, where the status is no success, its beginning.
  std::string Body;
  uint64_t Received = 0; ///< Bytes of the body.
};

/// Posts \p Body. Each piece of a successful answer goes to \p OnData as it
/// comes; once that returns true the answer is complete and the rest is not
/// waited for. Redirects are not followed, certificates are verified, proxies
/// are those of curl's environment but for this machine itself. What fails is a
/// ProviderError that says what of \p Host failed; \p Reply holds what came
/// until then.
llvm::Error
httpPost(const std::string &Url, llvm::StringRef Host,
         llvm::ArrayRef<std::string> Headers, llvm::StringRef Body,
         const HttpLimits &Limits, HttpReply &Reply,
         llvm::function_ref<llvm::Expected<bool>(llvm::StringRef)> OnData);

/// Scheme, host and path of a URL; what is none, or holds a user's name, a
/// password or a key, is a usage error that does not quote it.
struct ParsedUrl {
  std::string Scheme, Host, Text;
  bool isLocal() const; ///< This machine.
};
llvm::Expected<ParsedUrl> parseUrl(llvm::StringRef Text);

/// The seconds that a Retry-After header asks for: a number, or a date.
std::optional<double> parseRetryAfter(llvm::StringRef Header);

} // namespace cupilot

#endif // CUPILOT_LIB_LLM_HTTP_H
