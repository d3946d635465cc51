//===- CupilotOps.cpp - Verifiers of the operations -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/CandidateOutcome.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Portable/Digest.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cupilot;
using llvm::StringRef;

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

/// Size of a pointer on every GPU that has a compute capability.
static constexpr uint64_t PointerBytes = 8;

LogicalResult cupilot::verifyMapShape(EmitErrorFn EmitError, StringRef What,
                                      unsigned Dims, unsigned Symbols,
                                      unsigned Scalars) {
  // The launch is the dims, or the first symbols.
  unsigned Launch = Dims == 0 ? unsigned(NumLaunchDims) : 0;
  if (Symbols != Launch + Scalars)
    return EmitError() << What
                       << " must have one symbol for each of the kernel's "
                       << Scalars << " scalars, not "
                       << int64_t(Symbols) - int64_t(Launch);
  return success();
}

/// The first attribute of \p List that comes again; null if none does.
static Attribute repetition(ArrayAttr List) {
  llvm::SmallPtrSet<Attribute, 8> Seen;
  for (Attribute A : List)
    if (!Seen.insert(A).second)
      return A;
  return {};
}

/// Whether code tells \p Value as a word.
static bool isWord(CodeValue Value) {
  return Value == CodeValue::Factors || Value == CodeValue::Swizzle;
}

static LogicalResult verifyReadings(StrategyOp Op) {
  llvm::StringSet<> Read;
  for (auto R : Op.getReads().getAsRange<ReadingAttr>()) {
    StringRef Name = R.getParam();
    auto Domain = Op.getParams().getAs<ArrayAttr>(Name);
    if (!Domain)
      return Op.emitOpError() << "has no parameter '" << Name << "' to read";
    if (!Read.insert(Name).second)
      return Op.emitOpError() << "reads parameter '" << Name << "' twice";
    if (isa<StringAttr>(Domain[0]) != isWord(R.getValue()))
      return Op.emitOpError()
             << "parameter '" << Name << "' cannot be read: '"
             << stringifyEnum(R.getValue()) << "' is "
             << (isWord(R.getValue()) ? "a word" : "an integer");
  }
  if (!Op.getEvident())
    return success();
  if (Op.getShownBy().empty())
    return Op.emitOpError("is 'evident' by nothing: 'shown_by' is missing");
  for (NamedAttribute Param : Op.getParams())
    if (!Read.contains(Param.getName()))
      return Op.emitOpError() << "is 'evident', but parameter '"
                              << Param.getName().getValue() << "' is not read";
  return success();
}

LogicalResult StrategyOp::verify() {
  if (getMinArch() < 1)
    return emitOpError()
           << "'min_arch' is a compute capability such as 90, not "
           << getMinArch();
  for (NamedAttribute Param : getParams()) {
    auto Domain = dyn_cast<ArrayAttr>(Param.getValue());
    if (!Domain || Domain.empty())
      return emitOpError()
             << "parameter '" << Param.getName().getValue()
             << "' needs a domain: a non-empty array of integers or strings";
    bool Integers = llvm::all_of(Domain, [](Attribute A) {
      auto Number = dyn_cast<IntegerAttr>(A);
      return Number && Number.getType().isSignlessInteger(64);
    });
    bool Strings =
        llvm::all_of(Domain, [](Attribute A) { return isa<StringAttr>(A); });
    if (!Integers && !Strings)
      return emitOpError() << "the domain of parameter '"
                           << Param.getName().getValue()
                           << "' must hold integers only, or strings only, "
                              "integers as i64";
    if (Attribute Twice = repetition(Domain))
      return emitOpError() << "the domain of parameter '"
                           << Param.getName().getValue() << "' holds " << Twice
                           << " twice";
  }
  for (auto [Name, List] :
       {std::pair("requires", getRequired()), {"conflicts", getConflicts()}}) {
    llvm::StringSet<> Seen;
    for (Attribute A : List) {
      auto Ref = cast<FlatSymbolRefAttr>(A);
      if (Ref.getValue() == getSymName())
        return emitOpError()
               << "a strategy cannot name itself in '" << Name << "'";
      if (!Seen.insert(Ref.getValue()).second)
        return emitOpError()
               << "@" << Ref.getValue() << " comes twice in '" << Name << "'";
    }
  }
  for (Attribute A : getRequired())
    if (llvm::is_contained(getConflicts(), A))
      return emitOpError() << "@" << cast<FlatSymbolRefAttr>(A).getValue()
                           << " is both required and in conflict";
  if (DictionaryAttr Resources = getResourcesAttr())
    for (NamedAttribute Resource : Resources)
      if (auto Amount = dyn_cast<IntegerAttr>(Resource.getValue());
          !Amount || Amount.getValue().isNegative())
        return emitOpError() << "resource '" << Resource.getName().getValue()
                             << "' is an amount: an integer of at least 0";
  return verifyReadings(*this);
}

