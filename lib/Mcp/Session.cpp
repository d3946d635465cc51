//===- Session.cpp - Messages of the Model Context Protocol -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mcp/Server.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Modern = "2026-07-28", Legacy = "2025-11-25";

// Of JSON-RPC, and of the protocol.
static constexpr int ParseFault = -32700, RequestFault = -32600,
                     MethodFault = -32601, ParamsFault = -32602,
                     VersionFault = -32022, LegacyNoResource = -32002;

static constexpr StringRef VersionKey =
                               "io.modelcontextprotocol/protocolVersion",
                           CapabilitiesKey =
                               "io.modelcontextprotocol/clientCapabilities",
                           ClientKey = "io.modelcontextprotocol/clientInfo",
                           ServerKey = "io.modelcontextprotocol/serverInfo",
                           ModelKey = "cupilot/model";

struct McpSession::Request {
  json::Value Id;
  std::string Method;
  json::Object Params;
  bool IsModern = false;
  McpClient From = {};
};

struct McpSession::Fault {
  int Code;
  std::string Text;
  json::Object Data = {};
};

static json::Object serverInfo() {
  return json::Object{{"name", "cupilot"},
                      {"title", "cuPilot: proved CUDA kernel variants"},
                      {"version", CUPILOT_VERSION}};
}

static constexpr StringRef Instructions =
    "cuPilot's bench for CUDA kernels. 'kernels' lists the program's kernels; "
    "write variants of one, look at them with 'compile', 'judge' and 'time', "
    "and hand in the best with 'submit'. Long work returns a handle: 'result' "
    "asks for it. Only what passes the gate reaches the store, and only "
    "'submit' hands in. The prompt 'agent-improve' says how to go about it.";

static json::Object capabilities() {
  return json::Object{{"tools", json::Object()},
                      {"resources", json::Object()},
                      {"prompts", json::Object()}};
}

void McpSession::fail(const json::Value &Id, Fault F) {
  json::Object E{{"code", F.Code}, {"message", json::fixUTF8(F.Text)}};
  if (!F.Data.empty())
    E["data"] = std::move(F.Data);
  Send(json::Object{{"jsonrpc", "2.0"}, {"id", Id}, {"error", std::move(E)}});
}

void McpSession::succeed(const json::Value &Id, bool IsModern,
                         json::Object Result, bool IsCacheable) {
  if (IsModern) {
    Result["resultType"] = "complete";
    Result["_meta"] = json::Object{{ServerKey, serverInfo()}};
    if (IsCacheable) {
      Result["ttlMs"] = 3600000; // As long as the program is the same.
      Result["cacheScope"] = "private";
    }
  }
  Send(json::Object{
      {"jsonrpc", "2.0"}, {"id", Id}, {"result", std::move(Result)}});
}

void McpSession::refuseLong(size_t Most) {
  fail(nullptr,
       {RequestFault,
        formatv("a message is longer than {0} MiB", Most >> 20).str()});
}

static McpClient clientIn(const json::Object *Info) {
  McpClient C;
  if (!Info)
    return C;
  C.Name = textIn(*Info, "name").substr(0, 100);
  if (std::string Version = textIn(*Info, "version").substr(0, 50);
      !Version.empty())
    C.Name += " " + Version;
  return C;
}

void McpSession::receive(StringRef Line) {
  if (Line.trim().empty())
    return;
  Expected<json::Value> V = parseJson(Line);
  if (!V) {
    fail(nullptr, {ParseFault, "not JSON: " + toString(V.takeError())});
    return;
  }
  json::Object *O = V->getAsObject();
  if (!O) {
    fail(nullptr, {RequestFault, "a message is one JSON object; there are no "
                                 "batches"});
    return;
  }
  const json::Value *Id = O->get("id");
  const bool HasId =
      Id && (Id->getAsString() || Id->getAsInteger() || Id->getAsUINT64());
  const json::Value Known = HasId ? *Id : json::Value(nullptr);
  std::optional<StringRef> Method = O->getString("method");
  // This server asks nothing, so nothing is an answer to it.
  if (!Method && (O->get("result") || O->get("error")))
    return;
  if (O->getString("jsonrpc") != "2.0" || !Method || (Id && !HasId)) {
    fail(Known, {RequestFault, "a request has \"jsonrpc\": \"2.0\", a method, "
                               "and a text or an integer as its id"});
    return;
  }
  json::Object Params;
  if (const json::Value *Given = O->get("params")) {
    if (!Given->getAsObject()) {
      if (Id)
        fail(Known, {ParamsFault, "'params' is no object"});
      return;
    }
    Params = *Given->getAsObject();
  }
  if (!Id) {
    notified(*Method, Params);
    return;
  }
  if (any_of(Waiting, [&](const WaitingCall &W) { return W.Id == Known; })) {
    fail(Known, {RequestFault, "a request with this id is not answered yet"});
    return;
  }
  Request R{Known, Method->str(), std::move(Params)};
  if (std::optional<Fault> F = findEra(R)) {
    fail(Known, std::move(*F));
    return;
  }
  serve(std::move(R));
}

