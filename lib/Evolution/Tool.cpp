//===- Tool.cpp - The tools of the bench -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace cupilot {

namespace {
struct ToolRow {
  Tool T;
  StringRef Word, Title;
  bool UsesGpu, IsFree;
};
} // namespace

static constexpr ToolRow Rows[] = {
#define CUPILOT_TOOL(Name, Word, Title, UsesGpu, IsFree)                       \
  {Tool::Name, Word, Title, UsesGpu, IsFree},
#include "cupilot/Evolution/Tool.def"
};

static const ToolRow &rowOf(Tool T) { return Rows[static_cast<size_t>(T)]; }

StringRef wordOf(Tool T) { return rowOf(T).Word; }
bool usesGpu(Tool T) { return rowOf(T).UsesGpu; }
bool isFree(Tool T) { return rowOf(T).IsFree; }

std::optional<Tool> toolOf(StringRef Word) {
  for (const ToolRow &R : Rows)
    if (R.Word == Word)
      return R.T;
  return std::nullopt;
}

ArrayRef<Tool> allTools() {
  static constexpr Tool All[] = {
#define CUPILOT_TOOL(Name, Word, Title, UsesGpu, IsFree) Tool::Name,
#include "cupilot/Evolution/Tool.def"
  };
  return All;
}

//===----------------------------------------------------------------------===//
// What clients are told
//===----------------------------------------------------------------------===//

static StringRef descriptionOf(Tool T) {
  switch (T) {
  case Tool::Kernels:
    return "Lists the kernels that the recorded run of the program launches, "
           "the largest share of the kernel time first: share, the best proved "
           "variant with its speed-up, and, where work has found them, time, "
           "class, ceiling and distance of the original.";
  case Tool::Kernel:
    return "Shows one kernel: its self-contained source (slice), parameters, "
           "contract, recorded launches, flags, figures of the GPU, and the "
           "domain of the best variant. The resources "
           "cupilot://prompts/_rules.md and cupilot://prompts/_plan.md say "
           "what a variant's text, plan and guard may be.";
  case Tool::Tried:
    return "Lists what searches and all clients of this store have tried on a "
           "kernel: name, genome, outcome, reason, times. Quick verdicts are "
           "marked.";
  case Tool::Variant:
    return "Shows source, plan and guard of a variant that 'tried' names.";
  case Tool::Knowledge:
    return "Searches the documentation, the strategies' notes, the GPUs' "
           "figures and the rules for variants by words. With 'kernel' and "
           "without 'query', finds proved variants of similar kernels.";
  case Tool::Compile:
    return "Admits and compiles a variant's text as the gate would: errors, "
           "registers, spills and shared memory by ptxas, facts of the code.";
  case Tool::Judge:
    return "Runs the gate on a variant. depth 'quick' runs the recorded "
           "launches and a few others, and is not a proof; 'whole' runs all "
           "checks, as before a variant is kept. Nothing is kept.";
  case Tool::Time:
    return "Times a variant beside the original: on the GPU, or modelled where "
           "there is none. Runs a quick verdict first. Nothing is kept.";
  case Tool::Profile:
    return "Says what bounds the original, or a variant's text: counts, "
           "counters where a GPU may be read, class and distance to the "
           "ceiling.";
  case Tool::Tune:
    return "Tries other values of the numbers that a text leaves open "
           "(tunables), as a search does: on the GPU by successive halving, or "
           "by modelled times. The fastest pass the whole gate. Returns the "
           "best setting's text, plan and guard for 'submit'. Nothing is kept.";
  case Tool::Submit:
    return "Has a variant judged as a search's candidate: admission, the whole "
           "gate, times, other compilers. If it passes and is faster, it is "
           "put into the store, where builds take it from. The only tool that "
           "changes the store.";
  case Tool::Status:
    return "Says how a piece of work stands; without a handle, lists the work "
           "of this store. Interrupted work is gone on with.";
  case Tool::Result:
    return "Returns what came of a piece of work, or how it stands. Any client "
           "of the store may ask, at any time.";
  case Tool::Cancel:
    return "Ends a piece of work.";
  }
  llvm_unreachable("all tools are described");
}

static json::Object typed(StringRef Type, StringRef Description = "") {
  json::Object O{{"type", Type}};
  if (!Description.empty())
    O["description"] = Description;
  return O;
}

static json::Object objectOf(json::Object Properties, json::Array Required) {
  return json::Object{{"type", "object"},
                      {"properties", std::move(Properties)},
                      {"required", std::move(Required)}};
}

