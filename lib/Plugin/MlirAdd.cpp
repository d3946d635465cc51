//===- MlirAdd.cpp - Variants of MLIR kernels into the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A person answers for what is added here: whoever adds a variant says that it
// is right for every launch, or for those of the domain that is given, and the
// evidence says so.
//
//===----------------------------------------------------------------------===//

#include "MlirVariants.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/SourceLanguage.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
class AddVariantPass
    : public PassWrapper<AddVariantPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddVariantPass)
  AddVariantPass() = default;
  AddVariantPass(const AddVariantPass &Other) : PassWrapper(Other) {}
  StringRef getArgument() const override { return "cupilot-add-variant"; }
  StringRef getDescription() const override {
    return "Add a variant of a GPU kernel of this module to the store, without "
           "a proof";
  }
  void getDependentDialects(DialectRegistry &R) const override {
    registerLlvmTranslations(R);
    R.insert<CupilotDialect, gpu::GPUDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override;

private:
  llvm::Error add();
  /// Sets how and when \p V runs.
  llvm::Error describe(Variant &V);

  Option<std::string> Root{*this, "store",
                           llvm::cl::desc("The project store's folder")};
  Option<std::string> Arch{
      *this, "arch", llvm::cl::desc("The architecture, for example sm_90")};
  Option<std::string> Symbol{*this, "kernel", llvm::cl::desc("Its symbol")};
  Option<std::string> File{
      *this, "variant",
      llvm::cl::desc("The file with the variant, .mlir or .cu")};
  Option<std::string> Plan{
      *this, "plan",
      llvm::cl::desc("Its #cupilot.plan; by default the original's launch")};
  Option<std::string> When{
      *this, "guard",
      llvm::cl::desc("Its #cupilot.guard; by default the architecture alone")};
  Option<std::string> Where{
      *this, "domain",
      llvm::cl::desc("Where it is right, #cupilot.domain; by default "
                     "everywhere")};
  ListOption<std::string> Flags{*this, "flags",
                                llvm::cl::desc("Clang's flags for a .cu")};
};
} // namespace

/// The attribute that \p Text spells, of the option \p Name.
template <typename AttrT>
static Expected<AttrT> parseOption(MLIRContext &C, StringRef Name,
                                   StringRef Text) {
  std::string Messages;
  ScopedDiagnosticHandler Handler(&C, [&](Diagnostic &D) {
    llvm::raw_string_ostream(Messages) << ": " << D.str();
    return success();
  });
  if (auto A = dyn_cast_or_null<AttrT>(parseAttribute(Text, &C)))
    return A;
  return usageError(Name + "= is not #cupilot." + AttrT::getMnemonic() +
                    Messages);
}

llvm::Error AddVariantPass::describe(Variant &V) {
  MLIRContext &C = getContext();
  Launch L;
  L.Symbol = Symbol;
  V.Plan = LaunchPlan();
  V.Plan->Launches = {L};
  if (!Plan.empty()) {
    Expected<PlanAttr> A = parseOption<PlanAttr>(C, "plan", Plan);
    if (!A)
      return A.takeError();
    V.Plan = fromAttr(*A);
  }
  V.When = Guard();
  if (!When.empty()) {
    Expected<GuardAttr> A = parseOption<GuardAttr>(C, "guard", When);
    if (!A)
      return A.takeError();
    V.When = fromAttr(*A);
  }
  V.When->Arch = Arch;
  V.Where = Domain::everything(); // Whoever adds it answers for it.
  if (!Where.empty()) {
    Expected<DomainAttr> A = parseOption<DomainAttr>(C, "domain", Where);
    if (!A)
      return A.takeError();
    V.Where = fromAttr(*A);
  }
  return llvm::Error::success();
}

llvm::Error AddVariantPass::add() {
  for (auto [Option, Value] : {std::pair("store=DIR", StringRef(Root)),
                               {"kernel=SYMBOL", Symbol},
                               {"variant=FILE.mlir", File},
                               {"arch=sm_90", Arch}})
    if (Value.empty())
      return usageError(llvm::Twine("cupilot-add-variant needs ") + Option);
  if (!Architecture::parse(Arch))
    return usageError("'" + Arch + "' is not an architecture",
                      "name one as arch=sm_90");
  Operation *Kernel = nullptr;
  getOperation()->walk([&](Operation *Op) {
    if (isGpuKernel(Op) && SymbolTable::getSymbolName(Op) == Symbol.getValue())
      Kernel = Op;
  });
  if (!Kernel)
    return usageError("the module has no kernel '" + Symbol + "'");
  Variant V;
  if (llvm::Error E = describe(V))
    return E;
  const std::vector<std::string> Symbols = V.Plan->symbols();
  Expected<VariantModule> New =
      languageOfFile(File) == SourceLanguage::Mlir
          ? readMlirVariant(getContext(), File, Symbols)
          : readCudaVariant(getContext(), File, Symbols, Arch, Flags);
  if (!New)
    return New.takeError();
  Expected<std::string> Text = canonicalGpuText(Kernel),
                        Source = readFile(File);
  if (!Text || !Source)
    return joinErrors(Text.takeError(), Source.takeError());
  // What does not fit now never will: tried on a copy.
  {
    IRMapping Copies;
    OwningOpRef<Operation *> Copy(getOperation()->clone(Copies));
    for (Operation *Each : New->Kernels)
      if (Expected<Operation *> Added = addBeside(Copies.lookup(Kernel), Each,
                                                  "new", V.Plan->extraParams());
          !Added)
        return Added.takeError();
  }
  StoredKernel S;
  S.K = describeGpuKernel(Kernel);
  if (S.K.Refusal)
    return usageError(*S.K.Refusal);
  llvm::raw_string_ostream(S.K.Slice) << *Kernel << "\n";
  std::string Identity = digest("arch " + Arch + "\n" + *Text);
  S.Builds = {{MlirCompiler.str(), Arch, Identity}};
  V.Name = llvm::sys::path::stem(File).str();
  V.Source = llvm::sys::path::filename(File).str();
  V.Digest = digest(*Source);
  Measurement M;
  M.Device = "none";
  M.Basis = Basis::Declared;
  M.Ratio = M.Low = M.High = 1;
  M.Compiler = MlirCompiler.str();
  M.Arch = Arch;
  M.Digest = New->Canonical;
  V.Evidence = {M};
  S.Variants = {V};
  S.Sources = {*Source};
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<std::vector<StoredKernel>> All = Store->kernels();
  if (!All)
    return All.takeError();
  // Behind those that are there; one of the same name is replaced.
  for (StoredKernel &Old : *All) {
    if (Old.Builds.empty() || Old.Builds.front().Digest != Identity)
      continue;
    if (llvm::Error E = Store->readTexts(Old))
      return E;
    for (size_t I = Old.Variants.size(); I-- > 0;)
      if (Old.Variants[I].Name != V.Name) {
        S.Variants.insert(S.Variants.begin(), Old.Variants[I]);
        S.Sources.insert(S.Sources.begin(), Old.Sources[I]);
      }
  }
  return Store->put(S);
}

void AddVariantPass::runOnOperation() {
  if (llvm::Error E = add()) {
    emitError(getOperation().getLoc()) << "cupilot: " << toString(std::move(E));
    signalPassFailure();
  }
}

void registerAddVariantPass() { PassRegistration<AddVariantPass>(); }

} // namespace cupilot