/// By what a request carries: see "Versioning and Compatibility".
std::optional<McpSession::Fault> McpSession::findEra(Request &R) {
  const json::Object *Meta = R.Params.getObject("_meta");
  const json::Value *Version = Meta ? Meta->get(VersionKey) : nullptr;
  if (!Version) {
    R.From = Client;
    if (Meta)
      R.From.Model = textIn(*Meta, ModelKey).substr(0, 100);
    if (Initialized || R.Method == "initialize" || R.Method == "ping")
      return std::nullopt;
    return Fault{ParamsFault,
                 formatv("the request says no protocol version: begin with "
                         "'initialize' ({0}), or put '{1}' into '_meta' ({2})",
                         Legacy, VersionKey, Modern)};
  }
  if (Version->getAsString() != Modern)
    return Fault{VersionFault,
                 formatv("unsupported protocol version; {0} is supported, and "
                         "{1} by way of 'initialize'",
                         Modern, Legacy),
                 json::Object{{"supported", json::Array{Modern}},
                              {"requested", *Version}}};
  if (!Meta->getObject(CapabilitiesKey))
    return Fault{ParamsFault, formatv("'_meta' has no '{0}'", CapabilitiesKey)};
  R.IsModern = true;
  R.From = clientIn(Meta->getObject(ClientKey));
  R.From.Model = textIn(*Meta, ModelKey).substr(0, 100);
  return std::nullopt;
}

void McpSession::notified(StringRef Method, const json::Object &Params) {
  if (Method != "notifications/cancelled")
    return;
  const json::Value *Id = Params.get("requestId");
  auto At =
      find_if(Waiting, [&](const WaitingCall &W) { return Id && W.Id == *Id; });
  if (At == Waiting.end())
    return;
  WaitingCall Gone = std::move(*At);
  Waiting.erase(At);
  if (Gone.Begun)
    Tools.abandon(Gone.Handle);
}

void McpSession::serve(Request R) {
  using Served = void (McpSession::*)(const Request &);
  auto Served_ = StringSwitch<Served>(R.Method)
                     .Case("tools/call", &McpSession::callTool)
                     .Case("resources/list", &McpSession::listResources)
                     .Case("resources/read", &McpSession::readResource)
                     .Case("prompts/get", &McpSession::getPrompt)
                     .Default(nullptr);
  if (Served_)
    return (this->*Served_)(R);
  if (R.Method == "tools/list")
    return succeed(R.Id, R.IsModern, json::Object{{"tools", Tools.describe()}},
                   /*IsCacheable=*/true);
  if (R.Method == "resources/templates/list")
    return succeed(R.Id, R.IsModern,
                   json::Object{{"resourceTemplates", json::Array()}},
                   /*IsCacheable=*/true);
  if (R.Method == "prompts/list")
    return succeed(R.Id, R.IsModern, json::Object{{"prompts", Tools.prompts()}},
                   /*IsCacheable=*/true);
  if (R.Method == "server/discover" && R.IsModern)
    return discover(R);
  if (R.Method == "initialize" && !R.IsModern)
    return initialize(R);
  if (R.Method == "ping" && !R.IsModern)
    return succeed(R.Id, false, {});
  fail(R.Id,
       {MethodFault, "there is no method '" +
                         StringRef(R.Method).take_front(100).str() + "'"});
}

void McpSession::initialize(const Request &R) {
  if (Initialized)
    return fail(R.Id, {RequestFault, "'initialize' comes once"});
  if (!R.Params.getString("protocolVersion"))
    return fail(R.Id, {ParamsFault, "'protocolVersion' is missing"});
  // Whatever was asked for: the client goes on with this one, or leaves.
  Initialized = true;
  Client = clientIn(R.Params.getObject("clientInfo"));
  succeed(R.Id, false,
          json::Object{{"protocolVersion", Legacy},
                       {"capabilities", capabilities()},
                       {"serverInfo", serverInfo()},
                       {"instructions", Instructions}});
}

void McpSession::discover(const Request &R) {
  succeed(R.Id, true,
          json::Object{{"supportedVersions", json::Array{Modern}},
                       {"capabilities", capabilities()},
                       {"instructions", Instructions}},
          /*IsCacheable=*/true);
}