static json::Object listOf(json::Value Items) {
  return json::Object{{"type", "array"}, {"items", std::move(Items)}};
}

static json::Object waitSchema() {
  return json::Object{{"type", "number"},
                      {"minimum", 0},
                      {"maximum", 20},
                      {"description",
                       "how many seconds to wait for the result before a "
                       "handle alone is returned"}};
}

/// A variant's text with plan and guard; \p Answer has their forms.
static void addText(json::Object &Properties, const json::Value &Answer) {
  json::Object Source =
      typed("string", "the whole variant as one .cu text: device code alone, "
                      "kernels with the original's parameters");
  Source["minLength"] = 1;
  Properties["source"] = std::move(Source);
  const json::Object *Known = nullptr;
  if (const json::Object *Schema = Answer.getAsObject())
    Known = Schema->getObject("properties");
  for (const auto &[Key, Description] :
       {std::pair("plan", "the launches that take the place of the original's "
                          "(default: the original's launch)"),
        std::pair("guard", "what must hold for the variant to run (default: "
                           "nothing)")}) {
    json::Object Schema = typed("object");
    if (Known)
      if (const json::Object *Form = Known->getObject(Key))
        Schema = *Form;
    Schema["description"] = Description;
    Properties[Key] = std::move(Schema);
  }
}

static json::Object inputOf(Tool T, const json::Value &Answer) {
  json::Object Properties;
  json::Array Required;
  auto AddKernel = [&] {
    Properties["kernel"] = typed(
        "string", "its name or symbol, as 'kernels' says; up to '(' will do");
    Required.push_back("kernel");
  };
  auto AddHandle = [&] {
    Properties["handle"] = typed("string", "h_ and 16 digits");
  };
  auto AddMost = [&] {
    Properties["most"] = json::Object{{"type", "integer"},
                                      {"minimum", 1},
                                      {"maximum", 500},
                                      {"description", "rows at most"}};
  };
  switch (T) {
  case Tool::Kernels:
    break;
  case Tool::Kernel:
    AddKernel();
    break;
  case Tool::Tried:
    AddKernel();
    AddMost();
    break;
  case Tool::Variant:
    AddKernel();
    Properties["name"] =
        typed("string", "v_ and digits, or the handle of work with a text");
    Required.push_back("name");
    break;
  case Tool::Knowledge:
    Properties["query"] = typed("string", "words");
    AddMost();
    Properties["kernel"] = typed("string", "whose likes are wanted");
    Properties["wait_seconds"] = waitSchema();
    break;
  case Tool::Compile:
  case Tool::Judge:
  case Tool::Time:
  case Tool::Submit:
    AddKernel();
    addText(Properties, Answer);
    Required.push_back("source");
    if (T == Tool::Judge)
      Properties["depth"] =
          json::Object{{"type", "string"},
                       {"enum", json::Array{"quick", "whole"}},
                       {"description", "default quick"}};
    if (T == Tool::Submit) {
      Properties["strategies"] = listOf(typed("string"));
      Properties["notes"] =
          typed("string", "what it does, for those who review it");
    }
    Properties["wait_seconds"] = waitSchema();
    break;
  case Tool::Tune: {
    AddKernel();
    addText(Properties, Answer);
    Required.push_back("source");
    const json::Object *Schema = Answer.getAsObject();
    const json::Object *Known =
        Schema ? Schema->getObject("properties") : nullptr;
    json::Object Numbers = typed("array");
    if (Known && Known->getObject("tunables"))
      Numbers = *Known->getObject("tunables");
    Numbers["minItems"] = 1;
    Numbers["description"] =
        "names that source, plan and guard use like integer constants and the "
        "source does not define, each with its values, and the strategy and "
        "parameter that it is a value of";
    Properties["tunables"] = std::move(Numbers);
    Required.push_back("tunables");
    Properties["settings"] = json::Object{
        {"type", "integer"},
        {"minimum", 1},
        {"maximum", 500},
        {"description", "how many are tried at most (default 32)"}};
    Properties["strategies"] = listOf(typed("string"));
    Properties["wait_seconds"] = waitSchema();
    break;
  }
  case Tool::Profile:
    AddKernel();
    addText(Properties, Answer);
    Properties["wait_seconds"] = waitSchema();
    break;
  case Tool::Status:
    AddHandle();
    break;
  case Tool::Result:
    AddHandle();
    Required.push_back("handle");
    Properties["wait_seconds"] = waitSchema();
    break;
  case Tool::Cancel:
    AddHandle();
    Required.push_back("handle");
    break;
  }
  json::Object Schema = objectOf(std::move(Properties), std::move(Required));
  Schema["additionalProperties"] = false;
  return Schema;
}

