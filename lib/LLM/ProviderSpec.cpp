//===- ProviderSpec.cpp - What --provider names -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/ProviderSpec.h"
#include "Http.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

using Protocol = ProviderSpec::Protocol;
using SchemaMode = ProviderSpec::SchemaMode;

namespace {
/// What is known of a kind.
struct KindEntry {
  StringRef Name;
  Protocol P;
  StringRef Url, KeyVariable;
  bool KeyNeeded, Free;
  SchemaMode Schema;
};
} // namespace

static constexpr KindEntry Kinds[] = {
    {"openai", Protocol::OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY",
     true, false, SchemaMode::JsonSchema},
    {"deepseek", Protocol::OpenAI, "https://api.deepseek.com/v1",
     "DEEPSEEK_API_KEY", true, false, SchemaMode::JsonObject},
    {"anthropic", Protocol::Anthropic, "https://api.anthropic.com/v1",
     "ANTHROPIC_API_KEY", true, false, SchemaMode::Tool},
    {"vllm", Protocol::OpenAI, "http://localhost:8000/v1", "VLLM_API_KEY",
     false, true, SchemaMode::JsonSchema},
    {"llamacpp", Protocol::OpenAI, "http://localhost:8080/v1", "LLAMA_API_KEY",
     false, true, SchemaMode::JsonSchema},
    {"ollama", Protocol::OpenAI, "http://localhost:11434/v1", "", false, true,
     SchemaMode::JsonSchema},
    {"exec", Protocol::Exec, "", "", false, false, SchemaMode::None},
    {"spool", Protocol::Spool, "", "", false, true, SchemaMode::None},
    {"replay", Protocol::Replay, "", "", false, true, SchemaMode::None},
};

static constexpr unsigned MostTokens = 10000000;

static Error wrongValue(StringRef Key, StringRef Takes) {
  return usageError("--provider: " + Key + "= takes " + Takes);
}

static Error readSeconds(StringRef Key, StringRef Value, double &Seconds) {
  double Number;
  if (Value.getAsDouble(Number) || !(Number >= 0) || Number > 1e9)
    return wrongValue(Key, "seconds; 0 is no limit");
  Seconds = Number == 0 ? 1e9 : Number;
  return Error::success();
}

template <typename NumberT>
static Error readNumber(StringRef Key, StringRef Value, NumberT Least,
                        NumberT Most, NumberT &Number) {
  if (Value.getAsInteger(10, Number) || Number < Least || Number > Most)
    return wrongValue(
        Key, ("a number from " + Twine(Least) + " to " + Twine(Most)).str());
  return Error::success();
}

static Error readFlag(StringRef Key, StringRef Value, bool &Flag) {
  if (Value != "yes" && Value != "no")
    return wrongValue(Key, "yes or no");
  Flag = Value == "yes";
  return Error::success();
}

