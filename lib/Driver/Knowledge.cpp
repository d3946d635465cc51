//===- Knowledge.cpp - What an agent can look up -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Knowledge.h"
#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/LLM/Prompts.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// The first heading, or the first comment.
static std::string titleOf(StringRef Text, StringRef Name) {
  StringRef Line = Text.ltrim().split('\n').first;
  if (Line.consume_front("# ") || Line.consume_front("// "))
    return Line.trim().str();
  return Name.str();
}

void Knowledge::addFolder(StringRef Folder, StringRef Kind, StringRef Ending,
                          StringRef Type) {
  Expected<std::vector<std::string>> Files = filesIn(Folder, Ending);
  if (!Files) {
    consumeError(Files.takeError()); // An installation may lack it.
    return;
  }
  for (const std::string &Path : *Files) {
    StringRef Name = sys::path::filename(Path);
    Expected<std::string> Text = readFile(Path);
    if (!Text) {
      consumeError(Text.takeError());
      continue;
    }
    Texts.push_back({("cupilot://" + Kind + "/" + Name).str(), Name.str(),
                     json::fixUTF8(titleOf(*Text, Name)), Type.str(), Path});
  }
}

Knowledge Knowledge::shipped() {
  Knowledge K;
  K.addFolder(sharedFile("docs", "docs"), "docs", ".md", "text/markdown");
  const std::string Strategies = sharedFile("strategies", "strategies");
  K.addFolder(Strategies, "strategies", ".md", "text/markdown");
  K.addFolder(Strategies, "strategies", ".mlir", "text/plain");
  K.addFolder(sharedFile("gpus", "lib/Model/gpus"), "gpus", ".json",
              "application/json");
  const std::string Prompts = PromptLibrary::shippedFolder();
  K.addFolder(Prompts, "prompts", "_rules.md", "text/markdown");
  K.addFolder(Prompts, "prompts", "_plan.md", "text/markdown");
  return K;
}

Expected<std::string> Knowledge::read(StringRef Uri) const {
  auto At = find_if(Texts, [&](const KnownText &T) { return T.Uri == Uri; });
  if (At == Texts.end())
    return usageError("there is no resource '" + Uri.take_front(200) + "'",
                      "resources/list lists all");
  Expected<std::string> Text = readFile(At->Path);
  if (!Text)
    return Text.takeError();
  return json::fixUTF8(*Text);
}

/// Words in lower case: letters, digits, and underscores and dots inside.
static std::vector<std::string> wordsOf(StringRef Text) {
  std::vector<std::string> All;
  for (size_t I = 0; I < Text.size();) {
    size_t End = I;
    while (End < Text.size() &&
           (isAlnum(Text[End]) || Text[End] == '_' ||
            (Text[End] == '.' && End > I && End + 1 < Text.size() &&
             isAlnum(Text[End + 1]))))
      ++End;
    if (End > I) {
      StringRef Word = Text.slice(I, End);
      All.push_back(Word.lower());
      // "wgmma.mma_async" is found by "wgmma", too.
      if (Word.contains('.'))
        for (StringRef Part : llvm::split(Word, '.'))
          All.push_back(Part.lower());
    }
    I = End + 1;
  }
  return All;
}

/// A section begins at a heading, or at a strategy.
void Knowledge::split() {
  for (const KnownText &T : Texts) {
    Expected<std::string> Text = readFile(T.Path);
    if (!Text) {
      consumeError(Text.takeError());
      continue;
    }
    const std::string Whole = json::fixUTF8(*Text);
    std::string Heading = T.Title, Part;
    bool InCode = false;
    auto End = [&] {
      if (!StringRef(Part).trim().empty()) {
        Section S{{T.Uri, Heading, StringRef(Part).trim().str()}, {}, 0};
        for (const std::string &Word : wordsOf(Part)) {
          ++S.Words[Word];
          ++S.Length;
        }
        for (const std::string &Word : wordsOf(Heading))
          S.Words[Word] += 5;
        for (const auto &[Word, Count] : S.Words)
          ++Holders[Word];
        Sections.push_back(std::move(S));
      }
      Part.clear();
    };
    for (StringRef Line : llvm::split(Whole, '\n')) {
      InCode ^= Line.starts_with("```");
      const bool IsHeading = !InCode && Line.starts_with("#");
      if (IsHeading || Line.starts_with("cupilot.strategy ")) {
        End();
        Heading = Line.ltrim("#").trim().take_front(200).str();
      }
      if (!IsHeading)
        Part += (Line + "\n").str();
    }
    End();
  }
}

std::vector<KnownPassage> Knowledge::search(StringRef Query, size_t Most) {
  if (Sections.empty())
    split();
  std::vector<std::string> Wanted = wordsOf(Query.take_front(2000));
  llvm::sort(Wanted);
  Wanted.erase(std::unique(Wanted.begin(), Wanted.end()), Wanted.end());
  double Mean = 1;
  for (const Section &S : Sections)
    Mean += double(S.Length) / double(Sections.size());
  std::vector<std::pair<double, size_t>> Ranked;
  for (const auto &[I, S] : enumerate(Sections)) {
    double Score = 0; // BM25.
    for (const std::string &Word : Wanted) {
      auto At = S.Words.find(Word);
      if (At == S.Words.end())
        continue;
      constexpr double Saturation = 1.5, ByLength = 0.75;
      const double Count = At->second,
                   Rarity = std::log(1 + double(Sections.size()) /
                                             double(Holders[Word]));
      Score += Rarity * Count * (Saturation + 1) /
               (Count + Saturation * (1 - ByLength +
                                      ByLength * double(S.Length) / Mean));
    }
    if (Score > 0)
      Ranked.emplace_back(-Score, I);
  }
  llvm::sort(Ranked);
  std::vector<KnownPassage> Best;
  for (const auto &[Score, I] :
       ArrayRef(Ranked).take_front(std::min(Most, Ranked.size()))) {
    Best.push_back(Sections[I].Passage);
    Best.back().Score = -Score;
  }
  return Best;
}

json::Array Knowledge::passages(StringRef Query, size_t Most) {
  json::Array All;
  for (const KnownPassage &P : search(Query, Most))
    All.push_back(json::Object{
        {"uri", P.Uri},
        {"heading", P.Heading},
        {"text", json::fixUTF8(StringRef(P.Text).take_front(8000))}});
  return All;
}

} // namespace cupilot