LogicalResult KernelOp::verify() {
  if (!isDigest(getDigest()))
    return emitOpError() << "\"" << getDigest()
                         << "\" is no digest (b3: and 64 hexadecimal digits)";
  for (auto [Name, List] :
       {std::pair("scalars", getScalars()), {"pointers", getPointers()}})
    if (Attribute Twice = repetition(List))
      return emitOpError() << Twice << " comes twice in '" << Name << "'";
  if ((getContract() == ContractKind::Relaxed) != getTolerance().has_value())
    return emitOpError(
        "a tolerance belongs to contract(relaxed), and to no other");
  if (getNorm() && !getTolerance())
    return emitOpError("a bound of the norm stands beside a tolerance");
  for (std::optional<APFloat> Bound : {getTolerance(), getNorm()})
    if (Bound && !(Bound->isFinite() && Bound->convertToDouble() > 0))
      return emitOpError("a tolerance is finite and greater than 0");
  if (std::string Fault = faultOf(toKernel(*this).Contract); !Fault.empty())
    return emitOpError() << Fault;
  unsigned Params = getParams().size();
  for (Attribute A : getScalars()) {
    auto Scalar = cast<ScalarAttr>(A);
    if (Scalar.getParam() >= Params ||
        uint64_t(Scalar.getOffset()) + Scalar.getBits() / 8 >
            cast<ParamAttr>(getParams()[Scalar.getParam()]).getSize())
      return emitOpError() << "scalar " << Scalar
                           << " lies outside the parameters";
  }
  for (Attribute A : getPointers()) {
    auto Pointer = cast<PointerAttr>(A);
    if (Pointer.getParam() >= Params ||
        uint64_t(Pointer.getOffset()) + PointerBytes >
            cast<ParamAttr>(getParams()[Pointer.getParam()]).getSize())
      return emitOpError() << "pointer " << Pointer
                           << " lies outside the parameters";
  }
  for (Operation &Op : getBody().front())
    if (!isa<WorkloadOp, VariantOp>(Op))
      return emitOpError("holds workloads and variants only, not '")
             << Op.getName() << "'";
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  llvm::SmallPtrSet<Attribute, 16> Variants;
  for (VariantOp V : getBody().getOps<VariantOp>())
    Variants.insert(V.getSymNameAttr());
  for (VariantOp V : getBody().getOps<VariantOp>())
    for (auto Parent : V.getParents().getAsRange<FlatSymbolRefAttr>()) {
      if (Parent.getAttr() == V.getSymNameAttr())
        return V.emitOpError("cannot be its own parent");
      if (!Variants.contains(Parent.getAttr()))
        return V.emitOpError() << "names the parent @" << Parent.getValue()
                               << ", which is no variant of this kernel";
    }
  return success();
}

LogicalResult WorkloadOp::verify() {
  for (auto [Name, Dims] :
       {std::pair("grid", getGrid()), {"block", getBlock()}}) {
    if (Dims.size() != 3)
      return emitOpError() << "'" << Name << "' has three dimensions, not "
                           << Dims.size();
    if (llvm::any_of(Dims, [](int64_t D) { return D < 1; }))
      return emitOpError() << "a dimension of '" << Name << "' is at least 1";
  }
  if (getCluster()) {
    int64_t Blocks = 1;
    for (unsigned I = 0; I < 3 && getCluster()->size() == 3; ++I) {
      int64_t D = (*getCluster())[I];
      Blocks = D < 1 || getGrid()[I] % D ? 0 : Blocks * D;
    }
    // 16 blocks are the most that a GPU can be asked for.
    if (getCluster()->size() != 3 || Blocks < 1 || Blocks > 16)
      return emitOpError("'cluster' has three dimensions, which divide those "
                         "of the grid, and 16 blocks at most");
  }
  if (getAfter() && getAfter()->size() != getBuffers().size())
    return emitOpError("'after' has a digest, or \"\", for each buffer");
  if (getShared() < 0)
    return emitOpError("shared memory is at least 0 bytes");
  if (getCount() < 1)
    return emitOpError("a workload stands for at least 1 launch");
  for (Attribute A : getAddresses()) {
    auto Address = cast<AddressAttr>(A);
    if (Address.getBuffer() >= getBuffers().size())
      return emitOpError() << Address << " names buffer " << Address.getBuffer()
                           << " of " << getBuffers().size();
    if (Address.getParam() >= getArgs().size() ||
        (uint64_t(Address.getOffset()) + PointerBytes) * 2 >
            cast<StringAttr>(getArgs()[Address.getParam()]).getValue().size())
      return emitOpError() << Address << " lies outside the arguments";
  }
  for (Attribute A : getArgs()) {
    StringRef Bytes = cast<StringAttr>(A).getValue();
    if (Bytes.size() % 2 != 0 || !llvm::all_of(Bytes, llvm::isHexDigit))
      return emitOpError("an argument is its bytes in hexadecimal");
  }
  if (getBasis() != BasisKind::Modelled && getBasis() != BasisKind::Measured)
    return emitOpError() << "a weight is modelled or measured, not "
                         << stringifyEnum(getBasis());
  double Weight = getWeight().convertToDouble();
  if (!(Weight >= 0 && Weight <= 1))
    return emitOpError("a weight is a share between 0 and 1");
  return success();
}

