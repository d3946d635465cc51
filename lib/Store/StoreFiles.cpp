//===- StoreFiles.cpp - What lies where in a project store ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreFiles.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/DescribedBuffer.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string kernelFolder(const StoredKernel &S) {
  // What is added later, for other flags, moves nothing.
  if (!S.Folder.empty())
    return S.Folder;
  DigestBuilder B;
  B.add(S.K.Digest);
  // Whether there was an nvcc when it was searched makes no other folder.
  for (const BuildEntry &Build : S.Builds)
    if (!isMadeByNvcc(Build.Compiler))
      B.add(Build.Digest);
  return "kernels/" + shortDigest(B.str());
}

std::string originalName(const StoredKernel &S) {
  bool Mlir = !S.Builds.empty() &&
              compilerKind(S.Builds.front().Compiler) == CompilerKind::Mlir;
  return Mlir ? "original.mlir" : "original.cu";
}

std::string caseName(const Workload &W) {
  Workload Launch = W;
  Launch.Name = "w";
  Launch.Count = 1;
  Launch.Weight = 0;
  Launch.WeightBasis = Basis::Modelled;
  Launch.Only.reset();
  Launch.After.clear();
  // The content says what it is, not where it lies or what made it.
  eachBuffer(Launch, [](WorkloadBuffer &B) {
    leaveDescription(B);
    B.File.clear();
    if (!B.Digest.empty())
      B.Generator.clear();
  });
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  loadDialect(C);
  mlir::OpBuilder B(&C);
  mlir::OwningOpRef<WorkloadOp> Op = addWorkload(B, Launch);
  std::string Text;
  raw_string_ostream(Text) << *Op->getOperation();
  return "w_" + shortDigest(digest(Text));
}

std::vector<std::string> casesOf(ArrayRef<Workload> All, bool OnGpu) {
  std::vector<std::string> Names;
  for (const Workload &W : All)
    if (OnGpu || !W.isForGpuAlone())
      Names.push_back(caseName(W));
  llvm::sort(Names);
  Names.erase(llvm::unique(Names), Names.end());
  return Names;
}

