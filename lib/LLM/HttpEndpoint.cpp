//===- HttpEndpoint.cpp - Models behind an HTTP interface -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Endpoint.h"
#include "Http.h"
#include "Sse.h"
#include "WireFormat.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

Endpoint::~Endpoint() = default;

uint64_t Endpoint::promptBound(const ChatRequest &R) const {
  return textOf(R).size() + 64 * (R.Messages.size() + 1);
}

namespace {
class HttpEndpoint : public Endpoint {
public:
  HttpEndpoint(const ProviderSpec &Spec, std::string Host, std::string Key,
               const Secrets &Hidden)
      : Spec(Spec), Host(std::move(Host)), Key(std::move(Key)), Hidden(Hidden) {
  }
  Expected<ChatAnswer> attempt(const ChatRequest &R, double Seconds) override;
  std::string describe(const ChatRequest &R) const override;

private:
  bool isAnthropic() const {
    return Spec.P == ProviderSpec::Protocol::Anthropic;
  }
  std::string url() const {
    return Spec.Where + (isAnthropic() ? "/messages" : "/chat/completions");
  }
  std::vector<std::string> headers(StringRef KeyText) const;
  std::string body(const ChatRequest &R) const {
    return isAnthropic() ? anthropicBody(Spec, R) : openAIBody(Spec, R);
  }
  Error refusal(const HttpReply &Reply) const;
  /// \p E with the provider's name before it, without keys, and with what is
  /// known of the bytes that came.
  Error named(Error E, const HttpReply &Reply) const;

  const ProviderSpec Spec;
  const std::string Host, Key;
  const Secrets &Hidden;
};
} // namespace

std::vector<std::string> HttpEndpoint::headers(StringRef KeyText) const {
  std::vector<std::string> List = {"Content-Type: application/json"};
  List.push_back(Spec.Stream ? "Accept: text/event-stream, application/json"
                             : "Accept: application/json");
  if (isAnthropic())
    List.push_back("anthropic-version: 2023-06-01");
  if (!KeyText.empty())
    List.push_back((isAnthropic() ? "x-api-key: " + KeyText
                                  : "Authorization: Bearer " + KeyText)
                       .str());
  return List;
}

std::string HttpEndpoint::describe(const ChatRequest &R) const {
  std::string Text = "POST " + url() + "\n";
  for (const std::string &Header : headers(
           Key.empty() && !Spec.KeyNeeded ? "" : "[" + Spec.KeyVariable + "]"))
    Text += Header + "\n";
  static constexpr StringRef Modes[] = {
      "json_schema", "json_object; the schema is part of the system text",
      "a tool that must be used", "part of the system text"};
  return Text + "model: " + (Spec.Model.empty() ? "the server's" : Spec.Model) +
         "\nstream: " + (Spec.Stream ? "yes" : "no") +
         "\nschema: " + Modes[static_cast<int>(Spec.Schema)].str() +
         formatv("\nbody: {0} bytes of JSON\n", body(R).size()).str();
}

Error HttpEndpoint::refusal(const HttpReply &Reply) const {
  std::string Said, Code;
  if (Expected<json::Object> O = objectFrom(Reply.Body)) {
    Said = errorMessageIn(*O);
    Code = errorCodeIn(*O);
  } else {
    consumeError(O.takeError());
    Said = Reply.Body;
  }
  Said = excerpt(Hidden.scrub(Said));
  std::string Text = formatv("status {0}", Reply.Status).str() +
                     (Said.empty() ? "" : ": " + Said);
  auto Fail = [&](ProviderFault Fault, const Twine &Hint) {
    auto E = std::make_unique<ProviderError>(Fault, Text, Hint);
    E->RetryAfter = parseRetryAfter(Reply.RetryAfter);
    return Error(std::move(E));
  };
  if (Reply.Status / 100 == 3) {
    Text = formatv("status {0}: it redirects", Reply.Status).str();
    if (!Reply.Location.empty())
      Text += " to " + excerpt(Hidden.scrub(Reply.Location));
    return Fail(ProviderFault::Redirect,
                "cuPilot does not follow redirects, so that keys go only to "
                "the named server; name the right address in --provider");
  }
  if (Code == "insufficient_quota")
    return Fail(ProviderFault::Refused, "the account has no credit left");
  switch (Reply.Status) {
  case 401:
  case 403:
    return Fail(ProviderFault::Refused,
                Key.empty() ? "no key was sent: name the environment variable "
                              "that contains it with key=VARIABLE in --provider"
                            : "is the key in " + Twine(Spec.KeyVariable) +
                                  " right, and may it use this model?");
  case 404:
    return Fail(ProviderFault::Refused, "check the address (most end in /v1), "
                                        "and that the server has the model '" +
                                            Twine(Spec.Model) + "'?");
  case 429:
    return Fail(ProviderFault::Limited,
                "send fewer requests at a time with jobs=N in --provider");
  case 408:
  case 409:
  case 425:
    return Fail(ProviderFault::Server, "");
  default:
    return Reply.Status / 100 == 5 ? Fail(ProviderFault::Server, "")
                                   : Fail(ProviderFault::Refused, "");
  }
}

