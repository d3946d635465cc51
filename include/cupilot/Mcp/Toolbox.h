//===- Toolbox.h - The tools at work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MCP_TOOLBOX_H
#define CUPILOT_MCP_TOOLBOX_H

#include "cupilot/Driver/Knowledge.h"
#include "cupilot/LLM/Prompts.h"
#include "cupilot/Mcp/Bench.h"

namespace cupilot {

/// What calls of tools may use, all clients of the store together.
struct ToolBudget {
  std::optional<unsigned> Calls;
  std::optional<double> GpuSeconds;
};

struct McpOptions {
  EvolveRequest Bench;
  ToolBudget Budget;
  WorkFolder::Limits Work;
};

/// Who calls, as it says of itself.
struct McpClient {
  std::string Name, Model;
};

/// What a tool answers: a result, or what is wrong, as text.
struct ToolAnswer {
  llvm::json::Object Structured;
  std::string Problem; ///< "": none.
};

/// An answer, or the work that will have it.
struct ToolReply {
  std::optional<ToolAnswer> Answer;
  std::string Handle;
  double WaitSeconds = 0; ///< For the work; then it is answered with how it
                          ///< stands.
};

/// The tools of one server.
class Toolbox {
public:
  static llvm::Expected<std::unique_ptr<Toolbox>> open(const McpOptions &O);

  /// For tools/list.
  llvm::json::Array describe() const;
  /// Every call is noted in the journal.
  ToolReply call(Tool T, const llvm::json::Object &Arguments,
                 const McpClient &Who);
  /// How the work \p Handle stands; \p IsOver says whether it has ended.
  ToolAnswer standing(llvm::StringRef Handle, bool &IsOver);
  /// Nobody waits for \p Handle any more.
  void abandon(llvm::StringRef Handle);
  void turn() { Work->turn(); }
  const WorkFolder &work() const { return *Work; }

  Knowledge &knowledge() { return Known; }
  /// The prompts for clients; the message is one text.
  llvm::json::Array prompts() const;
  llvm::Expected<std::string> prompt(llvm::StringRef Name,
                                     const llvm::json::Object &Arguments);

private:
  Toolbox(const McpOptions &O, PromptLibrary Prompts)
      : O(O), TheBench(O.Bench), Prompts(std::move(Prompts)),
        Known(Knowledge::shipped()) {}
  llvm::Expected<ToolReply> reply(Tool T, const llvm::json::Object &Arguments,
                                  const McpClient &Who);
  llvm::Expected<ToolReply> begin(Tool T, const llvm::json::Object &Arguments,
                                  const McpClient &Who);
  llvm::Error checkBudget(Tool T) const;
  llvm::Expected<llvm::json::Object> variant(llvm::StringRef Kernel,
                                             llvm::StringRef Name);
  llvm::Expected<llvm::json::Object> workList();
  llvm::Expected<WorkStatus> statusOf(llvm::StringRef Handle);
  void addBudget(llvm::json::Object &To) const;
  ToolAnswer answered(llvm::Expected<llvm::json::Object> O) const;
  void note(const ToolCall &Call) const;

  McpOptions O;
  Bench TheBench;
  PromptLibrary Prompts;
  Knowledge Known;
  std::unique_ptr<WorkFolder> Work;
};

} // namespace cupilot

#endif // CUPILOT_MCP_TOOLBOX_H
