//===- KeepVariant.cpp - Variants written by hand into a store ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/KeepVariant.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Driver/NvccBuilds.h"
#include "cupilot/Driver/UnitIdentities.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Device code of one text, and what is known of its kernels.
struct Compiled {
  std::string Ptx;
  std::vector<KernelIdentity> Kernels;
};
} // namespace

static Expected<Compiled> compileFile(StringRef File, const std::string &Arch,
                                      ArrayRef<std::string> Compile,
                                      ArrayRef<std::string> Flags) {
  Expected<std::string> Bitcode = compileDeviceBitcode(File, Arch, Compile);
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<std::vector<KernelIdentity>> Kernels =
      identifyKernels(*Bitcode, buildContext(llvmArguments(Flags)));
  if (!Kernels)
    return Kernels.takeError();
  Expected<std::string> Ptx = generatePtx(*Bitcode, Arch);
  if (!Ptx)
    return Ptx.takeError();
  return Compiled{std::move(*Ptx), std::move(*Kernels)};
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

Error putIntoStore(ProjectStore &Store, StoreUpdate Update, raw_ostream &Log) {
  const StoredKernel &S = *Update.Kernel;
  Expected<std::vector<StoredKernel>> Rivals = Store.rivals(S);
  if (!Rivals)
    return Rivals.takeError();
  Update.Without = std::move(*Rivals);
  if (Error E = Store.commit(Update))
    return E;
  for (const StoredKernel &Other : Update.Without)
    Log << "note: " << Other.Variants.size() << " variant(s) of "
        << Other.K.Name << " under the contract '"
        << contractText(Other.K.Contract) << "' were removed from '"
        << Store.root()
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

static bool isSame(const Workload &A, const Workload &B) {
  return A.Shape == B.Shape && A.Args == B.Args &&
         A.Buffers.size() == B.Buffers.size() &&
         all_of(zip(A.Buffers, B.Buffers), [](const auto &Both) {
           const auto &[X, Y] = Both;
           return X.Digest == Y.Digest && X.Size == Y.Size &&
                  (!X.Digest.empty() || X.Generator == Y.Generator);
         });
}

/// Writes the content of \p B into \p Dir, where it comes from a file of
/// \p Folder or a generator.
static Error writeContent(WorkloadBuffer &B, StringRef Folder,
                          const TemporaryDirectory &Dir) {
  if (B.Digest.empty()) // Too large to be made: its generator stays.
    return Error::success();
  Expected<std::string> Content =
      B.File.empty() ? std::string() : readFile((Folder + "/" + B.File).str());
  if (!Content)
    return Content.takeError();
  if (B.File.empty()) {
    Expected<std::vector<uint8_t>> Made = generateContent(B.Generator, B.Size);
    if (!Made)
      return Made.takeError();
    Content->assign(Made->begin(), Made->end());
  }
  B.File = shortDigest(B.Digest, 32);
  B.Generator.clear();
  return writeFileAtomic(Dir.file(B.File), *Content);
}

/// Adds what the variant was judged on to \p S: a later refresh judges it
/// again.
static Error addWorkloads(StoredKernel &S, const ProjectStore &Store,
                          const KeptOriginal &From) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-data");
  if (!Dir)
    return Dir.takeError();
  std::vector<Workload> Added;
  for (Workload W : From.Workloads) {
    if (any_of(S.Workloads,
               [&](const Workload &Old) { return isSame(W, Old); }))
      continue;
    for (WorkloadBuffer &B : W.Buffers)
      if (Error E = writeContent(B, From.DataFolder, *Dir))
        return E;
    for (WorkloadGlobal &G : W.Globals)
      if (Error E = writeContent(G.Content, From.DataFolder, *Dir))
        return E;
    W.Name = "w" + utostr(S.Workloads.size() + Added.size());
    Added.push_back(std::move(W));
  }
  StoredKernel New;
  if (Error E = Store.keepWorkloads(New, Added, Dir->path()))
    return E;
  append_range(S.Workloads, New.Workloads);
  return Error::success();
}

Error keepVariant(StringRef Root, const KeptOriginal &From,
                  const KeptVariant &V, ArrayRef<std::string> Flags,
                  raw_ostream &Log) {
  if (From.K->Refusal)
    return findingError("'" + From.K->Name +
                        "' cannot be added to the store: " + *From.K->Refusal);
  Expected<std::string> Text = readFile(V.File);
  if (!Text)
    return Text.takeError();
  Expected<Compiled> Unit = compileFile(From.Unit, From.Arch, Flags, Flags),
                     Own = compileFile(V.File, From.Arch, variantFlags(Flags),
                                       Flags);
  if (!Unit || !Own)
    return joinErrors(Unit ? Error::success() : Unit.takeError(),
                      Own ? Error::success() : Own.takeError());
  UnitIdentities Identities(From.Unit, Flags);
  Expected<std::string> Identity = Identities.identityOf(*From.K, From.Arch),
                        Canonical =
                            digestOfPlan(Own->Kernels, V.Plan.symbols());
  if (!Identity || !Canonical)
    return joinErrors(Identity ? Error::success() : Identity.takeError(),
                      Canonical ? Error::success() : Canonical.takeError());
  Expected<double> Ratio = modelledRatio(From, V, Unit->Ptx, Own->Ptx, Flags);
  if (!Ratio)
    return Ratio.takeError();
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<StoredKernel> S =
      stored(*Store, *From.K, {CUPILOT_CLANG, From.Arch, *Identity});
  if (!S)
    return S.takeError();
  Variant Kept;
  Kept.Name = V.Name;
  Kept.Genes.push_back({"by_hand", {}});
  Kept.Plan = V.Plan;
  Kept.When = V.When;
  Kept.Where = V.Verdict->Where;
  Kept.Source = V.Name + ".cu";
  Kept.Digest = digest(*Text);
  Kept.Fitness = *Ratio;
  Kept.Outcome = CandidateOutcome::Accepted;
  Kept.Evidence.push_back({defaultGpu().Name, Basis::Modelled, *Ratio, *Ratio,
                           *Ratio, unsigned(GateVersion), V.Verdict->Checks,
                           CUPILOT_CLANG, From.Arch, *Canonical});
  Kept.Evidence.back().Cases = casesOf(From.Workloads, /*OnGpu=*/false);
  // Alone first: its evidence for nvcc says nothing of the others'.
  StoredKernel Alone;
  Alone.K = *From.K;
  Alone.Variants.push_back(std::move(Kept));
  Alone.Sources.push_back(std::move(*Text));
  Expected<std::vector<NvccUse>> Nvccs = nvccUses(Flags, {}, Log);
  if (!Nvccs)
    return Nvccs.takeError();
  if (Error E = recordNvcc(Alone, From.Unit, From.Arch, *Nvccs, Log))
    return E;
  for (const BuildEntry &B : Alone.Builds)
    if (none_of(S->Builds, [&](const BuildEntry &Known) {
          return Known.Digest == B.Digest;
        }))
      S->Builds.push_back(B);
  size_t At =
      find_if(S->Variants,
              [&](const Variant &Each) { return Each.Name == V.Name; }) -
      S->Variants.begin();
  if (At == S->Variants.size()) {
    S->Variants.push_back(std::move(Alone.Variants.front()));
    S->Sources.push_back(std::move(Alone.Sources.front()));
  } else {
    S->Variants[At] = std::move(Alone.Variants.front());
    S->Sources[At] = std::move(Alone.Sources.front());
  }
  if (Error E = addWorkloads(*S, *Store, From))
    return E;
  if (Error E =
          putIntoStore(*Store, {std::move(*S), /*Replace=*/true, {}, {}}, Log))
    return E;
  Log << V.Name << ": added to '" << Root << "'"
      << format(", %.2fx (modelled)\n", *Ratio);
  return Error::success();
}

} // namespace cupilot