LogicalResult cupilot::verifyGenome(EmitErrorFn EmitError, GenomeAttr Genome,
                                    Operation *Library, unsigned Arch) {
  auto Has = [&](FlatSymbolRefAttr Name) {
    return llvm::any_of(Genome.getGenes(),
                        [&](GeneAttr G) { return G.getStrategy() == Name; });
  };
  for (GeneAttr Gene : Genome.getGenes()) {
    auto Strategy = dyn_cast_or_null<StrategyOp>(
        SymbolTable::lookupSymbolIn(Library, Gene.getStrategy().getAttr()));
    if (!Strategy)
      continue; // Not defined here: nothing to check against.
    StringRef Name = Strategy.getSymName();
    for (NamedAttribute Param : Gene.getParams()) {
      auto Domain = dyn_cast_or_null<ArrayAttr>(
          Strategy.getParams().get(Param.getName()));
      if (!Domain)
        return EmitError() << "gene @" << Name
                           << ": the strategy has no parameter '"
                           << Param.getName().getValue() << "'";
      if (!llvm::is_contained(Domain, Param.getValue()))
        return EmitError() << "gene @" << Name << ": " << Param.getValue()
                           << " is outside the domain of '"
                           << Param.getName().getValue() << "', " << Domain;
    }
    for (NamedAttribute Param : Strategy.getParams())
      if (!Gene.getParams().get(Param.getName()))
        return EmitError() << "gene @" << Name << ": parameter '"
                           << Param.getName().getValue() << "' has no value";
    for (Attribute A : Strategy.getRequired())
      if (!Has(cast<FlatSymbolRefAttr>(A)))
        return EmitError() << "gene @" << Name << " requires @"
                           << cast<FlatSymbolRefAttr>(A).getValue()
                           << " ('requires' of @" << Name << ")";
    for (Attribute A : Strategy.getConflicts())
      if (Has(cast<FlatSymbolRefAttr>(A)))
        return EmitError() << "gene @" << Name << " conflicts with @"
                           << cast<FlatSymbolRefAttr>(A).getValue()
                           << " ('conflicts' of @" << Name << ")";
    if (Arch && static_cast<unsigned>(Strategy.getMinArch()) > Arch)
      return EmitError() << "gene @" << Name << " needs sm_"
                         << Strategy.getMinArch() << " ('min_arch' of @" << Name
                         << "), the guard says sm_" << Arch;
  }
  return success();
}

/// "strategy-translator 2 b3:...", as journals and recordings name it.
static bool isPrompt(StringRef Text) {
  llvm::SmallVector<StringRef, 3> Words;
  Text.split(Words, ' ');
  return Words.size() == 3 && !Words[0].empty() && !Words[1].empty() &&
         Words[2].consume_front("b3:") && !Words[2].empty() &&
         llvm::all_of(Words[2], llvm::isHexDigit);
}

