//===- UnitReport.cpp - What a build did with one unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/UnitReport.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Substitute/PluginArguments.h"
#include "cupilot/Substitute/Remarks.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

static unsigned countOf(const UnitReport &R,
                        function_ref<bool(const SubstitutionOutcome &)> Is) {
  return static_cast<unsigned>(count_if(R.Outcomes, Is));
}

static bool isApplied(const SubstitutionOutcome &O) { return O.isApplied(); }
static bool isStale(const SubstitutionOutcome &O) {
  return O.Result == SubstitutionResult::VariantStale;
}

static StringRef wordOf(UnitHalf Half) {
  switch (Half) {
  case UnitHalf::Device:
    return "device";
  case UnitHalf::Host:
    return "host";
  case UnitHalf::Object:
    return "object";
  }
  llvm_unreachable("unknown half");
}

std::string toText(const UnitReport &R) {
  std::string Text = R.Source + ": ";
  Text += R.Half == UnitHalf::Object ? "nvcc" : wordOf(R.Half);
  // Nothing was looked at.
  if (R.Target.empty() && R.Kernels == 0 && R.Outcomes.size() == 1)
    return Text + ": " + R.Outcomes.front().message();
  if (!R.Target.empty())
    Text += " " + R.Target;
  Text += formatv(": kernels {0}, variants {1}, stale {2}", R.Kernels,
                  countOf(R, isApplied), countOf(R, isStale))
              .str();
  for (const SubstitutionOutcome &O : R.Outcomes)
    Text += "\n  " + NvccPtx::sourceName(O.Kernel) + ": " +
            nameOf(O.Result).str() + ": " + O.message();
  for (const LaunchSite &S : R.Launches)
    Text += "\n  " + describe(S);
  return Text;
}

/// "heat.cu" and 12, where debug information tells.
static void addPlace(json::Object &O, const Module *M, StringRef Function) {
  const llvm::Function *F = M ? M->getFunction(Function) : nullptr;
  const DISubprogram *P = F ? F->getSubprogram() : nullptr;
  if (!P)
    return;
  O["file"] = sys::path::remove_leading_dotslash(P->getFilename());
  O["line"] = P->getLine();
}

static json::Object toJSON(const SubstitutionOutcome &O, const Module *M) {
  json::Object J{{"outcome", nameOf(O.Result)},
                 {"applied", O.isApplied()},
                 {"message", O.message()},
                 {"reason", wordOf(O.Why.Reason)}};
  if (O.Kernel.empty())
    return J;
  J["kernel"] = NvccPtx::sourceName(O.Kernel);
  J["symbol"] = O.Kernel;
  if (!O.Conditions.empty())
    J["conditions"] = O.Conditions;
  addPlace(J, M, O.Function.empty() ? O.Kernel : O.Function);
  return J;
}

json::Object toJSON(const LaunchSite &S) {
  std::string Function = demangle(S.Function);
  json::Object J{
      {"outcome", S.isRedirected() ? "LaunchRedirected" : "LaunchKept"},
      {"applied", S.isRedirected()},
      {"message", "launch in '" + Function + "': " + S.Why.text()},
      {"reason", wordOf(S.Why.Reason)},
      {"function", Function}};
  if (!S.Kernel.empty()) {
    J["kernel"] = NvccPtx::sourceName(S.Kernel);
    J["symbol"] = S.Kernel;
  }
  if (S.Line) {
    J["file"] = sys::path::remove_leading_dotslash(S.File).str();
    J["line"] = S.Line;
  }
  return J;
}

json::Value toJSON(const UnitReport &R) {
  json::Array Kernels, Unit, Launches;
  for (const LaunchSite &S : R.Launches)
    Launches.push_back(toJSON(S));
  for (const SubstitutionOutcome &O : R.Outcomes)
    (O.Kernel.empty() ? Unit : Kernels).push_back(toJSON(O, R.Module));
  return json::Object{{"version", UnitReport::Version},
                      {"source", R.Source},
                      {"compiler", R.Compiler},
                      {"half", wordOf(R.Half)},
                      {"target", R.Target},
                      {"seen", R.Kernels},
                      {"applied", countOf(R, isApplied)},
                      {"stale", countOf(R, isStale)},
                      {"unit", std::move(Unit)},
                      {"kernels", std::move(Kernels)},
                      {"launches", std::move(Launches)}};
}

Error writeReport(StringRef Path, const UnitReport &R) {
  std::string Text = toText(R);
  appendToLog(Text);
  StringRef Ending = sys::path::extension(Path);
  if (Ending == ".json" || Ending == ".jsonl")
    Text = formatv("{0}", toJSON(R)).str();
  return appendToReport(Path, Text);
}

} // namespace cupilot
