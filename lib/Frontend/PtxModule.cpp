//===- PtxModule.cpp - The definitions of a PTX module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace cupilot {

static bool isNameChar(char C) { return isAlnum(C) || C == '_' || C == '$'; }

/// Calls \p Use for each name and each text between names.
static void forEachName(StringRef Text,
                        function_ref<void(StringRef, bool)> Use) {
  while (!Text.empty()) {
    size_t Begin = Text.find_if(isNameChar);
    if (Begin > 0)
      Use(Text.take_front(Begin), false);
    Text = Text.drop_front(std::min(Begin, Text.size()));
    StringRef Name = Text.take_while(isNameChar);
    if (!Name.empty())
      Use(Name, true);
    Text = Text.drop_front(Name.size());
  }
}

PtxModule::PtxModule(StringRef Text) {
  std::string Plain;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    StringRef Code = Line.split("//").first.trim();
    if (Code.empty() || Code.starts_with(".version") ||
        Code.starts_with(".target") || Code.starts_with(".address_size") ||
        Code.starts_with(".file"))
      continue;
    Plain += Code.str() + "\n";
  }
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I < Plain.size(); ++I) {
    char C = Plain[I];
    Depth += C == '{' || C == '(';
    Depth -= C == '}' || C == ')';
    if (Depth != 0 || (C != ';' && C != '}'))
      continue;
    // A function ends with its body, everything else with a semicolon.
    StringRef Head = StringRef(Plain).slice(Begin, I).split('{').first;
    if (C == ';' || Head.contains(".entry") || Head.contains(".func")) {
      add(StringRef(Plain).slice(Begin, I + 1).trim());
      Begin = I + 1;
    }
  }
}

void PtxModule::add(StringRef Item) {
  StringRef Head = Item.split('{').first;
  size_t At = StringRef::npos;
  StringRef Name;
  if ((At = Head.find(".entry")) != StringRef::npos ||
      (At = Head.find(".func")) != StringRef::npos) {
    StringRef Rest = Head.drop_front(At).split(' ').second.ltrim();
    if (Rest.starts_with("("))
      Rest = Rest.split(')').second.ltrim();
    Name = Rest.take_while(isNameChar);
  } else {
    StringRef Declarator = Head.take_until(
        [](char C) { return C == '[' || C == '=' || C == ';'; });
    Name = Declarator.rtrim();
    Name = Name.drop_front(Name.find_last_of(" \t\n") + 1);
  }
  if (Name.empty())
    return;
  Definition &D = Definitions[Name];
  // A definition replaces the declaration before it.
  if (!D.Text.empty() && Item.ends_with(";") && !Item.contains('='))
    return;
  D.Text = Item.str();
  D.IsPrivate = !Item.starts_with(".visible") && !Item.starts_with(".weak") &&
                !Item.starts_with(".extern") && !Item.starts_with(".common");
}

/// "$L__BB12_3", "__local_depot12", "prototype_4" count within the module.
static std::string withoutModuleNumbers(StringRef Name) {
  for (StringRef Counted : {"__local_depot", "prototype_"})
    if (Name.starts_with(Counted) &&
        all_of(Name.drop_front(Counted.size()), isDigit))
      return Counted.str();
  size_t Block = Name.find("L__BB");
  if (Block == StringRef::npos)
    return Name.str();
  StringRef Number = Name.drop_front(Block + 5);
  return (Name.take_front(Block + 5) + Number.drop_while(isDigit)).str();
}

std::string PtxModule::closureOf(StringRef Symbol) const {
  if (!Definitions.count(Symbol))
    return "";
  std::vector<std::string> Order = {Symbol.str()};
  std::map<std::string, unsigned> Numbers = {{Symbol.str(), 0}};
  std::string Text;
  for (size_t I = 0; I < Order.size(); ++I) {
    forEachName(Definitions.lookup(Order[I]).Text, [&](StringRef Name,
                                                       bool IsName) {
      auto It = IsName ? Definitions.find(Name) : Definitions.end();
      if (It == Definitions.end()) {
        Text += IsName ? withoutModuleNumbers(Name) : Name.str();
        return;
      }
      auto [Known, New] = Numbers.try_emplace(Name.str(), Order.size());
      if (New)
        Order.push_back(Name.str());
      Text += It->second.IsPrivate ? "private" + std::to_string(Known->second)
                                   : Name.str();
    });
    Text += "\n";
  }
  return Text;
}

Expected<std::string> compileToPtx(StringRef File, StringRef Arch,
                                   ArrayRef<std::string> Flags) {
  return compileDevice(File, Arch, Flags,
                       {"-w", "-g0", "-S", "-D__LINE__=0", "-D__FILE__=\"\""});
}

} // namespace cupilot
