//===- WireFormat.cpp - What both protocols share -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WireFormat.h"
#include "cupilot/LLM/Secrets.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

AnswerDecoder::~AnswerDecoder() = default;

std::string systemText(const ProviderSpec &Spec, const ChatRequest &R) {
  using Mode = ProviderSpec::SchemaMode;
  if (!R.Schema || Spec.Schema == Mode::JsonSchema || Spec.Schema == Mode::Tool)
    return R.System;
  return R.System + formatv("{0}The JSON schema of your answer:\n{1:2}",
                            R.System.empty() ? "" : "\n\n", *R.Schema)
                        .str();
}

json::Object argumentsOf(const ToolUse &U) {
  Expected<json::Value> V = parseJson(U.Arguments);
  if (!V)
    consumeError(V.takeError());
  else if (json::Object *O = V->getAsObject())
    return std::move(*O);
  return {};
}

std::string errorMessageIn(const json::Object &O) {
  if (auto Text = O.getString("error"))
    return Text->str();
  if (const json::Object *E = O.getObject("error"))
    return E->getString("message").value_or("").str();
  // FastAPI's way, which vLLM has for some refusals.
  if (O.getString("object") == "error" || O.get("detail"))
    return O.getString("message")
        .value_or(O.getString("detail").value_or("an error without a message"))
        .str();
  return "";
}

std::string errorCodeIn(const json::Object &O) {
  if (const json::Object *E = O.getObject("error"))
    for (StringRef Key : {"code", "type"})
      if (auto Text = E->getString(Key))
        return Text->str();
  return "";
}

Error errorInStream(const json::Object &O) {
  std::string Code = errorCodeIn(O);
  bool Final = is_contained(
      ArrayRef<StringRef>({"invalid_request_error", "authentication_error",
                           "permission_error", "insufficient_quota",
                           "context_length_exceeded", "billing_error"}),
      Code);
  return providerError(
      Final ? ProviderFault::Refused
      : Code == "rate_limit_error" || Code == "rate_limit_exceeded"
          ? ProviderFault::Limited
          : ProviderFault::Server,
      "the server ended its answer with an error: " + errorMessageIn(O));
}

Expected<json::Object> objectFrom(StringRef Text) {
  Expected<json::Value> V = parseJson(json::fixUTF8(Text));
  if (V)
    if (json::Object *O = V->getAsObject())
      return std::move(*O);
  if (!V)
    consumeError(V.takeError());
  return providerError(ProviderFault::Malformed,
                       "the server did not send a JSON object: '" +
                           excerpt(Text, 120) + "'",
                       "check that this is the address of an API of that kind");
}

} // namespace cupilot