void McpSession::sendAnswer(const json::Value &Id, bool IsModern,
                            ToolAnswer A) {
  json::Object Result;
  std::string Text = A.Problem;
  if (A.Problem.empty())
    Text = formatv("{0}", json::Value(json::Object(A.Structured))).str();
  Result["content"] = json::Array{
      json::Object{{"type", "text"}, {"text", json::fixUTF8(Text)}}};
  if (!A.Structured.empty())
    Result["structuredContent"] = std::move(A.Structured);
  Result["isError"] = !A.Problem.empty();
  succeed(Id, IsModern, std::move(Result));
}

void McpSession::callTool(const Request &R) {
  std::optional<StringRef> Name = R.Params.getString("name");
  const json::Value *Given = R.Params.get("arguments");
  if (!Name || (Given && !Given->getAsObject()))
    return fail(R.Id, {ParamsFault,
                       "a call has a 'name', and an object as 'arguments'"});
  std::optional<Tool> T = toolOf(*Name);
  if (!T)
    return fail(R.Id, {ParamsFault, "there is no tool '" +
                                        Name->take_front(100).str() +
                                        "'; tools/list lists all"});
  ToolReply Reply =
      Tools.call(*T, Given ? *Given->getAsObject() : json::Object(), R.From);
  if (Reply.Answer)
    return sendAnswer(R.Id, R.IsModern, std::move(*Reply.Answer));
  auto Wait = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(Reply.WaitSeconds));
  Waiting.push_back({R.Id, R.IsModern, Reply.Handle, *T != Tool::Result,
                     std::chrono::steady_clock::now() + Wait});
  answerWaiting();
}

void McpSession::answerWaiting(bool All) {
  const auto Now = std::chrono::steady_clock::now();
  std::vector<WaitingCall> Left;
  for (WaitingCall &W : std::exchange(Waiting, {})) {
    bool IsOver = false;
    ToolAnswer A = Tools.standing(W.Handle, IsOver);
    if (IsOver || All || Now >= W.Until)
      sendAnswer(W.Id, W.IsModern, std::move(A));
    else
      Left.push_back(std::move(W));
  }
  Waiting = std::move(Left);
}

std::optional<std::chrono::milliseconds> McpSession::patience() const {
  // Of other servers' work nobody tells that it has ended.
  constexpr std::chrono::milliseconds ForOthers(100);
  std::optional<std::chrono::milliseconds> Least;
  const auto Now = std::chrono::steady_clock::now();
  for (const WaitingCall &W : Waiting) {
    auto Each =
        std::max(std::chrono::milliseconds(0),
                 std::chrono::ceil<std::chrono::milliseconds>(W.Until - Now));
    if (!Tools.work().isOwn(W.Handle))
      Each = std::min(Each, ForOthers);
    Least = std::min(Least.value_or(Each), Each);
  }
  return Least;
}

void McpSession::listResources(const Request &R) {
  json::Array All;
  for (const KnownText &T : Tools.knowledge().texts())
    All.push_back(json::Object{{"uri", T.Uri},
                               {"name", T.Name},
                               {"title", T.Title},
                               {"mimeType", T.Type}});
  succeed(R.Id, R.IsModern, json::Object{{"resources", std::move(All)}},
          /*IsCacheable=*/true);
}

void McpSession::readResource(const Request &R) {
  std::optional<StringRef> Uri = R.Params.getString("uri");
  if (!Uri)
    return fail(R.Id, {ParamsFault, "'uri' is missing"});
  Expected<std::string> Text = Tools.knowledge().read(*Uri);
  if (!Text)
    return fail(R.Id, {R.IsModern ? ParamsFault : LegacyNoResource,
                       toString(Text.takeError())});
  StringRef Type = "text/plain";
  for (const KnownText &T : Tools.knowledge().texts())
    if (T.Uri == *Uri)
      Type = T.Type;
  succeed(
      R.Id, R.IsModern,
      json::Object{{"contents", json::Array{json::Object{{"uri", Uri->str()},
                                                         {"mimeType", Type},
                                                         {"text", *Text}}}}},
      /*IsCacheable=*/true);
}

void McpSession::getPrompt(const Request &R) {
  const json::Object *Arguments = R.Params.getObject("arguments");
  Expected<std::string> Text = Tools.prompt(
      textIn(R.Params, "name"), Arguments ? *Arguments : json::Object());
  if (!Text)
    return fail(R.Id, {ParamsFault, toString(Text.takeError())});
  succeed(R.Id, R.IsModern,
          json::Object{{"messages",
                        json::Array{json::Object{
                            {"role", "user"},
                            {"content",
                             json::Object{{"type", "text"},
                                          {"text", json::fixUTF8(*Text)}}}}}}});
}

} // namespace cupilot
