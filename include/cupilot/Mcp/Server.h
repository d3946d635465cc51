//===- Server.h - The Model Context Protocol over standard input and output -*-
// C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two eras of the protocol: 2025-11-25, where a client begins with
// `initialize`, and 2026-07-28, where each request says its version, and
// `server/discover` tells what there is. A process serves one client.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MCP_SERVER_H
#define CUPILOT_MCP_SERVER_H

#include "cupilot/Mcp/Toolbox.h"
#include <chrono>

namespace cupilot {

/// One client's messages and what is answered.
class McpSession {
public:
  /// \p Send gets each message of the server.
  McpSession(Toolbox &Tools,
             std::function<void(const llvm::json::Value &)> Send)
      : Tools(Tools), Send(std::move(Send)) {}
  /// A message, without its line end.
  void receive(llvm::StringRef Line);
  /// A message that was longer than a server reads.
  void refuseLong(size_t Most);
  /// Answers calls whose work has ended, or which have waited long enough; with
  /// \p All, every one.
  void answerWaiting(bool All = false);
  bool isWaiting() const { return !Waiting.empty(); }
  /// How long nothing needs to be looked at but what work() of the tools says
  /// of itself; nothing: as long as nobody asks.
  std::optional<std::chrono::milliseconds> patience() const;

private:
  struct Request;
  struct Fault;
  struct WaitingCall {
    llvm::json::Value Id;
    bool IsModern;
    std::string Handle;
    bool Begun; ///< By this call: it ends with it.
    std::chrono::steady_clock::time_point Until;
  };
  void fail(const llvm::json::Value &Id, Fault F);
  void succeed(const llvm::json::Value &Id, bool IsModern,
               llvm::json::Object Result, bool IsCacheable = false);
  std::optional<Fault> findEra(Request &R);
  void notified(llvm::StringRef Method, const llvm::json::Object &Params);
  void serve(Request R);
  void initialize(const Request &R);
  void discover(const Request &R);
  void callTool(const Request &R);
  void sendAnswer(const llvm::json::Value &Id, bool IsModern, ToolAnswer A);
  void listResources(const Request &R);
  void readResource(const Request &R);
  void getPrompt(const Request &R);

  Toolbox &Tools;
  std::function<void(const llvm::json::Value &)> Send;
  bool Initialized = false; ///< By a client of 2025-11-25.
  McpClient Client;         ///< That one.
  std::vector<WaitingCall> Waiting;
};

/// Serves the client at the ends \p In and \p Out until its input ends. Work
/// goes on then, in its own processes.
llvm::Error serveMcp(const McpOptions &O, int In, int Out);

/// Speaks to a server of the store alone, in both eras, and says what it can:
/// "13 tools, 40 resources". What is wrong with it is a finding.
llvm::Expected<std::string> tryMcp();

} // namespace cupilot

#endif // CUPILOT_MCP_SERVER_H
