//===- Server.cpp - The Model Context Protocol over standard input and output
//-*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mcp/Server.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

static constexpr size_t MostMessage = size_t(8) << 20;

namespace {
/// Lines from one end of a pipe.
class LineReader {
public:
  explicit LineReader(int In) : In(In) {}
  /// Reads what is there; false at the end.
  bool read();
  /// The next whole line; nothing where there is none. \p TooLong: it was
  /// longer than a message may be, and is gone.
  std::optional<std::string> next(bool &TooLong);

private:
  int In;
  std::string Buffer;
  size_t Seen = 0;    ///< Without a line end.
  bool Skips = false; ///< To the end of a line that is too long.
};
} // namespace

bool LineReader::read() {
  char Chunk[1 << 16];
  const ssize_t Got = ::read(In, Chunk, sizeof(Chunk));
  if (Got < 0)
    return errno == EINTR || errno == EAGAIN;
  Buffer.append(Chunk, size_t(Got));
  return Got > 0;
}

std::optional<std::string> LineReader::next(bool &TooLong) {
  TooLong = false;
  const size_t End = Buffer.find('\n', Seen);
  if (End == std::string::npos) {
    Seen = Buffer.size();
    if (Skips || Seen <= MostMessage) {
      if (Skips)
        Buffer.clear(), Seen = 0;
      return std::nullopt;
    }
    Skips = TooLong = true;
    Buffer.clear();
    Seen = 0;
    return "";
  }
  std::string Line = Buffer.substr(0, End);
  Buffer.erase(0, End + 1);
  Seen = 0;
  if (Skips) {
    Skips = false;
    return "";
  }
  TooLong = Line.size() > MostMessage;
  return Line;
}

/// False: the other end is gone.
static bool writeLine(int Out, const json::Value &V) {
  const std::string Text = formatv("{0}\n", V).str();
  for (StringRef Rest = Text; !Rest.empty();) {
    const ssize_t Put = ::write(Out, Rest.data(), Rest.size());
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put <= 0)
      return false;
    Rest = Rest.drop_front(size_t(Put));
  }
  return true;
}

/// Until there is something to read from \p In, which it says; until a process
/// of \p Work ends, or \p Patience is over.
static bool waitFor(int In, const WorkFolder &Work,
                    std::optional<std::chrono::milliseconds> Patience) {
  constexpr std::chrono::milliseconds WithoutEnds(10);
  std::vector<pollfd> Ends{{In, POLLIN, 0}};
  for (int End : Work.ends())
    if (End >= 0)
      Ends.push_back({End, POLLIN, 0});
    else
      Patience = std::min(Patience.value_or(WithoutEnds), WithoutEnds);
  return ::poll(Ends.data(), Ends.size(),
                Patience ? int(Patience->count()) : -1) > 0 &&
         Ends.front().revents != 0;
}

Error serveMcp(const McpOptions &O, int In, int Out) {
  ::signal(SIGPIPE, SIG_IGN);
  Expected<std::unique_ptr<Toolbox>> Tools = Toolbox::open(O);
  if (!Tools)
    return Tools.takeError();
  bool IsThere = true;
  McpSession Session(**Tools, [&](const json::Value &V) {
    IsThere = IsThere && writeLine(Out, V);
  });
  LineReader Reader(In);
  for (bool Open = true; Open && IsThere;) {
    if (waitFor(In, (*Tools)->work(), Session.patience()))
      Open = Reader.read();
    bool TooLong = false;
    while (std::optional<std::string> Line = Reader.next(TooLong)) {
      if (TooLong)
        Session.refuseLong(MostMessage);
      else
        Session.receive(*Line);
      if (!IsThere)
        break;
    }
    (*Tools)->turn();
    Session.answerWaiting();
  }
  // Who asks through a pipe gets all answers that there are.
  Session.answerWaiting(/*All=*/true);
  return Error::success();
}

Expected<std::string> tryMcp() {
  Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::create("cupilot-doctor");
  if (!Folder)
    return Folder.takeError();
  McpOptions O;
  O.Bench.Store = Folder->file("store");
  Expected<std::unique_ptr<Toolbox>> Tools = Toolbox::open(O);
  if (!Tools)
    return Tools.takeError();
  std::optional<json::Value> Last;
  McpSession Session(**Tools, [&](const json::Value &V) { Last = V; });
  auto Ask = [&](StringRef Method,
                 json::Object Params) -> Expected<json::Object> {
    Last.reset();
    Session.receive(
        formatv("{0}", json::Value(json::Object{{"jsonrpc", "2.0"},
                                                {"id", 1},
                                                {"method", Method},
                                                {"params", std::move(Params)}}))
            .str());
    const json::Object *Answer = Last ? Last->getAsObject() : nullptr;
    if (const json::Object *Result =
            Answer ? Answer->getObject("result") : nullptr)
      return *Result;
    return findingError("no answer to '" + Method + "'" +
                        (Last ? formatv(": {0}", *Last).str() : ""));
  };
  auto Meta = [] {
    return json::Object{
        {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
        {"io.modelcontextprotocol/clientInfo",
         json::Object{{"name", "cupilot doctor"}, {"version", "1"}}},
        {"io.modelcontextprotocol/clientCapabilities", json::Object()}};
  };
  size_t Count[3] = {};
  constexpr StringRef Kinds[] = {"tools", "resources", "prompts"};
  if (Expected<json::Object> R =
          Ask("server/discover", json::Object{{"_meta", Meta()}});
      !R)
    return R.takeError();
  for (size_t I = 0; I < 3; ++I) {
    Expected<json::Object> R =
        Ask((Kinds[I] + "/list").str(), json::Object{{"_meta", Meta()}});
    if (!R)
      return R.takeError();
    if (const json::Array *All = R->getArray(Kinds[I]))
      Count[I] = All->size();
  }
  if (Expected<json::Object> R = Ask(
          "initialize",
          json::Object{{"protocolVersion", "2025-11-25"},
                       {"capabilities", json::Object()},
                       {"clientInfo", json::Object{{"name", "cupilot doctor"},
                                                   {"version", "1"}}}});
      !R)
    return R.takeError();
  Expected<json::Object> Called =
      Ask("tools/call",
          json::Object{{"name", "knowledge"},
                       {"arguments", json::Object{{"query", "gate"}}}});
  if (!Called)
    return Called.takeError();
  const json::Object *Found = Called->getObject("structuredContent");
  const json::Array *Passages = Found ? Found->getArray("passages") : nullptr;
  if (!Passages || Passages->empty() || !Count[0] || !Count[1])
    return findingError("the server finds no documentation or strategies",
                        "is the installation complete?");
  return formatv("{0} tools, {1} resources, {2} prompts; protocol 2026-07-28 "
                 "and 2025-11-25",
                 Count[0], Count[1], Count[2])
      .str();
}

} // namespace cupilot