/// How work stands.
static json::Object workProperties() {
  return json::Object{
      {"handle", typed("string")},
      {"tool", typed("string")},
      {"kernel", typed("string")},
      {"client", typed("string")},
      {"state",
       json::Object{{"type", "string"},
                    {"enum", json::Array{"queued", "running", "done", "failed",
                                         "cancelled", "interrupted"}}}},
      {"said", typed("string", "the last line of its log")},
      {"seconds", typed("number")},
      {"gpu_seconds", typed("number")},
      {"result", typed("object", "where it is done")},
      {"error", typed("string")},
      {"hint", typed("string")}};
}

static json::Object outputOf(Tool T) {
  json::Object Properties;
  json::Array Required;
  auto Add = [&](StringRef Name, json::Object Schema, bool Always = true) {
    Properties[Name] = std::move(Schema);
    if (Always)
      Required.push_back(Name);
  };
  switch (T) {
  case Tool::Kernels:
    Add("kernels",
        listOf(objectOf(
            json::Object{{"kernel", typed("string")},
                         {"symbol", typed("string")},
                         {"share", typed("number", "of the kernel time")},
                         {"launches", typed("integer")},
                         {"best", typed("object")},
                         {"original", typed("object")}},
            json::Array{"kernel", "symbol"})));
    Add("store", typed("string"));
    Add("device", typed("string"));
    Add("gpu", typed("string"));
    break;
  case Tool::Kernel:
    Add("kernel", typed("string"));
    Add("symbol", typed("string"));
    Add("identity", typed("string"));
    Add("slice", typed("string"));
    Add("parameters", listOf(typed("object")));
    Add("workloads", listOf(typed("object")));
    Add("contract", typed("string"));
    Add("architecture", typed("string"));
    break;
  case Tool::Tried:
    Add("kernel", typed("string"));
    Add("candidates", listOf(objectOf(json::Object{{"name", typed("string")},
                                                   {"from", typed("string")},
                                                   {"outcome", typed("string")},
                                                   {"quick", typed("boolean")},
                                                   {"kept", typed("boolean")}},
                                      json::Array{"name", "from", "outcome",
                                                  "quick", "kept"})));
    Add("all", typed("integer"));
    break;
  case Tool::Variant:
    Add("name", typed("string"));
    Add("kernel", typed("string"));
    Add("source", typed("string"));
    for (const char *Key : {"plan", "guard"})
      Add(Key, typed("object", "as 'submit' takes it"), /*Always=*/false);
    Add("guard_text", typed("string"), /*Always=*/false);
    break;
  case Tool::Knowledge:
    Add("passages",
        listOf(objectOf(json::Object{{"uri", typed("string")},
                                     {"heading", typed("string")},
                                     {"text", typed("string")}},
                        json::Array{"uri", "heading", "text"})),
        /*Always=*/false);
    for (auto &[Name, Schema] : workProperties())
      Properties[Name] = Schema;
    break;
  case Tool::Status:
    Add("work",
        listOf(objectOf(workProperties(), json::Array{"handle", "state"})));
    break;
  case Tool::Compile:
  case Tool::Judge:
  case Tool::Time:
  case Tool::Profile:
  case Tool::Tune:
  case Tool::Submit:
  case Tool::Result:
  case Tool::Cancel:
    Properties = workProperties();
    Required = json::Array{"handle", "state"};
    break;
  }
  Add("budget", typed("object", "what calls have used, and the limits"));
  return objectOf(std::move(Properties), std::move(Required));
}

json::Object describeTool(Tool T, const json::Value &Answer) {
  const bool Changes = T == Tool::Submit || T == Tool::Cancel;
  return json::Object{
      {"name", wordOf(T)},
      {"title", rowOf(T).Title},
      {"description", descriptionOf(T)},
      {"inputSchema", inputOf(T, Answer)},
      {"outputSchema", outputOf(T)},
      {"annotations", json::Object{{"readOnlyHint", !Changes},
                                   {"destructiveHint", T == Tool::Cancel},
                                   {"idempotentHint", true},
                                   {"openWorldHint", false}}}};
}

} // namespace cupilot
