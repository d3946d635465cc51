//===- Help.cpp - What --help prints --------------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace cupilot;

/// \p Left, and \p Text beside it in lines of 90 columns at most.
static void printEntry(StringRef Left, StringRef Text) {
  constexpr size_t Indent = 30, Width = 90;
  outs() << "  " << Left;
  size_t Column = 2 + Left.size();
  if (Column + 1 >= Indent) {
    outs() << "\n";
    Column = 0;
  }
  outs().indent(Indent - Column);
  Column = Indent;
  for (StringRef Word : split(Text, ' ')) {
    if (Column > Indent && Column + 1 + Word.size() > Width) {
      outs() << "\n";
      outs().indent(Indent);
      Column = Indent;
    }
    if (Column > Indent) {
      outs() << " ";
      ++Column;
    }
    outs() << Word;
    Column += Word.size();
  }
  outs() << "\n";
}

static void printOption(StringRef Name, const cl::Option &Option) {
  bool Short = Name.size() == 1;
  std::string Left = (Short ? "-" : "--") + Name.str();
  if (!Option.ValueStr.empty())
    Left += (Short ? " " : "=") + Option.ValueStr.str();
  printEntry(Left, Option.getNumOccurrencesFlag() == cl::Required
                       ? (Option.HelpStr + " (required)").str()
                       : Option.HelpStr.str());
}

void cupilot::printHelp(const Command &C, cl::SubCommand &Sub) {
  outs() << "usage: cupilot " << C.Name << " [OPTIONS]";
  for (const cl::Option *Option : Sub.PositionalOpts)
    outs() << " " << Option->ValueStr;
  if (!C.Follows.empty())
    outs() << " [-- " << C.Follows << "]";
  outs() << "\n\n" << C.Summary << "\n";
  if (!Sub.PositionalOpts.empty())
    outs() << "\narguments:\n";
  for (const cl::Option *Option : Sub.PositionalOpts)
    printEntry(Option->ValueStr, Option->HelpStr);
  using Named = std::pair<StringRef, const cl::Option *>;
  // By address: the order of the groups in the options struct.
  std::map<const cl::OptionCategory *, SmallVector<Named>> Groups;
  for (const auto &Entry : Sub.OptionsMap)
    if (is_contained(Entry.second->Subs, &Sub))
      Groups[Entry.second->Categories.front()].push_back(
          {Entry.first, Entry.second});
  SmallVector<Named> &Rest = Groups[&cl::getGeneralCategory()];
  auto PrintAll = [](StringRef Title, SmallVector<Named> &Options) {
    outs() << "\n" << Title << ":\n";
    llvm::sort(Options, less_first());
    for (auto &[Name, Option] : Options)
      printOption(Name, *Option);
  };
  for (auto &[Category, Options] : Groups)
    if (Category != &cl::getGeneralCategory())
      PrintAll(Category->getName(), Options);
  PrintAll(Groups.size() == 1 ? "options" : "other options", Rest);
  printEntry("--help", "Print this help");
  if (!C.Examples.empty())
    outs() << "\nexamples:\n" << C.Examples;
}
