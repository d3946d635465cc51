//===- Prompts.h - The agents' prompts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_PROMPTS_H
#define CUPILOT_LLM_PROMPTS_H

#include "cupilot/LLM/Provider.h"
#include <map>
#include <set>

namespace cupilot {

/// A prompt as it was read.
struct PromptTemplate {
  std::string Name;         ///< "strategy-translator".
  std::string Version;      ///< Of its version line: "1".
  std::string File;         ///< Where it comes from.
  std::string System, User; ///< Mustache.
  llvm::json::Value Schema = nullptr;
  std::string Digest; ///< Of all that it is made of, with the partials that it
                      ///< uses and its schema.
  /// "strategy-translator 1 b3:0123456789abcdef".
  std::string provenance() const;
};

/// Prompts: NAME.md with a version line and the parts system and user,
/// NAME.schema.json for the answer, _NAME.md for parts of several. A user's own
/// folder takes the place of the shipped one file by file.
class PromptLibrary {
public:
  /// \p Own may be "". A file there that no shipped one has the name of, a
  /// template that does not close its sections, a broken schema: usage errors
  /// that name the file.
  static llvm::Expected<PromptLibrary> open(llvm::StringRef Shipped,
                                            llvm::StringRef Own);
  /// The shipped folder: beside an installed program, or in the source.
  static std::string shippedFolder();

  std::vector<std::string> names() const;
  llvm::Expected<const PromptTemplate *> find(llvm::StringRef Name) const;

  /// Fills the prompt \p Name with \p Facts. Of their texts, {"quote": LABEL,
  /// "text": TEXT} stands in a quote that it cannot close (quoteText); all
  /// others come to one line (quoteLine). A name in the template that no fact
  /// has is a usage error. The
  /// properties of the schema that the fact "unasked" lists are left out.
  llvm::Expected<ChatRequest> render(llvm::StringRef Name,
                                     const llvm::json::Object &Facts) const;

private:
  llvm::Error addTemplate(llvm::StringRef Name, llvm::StringRef Path,
                          llvm::StringRef Text);
  std::map<std::string, PromptTemplate> Templates;
  /// The names of the partials that \p Text uses, and of those that these use.
  void addPartials(llvm::StringRef Text, std::set<std::string> &To) const;

  std::map<std::string, std::string> Partials;
};

/// A text of the facts that stands in a quote.
llvm::json::Value quotedFact(llvm::StringRef Label, llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_LLM_PROMPTS_H
