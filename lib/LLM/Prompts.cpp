//===- Prompts.cpp - The agents' prompts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Prompts.h"
#include "cupilot/LLM/Quote.h"
#include "cupilot/LLM/Schema.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Mustache.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

std::string PromptTemplate::provenance() const {
  return Name + " " + Version + " b3:" + shortDigest(Digest);
}

json::Value quotedFact(StringRef Label, StringRef Text) {
  return json::Object{{"quote", json::fixUTF8(Label)},
                      {"text", json::fixUTF8(Text)}};
}

namespace {
/// One {{...}} of a template.
struct Tag {
  char Kind; ///< 0 for variables, else '#', '^', '/', '>'.
  StringRef Name;
};
} // namespace

/// The tags of \p Text but comments; nothing when one does not end.
static std::optional<std::vector<Tag>> tagsIn(StringRef Text) {
  std::vector<Tag> Tags;
  for (size_t At; (At = Text.find("{{")) != StringRef::npos;) {
    Text = Text.drop_front(At + 2);
    bool Raw = Text.consume_front("{");
    size_t End = Text.find(Raw ? "}}}" : "}}");
    if (End == StringRef::npos)
      return std::nullopt;
    StringRef Inner = Text.take_front(End);
    Text = Text.drop_front(End + (Raw ? 3 : 2));
    if (Inner.starts_with("!"))
      continue;
    char Kind = 0;
    if (!Inner.empty() && StringRef("#^/>&").contains(Inner.front())) {
      Kind = Inner.front() == '&' ? 0 : Inner.front();
      Inner = Inner.drop_front();
    }
    Tags.push_back({Kind, Inner.trim()});
  }
  return Tags;
}

/// Mustache itself renders what is broken as best it can.
static Error checkTags(StringRef Path, StringRef Text) {
  std::optional<std::vector<Tag>> Tags = tagsIn(Text);
  if (!Tags)
    return usageError("the prompt '" + Path + "' has a '{{' without a '}}'");
  std::vector<StringRef> Open;
  for (const Tag &T : *Tags) {
    if (T.Name.empty())
      return usageError("the prompt '" + Path + "' has a tag without a name");
    if (T.Kind == '#' || T.Kind == '^')
      Open.push_back(T.Name);
    if (T.Kind == '/') {
      if (Open.empty() || Open.back() != T.Name)
        return usageError("the prompt '" + Path + "' closes '" + T.Name +
                          "', which is not open there");
      Open.pop_back();
    }
  }
  if (!Open.empty())
    return usageError("the prompt '" + Path + "' does not close '" +
                      Open.back() + "'");
  return Error::success();
}

std::string PromptLibrary::shippedFolder() {
  std::string Share = installedPath("share/cupilot/prompts");
  return sys::fs::is_directory(Share) ? Share : CUPILOT_SOURCE_DIR "/prompts";
}

Error PromptLibrary::addTemplate(StringRef Name, StringRef Path,
                                 StringRef Text) {
  PromptTemplate T;
  T.Name = Name.str();
  T.File = Path.str();
  auto [First, Rest] = Text.split('\n');
  First = First.trim();
  bool Marked = First.consume_front("{{!") && First.consume_back("}}");
  SmallVector<StringRef, 3> Words;
  SplitString(First, Words);
  if (!Marked || Words.size() != 3 || Words[0] != "cupilot-prompt" ||
      Words[1] != Name)
    return usageError("the prompt '" + Path +
                          "' does not begin with its "
                          "version",
                      "its first line is {{! cupilot-prompt " + Name +
                          " VERSION }}");
  T.Version = quoteLine(Words[2]);
  std::string *Part = nullptr;
  for (StringRef Line : split(Rest, '\n')) {
    if (Line.trim() == "==== system" || Line.trim() == "==== user") {
      Part = Line.trim().ends_with("user") ? &T.User : &T.System;
    } else if (Part) {
      *Part += Line.str() + "\n";
    } else if (!Line.trim().empty()) {
      return usageError(
          "the prompt '" + Path + "' has text before its first section",
          "sections begin with the lines '==== system' and '==== user'");
    }
  }
  if (StringRef(T.User).trim().empty())
    return usageError("the prompt '" + Path + "' has no section '==== user'");
  for (std::string *One : {&T.System, &T.User}) {
    *One = StringRef(*One).trim("\n").str();
    if (Error E = checkTags(Path, *One))
      return E;
  }
  Templates[T.Name] = std::move(T);
  return Error::success();
}

