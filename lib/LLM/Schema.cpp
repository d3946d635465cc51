//===- Schema.cpp - JSON schemas of answers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Schema.h"
#include "cupilot/LLM/Secrets.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Known[] = {"type",
                                      "properties",
                                      "required",
                                      "additionalProperties",
                                      "items",
                                      "enum",
                                      "anyOf",
                                      "minimum",
                                      "maximum",
                                      "minItems",
                                      "maxItems",
                                      "minLength",
                                      "pattern",
                                      "description",
                                      "contentMediaType",
                                      "title"};
/// What every provider with schemas takes.
static constexpr StringRef Sent[] = {
    "type",  "properties", "required", "additionalProperties",
    "items", "enum",       "anyOf",    "description"};

static bool hasType(const json::Value &V, StringRef Type) {
  switch (V.kind()) {
  case json::Value::Null:
    return Type == "null";
  case json::Value::Boolean:
    return Type == "boolean";
  case json::Value::Number:
    return Type == "number" || (Type == "integer" && V.getAsInteger());
  case json::Value::String:
    return Type == "string";
  case json::Value::Array:
    return Type == "array";
  case json::Value::Object:
    return Type == "object";
  }
  return false;
}

namespace {
class Checker {
public:
  Error check(const json::Value &V, const json::Value &Schema,
              const std::string &Path);

private:
  Error fail(const std::string &Path, const Twine &What) {
    return findingError((Path.empty() ? "the answer" : Path) + ": " + What);
  }
  Error checkObject(const json::Object &O, const json::Object &S,
                    const std::string &Path);
  Error checkArray(const json::Array &A, const json::Object &S,
                   const std::string &Path);
  Error checkText(StringRef Text, const json::Object &S,
                  const std::string &Path);
};
} // namespace

/// "string or integer".
static std::string typesIn(const json::Object &S) {
  if (auto One = S.getString("type"))
    return One->str();
  std::string All;
  if (const json::Array *Types = S.getArray("type"))
    for (const json::Value &T : *Types)
      All += (All.empty() ? "" : " or ") + T.getAsString().value_or("").str();
  return All;
}

Error Checker::checkObject(const json::Object &O, const json::Object &S,
                           const std::string &Path) {
  const json::Object *Properties = S.getObject("properties");
  if (const json::Array *Required = S.getArray("required"))
    for (const json::Value &Name : *Required)
      if (!O.get(*Name.getAsString()))
        return fail(Path, "there is no '" + *Name.getAsString() + "'");
  std::string Prefix = Path.empty() ? "" : Path + ".";
  SmallVector<StringRef> Names;
  for (const auto &[Key, V] : O)
    Names.push_back(Key);
  llvm::sort(Names);
  for (StringRef Name : Names) {
    const json::Value *Inner = Properties ? Properties->get(Name) : nullptr;
    if (Inner) {
      if (Error E = check(*O.get(Name), *Inner, Prefix + Name.str()))
        return E;
    } else if (S.getBoolean("additionalProperties") == false) {
      return fail(Path, "'" + excerpt(Name, 60) + "' does not belong there");
    }
  }
  return Error::success();
}

Error Checker::checkArray(const json::Array &A, const json::Object &S,
                          const std::string &Path) {
  int64_t Size = static_cast<int64_t>(A.size());
  if (auto Least = S.getInteger("minItems"); Least && Size < *Least)
    return fail(Path, "it has " + Twine(Size) + " elements, fewer than " +
                          Twine(*Least));
  if (auto Most = S.getInteger("maxItems"); Most && Size > *Most)
    return fail(Path, "it has " + Twine(Size) + " elements, more than " +
                          Twine(*Most));
  if (const json::Value *Items = S.get("items"))
    for (auto [I, V] : enumerate(A))
      if (Error E = check(V, *Items, Path + "[" + utostr(I) + "]"))
        return E;
  return Error::success();
}

Error Checker::checkText(StringRef Text, const json::Object &S,
                         const std::string &Path) {
  if (auto Least = S.getInteger("minLength");
      Least && static_cast<int64_t>(Text.size()) < *Least)
    return fail(Path, "the text is shorter than " + Twine(*Least));
  if (auto Pattern = S.getString("pattern"); Pattern)
    if (!Regex(*Pattern).match(Text))
      return fail(Path,
                  "'" + excerpt(Text, 60) + "' does not match " + *Pattern);
  return Error::success();
}

