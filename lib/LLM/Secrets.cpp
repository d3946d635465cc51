//===- Secrets.cpp - Keys: from the environment, and nowhere else -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Secrets.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>

extern "C" char **environ;

using namespace llvm;

namespace cupilot {

Expected<std::string> keyFromEnvironment(StringRef Name) {
  const char *Value = std::getenv(Name.str().c_str());
  StringRef Key = StringRef(Value ? Value : "").trim();
  if (any_of(Key, [](char C) { return C <= ' ' || C == 0x7f; }))
    return usageError("the value of " + Name +
                          " is not a key: it has spaces, line breaks or bytes "
                          "that are not ASCII",
                      "set " + Name + " to the key alone");
  return Key.str();
}

static std::string urlSpelling(StringRef Key) {
  std::string Text;
  for (char C : Key)
    if (isAlnum(C) || StringRef("-_.~").contains(C))
      Text += C;
    else
      Text += "%" + utohexstr(static_cast<unsigned char>(C), false, 2);
  return Text;
}

static std::string replaceAll(StringRef Text, StringRef What, StringRef With) {
  std::string Result;
  for (size_t At; (At = Text.find(What)) != StringRef::npos;
       Text = Text.drop_front(At + What.size()))
    Result += (Text.take_front(At) + With).str();
  return Result + Text.str();
}

void Secrets::add(StringRef Key) {
  if (Key.size() < Shortest)
    return;
  std::string Json = replaceAll(replaceAll(Key, "\\", "\\\\"), "\"", "\\\"");
  for (const std::string &Spelling :
       {Key.str(), urlSpelling(Key), Json, replaceAll(Json, "/", "\\/")})
    if (!is_contained(Spellings, Spelling))
      Spellings.push_back(Spelling);
  llvm::sort(Spellings, [](const std::string &A, const std::string &B) {
    return A.size() > B.size();
  });
}

void Secrets::addEnvironment() {
  for (char **Variable = environ; *Variable; ++Variable) {
    auto [Name, Value] = StringRef(*Variable).split('=');
    if (any_of(ArrayRef<StringRef>({"KEY", "TOKEN", "SECRET", "PASSWORD"}),
               [&, N = Name](StringRef End) { return N.ends_with(End); }))
      add(Value.trim());
  }
}

std::string Secrets::scrub(StringRef Text) const {
  std::string Result = Text.str();
  for (const std::string &Spelling : Spellings)
    if (StringRef(Result).contains(Spelling))
      Result = replaceAll(Result, Spelling, "[key]");
  return Result;
}

std::string excerpt(StringRef Text, size_t Most) {
  std::string Line;
  for (char C : Text) {
    bool Space = static_cast<unsigned char>(C) <= ' ' || C == 0x7f;
    if (Space && (Line.empty() || Line.back() == ' '))
      continue;
    Line += Space ? ' ' : C;
    if (Line.size() > Most) {
      Line += "...";
      break;
    }
  }
  return json::fixUTF8(StringRef(Line).rtrim());
}

} // namespace cupilot
