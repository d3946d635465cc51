//===- BuildRecord.cpp - Build records as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Nesting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

static json::Value toJSON(const BuildVariant &V) {
  return json::Object{{"name", V.Name},
                      {"source", V.Source},
                      {"source_digest", V.SourceDigest},
                      {"canonical", V.Canonical},
                      {"genome", V.Genome},
                      {"plan", toJSON(V.Plan)},
                      {"guard", toJSON(V.When)}};
}

static bool fromJSON(const json::Value &Value, BuildVariant &V, json::Path P) {
  json::ObjectMapper O(Value, P);
  return O && O.map("name", V.Name) && O.map("source", V.Source) &&
         O.map("source_digest", V.SourceDigest) &&
         O.map("canonical", V.Canonical) && O.map("genome", V.Genome) &&
         O.map("plan", V.Plan) && O.map("guard", V.When);
}

/// Tells a record whose text was damaged: plans and guards have no digest of
/// their own. White space does not count.
static std::string checkOf(const json::Object &Record) {
  json::Object Rest = Record;
  Rest.erase("check");
  return digest(formatv("{0}", json::Value(std::move(Rest))).str());
}

json::Value toJSON(const BuildRecord &R) {
  json::Array Scalars, Variants;
  for (const ScalarRef &S : R.Scalars)
    Scalars.push_back(toJSON(S));
  for (const BuildVariant &V : R.Variants)
    Variants.push_back(toJSON(V));
  json::Object O{{"format", 1},
                 {"identity", R.Identity},
                 {"kernel", R.Kernel},
                 {"symbol", R.Symbol},
                 {"compiler", R.Compiler},
                 {"arch", R.Arch},
                 {"scalars", std::move(Scalars)},
                 {"variants", std::move(Variants)}};
  // What an older cuPilot can read is written so that it can.
  if (any_of(R.Variants,
             [](const BuildVariant &V) { return V.Plan.isExtended(); })) {
    O["format"] = BuildRecord::Format;
    O["params"] = R.Params;
  }
  O["check"] = checkOf(O);
  return O;
}

Expected<BuildRecord> parseBuildRecord(StringRef Text, StringRef Path) {
  Expected<json::Value> Value = parseJson(Text);
  if (!Value)
    return usageError(
        "'" + Path + "' is no build record: " + toString(Value.takeError()),
        "restore the file, or run cupilot evolve again");
  if (const json::Object *O = Value->getAsObject())
    if (std::optional<int64_t> Format = O->getInteger("format");
        Format && *Format > BuildRecord::Format)
      return usageError("'" + Path + "' has format " + Twine(*Format) +
                            "; this cupilot knows formats up to " +
                            Twine(BuildRecord::Format),
                        "use the cupilot that wrote it");
  BuildRecord R;
  int64_t Format = 0;
  json::Path::Root Root("record");
  json::ObjectMapper O(*Value, Root);
  if (!O || !O.map("format", Format) || !O.map("identity", R.Identity) ||
      !O.map("kernel", R.Kernel) || !O.map("symbol", R.Symbol) ||
      !O.map("compiler", R.Compiler) || !O.map("arch", R.Arch) ||
      !O.map("scalars", R.Scalars) || !O.map("variants", R.Variants) ||
      (Format >= 2 && !O.map("params", R.Params)))
    return usageError("'" + Path +
                          "' is no build record: " + toString(Root.getError()),
                      "restore the file, or run cupilot evolve again");
  // Records that were written by hand need none.
  if (const json::Value *Check = Value->getAsObject()->get("check"))
    if (Check->getAsString() != StringRef(checkOf(*Value->getAsObject())))
      return usageError("'" + Path +
                            "' is damaged: it does not hold what was written",
                        "restore the file, or run cupilot evolve again");
  return R;
}

} // namespace cupilot