StringRef VariantFile::digits() const {
  return sys::path::stem(Path).rsplit('-').second;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string kernelText(const StoredKernel &S) {
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  // Where it is defined is not the same for everybody.
  Kernel K = S.K;
  K.File.clear();
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  addKernel(B, K, originalName(S));
  return printModule(*M);
}

Expected<VariantFile> variantFile(const StoredKernel &S, Variant V) {
  if (V.Where)
    V.Where = canonical(*V.Where, S.K.Scalars.size());
  V.Source = V.Name + "-" + shortDigest(V.Digest, 8) +
             sys::path::extension(V.Source).str();
  for (Measurement &M : V.Evidence) {
    if (M.Contract.empty())
      M.Contract = contractText(S.K.Contract);
    for (const BuildEntry &B : S.Builds)
      if (M.Original.empty() && B.Compiler == M.Compiler && B.Arch == M.Arch)
        M.Original = B.Digest;
  }
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  addVariant(B, V, S.K.Scalars.size());
  VariantFile F;
  F.Text = printModule(*M);
  F.Path = kernelFolder(S) + "/variants/" + V.Name + "-" +
           shortDigest(digest(F.Text)) + ".mlir";
  F.V = std::move(V);
  // MLIR simplifies expressions of plans and guards when it reads them: records
  // say what readers of this file will see.
  mlir::MLIRContext Reader(mlir::MLIRContext::Threading::DISABLED);
  auto Again = parseModule(Reader, F.Text, F.Path);
  if (!Again)
    return Again.takeError();
  for (VariantOp Op : (*Again)->getOps<VariantOp>())
    F.V = toVariant(Op);
  return F;
}

std::pair<std::string, std::string> workloadFile(const StoredKernel &S,
                                                 Workload W) {
  W.Name = caseName(W);
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  addWorkload(B, W);
  std::string Text = printModule(*M);
  return {kernelFolder(S) + "/workloads/" + W.Name + "-" +
              shortDigest(digest(Text), 8) + ".mlir",
          std::move(Text)};
}

std::string renderRecord(const BuildRecord &R) {
  return formatv("{0:2}\n", toJSON(R)).str();
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static BuildRecord recordFor(const StoredKernel &S, const BuildEntry &B) {
  BuildRecord R;
  R.Identity = B.Digest;
  R.Kernel = S.K.Name;
  R.Symbol = S.K.Symbol;
  R.Compiler = B.Compiler;
  R.Arch = B.Arch;
  R.Scalars = S.K.Scalars;
  R.Params = static_cast<unsigned>(S.K.Params.size());
  return R;
}

/// What a build with the identity of \p M is told of \p V.
static BuildVariant offered(const StoredKernel &S, const Variant &V,
                            const Measurement &M) {
  const bool HasInterval = M.Basis == Basis::Modelled && M.Low < M.High;
  return {V.Name,
          kernelFolder(S) + (S.Old ? "/" : "/variants/") + V.Source,
          V.Digest,
          M.Digest,
          *V.Plan,
          *V.When,
          genomeText(V.Genes),
          M.Basis,
          M.Low,
          HasInterval ? M.Ratio : 0,
          HasInterval ? M.High : 0,
          V.Where};
}

/// Whether builds for the architecture of \p M can take \p V.
static bool isOffered(const Variant &V, const Measurement &M) {
  return V.Plan && V.When && V.When->Arch == M.Arch;
}

std::map<std::string, BuildRecord> recordsOf(const StoredKernel &S,
                                             const VariantFile &F) {
  std::map<std::string, std::vector<BuildRecord>> ByPath;
  for (const Measurement &M : F.V.Evidence) {
    if (!isOffered(F.V, M) || M.Original.empty())
      continue;
    BuildRecord R = recordFor(S, {M.Compiler, M.Arch, M.Original});
    R.Contract = M.Contract;
    if (F.V.Where)
      R.Names = launchNames(S.K).Params;
    R.Variants.push_back(offered(S, F.V, M));
    ByPath[buildRecordPath("", R.Identity, R.Symbol, F.digits()).substr(1)]
        .push_back(std::move(R));
  }
  std::map<std::string, BuildRecord> Records;
  for (auto &[Path, All] : ByPath)
    Records[Path] = mergeRecords(std::move(All));
  return Records;
}

std::vector<BuildRecord> buildRecords(const StoredKernel &S) {
  std::vector<BuildRecord> Records;
  for (const BuildEntry &B : S.Builds) {
    BuildRecord R = recordFor(S, B);
    for (const Variant &V : S.Variants)
      for (const Measurement &M : V.Evidence)
        if (isOffered(V, M) && M.Compiler == B.Compiler && M.Arch == B.Arch &&
            (M.Original.empty() || M.Original == B.Digest)) {
          R.Variants.push_back(offered(S, V, M));
          if (S.Old)
            break;
        }
    if (!S.Old) {
      R.Contract = contractText(S.K.Contract);
      R.Names = launchNames(S.K).Params;
      Records.push_back(mergeRecords({std::move(R)}));
      continue;
    }
    // Of older formats the order of the file counts among equals, and the
    // record does not say why it is so.
    std::vector<std::tuple<bool, double, size_t>> Order;
    for (auto [I, V] : enumerate(R.Variants))
      Order.emplace_back(V.Basis != Basis::Measured, -V.Low, I);
    llvm::sort(Order);
    std::vector<BuildVariant> Sorted;
    for (auto [Modelled, Low, I] : Order) {
      Sorted.push_back(std::move(R.Variants[I]));
      Sorted.back().Basis.reset();
    }
    R.Variants = std::move(Sorted);
    Records.push_back(std::move(R));
  }
  return Records;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Expected<std::set<std::string>> kernelFolders(StringRef Root) {
  Expected<std::vector<std::string>> Paths = filesIn((Root + "/kernels").str());
  if (!Paths)
    return Paths.takeError();
  std::set<std::string> Folders;
  for (StringRef Path : *Paths)
    if (sys::fs::exists(Path + "/kernel.mlir"))
      Folders.insert(("kernels/" + sys::path::filename(Path)).str());
  return Folders;
}

/// The .mlir files of \p Folder whose names end in so many digits, by path
/// relative to \p Root. Sources of variants of MLIR kernels, which have other
/// numbers of digits, may lie there too.
static Expected<std::map<std::string, std::string>>
descriptionsIn(StringRef Root, const std::string &Folder, size_t Digits) {
  Expected<std::vector<std::string>> Paths =
      filesIn((Root + "/" + Folder).str(), ".mlir");
  if (!Paths)
    return Paths.takeError();
  std::map<std::string, std::string> Texts;
  for (StringRef Path : *Paths) {
    StringRef Name = sys::path::filename(Path);
    if (sys::path::stem(Name).rsplit('-').second.size() != Digits)
      continue;
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Texts[Folder + "/" + Name.str()] = std::move(*Text);
  }
  return Texts;
}

/// Moves the operation of \p Text into \p Kernel, where it is verified as one
/// of it, and gives it to \p Use.
template <typename OpT>
static Error readInto(KernelOp Kernel, StringRef Text, const std::string &Path,
                      function_ref<void(OpT)> Use) {
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M =
      parseModule(*Kernel.getContext(), Text, Path);
  if (!M)
    return M.takeError();
  auto Ops = (*M)->getOps<OpT>();
  if (std::distance(Ops.begin(), Ops.end()) != 1)
    return usageError("'" + Path + "' does not contain exactly one " +
                          OpT::getOperationName(),
                      "restore the file, or delete it");
  OpT Op = *Ops.begin();
  // Parents lie in files of their own, or were taken out.
  mlir::Attribute Parents = Op->getAttr("parents");
  if (Parents)
    Op->setAttr("parents", mlir::ArrayAttr::get(Op.getContext(), {}));
  Op->moveBefore(&Kernel.getBody().front(), Kernel.getBody().front().end());
  Error E = verifyModule(Kernel, Path);
  if (Parents)
    Op->setAttr("parents", Parents);
  if (!E)
    Use(Op);
  Op.erase();
  return E;
}

Expected<std::vector<KernelFiles>> loadFolder(StringRef Root,
                                              StringRef Folder) {
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  std::string Path = (Root + "/" + Folder + "/kernel.mlir").str();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M = loadModule(C, Path);
  if (!M)
    return M.takeError();
  std::vector<KernelFiles> All;
  for (KernelOp Op : (*M)->getOps<KernelOp>()) {
    KernelFiles F;
    F.S.Old = formatOf(**M) < FirstSplitFormat;
    F.S.K = toKernel(Op);
    F.S.Folder = Folder.str();
    F.S.Builds = buildsOf(Op);
    for (WorkloadOp W : Op.getBody().getOps<WorkloadOp>())
      F.S.Workloads.push_back(toWorkload(W));
    for (VariantOp V : Op.getBody().getOps<VariantOp>())
      F.S.Variants.push_back(toVariant(V));
    if (!F.S.Old) {
      Expected<std::map<std::string, std::string>>
          Variants = descriptionsIn(Root, F.S.Folder + "/variants", 16),
          Workloads = descriptionsIn(Root, F.S.Folder + "/workloads", 8);
      if (!Variants || !Workloads)
        return joinErrors(Variants ? Error::success() : Variants.takeError(),
                          Workloads ? Error::success() : Workloads.takeError());
      for (auto &[Name, Text] : *Variants) {
        VariantFile V{Name, Text, {}};
        if (Error E = readInto<VariantOp>(
                Op, Text, (Root + "/" + Name).str(),
                [&](VariantOp Read) { V.V = toVariant(Read); }))
          return std::move(E);
        F.Variants.push_back(std::move(V));
      }
      for (auto &[Name, Text] : *Workloads)
        if (Error E = readInto<WorkloadOp>(
                Op, Text, (Root + "/" + Name).str(), [&](WorkloadOp Read) {
                  F.Workloads.emplace_back(Name, toWorkload(Read));
                }))
          return std::move(E);
    }
    All.push_back(std::move(F));
  }
  if (All.empty())
    return usageError("'" + Path + "' does not contain a kernel",
                      "restore the file, or run cupilot evolve again");
  return All;
}

bool isSameVariant(const Variant &A, const Variant &B, bool WithDomain) {
  return A.Name == B.Name && A.Digest == B.Digest && A.Plan == B.Plan &&
         A.When == B.When && (!WithDomain || A.Where == B.Where) &&
         genomeText(A.Genes) == genomeText(B.Genes);
}

/// Sorts what is known of a variant: clang's builds before nvcc's, then the
/// surer first.
static auto evidenceKey(const Measurement &M) {
  return std::tuple(isMadeByNvcc(M.Compiler), StringRef(M.Compiler),
                    StringRef(M.Arch), StringRef(M.Original),
                    M.Basis != Basis::Measured, -M.Low, M.Ratio, M.Gate,
                    M.Checks, StringRef(M.Device));
}

/// Of the builds that \p V was proved for, the best.
static std::tuple<bool, double, StringRef, StringRef>
variantKey(const Variant &V) {
  std::tuple<bool, double, StringRef, StringRef> Best{true, 0, V.Name,
                                                      V.Source};
  for (const Measurement &M : V.Evidence)
    Best = std::min(Best, decltype(Best)(M.Basis != Basis::Measured, -M.Low,
                                         V.Name, V.Source));
  return Best;
}

StoredKernel merge(const KernelFiles &F) {
  StoredKernel S = F.S;
  if (S.Old)
    return S;
  for (const VariantFile &Each : F.Variants) {
    auto Known = find_if(
        S.Variants, [&](const Variant &V) { return isSameVariant(V, Each.V); });
    if (Known == S.Variants.end()) {
      S.Variants.push_back(Each.V);
      continue;
    }
    for (const Measurement &M : Each.V.Evidence)
      if (!is_contained(Known->Evidence, M))
        Known->Evidence.push_back(M);
    for (const std::string &P : Each.V.Parents)
      if (!is_contained(Known->Parents, P))
        Known->Parents.push_back(P);
    if (Known->Prompts.empty()) {
      Known->By = Each.V.By;
      Known->Prompts = Each.V.Prompts;
    }
    if (Each.V.Fitness)
      Known->Fitness = std::max(Known->Fitness.value_or(0), *Each.V.Fitness);
  }
  llvm::sort(S.Variants, [](const Variant &A, const Variant &B) {
    return variantKey(A) < variantKey(B);
  });
  for (Variant &V : S.Variants) {
    llvm::sort(V.Evidence, [](const Measurement &A, const Measurement &B) {
      return evidenceKey(A) < evidenceKey(B);
    });
    for (const Measurement &M : V.Evidence)
      if (none_of(S.Builds, [&](const BuildEntry &B) {
            return B.Digest == M.Original && B.Arch == M.Arch &&
                   B.Compiler == M.Compiler;
          }))
        S.Builds.push_back({M.Compiler, M.Arch, M.Original});
  }
  llvm::sort(S.Builds, [](const BuildEntry &A, const BuildEntry &B) {
    auto Key = [](const BuildEntry &E) {
      return std::tuple(isMadeByNvcc(E.Compiler), StringRef(E.Compiler),
                        StringRef(E.Arch), StringRef(E.Digest));
    };
    return Key(A) < Key(B);
  });
  // A launch that two people recorded is one; the more often, the heavier.
  for (const auto &[Path, W] : F.Workloads) {
    auto Known = find_if(S.Workloads, [&](const Workload &Other) {
      return Other.Name == W.Name;
    });
    if (Known == S.Workloads.end())
      S.Workloads.push_back(W);
    else if (W.Count > Known->Count)
      *Known = W;
  }
  llvm::sort(S.Workloads, [](const Workload &A, const Workload &B) {
    return std::pair(-A.Weight, StringRef(A.Name)) <
           std::pair(-B.Weight, StringRef(B.Name));
  });
  return S;
}

void eachBuffer(Workload &W, function_ref<void(WorkloadBuffer &)> Use) {
  for (WorkloadBuffer &B : W.Buffers)
    Use(B);
  for (WorkloadGlobal &G : W.Globals)
    Use(G.Content);
}

} // namespace cupilot