LogicalResult VariantOp::verify() {
  auto Kernel = dyn_cast_or_null<KernelOp>((*this)->getParentOp());
  if (!Kernel && !isa_and_nonnull<mlir::ModuleOp>((*this)->getParentOp()))
    return emitOpError("belongs into a cupilot.kernel or a module of its own");
  auto EmitError = [&] { return emitOpError(); };
  if (getOutcome() && !candidateOutcomeOf(*getOutcome()))
    return emitOpError() << "has an unknown outcome, \"" << *getOutcome()
                         << "\"";
  AuthorAttr Author = getAuthor().value_or(AuthorAttr());
  for (ArrayAttr Prompts : {getPrompts().value_or(ArrayAttr()),
                            Author ? Author.getPrompts() : ArrayAttr()})
    if (Prompts)
      for (StringRef Prompt : Prompts.getAsValueRange<StringAttr>())
        if (!isPrompt(Prompt))
          return emitOpError() << "\"" << Prompt
                               << "\" is no prompt (name, version and digest)";
  if (!Kernel)
    return success(); // Its maps are checked where the kernel is known.
  unsigned Scalars = Kernel.getScalars().size();
  auto Check = [&](StringRef What, AffineMap Map) {
    return verifyMapShape(EmitError, What, Map.getNumDims(),
                          Map.getNumSymbols(), Scalars);
  };
  auto CheckPointer = [&](StringRef What, PointerAttr P) -> LogicalResult {
    if (!llvm::is_contained(Kernel.getPointers(), P))
      return emitOpError() << What << " names " << P
                           << ", which is none of the kernel's pointers";
    return success();
  };
  if (PlanAttr Plan = getPlan().value_or(PlanAttr())) {
    for (LaunchAttr L : Plan.getLaunches())
      if (failed(Check("the grid", L.getGrid().getValue())) ||
          failed(Check("the block", L.getBlock().getValue())) ||
          failed(Check("the shared memory", L.getShared().getValue())) ||
          (L.getCluster() &&
           failed(Check("the cluster", L.getCluster().getValue()))))
        return failure();
    if (Plan.getScratch() &&
        failed(Check("the scratch memory", Plan.getScratch().getValue())))
      return failure();
    for (TensorMapAttr M : Plan.getTensormaps())
      if (failed(CheckPointer("a tensor map", M.getBase())) ||
          failed(Check("the extents", M.getExtents().getValue())) ||
          failed(Check("the strides", M.getStrides().getValue())))
        return failure();
  }
  unsigned Arch = 0;
  if (GuardAttr G = getGuard().value_or(GuardAttr())) {
    if (failed(verifyMapShape(EmitError, "the set of the guard",
                              G.getSet().getValue().getNumDims(),
                              G.getSet().getValue().getNumSymbols(), Scalars)))
      return failure();
    for (AlignAttr A : G.getAlign())
      if (failed(CheckPointer("the guard", A.getPointer())))
        return failure();
    for (DisjointAttr D : G.getDisjoint())
      if (failed(CheckPointer("the guard", D.getA())) ||
          failed(CheckPointer("the guard", D.getB())) ||
          failed(Check("an extent", D.getExtentA().getValue())) ||
          failed(Check("an extent", D.getExtentB().getValue())))
        return failure();
    Arch = capabilityNumber(G.getArch());
  }
  auto CheckMap = [&](StringRef What, AffineMapAttr Map) {
    return Map ? Check(What, Map.getValue()) : success();
  };
  for (BoxAttr Box :
       getDomain() ? getDomain()->getBoxes() : ArrayRef<BoxAttr>()) {
    if (failed(CheckMap("a range of the domain", Box.getRanges())) ||
        failed(CheckMap("a residue of the domain", Box.getResidues())))
      return failure();
    for (FloatClassAttr F : Box.getFloats())
      if (F.getParam() >= Kernel.getParams().size() ||
          uint64_t(F.getOffset()) +
                  FloatRef{0, 0, static_cast<FloatRef::Format>(F.getType())}
                          .bits() /
                      8 >
              cast<ParamAttr>(Kernel.getParams()[F.getParam()]).getSize())
        return emitOpError() << "the domain names " << F
                             << ", which lies outside the parameters";
    for (NullAttr N : Box.getNulls())
      if (failed(CheckPointer("the domain", N.getPointer())))
        return failure();
    for (AlignAttr A : Box.getAlign())
      if (failed(CheckPointer("the domain", A.getPointer())))
        return failure();
    for (PairAttr P : Box.getPairs())
      if (failed(CheckPointer("the domain", P.getA())) ||
          failed(CheckPointer("the domain", P.getB())) ||
          failed(CheckMap("the bytes of a pair", P.getBytes())))
        return failure();
  }
  Operation *Library = Kernel->getParentOp();
  if (Library && Library->hasTrait<OpTrait::SymbolTable>())
    return verifyGenome(EmitError, getGenome(), Library, Arch);
  return success();
}