void PromptLibrary::addPartials(StringRef Text,
                                std::set<std::string> &To) const {
  const std::optional<std::vector<Tag>> Tags = tagsIn(Text);
  if (!Tags)
    return;
  for (const Tag &T : *Tags)
    if (auto At = Partials.find(T.Name.str());
        T.Kind == '>' && At != Partials.end() && To.insert(At->first).second)
      addPartials(At->second, To);
}

Expected<PromptLibrary> PromptLibrary::open(StringRef Shipped, StringRef Own) {
  // File name to path; the user's come second.
  std::map<std::string, std::string> Files;
  for (StringRef Folder : {Shipped, Own}) {
    if (Folder.empty())
      continue;
    if (!sys::fs::is_directory(Folder))
      return usageError("there is no folder of prompts '" + Folder + "'");
    std::error_code EC;
    for (sys::fs::directory_iterator It(Folder, EC), End; It != End && !EC;
         It.increment(EC)) {
      StringRef Name = sys::path::filename(It->path());
      if (!Name.ends_with(".md") && !Name.ends_with(".schema.json"))
        continue;
      if (Folder == Own && !Own.empty() && Folder != Shipped &&
          !Files.count(Name.str()))
        return usageError("'" + It->path() + "' is not the name of a prompt",
                          "each file in this folder replaces the prompt of the "
                          "same name in '" +
                              Shipped + "'");
      Files[Name.str()] = It->path();
    }
    if (EC)
      return resourceError("cannot read '" + Folder + "': " + EC.message());
  }
  PromptLibrary L;
  std::map<std::string, std::string> Schemas;
  for (const auto &[File, Path] : Files) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    if (!json::isUTF8(*Text))
      return usageError("the prompt '" + Path + "' is not UTF-8");
    StringRef Name = File;
    if (Name.consume_back(".schema.json")) {
      Schemas[Name.str()] = *Text;
    } else if (Name.consume_back(".md") && Name.starts_with("_")) {
      if (Error E = checkTags(Path, *Text))
        return std::move(E);
      L.Partials[Name.str()] = StringRef(*Text).trim("\n").str();
    } else if (Error E = L.addTemplate(Name, Path, *Text)) {
      return std::move(E);
    }
  }
  for (auto &[Name, T] : L.Templates) {
    DigestBuilder Digest;
    Digest.add(T.System).add(T.User);
    std::set<std::string> Used;
    L.addPartials(T.System, Used);
    L.addPartials(T.User, Used);
    for (const std::string &Partial : Used)
      Digest.add(Partial).add(L.Partials[Partial]);
    if (auto At = Schemas.find(Name); At != Schemas.end()) {
      const std::string &Path = Files[Name + ".schema.json"];
      Expected<json::Value> V = parseJson(At->second);
      if (!V)
        return usageError("the schema '" + Path +
                          "' is not valid JSON: " + toString(V.takeError()));
      if (Error E = checkIsSchema(*V))
        return usageError("'" + Path + "': " + toString(std::move(E)));
      T.Schema = std::move(*V);
      Digest.add(formatv("{0}", T.Schema).str());
    }
    T.Digest = Digest.str();
  }
  return L;
}

std::vector<std::string> PromptLibrary::names() const {
  std::vector<std::string> Names;
  Names.reserve(Templates.size());
  for (const auto &[Name, T] : Templates)
    Names.push_back(Name);
  return Names;
}

Expected<const PromptTemplate *> PromptLibrary::find(StringRef Name) const {
  auto At = Templates.find(Name.str());
  if (At == Templates.end())
    return usageError("unknown prompt '" + Name + "'",
                      "the prompts are: " + join(names(), ", "));
  return &At->second;
}

namespace {
/// The names that facts have.
struct FactNames {
  std::set<std::string> All;
  std::set<std::string> Empty; ///< What a section over it leaves out.
};
} // namespace

