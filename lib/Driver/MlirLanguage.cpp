//===- MlirLanguage.cpp - Searches of kernels that are MLIR -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/MlirLanguage.h"
#include "MlirPipeline.h"
#include "MlirRules.h"
#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/MlirUnit.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
class Language : public KernelLanguage {
public:
  explicit Language(std::string Pipeline) : Pipeline(std::move(Pipeline)) {}
  SourceLanguage kind() const override { return SourceLanguage::Mlir; }
  StringRef key() const override { return Pipeline; }
  Expected<CompiledText> compile(StringRef Text) const override;
  llvm::ArrayRef<StringRef> strategies() const override {
    return mlirRuleStrategies();
  }
  Expected<Translation> translate(const Kernel &K,
                                  llvm::ArrayRef<Workload> Launches,
                                  const Genome &G) const override {
    return translateMlirByRules(K, Launches, G);
  }
  Expected<BuildEntry> sourceBuild(StringRef Text, StringRef Symbol,
                                   StringRef Arch) const override;
  Expected<std::string> sourceIdentity(StringRef Text,
                                       StringRef Symbol) const override;

private:
  std::string Pipeline;
};
} // namespace

/// \p Text without the names of folders that differ from run to run.
static std::string withoutFolder(StringRef Text, const std::string &Folder) {
  std::string Result;
  const std::string Before = Folder + "/";
  for (size_t At; (At = Text.find(Before)) != StringRef::npos;
       Text = Text.drop_front(At + Before.size()))
    Result += Text.take_front(At);
  return Result + Text.str();
}

/// What the refusal \p V says of a text.
static CompiledText failed(const GateVerdict &V, const std::string &Folder) {
  CompiledText T;
  const GateFinding &First = V.Findings.front();
  T.Message = withoutFolder(First.Evidence, Folder);
  switch (First.Reason) {
  case GateReason::Inadmissible:
    T.Fate = TextFate::Inadmissible;
    T.Findings.push_back({"mlir", 0, T.Message});
    break;
  case GateReason::CompilerCrash:
    T.Fate = TextFate::Crashes;
    break;
  default:
    T.Fate = TextFate::DoesNotCompile;
    break;
  }
  return T;
}

Expected<CompiledText> Language::compile(StringRef Text) const {
  // Names of files are in what debuggers read.
  Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::createFor("cupilot-mlir", Text);
  if (!Folder)
    return Folder.takeError();
  const std::string File = Folder->file("variant.mlir");
  if (llvm::Error E = writeFileAtomic(File, Text))
    return std::move(E);
  Expected<TextToJudge> Read = loadMlirText(File, Pipeline);
  if (!Read)
    return Read.takeError();
  if (!Read->Unit)
    return failed(Read->Refused, Folder->path().str());
  CompiledText T;
  T.Bitcode = std::move(Read->Unit->Bitcode);
  T.Ptx = std::move(Read->Unit->Ptx);
  return T;
}

/// Calls \p Use with the kernel \p Symbol of \p Text.
template <typename T>
static Expected<T>
withKernel(StringRef Text, StringRef Symbol,
           llvm::function_ref<Expected<T>(Operation *)> Use) {
  DialectRegistry Registry;
  registerMlirDialects(Registry);
  MLIRContext C(Registry, MLIRContext::Threading::DISABLED);
  Expected<OwningOpRef<ModuleOp>> M = parseMlir(C, Text, "the kernel");
  if (!M)
    return M.takeError();
  Operation *Kernel = nullptr;
  (*M)->walk([&](Operation *Op) {
    if (isGpuKernel(Op) && SymbolTable::getSymbolName(Op) == Symbol)
      Kernel = Op;
  });
  if (!Kernel)
    return findingError("the module has no kernel '" + Symbol + "'");
  return Use(Kernel);
}

Expected<BuildEntry> Language::sourceBuild(StringRef Text, StringRef Symbol,
                                           StringRef Arch) const {
  return withKernel<BuildEntry>(
      Text, Symbol, [&](Operation *Op) { return mlirBuild(Op, Arch); });
}

Expected<std::string> Language::sourceIdentity(StringRef Text,
                                               StringRef Symbol) const {
  return withKernel<std::string>(
      Text, Symbol, [](Operation *Op) -> Expected<std::string> {
        Expected<std::string> Canonical = canonicalGpuText(Op);
        if (!Canonical)
          return Canonical.takeError();
        return digest(*Canonical);
      });
}

std::shared_ptr<const KernelLanguage> mlirLanguage(std::string Pipeline) {
  return std::make_shared<Language>(std::move(Pipeline));
}

/// Whether \p File holds kernels that cupilot extract described.
static Expected<bool> holdsDescriptions(StringRef File) {
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  DialectRegistry Registry;
  registerMlirDialects(Registry);
  MLIRContext C(Registry, MLIRContext::Threading::DISABLED);
  Expected<OwningOpRef<ModuleOp>> M = parseMlir(C, *Text, File);
  if (!M)
    return M.takeError();
  return !(*M)->getOps<KernelOp>().empty();
}

Expected<std::optional<LanguageUnit>>
loadMlirUnitToSearch(StringRef File, StringRef Pipeline,
                     llvm::raw_ostream &Log) {
  Expected<bool> Described = holdsDescriptions(File);
  if (!Described)
    return Described.takeError();
  if (*Described)
    return std::nullopt;
  Expected<MlirKernels> Found = extractMlirKernels(File, Pipeline);
  if (!Found)
    return Found.takeError();
  for (const std::string &Note : Found->Notes)
    Log << "note: " << Note << "\n";
  LanguageUnit Unit;
  Unit.Language = mlirLanguage(Pipeline.str());
  Unit.Kernels = std::move(Found->Kernels);
  for (auto [K, Builds] : llvm::zip_equal(Unit.Kernels, Found->Builds)) {
    K.Lowered = true;
    if (Builds.empty()) {
      Unit.Identities.emplace_back();
      if (!K.Refusal)
        K.Refusal = "the pipeline makes no PTX of it";
      continue;
    }
    Unit.Identities.push_back(Builds.front().Digest);
    Unit.Compiler = Builds.front().Compiler;
    Unit.Arch = Builds.front().Arch;
  }
  return Unit;
}

} // namespace cupilot