static Error readOption(ProviderSpec &S, StringRef Key, StringRef Value) {
  if (Key == "model") {
    if (Value.empty() || Value.size() > 200 ||
        any_of(Value, [](char C) { return C <= ' ' || C == 0x7f; }))
      return wrongValue(Key, "the model's name");
    S.Model = Value.str();
    return Error::success();
  }
  if (Key == "key") {
    bool Name =
        !Value.empty() && !isDigit(Value.front()) && all_of(Value, [](char C) {
          return isUpper(C) || isDigit(C) || C == '_';
        });
    if (!Name && Value != "none")
      return usageError("--provider: key= takes the name of the environment "
                        "variable that holds the key, or none",
                        "never write a key on a command line: export "
                        "MY_KEY=..., then key=MY_KEY");
    S.KeyVariable = Name ? Value.str() : "";
    S.KeyNeeded = Name;
    return Error::success();
  }
  if (Key == "price") {
    auto [In, Out] = Value.split('/');
    Price P;
    if (In.getAsDouble(P.Prompt) || Out.getAsDouble(P.Answer) ||
        !(P.Prompt >= 0) || !(P.Answer >= 0))
      return wrongValue(Key, "the prices of a million tokens, PROMPT/ANSWER, "
                             "as in price=3/15");
    S.Cost = P;
    return Error::success();
  }
  if (Key == "schema") {
    auto Mode = StringSwitch<std::optional<SchemaMode>>(Value)
                    .Case("json_schema", SchemaMode::JsonSchema)
                    .Case("json_object", SchemaMode::JsonObject)
                    .Case("tool", SchemaMode::Tool)
                    .Case("none", SchemaMode::None)
                    .Default(std::nullopt);
    bool Fits =
        Mode && (S.P == Protocol::Anthropic
                     ? *Mode == SchemaMode::Tool || *Mode == SchemaMode::None
                     : *Mode != SchemaMode::Tool);
    if (!Fits)
      return wrongValue(Key, S.P == Protocol::Anthropic
                                 ? "tool or none"
                                 : "json_schema, json_object or none");
    S.Schema = *Mode;
    return Error::success();
  }
  if (Key == "temperature") {
    double T;
    if (Value.getAsDouble(T) || !(T >= 0 && T <= 2))
      return wrongValue(Key, "a number from 0 to 2");
    S.Temperature = T;
    return Error::success();
  }
  if (Key == "limit-field") {
    if (Value != "max_tokens" && Value != "max_completion_tokens")
      return wrongValue(Key, "max_tokens or max_completion_tokens");
    S.NewTokenLimit = Value == "max_completion_tokens";
    return Error::success();
  }
  if (Key == "max-tokens") {
    auto [Prompt, Number] = Value.split(':');
    if (Number.empty() && !Value.contains(':'))
      return readNumber(Key, Value, 1u, MostTokens, S.MaxTokens);
    if (Prompt.empty() || !all_of(Prompt, [](char C) {
          return isLower(C) || isDigit(C) || C == '-';
        }))
      return wrongValue(Key, "N or PROMPT:N, as in "
                             "max-tokens=strategy-translator:100000");
    return readNumber(Key, Number, 1u, MostTokens, S.MaxTokensOf[Prompt.str()]);
  }
  if (Key == "thinking-tokens") {
    S.ThinkingTokens = 0;
    return readNumber(Key, Value, 0u, MostTokens, *S.ThinkingTokens);
  }
  if (Key == "effort") {
    if (S.P != Protocol::OpenAI && S.P != Protocol::Anthropic)
      return usageError("--provider " + S.Kind +
                            ": effort= is for providers "
                            "over HTTP",
                        "the command or who answers decides how much it "
                        "thinks");
    if (Value.empty() || Value.size() > 20 ||
        !all_of(Value, [](char C) { return isLower(C); }))
      return wrongValue(Key, "a word of the provider's: low, medium, high ...");
    S.Effort = Value.str();
    return Error::success();
  }
  if (Key == "changed") {
    if (Value != "stop" && Value != "use")
      return wrongValue(Key, "use (report it, use the answer) or stop");
    S.StopAtChange = Value == "stop";
    return Error::success();
  }
  if (Key == "jobs")
    return readNumber(Key, Value, 1u, 1000u, S.Jobs);
  if (Key == "retries")
    return readNumber(Key, Value, 0u, 100u, S.Retries);
  if (Key == "max-bytes")
    return readNumber<uint64_t>(Key, Value, 1, uint64_t(1) << 30, S.MaxBytes);
  if (Key == "backoff")
    return readSeconds(Key, Value, S.Backoff);
  if (Key == "connect")
    return readSeconds(Key, Value, S.Connect);
  if (Key == "inactivity")
    return readSeconds(Key, Value, S.Inactivity);
  if (Key == "total")
    return readSeconds(Key, Value, S.Total);
  if (Key == "stream")
    return readFlag(Key, Value, S.Stream);
  if (Key == "plain")
    return readFlag(Key, Value, S.AllowPlain);
  return usageError("--provider: unknown option",
                    "options: model, key, price, schema, temperature, "
                    "max-tokens, thinking-tokens, effort, limit-field, jobs, "
                    "retries, backoff, connect, "
                    "inactivity, total, max-bytes, stream, plain, changed");
}

/// Takes "2*" off the text.
static Error readWeight(ProviderSpec &S, StringRef &Text) {
  size_t Star = Text.find('*');
  size_t Letter = Text.find_if([](char C) { return isAlpha(C); });
  if (Star == StringRef::npos || Star > Letter)
    return Error::success();
  if (Text.take_front(Star).trim().getAsDouble(S.Weight) || !(S.Weight > 0) ||
      S.Weight > 1e6)
    return usageError("--provider: a weight is a number above 0",
                      "for example --provider 2*openai,model=NAME");
  Text = Text.drop_front(Star + 1);
  return Error::success();
}

