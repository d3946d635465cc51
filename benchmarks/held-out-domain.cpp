//===- held-out-domain.cpp - Launches that a domain did not know ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel of a unit with recorded launches: the domain of the original
// judged as its own variant, and which launches of other recordings lie inside.
// held-out-sizes.sh runs it and adds up the shares.
//
//   held-out-domain F.cu --recorded R.mlir --other one=O.mlir... -- FLAGS
//
// A line of JSON for each kernel: {"kernel", "launches": [{"size", "launch",
// "weight", "inside", "why"}]}. The size of the recorded ones is "recorded".
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Model/LaunchNames.h"
#include "cupilot/Mutation/DomainChecks.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace cupilot;

static cl::opt<std::string> Input(cl::Positional, cl::Required,
                                  cl::desc("F.cu"));
static cl::opt<std::string> Recorded("recorded", cl::Required,
                                     cl::desc("What the gate judges on"));
static cl::list<std::string> Others("other", cl::desc("SIZE=O.mlir"));

static const char Tool[] = "held-out-domain";

namespace {
/// Launches of one recording.
struct Recording {
  std::string Size;
  std::vector<Workload> All;
};

/// What came of one kernel.
struct KernelDomain {
  const Kernel *K = nullptr; ///< Null: the unit has no such kernel.
  std::optional<Domain> Where;
  std::string Refusal; ///< Why there is no verdict that passed.
};
} // namespace

static Expected<KernelDomain> judge(const UnitToJudge &U, StringRef Symbol,
                                    ArrayRef<Workload> All, StringRef Arch) {
  KernelDomain D;
  Expected<const Kernel *> K = U.find(Symbol);
  if (!K) {
    D.Refusal = toString(K.takeError());
    return D;
  }
  D.K = *K;
  GateSetup Setup;
  Setup.Original = *K;
  Setup.Arch = Arch.str();
  Setup.DataFolder = sys::path::parent_path(Recorded).str();
  for (const Workload &W : All)
    if (W.Symbol == Symbol)
      Setup.Workloads.push_back(W);
  Expected<std::string> Alone = onlyKernel(U.Bitcode, Symbol);
  if (!Alone)
    return Alone.takeError();
  Setup.Code = *Alone;
  Expected<std::unique_ptr<Gate>> G = Gate::create(std::move(Setup));
  if (!G) {
    D.Refusal = toString(G.takeError());
    return D;
  }
  LaunchPlan Plan;
  Plan.Launches.emplace_back();
  Plan.Launches[0].Symbol = Symbol.str();
  Guard When;
  When.Arch = Arch.str();
  Expected<GateVerdict> V = (*G)->judge(*Alone, Plan, When, GateDepth::Keep);
  if (!V)
    return V.takeError();
  if (!V->Passed)
    D.Refusal = "rejected: " + V->Findings.front().Evidence;
  D.Where = std::move(V->Where);
  return D;
}

static Expected<json::Object> held(const KernelDomain &D, const Recording &R,
                                   const Workload &W) {
  std::string Why = D.Refusal;
  if (Why.empty() && D.Where) {
    Expected<std::optional<ClauseRef>> C = clauseOutside(*D.Where, *D.K, W);
    if (!C)
      return C.takeError();
    if (*C)
      Why = clauseText(*D.K, *D.Where, **C);
  }
  return json::Object{{"size", R.Size},
                      {"launch", W.Name},
                      {"weight", W.Weight},
                      {"inside", Why.empty()},
                      {"why", Why}};
}

static Error run(ArrayRef<std::string> Flags) {
  std::vector<Recording> All;
  auto Load = [&](StringRef Size, StringRef Path) -> Error {
    Expected<std::vector<Workload>> W = loadWorkloads(Path);
    if (!W)
      return W.takeError();
    All.push_back({Size.str(), std::move(*W)});
    return Error::success();
  };
  if (Error E = Load("recorded", Recorded))
    return E;
  for (StringRef Other : Others)
    if (Error E = Load(Other.split('=').first, Other.split('=').second))
      return E;
  std::string Arch = gpuArchitectures(Flags).front();
  Expected<UnitToJudge> U = UnitToJudge::load(Input, Arch, Flags);
  if (!U)
    return U.takeError();
  std::map<std::string, KernelDomain> Known;
  for (const Workload &W : All.front().All)
    if (!Known.count(W.Symbol)) {
      Expected<KernelDomain> D = judge(*U, W.Symbol, All.front().All, Arch);
      if (!D)
        return D.takeError();
      Known.emplace(W.Symbol, std::move(*D));
    }
  std::map<std::string, json::Array> Launches;
  for (const Recording &R : All)
    for (const Workload &W : R.All) {
      auto At = Known.find(W.Symbol);
      KernelDomain Unknown;
      Unknown.Refusal = "the kernel was not recorded";
      Expected<json::Object> Line =
          held(At == Known.end() ? Unknown : At->second, R, W);
      if (!Line)
        return Line.takeError();
      Launches[W.Symbol].push_back(std::move(*Line));
    }
  for (auto &[Symbol, Lines] : Launches) {
    auto At = Known.find(Symbol);
    bool Derived = At != Known.end() && At->second.Where;
    json::Object Line{{"kernel", Symbol},
                      {"domain", Derived},
                      {"launches", std::move(Lines)}};
    if (Derived)
      Line["text"] = domainText(*At->second.Where, launchNames(*At->second.K));
    outs() << formatv("{0}\n", json::Value(std::move(Line)));
  }
  return Error::success();
}

int main(int argc, char **argv) {
  // What follows "--" is the compiler's, whatever it looks like.
  int Own = 1;
  while (Own < argc && StringRef(argv[Own]) != "--")
    ++Own;
  cl::ParseCommandLineOptions(Own, argv);
  std::vector<std::string> Flags;
  for (int I = Own + 1; I < argc; ++I)
    Flags.push_back(argv[I]);
  if (Error E = run(Flags))
    return reportError(std::move(E), Tool);
  return 0;
}
