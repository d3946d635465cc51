//===- Refresh.cpp - Variants proved for other flags
//--------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Refresh.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/NvccBuilds.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Driver/UnitIdentities.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

namespace {
/// One run: what is known of the command, and what became of the kernels.
class Refresh {
public:
  /// \p Given: those of --workloads, if there are any.
  Refresh(const RefreshRequest &R, ProjectStore &Store,
          std::optional<WorkloadSet> Given, raw_ostream &Log)
      : R(R), Command(R.Command), Store(Store),
        Identities(R.Input, Command.Flags), Given(std::move(Given)), Log(Log) {}
  Error kernel(const Kernel &K, std::vector<StoredKernel> &Stored);
  unsigned Added = 0, Known = 0;

private:
  Expected<bool> prove(StoredKernel &S, const std::string &Arch,
                       StoredKernel &Proved);
  Error build(StoredKernel &S, const std::string &Arch);
  Error clang(StoredKernel &S, StoredKernel &Proved, const std::string &Arch,
              const std::string &Identity);
  void say(const Twine &Text) { Log << "  " << Text << "\n"; }

  const RefreshRequest &R;
  const BuildCommand &Command;
  ProjectStore &Store;
  UnitIdentities Identities;
  std::optional<WorkloadSet> Given;
  raw_ostream &Log;
};
} // namespace

/// Judges the variants of \p S for \p Arch with the command's flags. Those that
/// pass are in \p Proved, with this evidence alone.
Expected<bool> Refresh::prove(StoredKernel &S, const std::string &Arch,
                              StoredKernel &Proved) {
  SearchProblem P = storedProblem(S, Store.root(), Arch, Command.Flags, R.Seed);
  if (Given) {
    P.Workloads = Given->of(S.K);
    P.DataFolder = Given->Folder;
  }
  if (P.Workloads.empty()) {
    say(Given ? "left out: '" + R.Workloads + "' does not launch it"
              : "left out: the store has no workload of it; name some with "
                "--workloads");
    return false;
  }
  std::unique_ptr<CandidateEvaluator> Evaluator;
  for (auto [V, Source] : zip(S.Variants, S.Sources)) {
    if (!V.Plan || !V.When || V.When->Arch != Arch)
      continue;
    const Measurement *Before = V.Evidence.empty() ? nullptr : &V.Evidence[0];
    Expected<GpuDescription> Gpu =
        describeGpu(Before ? StringRef(Before->Device) : "H200");
    if (!Gpu)
      return Gpu.takeError();
    if (!Evaluator) {
      P.Gpu = *Gpu;
      Expected<std::unique_ptr<CandidateEvaluator>> Made =
          CandidateEvaluator::create(P);
      if (!Made)
        return Made.takeError();
      Evaluator = std::move(*Made);
    }
    Expected<Candidate> C =
        Evaluator->prepare(V.Genes, {Source, *V.Plan, *V.When});
    if (!C)
      return C.takeError();
    if (C->Record.Outcome == CandidateOutcome::Unjudged)
      if (Error E = Evaluator->judge(*C))
        return std::move(E);
    if (C->Record.Outcome != CandidateOutcome::Accepted) {
      say("variant " + V.Name + " left out: " + wordOf(C->Record.Outcome) +
          ": " + reasonText(C->Record));
      continue;
    }
    const CandidateEvidence &Evidence = *C->Record.Evidence;
    Expected<std::optional<Domain>> Where =
        Evaluator->prove(V.Genes, C->Record);
    if (!Where)
      return Where.takeError();
    if (!*Where) {
      say("variant " + V.Name +
          " left out: no launch is left on which it may "
          "run");
      continue;
    }
    Variant Again = V;
    Again.Where = std::move(**Where);
    Again.Evidence = {{Gpu->Name, Basis::Modelled, C->Record.Ratio,
                       C->Record.Ratio, C->Record.Ratio, unsigned(GateVersion),
                       Evidence.Gate.Checks, CUPILOT_CLANG, Arch,
                       Evidence.Canonical}};
    Again.Evidence.front().Cases = casesOf(P.Workloads, /*OnGpu=*/false);
    Proved.Variants.push_back(std::move(Again));
    Proved.Sources.push_back(Source);
  }
  if (Proved.Variants.empty())
    say("left out: none of its variants passes the gate with these flags");
  return !Proved.Variants.empty();
}

/// Takes what was proved over from \p Proved, which has it for one build.
static void takeOver(StoredKernel &S, const StoredKernel &Proved,
                     StringRef Compiler) {
  for (const Variant &From : Proved.Variants)
    for (const Measurement &M : From.Evidence)
      for (Variant &To : S.Variants)
        if (To.Name == From.Name && M.Compiler == Compiler)
          To.Evidence.push_back(M);
}

/// clangName(), which no other build of \p S for \p Arch has: evidence is for
/// one command.
static std::string ownName(const StoredKernel &S, StringRef Arch,
                           ArrayRef<std::string> Flags, StringRef Identity) {
  std::string Name = clangName(Flags);
  for (const BuildEntry &B : S.Builds)
    if (B.Compiler == Name && B.Arch == Arch)
      return Name + " " + shortDigest(Identity, 8);
  return Name;
}

