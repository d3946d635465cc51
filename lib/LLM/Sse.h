//===- Sse.h - Server-sent events -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LLM_SSE_H
#define CUPILOT_LIB_LLM_SSE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// Cuts a stream of server-sent events (WHATWG HTML, 9.2) into events, however
/// its bytes come.
class SseParser {
public:
  using Sink = llvm::function_ref<llvm::Error(llvm::StringRef Event,
                                              llvm::StringRef Data)>;
  llvm::Error feed(llvm::StringRef Bytes, Sink OnEvent);
  /// The last event, where the stream ended without an empty line.
  llvm::Error finish(Sink OnEvent);

private:
  llvm::Error line(llvm::StringRef Line, Sink OnEvent);
  std::string Partial, Event, Data;
  bool HasData = false, SkipLineFeed = false;
};

} // namespace cupilot

#endif // CUPILOT_LIB_LLM_SSE_H
