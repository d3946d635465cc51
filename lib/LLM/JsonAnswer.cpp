//===- JsonAnswer.cpp - JSON in what models write -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/JsonAnswer.h"
#include "cupilot/LLM/Schema.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

namespace {
struct Fence {
  std::string Language; ///< Lower case.
  StringRef Text;
};
} // namespace

/// The code fences of \p Text (CommonMark 4.5), without those that do not end.
static std::vector<Fence> fencesIn(StringRef Text) {
  std::vector<Fence> All;
  std::optional<Fence> Open;
  size_t Ticks = 0;
  char Mark = 0;
  const char *Begin = nullptr;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    StringRef Bare = Line.trim();
    char First = Bare.empty() ? 0 : Bare.front();
    size_t Count = First == '`' || First == '~'
                       ? std::min(Bare.find_first_not_of(First), Bare.size())
                       : 0;
    if (!Open && Count >= 3) {
      Open = Fence{Bare.drop_front(Count).trim().lower(), ""};
      Ticks = Count;
      Mark = First;
      Begin = Rest.data();
    } else if (Open && First == Mark && Count >= Ticks &&
               Count == Bare.size()) {
      Open->Text = StringRef(Begin, static_cast<size_t>(Line.data() - Begin));
      All.push_back(*Open);
      Open.reset();
    }
    Text = Rest;
  }
  return All;
}

/// What a lenient reader would take for JSON, as JSON.
static std::string forgive(StringRef Text) {
  std::string Result;
  bool InString = false, Escaped = false;
  for (char C : Text) {
    if (InString) {
      if (Escaped)
        Escaped = false;
      else if (C == '\\')
        Escaped = true;
      else if (C == '"')
        InString = false;
      if (static_cast<unsigned char>(C) < ' ') {
        Result += C == '\n'   ? "\\n"
                  : C == '\t' ? "\\t"
                  : C == '\r' ? "\\r"
                              : " ";
        continue;
      }
    } else if (C == '"') {
      InString = true;
    } else if (C == '}' || C == ']') {
      size_t Last = StringRef(Result).find_last_not_of(" \t\r\n");
      if (Last != StringRef::npos && Result[Last] == ',')
        Result.erase(Last, 1);
    }
    Result += C;
  }
  return Result;
}

static std::optional<json::Value> parse(StringRef Text) {
  Text = Text.trim();
  if (!Text.starts_with("{") && !Text.starts_with("["))
    return std::nullopt;
  std::string Whole = json::fixUTF8(Text);
  for (const std::string &Try : {Whole, forgive(Whole)}) {
    Expected<json::Value> V = parseJson(Try);
    if (V)
      return std::move(*V);
    consumeError(V.takeError());
  }
  return std::nullopt;
}

/// Where the object that begins at \p Text ends; npos when it does not.
static size_t objectEnd(StringRef Text) {
  bool InString = false;
  unsigned Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '{') {
      ++Depth;
    } else if (C == '}' && --Depth == 0) {
      return I + 1;
    }
  }
  return StringRef::npos;
}

/// Objects in prose, those in front first. What began and is none (code, say)
/// is looked into, but for a bounded number of times.
static std::vector<json::Value> objectsIn(StringRef Text) {
  std::vector<json::Value> All;
  size_t At = 0;
  for (unsigned Tries = 0; Tries < 200; ++Tries) {
    At = Text.find('{', At);
    if (At == StringRef::npos)
      break;
    size_t Length = objectEnd(Text.drop_front(At));
    std::optional<json::Value> V;
    if (Length != StringRef::npos)
      V = parse(Text.substr(At, Length));
    if (V)
      All.push_back(std::move(*V));
    At += V ? Length : 1;
  }
  return All;
}

static bool allows(const json::Object &Schema, StringRef Type) {
  if (Schema.getString("type") == Type)
    return true;
  const json::Array *Types = Schema.getArray("type");
  return Types && is_contained(*Types, json::Value(Type));
}