Error Checker::check(const json::Value &V, const json::Value &Schema,
                     const std::string &Path) {
  const json::Object &S = *Schema.getAsObject();
  std::string Types = typesIn(S);
  if (!Types.empty() &&
      none_of(split(Types, " or "), [&](StringRef T) { return hasType(V, T); }))
    return fail(Path, "it is no " + Types);
  if (const json::Array *Values = S.getArray("enum"))
    if (!is_contained(*Values, V)) {
      std::string All;
      for (const json::Value &One : *Values)
        All += (All.empty() ? "" : ", ") + formatv("{0}", One).str();
      return fail(Path,
                  excerpt(formatv("{0}", V).str(), 60) + " is none of " + All);
    }
  if (const json::Array *Any = S.getArray("anyOf")) {
    std::string First;
    bool Fits = false;
    for (const json::Value &One : *Any) {
      Error E = check(V, One, Path);
      Fits |= !E;
      std::string Text = toString(std::move(E));
      if (First.empty())
        First = Text;
    }
    if (!Fits)
      return findingError(First);
  }
  if (auto Number = V.getAsNumber()) {
    if (auto Least = S.getNumber("minimum"); Least && *Number < *Least)
      return fail(Path, formatv("{0} is less than {1}", *Number, *Least).str());
    if (auto Most = S.getNumber("maximum"); Most && *Number > *Most)
      return fail(Path, formatv("{0} is more than {1}", *Number, *Most).str());
  }
  if (const json::Object *O = V.getAsObject())
    return checkObject(*O, S, Path);
  if (const json::Array *A = V.getAsArray())
    return checkArray(*A, S, Path);
  if (auto Text = V.getAsString())
    return checkText(*Text, S, Path);
  return Error::success();
}

Error checkSchema(const json::Value &V, const json::Value &Schema) {
  return Checker().check(V, Schema, "");
}

Error checkIsSchema(const json::Value &Schema) {
  const json::Object *S = Schema.getAsObject();
  if (!S)
    return usageError("a schema is an object");
  for (const auto &[Key, V] : *S) {
    StringRef Name = Key;
    if (!is_contained(Known, Name))
      return usageError("the schema's keyword '" + Name +
                        "' is none that cuPilot checks");
    bool Right = true;
    if (Name == "properties")
      Right = V.getAsObject() != nullptr;
    else if (Name == "items")
      Right = V.getAsObject() != nullptr;
    else if (Name == "enum" || Name == "anyOf")
      Right = V.getAsArray() && !V.getAsArray()->empty();
    else if (Name == "required")
      Right = V.getAsArray() && all_of(*V.getAsArray(), [](auto &N) {
                return N.getAsString().has_value();
              });
    else if (Name == "pattern") {
      std::string Why;
      Right = V.getAsString() && Regex(*V.getAsString()).isValid(Why);
    }
    if (!Right)
      return usageError("the schema's '" + Name + "' is not what it must be");
  }
  if (const json::Object *Properties = S->getObject("properties"))
    for (const auto &[Key, V] : *Properties)
      if (Error E = checkIsSchema(V))
        return E;
  if (const json::Value *Items = S->get("items"))
    if (Error E = checkIsSchema(*Items))
      return E;
  if (const json::Array *Any = S->getArray("anyOf"))
    for (const json::Value &One : *Any)
      if (Error E = checkIsSchema(One))
        return E;
  return Error::success();
}

json::Value schemaForProvider(const json::Value &Schema) {
  const json::Object *S = Schema.getAsObject();
  if (!S)
    return Schema;
  json::Object Result;
  for (const auto &[Key, V] : *S) {
    StringRef Name = Key;
    if (!is_contained(Sent, Name))
      continue;
    if (Name == "properties") {
      json::Object Properties;
      for (const auto &[Property, Inner] : *V.getAsObject())
        Properties[Property] = schemaForProvider(Inner);
      Result[Key] = std::move(Properties);
    } else if (Name == "items") {
      Result[Key] = schemaForProvider(V);
    } else if (Name == "anyOf") {
      json::Array Any;
      for (const json::Value &One : *V.getAsArray())
        Any.push_back(schemaForProvider(One));
      Result[Key] = std::move(Any);
    } else {
      Result[Key] = V;
    }
  }
  return Result;
}

std::vector<std::string> codeProperties(const json::Value &Schema) {
  std::vector<std::string> Names;
  if (const json::Object *S = Schema.getAsObject())
    if (const json::Object *Properties = S->getObject("properties"))
      for (const auto &[Key, V] : *Properties)
        if (const json::Object *P = V.getAsObject())
          if (P->getString("contentMediaType") == "text/x-cuda")
            Names.push_back(Key.str());
  llvm::sort(Names);
  return Names;
}

} // namespace cupilot
