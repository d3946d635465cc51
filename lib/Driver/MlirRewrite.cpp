//===- MlirRewrite.cpp - A kernel while rules rewrite it --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirRewrite.h"
#include "MlirPipeline.h"
#include "MlirRules.h"
#include "cupilot/Support/Error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace cupilot {

//===----------------------------------------------------------------------===//
// Plan and guard
//===----------------------------------------------------------------------===//

llvm::Error refuseMlir(const Gene &G, const Twine &Why) {
  return findingError(G.Strategy + ": " + Why);
}

int64_t geneNumber(const Gene &G, StringRef Param) {
  for (const GeneParam &P : G.Params)
    if (P.Name == Param)
      return P.Value;
  return 0;
}

void MlirRewrite::require(Expr Zero) {
  Constraint C{std::move(Zero), /*IsEq=*/true};
  if (!llvm::is_contained(When.Constraints, C))
    When.Constraints.push_back(std::move(C));
}

void MlirRewrite::requireAtLeast(Expr Large, Expr Small) {
  Expr Less =
      Expr::binary(Expr::Kind::Mul, std::move(Small), Expr::constant(-1));
  Constraint C{Expr::binary(Expr::Kind::Add, std::move(Large), std::move(Less)),
               /*IsEq=*/false};
  if (!llvm::is_contained(When.Constraints, C))
    When.Constraints.push_back(std::move(C));
}

void MlirRewrite::requireMultiple(Expr Of, int64_t By) {
  require(Expr::binary(Expr::Kind::Mod, std::move(Of), Expr::constant(By)));
}

