//===- Refresh.cpp - Variants proved for other flags ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Refresh.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Evolution/BuildProof.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

namespace {
/// One run: what is known of the command, and what became of the kernels.
class Refresh {
public:
  /// \p Given: those of --workloads, if there are any.
  Refresh(const RefreshRequest &R, BuildCompiler By, ProjectStore &Store,
          std::optional<WorkloadSet> Given, raw_ostream &Log)
      : R(R), Command(R.Command), Store(Store), By(std::move(By)),
        Identities(R.Input), Given(std::move(Given)), Log(Log) {}
  Error kernel(const Kernel &K, std::vector<StoredKernel> &Stored);
  unsigned Added = 0, Known = 0;

private:
  Expected<unsigned> prove(StoredKernel &S, const std::string &Arch,
                           const BuildCompiler &On, StoredKernel &Proved);
  Error build(StoredKernel &S, const std::string &Arch);
  void say(const Twine &Text) { Log << "  " << Text << "\n"; }

  const RefreshRequest &R;
  const BuildCommand &Command;
  ProjectStore &Store;
  BuildCompiler By; ///< Of the command.
  BuildIdentities Identities;
  std::optional<WorkloadSet> Given;
  raw_ostream &Log;
};
} // namespace

/// Judges the code that \p On makes of the variants of \p S for \p Arch. Those
/// that pass are in \p Proved with this evidence; how many they are.
Expected<unsigned> Refresh::prove(StoredKernel &S, const std::string &Arch,
                                  const BuildCompiler &On,
                                  StoredKernel &Proved) {
  SearchProblem P = storedProblem(S, Store.root(), Arch, On.Flags, R.Seed);
  P.Nvcc = On.Nvcc;
  P.Compiler = On.Name;
  if (Given) {
    P.Workloads = Given->of(S.K);
    P.DataFolder = Given->Folder;
  }
  if (P.Workloads.empty()) {
    say(Given ? "left out: '" + R.Workloads + "' does not launch it"
              : "left out: the store has no workload of it; name some with "
                "--workloads");
    return 0;
  }
  unsigned Passed = 0;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  StringSet<> Texts; // A variant has an entry for each domain.
  for (auto [V, Source] : zip(S.Variants, S.Sources)) {
    if (!V.Plan || !V.When || V.When->Arch != Arch ||
        !Texts.insert(V.Name + " " + V.Digest).second)
      continue;
    const Measurement *Before = V.Evidence.empty() ? nullptr : &V.Evidence[0];
    Expected<GpuDescription> Gpu =
        describeGpu(Before ? StringRef(Before->Device) : "H200");
    if (!Gpu)
      return Gpu.takeError();
    if (!Evaluator) {
      P.Gpu = *Gpu;
      P.AcceptEstimates = true; // The variant was accepted before.
      Expected<std::unique_ptr<CandidateEvaluator>> Made =
          CandidateEvaluator::create(P);
      if (!Made)
        return Made.takeError();
      Evaluator = std::move(*Made);
    }
    std::string Why;
    Expected<std::optional<BuildProof>> Proof =
        proveBuild(*Evaluator, P, V.Genes, {Source, *V.Plan, *V.When},
                   /*EvenSlower=*/false, Why);
    if (!Proof)
      return Proof.takeError();
    if (!*Proof) {
      say("variant " + V.Name + " left out: " + Why);
      continue;
    }
    ++Passed;
    Measurement M = std::move((*Proof)->Evidence);
    M.Cases = casesOf(P.Workloads, /*OnGpu=*/false);
    entryOf(Proved, V, Source, canonical((*Proof)->Where, S.K.Scalars.size()))
        .Evidence.push_back(std::move(M));
  }
  if (Passed == 0)
    say("left out: none of its variants passes the gate with these flags");
  return Passed;
}

/// The compiler's name, which no other build of \p S for \p Arch has: evidence
/// is for one command.
static std::string ownName(const StoredKernel &S, StringRef Arch,
                           std::string Name, StringRef Identity) {
  for (const BuildEntry &B : S.Builds)
    if (B.Compiler == Name && B.Arch == Arch)
      return Name + " " + shortDigest(Identity, 8);
  return Name;
}

Error Refresh::build(StoredKernel &S, const std::string &Arch) {
  BuildCompiler On = compilerOf(S.K, By);
  Expected<std::string> Identity = Identities.identityOf(S.K, Arch, On);
  if (!Identity)
    return Identity.takeError();
  if (any_of(S.Builds, [&](const BuildEntry &B) {
        return B.Digest == *Identity && B.Arch == Arch;
      })) {
    ++Known;
    say(Arch + ": the store already has it for these flags");
    return Store.put(S); // One that was killed may have left records out.
  }
  On.Name = ownName(S, Arch, On.Name, *Identity);
  StoredKernel Proved = S;
  Expected<unsigned> Passed = prove(S, Arch, On, Proved);
  if (!Passed)
    return Passed.takeError();
  if (*Passed == 0)
    return Error::success();
  Proved.Builds.push_back({On.Name, Arch, *Identity});
  S = std::move(Proved);
  if (Error E = Store.put(S))
    return E;
  ++Added;
  StringSet<> Names;
  for (const Variant &V : S.Variants)
    Names.insert(V.Name + " " + V.Digest);
  say(Arch + ": added for " + On.Name + ": " + Twine(*Passed) + " of " +
      Twine(Names.size()) + " variant(s)");
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
  Expected<std::vector<Kernel>> Kernels =
      extractChosen(R.Input, R.Command.Flags, R.Only);
  if (!Kernels)
    return Kernels.takeError();
  Expected<std::vector<BuildCompiler>> By =
      buildCompilers(R.Command.unit(), {CUPILOT_CLANG}, Log);
  if (!By)
    return By.takeError();
  if (!R.Command.Nvcc)
    By->front().Name = clangName(R.Command.Flags);
  Refresh All(R, std::move(By->front()), *Store, std::move(Given), Log);
  for (const Kernel &K : *Kernels)
    if (Error E = All.kernel(K, *Stored))
      return E;
  if (All.Added == 0 && All.Known == 0)
    return findingError("nothing could be added");
  return Error::success();
}

} // namespace cupilot
