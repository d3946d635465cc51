//===- KeepVariant.cpp - Variants written by hand into a store ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/KeepVariant.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Evolution/BuildProof.h"
#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/DescribedBuffer.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Roofline/Residuals.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

namespace {
/// What a compiler makes of kernels.
struct Compiled {
  std::string Ptx;
  std::string Identity; ///< digestOfPlan.
};
} // namespace

/// Clang compiles \p File with \p Flags; nvcc the \p Text, which stands alone.
static Expected<Compiled> compiledBy(const BuildCompiler &By, StringRef File,
                                     StringRef Text, const std::string &Arch,
                                     ArrayRef<std::string> Flags,
                                     ArrayRef<std::string> Symbols) {
  Expected<std::string> Bitcode = compileDeviceBitcode(File, Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  if (By.Nvcc) {
    Expected<NvccCode> Code =
        compileByNvcc(*By.Nvcc, Text, Arch, *Bitcode, Symbols);
    if (!Code)
      return Code.takeError();
    return Compiled{std::move(Code->Ptx), std::move(Code->Identity)};
  }
  Expected<std::vector<KernelIdentity>> Kernels =
      identifyKernels(*Bitcode, buildContext(llvmArguments(By.Flags)));
  if (!Kernels)
    return Kernels.takeError();
  Compiled C;
  if (Error E = digestOfPlan(*Kernels, Symbols).moveInto(C.Identity))
    return std::move(E);
  if (Error E = generatePtx(*Bitcode, Arch).moveInto(C.Ptx))
    return std::move(E);
  return C;
}

/// The modelled speed-up.
static Expected<double> modelledRatio(const KeptOriginal &From,
                                      const KeptVariant &V, StringRef OwnPtx,
                                      StringRef Ptx,
                                      ArrayRef<std::string> Flags) {
  PlanCost Own(defaultGpu(), OwnPtx, From.Arch, Flags),
      Mine(defaultGpu(), Ptx, From.Arch, Flags);
  Speedup Sum;
  for (auto [W, Weight, Counts, Launches] : zip_equal(
           From.Workloads, timeWeights(From.Workloads, TimeBasis::Modelled),
           From.Counts, V.Verdict->VariantLaunches)) {
    if (Weight == 0)
      continue;
    CountedLaunch Alone{From.K->Symbol, W.Shape, Counts};
    Expected<double> Before = Own.microseconds(Alone);
    if (!Before)
      return Before.takeError();
    Expected<double> After =
        Launches ? Mine.microseconds(*Launches) : Expected<double>(*Before);
    if (!After)
      return After.takeError();
    Sum.add(*Before * Weight, *After * Weight);
  }
  return Sum.ratio();
}

/// Of variants: one has an entry for each domain.
static size_t countTexts(const StoredKernel &S) {
  StringSet<> Texts;
  for (const Variant &V : S.Variants)
    Texts.insert(V.Name + " " + V.Digest);
  return Texts.size();
}

Error putIntoStore(ProjectStore &Store, StoreUpdate Update, raw_ostream &Log) {
  const StoredKernel &S = *Update.Kernel;
  Expected<std::vector<StoredKernel>> Rivals = Store.rivals(S);
  if (!Rivals)
    return Rivals.takeError();
  Update.Without = std::move(*Rivals);
  if (Error E = Store.commit(Update))
    return E;
  for (const StoredKernel &Other : Update.Without)
    Log << "note: " << countTexts(Other) << " variant(s) of " << Other.K.Name
        << " under the contract '" << contractText(Other.K.Contract)
        << "' were removed from '" << Store.root()
        << "': a store has one contract for each kernel, for this one now '"
        << contractText(S.K.Contract) << "'\n";
  return Error::success();
}

/// What \p Store knows of the kernel already, with the texts of its variants.
static Expected<StoredKernel> stored(const ProjectStore &Store, const Kernel &K,
                                     const BuildEntry &Build) {
  Expected<std::vector<StoredKernel>> All = Store.kernels();
  if (!All)
    return All.takeError();
  for (StoredKernel &S : *All)
    if (S.K.Digest == K.Digest && S.K.Symbol == K.Symbol &&
        S.K.Contract == K.Contract &&
        any_of(S.Builds, [&](const BuildEntry &B) {
          return B.Digest == Build.Digest && B.Arch == Build.Arch;
        })) {
      if (Error E = Store.readTexts(S))
        return std::move(E);
      S.K = K;
      return std::move(S);
    }
  StoredKernel S;
  S.K = K;
  S.Builds.push_back(Build);
  return S;
}

/// What another compiler's own code passes; nothing, which \p Log hears of,
/// where it does not.
static Expected<std::optional<BuildProof>>
proveOther(const BuildCompiler &By, const KeptOriginal &From,
           const KeptVariant &V, StringRef Text, const Genome &Genes,
           raw_ostream &Log) {
  SearchProblem P;
  P.K = *From.K;
  P.Workloads = From.Workloads.vec();
  P.DataFolder = From.DataFolder;
  P.Flags = By.Flags;
  P.Nvcc = By.Nvcc;
  P.Compiler = By.Name;
  P.Arch = From.Arch;
  P.Gpu = defaultGpu();
  Expected<std::unique_ptr<CandidateEvaluator>> On =
      CandidateEvaluator::create(P);
  if (!On)
    return On.takeError();
  std::string Why;
  Expected<std::optional<BuildProof>> Proof = proveBuild(
      **On, P, Genes, {Text.str(), V.Plan, V.When}, /*EvenSlower=*/true, Why);
  if (Proof && !*Proof)
    Log << "  " << By.Name << ": " << V.Name << " left out: " << Why << "\n";
  return Proof;
}

/// Adds what others' code of \p Kept passes: evidence, builds, and an entry
/// where the domain is another.
static Error addOthers(StoredKernel &S, const Variant &Kept, StringRef Text,
                       ArrayRef<BuildCompiler> Others, const KeptOriginal &From,
                       const KeptVariant &V, BuildIdentities &Identities,
                       raw_ostream &Log) {
  for (const BuildCompiler &Each : Others) {
    const BuildCompiler By = compilerOf(*From.K, Each);
    std::string Identity;
    std::optional<BuildProof> Proof;
    auto Prove = [&]() -> Error {
      if (Error E =
              Identities.identityOf(*From.K, From.Arch, By).moveInto(Identity))
        return E;
      return proveOther(By, From, V, Text, Kept.Genes, Log).moveInto(Proof);
    };
    if (Error E = absorbFinding(Prove(), [&](StringRef Why) {
          Log << "  " << By.Name << " left out: " << Why << "\n";
        }))
      return E;
    if (!Proof)
      continue;
    if (none_of(S.Builds, [&](const BuildEntry &Known) {
          return Known.Digest == Identity;
        }))
      S.Builds.push_back({By.Name, From.Arch, Identity});
    Proof->Evidence.Cases = Kept.Evidence.front().Cases;
    entryOf(S, Kept, Text, Proof->Where)
        .Evidence.push_back(std::move(Proof->Evidence));
  }
  return Error::success();
}

Error keepVariant(StringRef Root, const KeptOriginal &From,
                  const KeptVariant &V, const UnitCommand &Command,
                  ArrayRef<std::string> Named, raw_ostream &Log) {
  if (From.K->Refusal)
    return findingError("'" + From.K->Name +
                        "' cannot be added to the store: " + *From.K->Refusal);
  Expected<std::string> Text = readFile(V.File);
  if (!Text)
    return Text.takeError();
  Expected<std::vector<BuildCompiler>> Compilers =
      buildCompilers(Command, Named, Log);
  if (!Compilers)
    return Compilers.takeError();
  const BuildCompiler By = compilerOf(*From.K, Compilers->front());
  Expected<Compiled> Unit = compiledBy(By, From.Unit, From.K->Slice, From.Arch,
                                       By.Flags, From.K->Symbol),
                     Own = compiledBy(By, V.File, *Text, From.Arch,
                                      variantFlags(By.Flags), V.Plan.symbols());
  if (!Unit || !Own)
    return joinErrors(Unit ? Error::success() : Unit.takeError(),
                      Own ? Error::success() : Own.takeError());
  BuildIdentities Identities(From.Unit);
  Expected<std::string> Identity =
      Identities.identityOf(*From.K, From.Arch, By);
  if (!Identity)
    return Identity.takeError();
  const bool OnGpu = !V.Gpu.empty();
  Measurement Evidence;
  if (OnGpu) {
    Evidence.Device = V.Gpu;
    Evidence.Basis = Basis::Measured;
    Evidence.Ratio = V.Time.Ratio;
    Evidence.Low = V.Time.Low;
    Evidence.High = V.Time.High;
  } else {
    Expected<double> Ratio =
        modelledRatio(From, V, Unit->Ptx, Own->Ptx, By.flagsWithPtxas());
    if (!Ratio)
      return Ratio.takeError();
    const ModelledSpeedup Time = withInterval(*Ratio, /*Change=*/{});
    Evidence.Device = defaultGpu().Name;
    Evidence.Basis = Basis::Modelled;
    Evidence.Ratio = Time.Ratio;
    Evidence.Low = Time.Low;
    Evidence.High = Time.High;
  }
  Evidence.Gate = unsigned(GateVersion);
  Evidence.Checks = V.Verdict->Checks;
  Evidence.Compiler = By.Name;
  Evidence.Arch = From.Arch;
  Evidence.Digest = Own->Identity;
  Evidence.Cases = casesOf(From.Workloads, OnGpu);
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<StoredKernel> S =
      stored(*Store, *From.K, {By.Name, From.Arch, *Identity});
  if (!S)
    return S.takeError();
  Variant Kept;
  Kept.Name = V.Name;
  Kept.Genes.push_back({"by_hand", {}});
  Kept.Plan = V.Plan;
  Kept.When = V.When;
  Kept.Where = V.Where;
  Kept.Source = V.Name + ".cu";
  Kept.Digest = digest(*Text);
  Kept.Fitness = Evidence.Ratio;
  Kept.Outcome = CandidateOutcome::Accepted;
  Kept.Evidence.push_back(Evidence);
  for (size_t I = S->Variants.size(); I-- > 0;)
    if (S->Variants[I].Name == V.Name) {
      S->Variants.erase(S->Variants.begin() + I);
      S->Sources.erase(S->Sources.begin() + I);
    }
  S->Variants.push_back(Kept);
  S->Sources.push_back(*Text);
  if (Error E = addOthers(*S, Kept, *Text, ArrayRef(*Compilers).drop_front(),
                          From, V, Identities, Log))
    return E;
  if (Error E = Store->addWorkloads(*S, From.Workloads, From.DataFolder))
    return E;
  if (Error E =
          putIntoStore(*Store, {std::move(*S), /*Replace=*/true, {}, {}}, Log))
    return E;
  Log << V.Name << ": added to '" << Root << "'"
      << ", "
      << speedupText(Evidence.Ratio, Evidence.Low, Evidence.High,
                     Evidence.Basis)
      << (OnGpu ? " on the " + V.Gpu : "") << "\n";
  return Error::success();
}

} // namespace cupilot