/// The facts with all texts made safe; their names go to \p Names.
static json::Value safe(const json::Value &V, FactNames &Names) {
  if (auto Text = V.getAsString())
    return quoteLine(*Text);
  if (const json::Array *A = V.getAsArray()) {
    json::Array Result;
    for (const json::Value &Item : *A)
      Result.push_back(safe(Item, Names));
    return Result;
  }
  if (const json::Object *O = V.getAsObject()) {
    auto Label = O->getString("quote"), Text = O->getString("text");
    if (O->size() == 2 && Label && Text)
      return quoteText(*Label, *Text);
    json::Object Result;
    for (const auto &[Key, Item] : *O) {
      Names.All.insert(Key.str());
      const json::Array *List = Item.getAsArray();
      if (Item.kind() == json::Value::Null || Item.getAsBoolean() == false ||
          (List && List->empty()))
        Names.Empty.insert(Key.str());
      Result[Key] = safe(Item, Names);
    }
    return Result;
  }
  // Numbers as they are written, not as Mustache would.
  if (V.kind() == json::Value::Number)
    return formatv("{0}", V).str();
  return V;
}

/// Mustache makes nothing of a name that it does not know; a slip in a prompt
/// would never be seen. Inside of a list that is empty no names are known.
static Error checkNames(StringRef File, StringRef Text, const FactNames &Names,
                        const std::map<std::string, std::string> &Partials) {
  std::optional<StringRef> Skipped;
  std::vector<Tag> Tags = tagsIn(Text).value_or(std::vector<Tag>());
  for (const Tag &Used : Tags) {
    if (Skipped) {
      if (Used.Kind == '/' && Used.Name == *Skipped)
        Skipped.reset();
      continue;
    }
    if (Used.Kind == '>') {
      auto At = Partials.find(Used.Name.str());
      if (At == Partials.end())
        return usageError("the prompt '" + File + "' includes '" + Used.Name +
                          "', which is not a part");
      if (At->second.find("{{>") != std::string::npos)
        return usageError("the prompts' part '" + Used.Name +
                          "' includes another part, which is not allowed");
      if (Error E = checkNames(Used.Name, At->second, Names, Partials))
        return E;
      continue;
    }
    for (StringRef Key : split(Used.Name, '.'))
      if (!Key.empty() && !Names.All.count(Key.str()))
        return usageError("the prompt '" + File + "' uses '" + Used.Name +
                              "', which is not a fact of this prompt",
                          "its facts are: " + join(Names.All, ", "));
    if (Used.Kind == '#' && Names.Empty.count(Used.Name.str()))
      Skipped = Used.Name;
  }
  return Error::success();
}

/// Without the properties that \p Facts say are not asked for.
static json::Value schemaFor(json::Value Schema, const json::Object &Facts) {
  json::Object *O = Schema.getAsObject();
  json::Object *Properties = O ? O->getObject("properties") : nullptr;
  const json::Array *Unasked = Facts.getArray("unasked");
  if (!Properties || !Unasked)
    return Schema;
  for (const json::Value &Name : *Unasked) {
    Properties->erase(Name.getAsString().value_or(""));
    if (json::Array *Required = O->getArray("required"))
      if (auto At = find(*Required, Name); At != Required->end())
        Required->erase(At);
  }
  return Schema;
}

Expected<ChatRequest> PromptLibrary::render(StringRef Name,
                                            const json::Object &Facts) const {
  Expected<const PromptTemplate *> Found = find(Name);
  if (!Found)
    return Found.takeError();
  const PromptTemplate &T = **Found;
  FactNames Names;
  json::Value Data = safe(json::Object(Facts), Names);
  ChatRequest R;
  R.Prompt = T.provenance();
  R.SchemaName = T.Name;
  if (T.Schema.getAsObject())
    R.Schema = schemaFor(T.Schema, Facts);

  for (StringRef Text : {StringRef(T.System), StringRef(T.User)})
    if (Error E = checkNames(T.File, Text, Names, Partials))
      return std::move(E);
  for (auto [Text, Into] : {std::pair(&T.System, &R.System),
                            {&T.User, static_cast<std::string *>(nullptr)}}) {
    BumpPtrAllocator Allocator;
    StringSaver Saver(Allocator);
    mustache::MustacheContext Context(Allocator, Saver);
    mustache::Template Page(*Text, Context);
    for (const auto &[Partial, Body] : Partials)
      Page.registerPartial(Partial, Body);
    // Code is no HTML.
    Page.overrideEscapeCharacters(DenseMap<char, std::string>());
    std::string Out;
    raw_string_ostream OS(Out);
    Page.render(Data, OS);
    if (Into)
      *Into = std::move(Out);
    else
      R.Messages.push_back({ChatMessage::Role::User, std::move(Out)});
  }
  return R;
}

} // namespace cupilot
