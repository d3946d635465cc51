//===- BuildRecord.cpp - Build records as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace cupilot {

/// Of records of stores of format 5 and before, with plans that have more than
/// one launch and its shape.
static constexpr int ExtendedFormat = 2;
/// Of the first records with domains.
static constexpr int DomainFormat = 7;

static json::Value toJSON(const BuildVariant &V) {
  json::Object O{{"name", V.Name},
                 {"source", V.Source},
                 {"source_digest", V.SourceDigest},
                 {"canonical", V.Canonical},
                 {"genome", V.Genome},
                 {"plan", toJSON(V.Plan)},
                 {"guard", toJSON(V.When)}};
  if (V.Basis) {
    O["basis"] = wordOf(*V.Basis);
    O["low"] = V.Low;
    if (V.Ratio > 0) {
      O["ratio"] = V.Ratio;
      O["high"] = V.High;
    }
  }
  if (V.Where)
    O["domain"] = toJSON(*V.Where);
  return O;
}

static json::Value toJSON(const ParamName &N) {
  return json::Array{N.Name, N.Size};
}

static bool fromJSON(const json::Value &Value, ParamName &N, json::Path P) {
  const json::Array *Parts = Value.getAsArray();
  if (!Parts || Parts->size() != 2) {
    P.report("expected [name, bytes]");
    return false;
  }
  return fromJSON((*Parts)[0], N.Name, P.index(0)) &&
         fromJSON((*Parts)[1], N.Size, P.index(1));
}

static bool fromJSON(const json::Value &Value, BuildVariant &V, json::Path P) {
  json::ObjectMapper O(Value, P);
  std::string Word;
  bool Read = O && O.map("name", V.Name) && O.map("source", V.Source) &&
              O.map("source_digest", V.SourceDigest) &&
              O.map("canonical", V.Canonical) && O.map("genome", V.Genome) &&
              O.map("plan", V.Plan) && O.map("guard", V.When) &&
              O.mapOptional("basis", Word) && O.mapOptional("low", V.Low) &&
              O.mapOptional("ratio", V.Ratio) && O.mapOptional("high", V.High);
  // Nothing there is a variant of an older store; "null" is no domain.
  if (Read && Value.getAsObject()->get("domain")) {
    V.Where.emplace();
    Read = O.map("domain", *V.Where);
  }
  for (Basis B : {Basis::Modelled, Basis::Measured, Basis::Declared})
    if (wordOf(B) == Word)
      V.Basis = B;
  if (Read && !Word.empty() && !V.Basis)
    P.field("basis").report("unknown basis of evidence");
  return Read && (Word.empty() || V.Basis);
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
  if (!R.Contract.empty()) {
    // Records without domains stay what they were.
    const bool HasDomain =
        !R.Names.empty() || any_of(R.Variants, [](const BuildVariant &V) {
          return V.Where.has_value();
        });
    O["format"] = HasDomain ? BuildRecord::Format : DomainFormat - 1;
    O["params"] = R.Params;
    O["contract"] = R.Contract;
    if (HasDomain) {
      json::Array Names;
      for (const ParamName &N : R.Names)
        Names.push_back(toJSON(N));
      O["names"] = std::move(Names);
    }
  } else if (any_of(R.Variants, [](const BuildVariant &V) {
               return V.Plan.isExtended();
             })) {
    O["format"] = ExtendedFormat;
    O["params"] = R.Params;
  }
  O["check"] = checkOf(O);
  return O;
}

/// Domains of \p R speak of what its kernel gets.
static Error checkDomains(const BuildRecord &R) {
  if (!R.Names.empty() && R.Names.size() != R.Params)
    return usageError("it names another number of parameters than it has");
  for (const BuildVariant &V : R.Variants) {
    if (!V.Where)
      continue;
    if (Error E = checkDomain(*V.Where, R.Scalars.size(), R.Params))
      return usageError("variant '" + V.Name + "': " + toString(std::move(E)));
  }
  return Error::success();
}

std::string verifyCommand(StringRef Root) {
  return ("'cupilot verify --store " + Root + "'").str();
}