/// Numbers as strings and strings as numbers, where the schema says so.
static json::Value fitted(const json::Value &V, const json::Value &Schema) {
  const json::Object *S = Schema.getAsObject();
  if (!S)
    return V;
  if (const json::Object *O = V.getAsObject()) {
    const json::Object *Properties = S->getObject("properties");
    json::Object Result;
    for (const auto &[Key, Inner] : *O) {
      const json::Value *P = Properties ? Properties->get(Key) : nullptr;
      Result[Key] = P ? fitted(Inner, *P) : Inner;
    }
    return Result;
  }
  if (const json::Array *A = V.getAsArray()) {
    const json::Value *Items = S->get("items");
    json::Array Result;
    for (const json::Value &Inner : *A)
      Result.push_back(Items ? fitted(Inner, *Items) : Inner);
    return Result;
  }
  if (V.kind() == json::Value::Number && !allows(*S, "number") &&
      !allows(*S, "integer") && allows(*S, "string"))
    return formatv("{0}", V).str();
  if (auto Text = V.getAsString(); Text && !allows(*S, "string")) {
    int64_t Whole;
    double Number;
    if ((allows(*S, "integer") || allows(*S, "number")) &&
        !Text->trim().getAsInteger(10, Whole))
      return Whole;
    if (allows(*S, "number") && !Text->trim().getAsDouble(Number))
      return Number;
  }
  return V;
}

/// Puts code from fences where the object has none, when it is clear which.
static void fillCode(json::Value &V, ArrayRef<std::string> Names,
                     ArrayRef<Fence> Fences) {
  json::Object *O = V.getAsObject();
  if (!O || Names.size() != 1)
    return;
  auto Had = O->getString(Names.front());
  if (Had && !Had->trim().empty() && Had->contains('\n'))
    return;
  // "see below", or nothing: the code stands in a fence.
  const Fence *Code = nullptr;
  for (const Fence &F : Fences) {
    bool Named =
        is_contained(ArrayRef<StringRef>({"cuda", "cu", "c++", "cpp", "c", ""}),
                     StringRef(F.Language));
    if (!Named || parse(F.Text))
      continue;
    if (Code)
      return; // Which one is meant nobody can say.
    Code = &F;
  }
  if (Code)
    (*O)[Names.front()] = Code->Text;
}

Expected<json::Value> readAnswer(StringRef Text, const json::Value &Schema) {
  // Some servers leave the thoughts in the text.
  if (size_t End = Text.rfind("</think>"); End != StringRef::npos)
    Text = Text.drop_front(End + StringRef("</think>").size());
  std::vector<Fence> Fences = fencesIn(Text);
  std::vector<std::string> Code = codeProperties(Schema);
  // The likeliest first.
  std::vector<json::Value> Candidates;
  if (auto Whole = parse(Text))
    Candidates.push_back(std::move(*Whole));
  for (bool Named : {true, false})
    for (const Fence &F : reverse(Fences))
      if (StringRef(F.Language).starts_with("json") == Named)
        if (auto V = parse(F.Text))
          Candidates.push_back(std::move(*V));
  std::vector<json::Value> Loose = objectsIn(Text);
  for (json::Value &V : reverse(Loose))
    Candidates.push_back(std::move(V));
  if (Candidates.empty() && !Code.empty())
    Candidates.push_back(json::Object());
  std::string First;
  for (json::Value &V : Candidates) {
    json::Value Fits = fitted(V, Schema);
    fillCode(Fits, Code, Fences);
    Error E = checkSchema(Fits, Schema);
    if (!E)
      return Fits;
    std::string Why = toString(std::move(E));
    if (First.empty())
      First = Why;
  }
  if (Text.trim().empty())
    return findingError("the answer is empty");
  if (First.empty())
    return findingError("the answer has no JSON object in it");
  return findingError(First);
}

} // namespace cupilot