/// \p E == \p Value, as what must be 0.
static Expr difference(Expr E, int64_t Value) {
  return Value == 0 ? std::move(E)
                    : Expr::binary(Expr::Kind::Add, std::move(E),
                                   Expr::constant(-Value));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<Expr> MlirRewrite::scalar(const Twine &Name) const {
  const std::string Wanted = Name.str();
  for (auto [Index, S] : llvm::enumerate(K.Scalars))
    if (K.Params[S.Param].Name == Wanted)
      return Expr::symbol(unsigned(Index));
  return std::nullopt;
}

std::optional<PointerRef> MlirRewrite::pointer(const Twine &Name) const {
  const std::string Wanted = Name.str();
  for (const PointerRef &P : K.Pointers)
    if (K.Params[P.Param].Name == Wanted)
      return P;
  return std::nullopt;
}

/// The number of the parameter that \p V is; nothing for others.
static std::optional<unsigned> argumentNumber(gpu::GPUFuncOp F, Value V) {
  auto Argument = dyn_cast<BlockArgument>(V);
  if (!Argument || Argument.getOwner() != &F.getBody().front() ||
      Argument.getArgNumber() >= F.getFunctionType().getNumInputs())
    return std::nullopt;
  return Argument.getArgNumber();
}

bool MlirRewrite::isArgument(Value V) const {
  return argumentNumber(F, V).has_value();
}

static std::optional<int64_t> constantOf(Value V) {
  llvm::APInt Number;
  if (V.getType().isIntOrIndex() && matchPattern(V, m_ConstantInt(&Number)))
    return Number.getSExtValue();
  return std::nullopt;
}

std::optional<Expr> MlirRewrite::scalar(Value V) const {
  if (std::optional<int64_t> Number = constantOf(V))
    return Expr::constant(*Number);
  if (std::optional<unsigned> Number = argumentNumber(F, V))
    return scalar("arg" + Twine(*Number));
  if (auto Dim = V.getDefiningOp<memref::DimOp>())
    if (std::optional<unsigned> Number = argumentNumber(F, Dim.getSource()))
      if (std::optional<int64_t> Which = Dim.getConstantIndex())
        return scalar("arg" + Twine(*Number) + ".size" + Twine(*Which));
  return std::nullopt;
}

bool MlirRewrite::agrees(const Expr &E, int64_t &Value) const {
  std::optional<int64_t> Common;
  for (const Workload &W : Launches) {
    if (!W.isTimed())
      continue;
    Expected<Bindings> B = bindLaunch(W.Shape, K.Scalars, W.Args);
    if (!B) { // Whoever judges says so.
      llvm::consumeError(B.takeError());
      return false;
    }
    std::optional<int64_t> Mine = evaluate(E, *B);
    if (!Mine || (Common && *Common != *Mine))
      return false;
    Common = Mine;
  }
  Value = Common.value_or(0);
  return Common.has_value();
}

std::optional<int64_t> MlirRewrite::known(Value V) const {
  if (std::optional<int64_t> Number = constantOf(V))
    return Number;
  int64_t Number;
  std::optional<Expr> E;
  if (argumentNumber(F, V))
    E = scalar(V);
  if (!E || !agrees(*E, Number))
    return std::nullopt;
  return Number;
}

Value MlirRewrite::fix(Value V, int64_t Number) {
  if (constantOf(V))
    return V;
  require(difference(*scalar(V), Number));
  OpBuilder B = atBegin();
  Value Constant = arith::ConstantOp::create(
      B, F.getLoc(), B.getIntegerAttr(V.getType(), Number));
  V.replaceAllUsesWith(Constant);
  return Constant;
}

std::optional<int64_t> MlirRewrite::knownBlock(unsigned Dim) const {
  if (OwnBlock)
    return (*OwnBlock)[Dim];
  int64_t Number;
  if (!agrees(Expr::dim(BlockX + Dim), Number))
    return std::nullopt;
  return Number;
}

void MlirRewrite::keepKnownBlock() {
  std::optional<llvm::ArrayRef<int32_t>> Known = F.getKnownBlockSize();
  if (!Known || Known->size() != 3)
    return;
  OwnBlock = {(*Known)[0], (*Known)[1], (*Known)[2]};
  for (unsigned Dim = 0; Dim < 3; ++Dim)
    fixBlock(Dim, (*OwnBlock)[Dim]);
}

void MlirRewrite::fixBlock(unsigned Dim, int64_t Number) {
  require(difference(Expr::dim(BlockX + Dim), Number));
}

std::optional<unsigned> MlirRewrite::memrefArgument(Value V) const {
  auto Type = dyn_cast<MemRefType>(V.getType());
  if (!Type || !Type.getLayout().isIdentity())
    return std::nullopt;
  // What says that arrays are apart hands them on.
  if (auto Apart = V.getDefiningOp<memref::DistinctObjectsOp>())
    V = Apart.getOperands()[cast<OpResult>(V).getResultNumber()];
  return argumentNumber(F, V);
}

OpBuilder MlirRewrite::atBegin() {
  return OpBuilder::atBlockBegin(&F.getBody().front());
}

Value MlirRewrite::constant(int64_t Number) {
  OpBuilder B = atBegin();
  return arith::ConstantIndexOp::create(B, F.getLoc(), Number);
}

void MlirRewrite::shapeBlocks(std::array<std::optional<int64_t>, 3> Sizes) {
  std::optional<llvm::ArrayRef<int32_t>> Old = F.getKnownBlockSize();
  if (!Old)
    return;
  llvm::SmallVector<int32_t> New(*Old);
  for (auto [Each, Size] : llvm::zip_equal(New, Sizes))
    if (Size)
      Each = int32_t(*Size);
  F.setKnownBlockSize(llvm::ArrayRef<int32_t>(New));
}

void MlirRewrite::dropUnused() {
  llvm::SmallVector<Operation *> All;
  F.walk([&](Operation *Op) { All.push_back(Op); });
  for (Operation *Op : llvm::reverse(All))
    if (isOpTriviallyDead(Op))
      Op->erase();
}

//===----------------------------------------------------------------------===//
// The table of rules
//===----------------------------------------------------------------------===//

/// In the order of application: what looks for plain accesses comes before what
/// hides them, loops are unrolled last.
static const struct {
  StringRef Name;
  MlirRule Apply;
} Rules[] = {
    {"vectorized_access", widenMlirAccesses},
    {"restrict_pointers", separateMlirArrays},
    {"block_size", resizeMlirBlocks},
    {"block_shape", resizeMlirBlocks},
    {"rows_per_block", putMlirRowsTogether},
    {"unroll", unrollMlirLoops},
};

llvm::ArrayRef<StringRef> mlirRuleStrategies() {
  static const auto Names =
      llvm::map_to_vector(Rules, [](const auto &Rule) { return Rule.Name; });
  return Names;
}

/// The kernel \p Symbol of \p M, if rules can rewrite it.
static Expected<gpu::GPUFuncOp> kernelIn(ModuleOp M, StringRef Symbol) {
  gpu::GPUFuncOp Found;
  M.walk([&](gpu::GPUFuncOp F) {
    if (F.isKernel() && F.getName() == Symbol)
      Found = F;
  });
  if (!Found)
    return findingError("the kernel is no gpu.func, and rules rewrite no other "
                        "functions of MLIR");
  if (!Found.getBody().hasOneBlock())
    return findingError("the kernel has branches (cf); rules rewrite "
                        "structured control flow (scf)");
  return Found;
}

Expected<Translation> translateMlirByRules(const Kernel &K,
                                           llvm::ArrayRef<Workload> Launches,
                                           const Genome &G) {
  if (K.Slice.empty())
    return findingError("the kernel '" + K.Name +
                        "' has no slice: " + K.Refusal.value_or(""));
  for (const Gene &Each : G)
    if (llvm::none_of(Rules,
                      [&](const auto &R) { return R.Name == Each.Strategy; }))
      return findingError(Twine(Each.Strategy) +
                          ": no rule implements this strategy for MLIR");
  DialectRegistry Registry;
  registerMlirDialects(Registry);
  MLIRContext C(Registry, MLIRContext::Threading::DISABLED);
  C.loadAllAvailableDialects();
  Expected<OwningOpRef<ModuleOp>> M = parseMlir(C, K.Slice, K.Name);
  if (!M)
    return M.takeError();
  Expected<gpu::GPUFuncOp> F = kernelIn(**M, K.Symbol);
  if (!F)
    return llvm::handleErrors(
        F.takeError(), [&](const ToolError &T) -> llvm::Error {
          return findingError(
              (G.empty() ? std::string() : G.front().Strategy + ": ") +
              T.text());
        });
  MlirRewrite R(K, Launches, *F);
  R.keepKnownBlock();
  R.dropUnused();
  for (const auto &Rule : Rules)
    for (const Gene &Each : G) {
      if (Rule.Name != Each.Strategy)
        continue;
      if (llvm::Error E = Rule.Apply(R, Each))
        return std::move(E);
      R.dropUnused();
      std::string Messages;
      ScopedDiagnosticHandler Handler(
          &C, [&](Diagnostic &D) { Messages += D.str() + "\n"; });
      if (failed(verify(**M)))
        return refuseMlir(Each, "the rewritten kernel does not verify: " +
                                    StringRef(Messages).rtrim());
    }
  Translation T;
  T.Language = SourceLanguage::Mlir;
  T.Plan.Launches.push_back(R.L);
  T.When = std::move(R.When);
  llvm::raw_string_ostream OS(T.Source);
  (*M)->print(OS);
  OS << "\n";
  return T;
}

} // namespace cupilot
