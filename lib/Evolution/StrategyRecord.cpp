//===- StrategyRecord.cpp - What strategies have done so far -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/StrategyRecord.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

std::vector<std::string> tallyTexts(const StrategyTallies &Tallies) {
  std::vector<std::string> Texts;
  for (const auto &[Name, T] : Tallies)
    Texts.push_back(tallyText(Name, T));
  return Texts;
}

std::optional<StrategyTallies> parseTallies(ArrayRef<std::string> Texts) {
  StrategyTallies Tallies;
  for (const std::string &Text : Texts) {
    auto T = parseTally(Text);
    if (!T)
      return std::nullopt;
    Tallies.insert(std::move(*T));
  }
  return Tallies;
}

/// "NVIDIA H200" as a part of a file's name.
static std::string fileWord(StringRef Text) {
  std::string Word;
  for (char C : Text)
    Word += isAlnum(C) ? toLower(C) : '-';
  return Word;
}

std::pair<std::string, std::string> strategyFile(const StrategyRecord &R) {
  std::string Text = "class " + R.Class + "\ngpu " + R.Gpu + "\nkernel " +
                     R.Kernel + "\nsearch " + R.Search + "\n";
  for (const std::string &Each : tallyTexts(R.Tallies))
    Text += "strategy " + Each + "\n";
  std::string Name =
      R.Class + "-" + fileWord(R.Gpu) + "-" + shortDigest(R.Search) + ".txt";
  return {"strategies/" + Name, std::move(Text)};
}

Expected<StrategyRecord> parseStrategyRecord(StringRef Text, StringRef Path) {
  StrategyRecord R;
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    auto [Word, Rest] = Line.split(' ');
    bool Broken = Rest.empty();
    if (Word == "class") {
      R.Class = Rest.str();
    } else if (Word == "gpu") {
      R.Gpu = Rest.str();
    } else if (Word == "kernel") {
      R.Kernel = Rest.str();
    } else if (Word == "search") {
      R.Search = Rest.str();
    } else if (Word == "strategy") {
      auto T = parseTally(Rest);
      Broken |= !T;
      if (T)
        R.Tallies.insert(std::move(*T));
    } else {
      Broken = true;
    }
    if (Broken)
      return usageError(
          "'" + Path + "' is broken at '" + Line + "'",
          "restore the file, or delete it: it contains counts only");
  }
  return R;
}

Expected<std::vector<StrategyRecord>> strategyRecords(StringRef Root) {
  Expected<std::vector<std::string>> Paths =
      filesIn((Root + "/strategies").str(), ".txt");
  if (!Paths)
    return Paths.takeError();
  std::vector<StrategyRecord> All;
  for (const std::string &Path : *Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Expected<StrategyRecord> R = parseStrategyRecord(*Text, Path);
    if (!R)
      return R.takeError();
    All.push_back(std::move(*R));
  }
  return All;
}

Expected<StrategyTallies> strategyTallies(StringRef Root, StringRef Class,
                                          StringRef Gpu, StringRef Without) {
  Expected<std::vector<StrategyRecord>> All = strategyRecords(Root);
  if (!All)
    return All.takeError();
  StrategyTallies Sum;
  for (const StrategyRecord &R : *All) {
    if (R.Class != Class || R.Gpu != Gpu || R.Search == Without)
      continue;
    for (const auto &[Name, T] : R.Tallies) {
      Sum[Name].Tried += T.Tried;
      Sum[Name].Helped += T.Helped;
    }
  }
  return Sum;
}

Expected<StrategyTallies> priorTallies(Journal &J, StringRef Root,
                                       const StrategyRecord &Of) {
  static constexpr char Step[] = "strategies"; // No batch is called that.
  auto Known = J.findBatch(Of.Search, Step);
  if (!Known)
    return Known.takeError();
  if (*Known) {
    SmallVector<StringRef> Lines;
    StringRef((*Known)->Results).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    if (std::optional<StrategyTallies> T =
            parseTallies(std::vector<std::string>(Lines.begin(), Lines.end())))
      return std::move(*T);
    return resourceError("the journal contains a damaged record of strategies",
                         "delete it to start a new search");
  }
  StrategyTallies Prior;
  if (!Root.empty()) {
    Expected<StrategyTallies> Found =
        strategyTallies(Root, Of.Class, Of.Gpu, Of.Search);
    if (!Found)
      return Found.takeError();
    Prior = std::move(*Found);
  }
  if (Error E = J.saveBatch(Of.Search, Step,
                            {Of.Class, join(tallyTexts(Prior), "\n")}))
    return std::move(E);
  return Prior;
}

} // namespace cupilot
