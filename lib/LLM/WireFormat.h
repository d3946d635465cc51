//===- WireFormat.h - What goes over the wire to and from models -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LLM_WIREFORMAT_H
#define CUPILOT_LIB_LLM_WIREFORMAT_H

#include "cupilot/LLM/Provider.h"
#include "cupilot/LLM/ProviderSpec.h"
#include <memory>

namespace cupilot {

/// Puts an answer together from a stream's events, or from one object.
class AnswerDecoder {
public:
  virtual ~AnswerDecoder();
  /// One event of a stream.
  virtual llvm::Error event(llvm::StringRef Event, llvm::StringRef Data) = 0;
  /// A whole answer that was not streamed.
  virtual llvm::Error whole(const llvm::json::Object &O) = 0;
  /// Nothing more can come.
  bool Done = false;
  /// The model has said why it stopped: the text is whole.
  bool Finished = false;
  bool HasUsage = false;
  uint64_t ThoughtBytes = 0; ///< Of the thoughts that were sent.
  ChatAnswer Answer;
};

/// The body of a request in the protocol of OpenAI's chat completions.
std::string openAIBody(const ProviderSpec &Spec, const ChatRequest &R);
std::unique_ptr<AnswerDecoder> openAIDecoder();

/// In that of Anthropic's messages. The schema is that of a tool that the model
/// must use, where there are no others.
std::string anthropicBody(const ProviderSpec &Spec, const ChatRequest &R);
/// With \p HasTools uses of tools are calls, else the answer itself.
std::unique_ptr<AnswerDecoder> anthropicDecoder(bool HasTools);

/// The arguments of \p U as an object; an empty one where they are none.
llvm::json::Object argumentsOf(const ToolUse &U);

/// The system part, with the answer's schema where no field of the request
/// carries it.
std::string systemText(const ProviderSpec &Spec, const ChatRequest &R);

/// What an object of the server says of an error, "" when it says none:
/// {"error": {"message": ..., "type": ..., "code": ...}} or {"error": "..."}.
std::string errorMessageIn(const llvm::json::Object &O);
/// Its type or code: "insufficient_quota", "overloaded_error".
std::string errorCodeIn(const llvm::json::Object &O);
/// As a fault of the server, or a refusal where its code says so.
llvm::Error errorInStream(const llvm::json::Object &O);

/// The JSON object in \p Text, which may hold broken UTF-8; Malformed.
llvm::Expected<llvm::json::Object> objectFrom(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_LIB_LLM_WIREFORMAT_H