Error Refresh::clang(StoredKernel &S, StoredKernel &Proved,
                     const std::string &Arch, const std::string &Identity) {
  std::string Name = ownName(S, Arch, Command.Flags, Identity);
  for (Variant &V : Proved.Variants)
    for (Measurement &M : V.Evidence)
      M.Compiler = Name;
  S.Builds.push_back({Name, Arch, Identity});
  takeOver(S, Proved, Name);
  return Error::success();
}

Error Refresh::build(StoredKernel &S, const std::string &Arch) {
  auto IsKnown = [&](StringRef Digest) {
    return any_of(S.Builds, [&](const BuildEntry &B) {
      return B.Digest == Digest && B.Arch == Arch;
    });
  };
  auto SayKnown = [&] {
    ++Known;
    say(Arch + ": the store already has it for these flags");
  };
  std::string Identity;
  if (Command.Nvcc.empty()) {
    Expected<std::string> Id = Identities.identityOf(S.K, Arch);
    if (!Id)
      return Id.takeError();
    Identity = *Id;
  } else {
    Expected<std::string> Id =
        nvccIdentity(S.K, R.Input, Arch, Command.Flags, Command.Nvcc);
    if (!Id)
      return Id.takeError();
    Identity = *Id;
  }
  if (IsKnown(Identity)) {
    SayKnown();
    return Store.put(S); // One that was killed may have left records out.
  }
  StoredKernel Proved = S;
  Proved.Variants.clear();
  Proved.Sources.clear();
  Expected<bool> Any = prove(S, Arch, Proved);
  if (!Any)
    return Any.takeError();
  if (!*Any)
    return Error::success();
  size_t Before = S.Builds.size();
  if (Command.Nvcc.empty()) {
    if (Error E = clang(S, Proved, Arch, Identity))
      return E;
  } else {
    Expected<std::vector<NvccUse>> Use =
        nvccUses(Command.Flags, Command.Nvcc, Log);
    if (!Use)
      return Use.takeError();
    if (Error E = recordNvcc(Proved, R.Input, Arch, *Use, Log))
      return E;
    for (size_t I = Before; I < Proved.Builds.size(); ++I) {
      S.Builds.push_back(Proved.Builds[I]);
      takeOver(S, Proved, Proved.Builds[I].Compiler);
    }
  }
  if (S.Builds.size() == Before)
    return Error::success(); // It was said why.
  if (Error E = Store.put(S))
    return E;
  ++Added;
  say(Arch + ": added for " + S.Builds.back().Compiler + ": " +
      Twine(Proved.Variants.size()) + " of " + Twine(S.Variants.size()) +
      " variant(s)");
  return Error::success();
}

Error Refresh::kernel(const Kernel &K, std::vector<StoredKernel> &Stored) {
  Log << K.Name << "\n";
  bool Named = false, Same = false, Searched = false;
  for (StoredKernel &S : Stored) {
    Named |= S.K.Symbol == K.Symbol;
    if (S.K.Digest != withContract(K, S.K.Contract).Digest ||
        S.K.Symbol != K.Symbol)
      continue;
    Same = true;
    for (const std::string &Arch : Command.Archs) {
      if (none_of(S.Variants, [&](const Variant &V) {
            return V.When && V.When->Arch == Arch;
          }))
        continue;
      Searched = true;
      if (Error E = Store.readTexts(S))
        return E;
      // The contract and the workloads are those of the search.
      if (Error E = absorbFinding(build(S, Arch), [&](StringRef Why) {
            say(Arch + ": left out: " + Why);
          }))
        return E;
    }
  }
  if (!Named)
    say("left out: the store does not have it");
  else if (!Same)
    say("left out: its source has changed since the search; run cupilot evolve "
        "again");
  else if (!Searched)
    say("left out: none of its variants was proved for " +
        join(Command.Archs, ", "));
  return Error::success();
}

Error refresh(const RefreshRequest &R, raw_ostream &Log) {
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  if (Error E = Store->checkWritable())
    return E;
  Expected<std::vector<StoredKernel>> Stored = Store->kernels();
  if (!Stored)
    return Stored.takeError();
  std::optional<WorkloadSet> Given;
  if (!R.Workloads.empty()) {
    Expected<WorkloadSet> Loaded = WorkloadSet::load(R.Workloads);
    if (!Loaded)
      return Loaded.takeError();
    Given = std::move(*Loaded);
  }
  Expected<std::vector<Kernel>> Kernels = chooseKernels(
      extractKernels(R.Input, R.Command.Flags, {.VerifySlices = false}),
      R.Input, R.Only);
  if (!Kernels)
    return Kernels.takeError();
  Refresh All(R, *Store, std::move(Given), Log);
  for (const Kernel &K : *Kernels)
    if (Error E = All.kernel(K, *Stored))
      return E;
  if (All.Added == 0 && All.Known == 0)
    return findingError("nothing could be added");
  return Error::success();
}

} // namespace cupilot
