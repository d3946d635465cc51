//===- Quote.cpp - Text that is data and never an instruction -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Quote.h"
#include "cupilot/LLM/Secrets.h"
#include "cupilot/Portable/Digest.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::string quoteText(StringRef Label, StringRef Text) {
  std::string Whole = json::fixUTF8(Text);
  // A text that holds its own digest cannot be made; should it be found, the
  // next one differs.
  std::string Tag;
  for (uint64_t Round = 0; Tag.empty() || StringRef(Whole).contains(Tag);
       ++Round)
    Tag = shortDigest(DigestBuilder().add(Whole).add(Round).str());
  std::string Name = quoteLine(Label);
  if (Whole.empty() || Whole.back() != '\n')
    Whole += '\n';
  return "<<<<<<<< " + Name + " " + Tag + "\n" + Whole + ">>>>>>>> " + Name +
         " " + Tag;
}

std::string quoteLine(StringRef Text) {
  std::string Line = excerpt(Text, 2000), Result;
  for (char C : Line)
    Result += C == '`' ? '\'' : C;
  // Names have templates' arguments in <>, and never eight of them.
  for (StringRef Mark : {"<<<<<<<<", ">>>>>>>>", "========"})
    while (StringRef(Result).contains(Mark))
      Result.erase(StringRef(Result).find(Mark), 4);
  return Result;
}

std::string plainText(const ChatRequest &R) {
  std::string Text = R.System.empty() ? "" : R.System + "\n\n";
  for (const ChatMessage &M : R.Messages)
    Text += (M.From == ChatMessage::Role::User
                 ? M.Text
                 : quoteText("your earlier answer", M.Text)) +
            "\n\n";
  if (!R.Tools.empty()) {
    Text += "Call one tool: answer with one JSON object {\"tool\": NAME, "
            "\"arguments\": {...}}, and with nothing else. The tools, with "
            "the JSON schemas of their arguments:\n";
    for (const ChatTool &T : R.Tools)
      Text += formatv("- {0}: {1}\n{2:2}\n", T.Name, T.Description, T.Input);
  }
  if (R.Schema)
    Text += "Answer with one JSON object that fits this JSON schema, and with "
            "nothing else:\n" +
            formatv("{0:2}\n", *R.Schema).str();
  return Text;
}

} // namespace cupilot