Expected<BuildRecord> parseBuildRecord(StringRef Text, StringRef Path) {
  // STORE/builds/NAME.json
  const std::string Verify =
      verifyCommand(sys::path::parent_path(sys::path::parent_path(Path))) +
      ", which writes it anew";
  const std::string Restore = "restore the file, or run " + Verify;
  Expected<json::Value> Value = parseJson(Text);
  if (!Value)
    return usageError(
        "'" + Path + "' is not a build record: " + toString(Value.takeError()),
        Restore);
  if (const json::Object *O = Value->getAsObject())
    if (std::optional<int64_t> Format = O->getInteger("format");
        Format && *Format > BuildRecord::Format)
      return usageError("'" + Path + "' has format " + Twine(*Format) +
                            "; this cupilot supports formats up to " +
                            Twine(BuildRecord::Format),
                        "use the cupilot that wrote it, or run " + Verify);
  BuildRecord R;
  int64_t Format = 0;
  json::Path::Root Root("record");
  json::ObjectMapper O(*Value, Root);
  if (!O || !O.map("format", Format) || !O.map("identity", R.Identity) ||
      !O.map("kernel", R.Kernel) || !O.map("symbol", R.Symbol) ||
      !O.map("compiler", R.Compiler) || !O.map("arch", R.Arch) ||
      !O.map("scalars", R.Scalars) || !O.map("variants", R.Variants) ||
      (Format >= ExtendedFormat && !O.map("params", R.Params)) ||
      (Format > ExtendedFormat && !O.map("contract", R.Contract)) ||
      (Format >= DomainFormat && !O.map("names", R.Names)))
    return usageError(
        "'" + Path + "' is not a build record: " + toString(Root.getError()),
        Restore);
  // Records that were written by hand need none.
  if (const json::Value *Check = Value->getAsObject()->get("check"))
    if (Check->getAsString() != StringRef(checkOf(*Value->getAsObject())))
      return usageError("'" + Path +
                            "' is damaged: it has changed since it was written",
                        Restore);
  if (Error E = checkDomains(R))
    return usageError("'" + Path +
                          "' is not a build record: " + toString(std::move(E)),
                      Restore);
  return R;
}

/// Less is stricter. What cannot be read comes last.
static std::tuple<int, bool, double, double, double>
strictness(StringRef Contract) {
  Expected<PrecisionContract> C = parseContract(Contract);
  if (!C) {
    consumeError(C.takeError());
    return {3, false, 0, 0, 0};
  }
  // How many octaves of magnitude a variant must bear; all of them without a
  // range.
  constexpr double All = std::numeric_limits<double>::infinity();
  double Octaves = All;
  for (const MagnitudeRange &R : C->Ranges)
    Octaves = std::min(Octaves, std::log2(R.High / R.Low));
  return {static_cast<int>(C->K), C->Biased, -Octaves, C->RelativeTolerance,
          C->NormTolerance > 0 ? C->NormTolerance : All};
}

BuildRecord mergeRecords(std::vector<BuildRecord> Records) {
  auto Strictest = [](const BuildRecord &A, const BuildRecord &B) {
    return std::tuple(A.Variants.empty(), strictness(A.Contract)) <
           std::tuple(B.Variants.empty(), strictness(B.Contract));
  };
  BuildRecord All = *llvm::min_element(Records, Strictest);
  All.Variants.clear();
  for (BuildRecord &R : Records)
    if (R.Contract == All.Contract)
      append_range(All.Variants, std::move(R.Variants));
  auto Key = [](const BuildVariant &V) {
    return std::tuple(V.Basis != Basis::Measured, -V.Low, StringRef(V.Name),
                      StringRef(V.Source));
  };
  llvm::sort(All.Variants, [&](const BuildVariant &A, const BuildVariant &B) {
    return Key(A) < Key(B);
  });
  std::vector<BuildVariant> Once;
  for (BuildVariant &V : All.Variants) {
    auto Known = find_if(Once, [&](const BuildVariant &Each) {
      return Each.SourceDigest == V.SourceDigest && Each.Plan == V.Plan &&
             Each.When == V.When && Each.Canonical == V.Canonical;
    });
    if (Known == Once.end())
      Once.push_back(std::move(V));
    else if (!Known->Where) // One of an older store.
      Known->Where = std::move(V.Where);
    else if (V.Where)
      Known->Where = unite(std::move(*Known->Where), *V.Where);
  }
  for (const BuildRecord &R : Records)
    if (All.Names.empty())
      All.Names = R.Names;
  All.Variants = std::move(Once);
  return All;
}

} // namespace cupilot