static Error checkWhere(ProviderSpec &S, const KindEntry &Kind) {
  switch (S.P) {
  case Protocol::Exec:
    return S.Where.empty()
               ? usageError("--provider exec: does not name a command",
                            "for example exec:./ask.sh")
               : Error::success();
  case Protocol::Spool:
  case Protocol::Replay:
    return S.Where.empty()
               ? usageError("--provider " + S.Kind + ": does not name a folder",
                            "for example " + S.Kind + ":answers")
               : Error::success();
  default:
    break;
  }
  if (S.Where.empty())
    S.Where = Kind.Url.str();
  Expected<ParsedUrl> Url = parseUrl(S.Where);
  if (!Url)
    return Url.takeError();
  Expected<ParsedUrl> Usual = parseUrl(Kind.Url);
  if (!Usual)
    return Usual.takeError();
  // A key goes where it belongs, or where the user says.
  bool Foreign = Usual->Host != Url->Host && !Usual->isLocal();
  if (Foreign && S.KeyVariable == Kind.KeyVariable) {
    S.KeyVariable.clear();
    S.KeyNeeded = false;
  }
  if (Url->Scheme == "http" && Url->isLocal())
    S.AllowPlain = true;
  while (StringRef(S.Where).ends_with("/"))
    S.Where.pop_back();
  return Error::success();
}

Expected<ProviderSpec> ProviderSpec::parse(StringRef Text) {
  ProviderSpec S;
  if (Error E = readWeight(S, Text))
    return std::move(E);
  StringRef Name = Text.take_until([](char C) { return C == ':' || C == ','; });
  const KindEntry *Kind =
      find_if(Kinds, [&](const KindEntry &K) { return K.Name == Name; });
  if (Kind == std::end(Kinds))
    return usageError(
        "--provider: unknown kind of provider",
        "openai, deepseek, anthropic, vllm, llamacpp, ollama, each with "
        ":URL and ,model=NAME; exec:CMD, spool:DIR, replay:DIR");
  S.Kind = Kind->Name.str();
  S.P = Kind->P;
  S.KeyVariable = Kind->KeyVariable.str();
  S.KeyNeeded = Kind->KeyNeeded;
  S.Free = Kind->Free;
  S.Schema = Kind->Schema;
  S.NewTokenLimit = Kind->Name == "openai";
  if (S.P == Protocol::Exec) {
    S.Jobs = 1;
    S.Inactivity = 1e9; // It prints its answer when it has it.
  }
  if (S.P == Protocol::Spool || S.P == Protocol::Replay) {
    S.Jobs = 1000;
    S.Total = S.Inactivity = 1e9;
    S.Retries = 0;
  }
  StringRef Rest = Text.drop_front(Name.size());
  if (S.P == Protocol::Exec) {
    // Options may stand before the colon: a command may hold anything.
    auto [Options, Command] = Rest.split(':');
    S.Where = Command.trim().str();
    Rest = Options;
  } else if (Rest.consume_front(":")) {
    StringRef Where = Rest.take_until([](char C) { return C == ','; });
    S.Where = Where.str();
    Rest = Rest.drop_front(Where.size());
  }
  bool KeyGiven = false;
  SmallVector<StringRef> Options;
  Rest.split(Options, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Option : Options) {
    auto [OptionName, Value] = Option.split('=');
    KeyGiven |= OptionName.trim() == "key";
    if (Error E = readOption(S, OptionName.trim(), Value.trim()))
      return std::move(E);
  }
  std::string Chosen = S.KeyVariable;
  bool Needed = S.KeyNeeded;
  if (Error E = checkWhere(S, *Kind))
    return std::move(E);
  if (KeyGiven) {
    S.KeyVariable = Chosen;
    S.KeyNeeded = Needed;
  }
  bool Http = S.P == Protocol::OpenAI || S.P == Protocol::Anthropic;
  if (Http && S.Model.empty() && S.Kind != "llamacpp")
    return usageError("--provider " + S.Kind + ": no model was given",
                      "for example " + S.Kind + ",model=NAME");
  return S;
}

unsigned ProviderSpec::mostTokens(StringRef Prompt) const {
  auto Own = MaxTokensOf.find(Prompt.str());
  return Own == MaxTokensOf.end() ? MaxTokens : Own->second;
}

unsigned ProviderSpec::firstTokens(StringRef Prompt, unsigned Text) const {
  constexpr unsigned Usual = 32768;
  const bool Thinks = !Effort.empty() && Effort != "none";
  return std::min(mostTokens(Prompt),
                  Text + ThinkingTokens.value_or(Thinks ? Usual : 0));
}

std::string ProviderSpec::name() const {
  switch (P) {
  case Protocol::Exec: // Its command may hold anything.
    return "exec";
  case Protocol::Spool:
  case Protocol::Replay:
    return Kind + " " + Where;
  default:
    return Model.empty() ? Kind : Kind + " " + Model;
  }
}

} // namespace cupilot
