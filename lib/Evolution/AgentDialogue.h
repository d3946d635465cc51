//===- AgentDialogue.h - Improvements with the bench's tools -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_AGENTDIALOGUE_H
#define CUPILOT_LIB_EVOLUTION_AGENTDIALOGUE_H

#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/Tool.h"

namespace cupilot {

/// A model at the bench: it improves one variant, turn by turn.
class AgentDialogue {
public:
  /// \p First asks for the improvement; \p Tools is what may be called,
  /// `submit` among it.
  AgentDialogue(const CandidateOrder &Order, DialogueBudget Budget,
                ChatRequest First, std::vector<ChatTool> Tools)
      : Order(Order), Budget(Budget), R(std::move(First)),
        Prefix(R.Step + "/turn") {
    R.Tools = std::move(Tools);
  }

  /// Takes the next turn: calls() are what the model wants then. Dialogues may
  /// ask beside each other. Faults of providers are errors.
  llvm::Error ask(Provider &From);
  llvm::ArrayRef<ToolUse> calls() const { return Calls; }
  /// That it may call in this turn.
  const std::vector<ChatTool> &tools() const { return R.Tools; }
  /// What came of them, in their order.
  void reply(std::vector<ToolOutput> Outputs);
  bool isOver() const { return Over; }
  bool mayUseGpu() const { return GpuSeconds < Budget.GpuSeconds; }
  /// "improve-dialogue: 7 turns, 2 calls refused".
  std::string summary() const;

  const CandidateOrder &Order;
  std::optional<ModelTranslation> HandedIn; ///< Set by `submit`.
  std::string Declined; ///< Why it ended with nothing handed in.
  /// The fastest text that was timed and found right: a tool's arguments.
  llvm::json::Object Best;
  double BestRatio = 0;
  double GpuSeconds = 0;                  ///< Used.
  unsigned Refused = 0;                   ///< Calls that were wrong.
  std::vector<TriedVariant> Tried;        ///< Its own texts.
  std::map<std::string, Candidate> Known; ///< By digest of the text.

private:
  bool isLastTurn() const;
  void readText(llvm::StringRef Text);
  void end(std::string Why);

  const DialogueBudget Budget;
  ChatRequest R;
  const std::string Prefix;
  std::vector<ToolUse> Calls;
  bool FromText = false; ///< The calls stand in the answer's text.
  bool IsLast = false, Over = false;
  unsigned Turn = 0;
  uint64_t Tokens = 0, LastTokens = 0;
};

/// The bench for the dialogues of a search.
class DialogueBench {
public:
  /// All must outlive it.
  DialogueBench(const SearchProblem &P, const CandidateEvaluator &Evaluator,
                DialogueHost &Host, const AgentOptions &Options,
                const std::vector<LibraryStrategy> &Library,
                const KernelAdvice &Advice)
      : P(P), Evaluator(Evaluator), Host(Host), Options(Options),
        Library(Library), Advice(Advice) {}

  /// The tools, with \p Answer, the schema of answers, as that of `submit`.
  std::vector<ChatTool> tools(const llvm::json::Value &Answer) const;
  /// Does what the models of \p All want. What is for a GPU is one batch, named
  /// by \p Step. A call that is wrong is told, and no error.
  llvm::Error serve(llvm::ArrayRef<AgentDialogue *> All, llvm::StringRef Step);
  /// What \p D came to; nothing where no text was found right.
  std::optional<ModelTranslation> result(AgentDialogue &D) const;

private:
  /// A text that waits for the GPU.
  struct GpuCall {
    AgentDialogue *D;
    size_t Call;
    bool IsProfile;
    Candidate *C;
    llvm::json::Object Arguments;
    llvm::json::Object Said; ///< So far.
  };
  llvm::Expected<llvm::json::Object> serveCall(AgentDialogue &D, size_t Call,
                                               std::vector<GpuCall> &Waiting);
  llvm::Expected<llvm::json::Object> use(AgentDialogue &D, size_t Call, Tool T,
                                         const llvm::json::Object &Arguments,
                                         std::vector<GpuCall> &Waiting);
  llvm::Expected<llvm::json::Object> variant(AgentDialogue &D,
                                             llvm::StringRef Name) const;
  llvm::Expected<llvm::json::Object> lookUp(llvm::StringRef Query,
                                            size_t Most) const;
  llvm::Expected<Candidate *> candidate(AgentDialogue &D,
                                        const llvm::json::Object &Arguments);
  llvm::Error judge(Candidate &C);
  llvm::Error handIn(AgentDialogue &D, const llvm::json::Object &Arguments);
  llvm::Error askGpu(std::vector<GpuCall> &Waiting, bool IsProfile,
                     llvm::StringRef Step);
  void note(AgentDialogue &D, const llvm::json::Object &Arguments,
            const Candidate &C) const;

  const SearchProblem &P;
  const CandidateEvaluator &Evaluator;
  DialogueHost &Host;
  const AgentOptions &Options;
  const std::vector<LibraryStrategy> &Library;
  const KernelAdvice &Advice;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_AGENTDIALOGUE_H