Error HttpEndpoint::named(Error E, const HttpReply &Reply) const {
  return handleErrors(
      std::move(E), [&](std::unique_ptr<ProviderError> P) -> Error {
        auto Named = std::make_unique<ProviderError>(
            P->fault(), Spec.name() + ": " + Hidden.scrub(P->text()),
            Hidden.scrub(P->hint()));
        Named->RetryAfter = P->RetryAfter;
        Named->Received = Reply.Status / 100 == 2 ? Reply.Received : 0;
        return Error(std::move(Named));
      });
}

Expected<ChatAnswer> HttpEndpoint::attempt(const ChatRequest &R,
                                           double Seconds) {
  std::unique_ptr<AnswerDecoder> Decoder =
      isAnthropic() ? anthropicDecoder(!R.Tools.empty()) : openAIDecoder();
  HttpLimits Limits{Spec.Connect, Spec.Inactivity, Seconds, Spec.MaxBytes};
  HttpReply Reply;
  SseParser Events;
  auto OnEvent = [&](StringRef Event, StringRef Data) {
    return Decoder->event(Event, Data);
  };
  // Whatever was asked for, the server decides whether it streams.
  auto Streams = [&] {
    if (!Reply.ContentType.empty())
      return StringRef(Reply.ContentType).starts_with("text/event-stream");
    StringRef Start = StringRef(Reply.Body).ltrim();
    return Start.starts_with("data:") || Start.starts_with("event:") ||
           Start.starts_with(":");
  };
  Error E = httpPost(url(), Host, headers(Key), body(R), Limits, Reply,
                     [&](StringRef Piece) -> Expected<bool> {
                       if (!Streams())
                         return false;
                       if (Error E = Events.feed(Piece, OnEvent))
                         return std::move(E);
                       return Decoder->Done;
                     });
  // What broke after the last word costs nothing.
  if (E && !(Decoder->Finished && Streams()))
    return named(std::move(E), Reply);
  consumeError(std::move(E));
  if (Reply.Status / 100 != 2)
    return named(refusal(Reply), Reply);
  if (Streams()) {
    if (!Decoder->Done && !Decoder->Finished)
      if (Error E = Events.finish(OnEvent))
        return named(std::move(E), Reply);
    if (!Decoder->Done && !Decoder->Finished)
      return named(
          providerError(ProviderFault::Connection,
                        "the stream ended before the answer was complete"),
          Reply);
  } else {
    Expected<json::Object> O = objectFrom(Reply.Body);
    if (!O)
      return named(O.takeError(), Reply);
    if (Error E = Decoder->whole(*O))
      return named(std::move(E), Reply);
  }
  ChatAnswer A = std::move(Decoder->Answer);
  // A model that was shown a key, or a server that echoes it.
  if (!Key.empty()) {
    Secrets Own;
    Own.add(Key);
    A.Text = Own.scrub(A.Text);
    A.Model = Own.scrub(A.Model);
    for (ToolUse &U : A.Uses)
      for (std::string *Each : {&U.Id, &U.Name, &U.Arguments})
        *Each = Own.scrub(*Each);
    // Signed thoughts cannot be changed.
    const std::string Thoughts = formatv("{0}", A.Thoughts).str();
    if (Own.scrub(Thoughts) != Thoughts)
      A.Thoughts = nullptr;
  }
  A.Model = excerpt(A.Model, 200);
  A.Finish = excerpt(A.Finish, 50);
  A.TokensEstimated = !Decoder->HasUsage;
  if (A.ThinkingTokens == 0)
    A.ThinkingTokens = guessTokens(Decoder->ThoughtBytes);
  return A;
}

Expected<std::unique_ptr<Endpoint>>
makeHttpEndpoint(const ProviderSpec &Spec, Secrets &Hidden, bool DryRun) {
  Expected<ParsedUrl> Url = parseUrl(Spec.Where);
  if (!Url)
    return Url.takeError();
  std::string Key;
  if (!Spec.KeyVariable.empty()) {
    Expected<std::string> Found = keyFromEnvironment(Spec.KeyVariable);
    if (!Found)
      return Found.takeError();
    Key = std::move(*Found);
    if (Key.empty() && Spec.KeyNeeded && !DryRun)
      return usageError("there is no key for " + Spec.name() + ": " +
                            Spec.KeyVariable + " is not set",
                        "export " + Spec.KeyVariable +
                            "=...; or in --provider, name another variable "
                            "with key=VARIABLE, or send no key with key=none");
  }
  if (!Key.empty() && Url->Scheme == "http" && !Spec.AllowPlain)
    return usageError("the key in " + Spec.KeyVariable + " would go to '" +
                          Url->Host + "' without encryption",
                      "use https://, or key=none or plain=yes in --provider");
  Hidden.add(Key);
  return std::make_unique<HttpEndpoint>(Spec, Url->Host, std::move(Key),
                                        Hidden);
}

} // namespace cupilot
