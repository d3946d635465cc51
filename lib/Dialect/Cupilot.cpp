//===- Cupilot.cpp - The cupilot dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Substitute/LaunchPlan.h"
#include "cupilot/Support/Digest.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cupilot;
using llvm::StringRef;

/// Integers and fractions without their types: "90", not "90 : i32".
static ParseResult parseNumber(OpAsmParser &Parser, IntegerAttr &Attr) {
  int64_t Value;
  if (Parser.parseInteger(Value))
    return failure();

  Attr = Parser.getBuilder().getI64IntegerAttr(Value);
  return success();
}

static void printNumber(OpAsmPrinter &Printer, Operation *, IntegerAttr Attr) {
  Printer << Attr.getValue().getSExtValue();
}

static ParseResult parseWeight(OpAsmParser &Parser, FloatAttr &Attr) {
  double Value;
  if (Parser.parseFloat(Value))
    return failure();
  Attr = Parser.getBuilder().getF64FloatAttr(Value);
  return success();
}

static void printWeight(OpAsmPrinter &Printer, Operation *, FloatAttr Attr) {
  Printer.printFloat(Attr.getValue());
}

#include "cupilot/Dialect/CupilotDialect.cpp.inc"
#include "cupilot/Dialect/CupilotEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "cupilot/Dialect/CupilotAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "cupilot/Dialect/CupilotOps.cpp.inc"

void CupilotDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cupilot/Dialect/CupilotAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "cupilot/Dialect/CupilotOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult ScalarAttr::verify(EmitErrorFn EmitError, unsigned, unsigned,
                                 unsigned Bits, bool) {
  if (Bits != 8 && Bits != 16 && Bits != 32 && Bits != 64)
    return EmitError() << "a scalar has 8, 16, 32 or 64 bits, not " << Bits;
  return success();
}

LogicalResult GeneAttr::verify(EmitErrorFn EmitError,
                               FlatSymbolRefAttr Strategy,
                               DictionaryAttr Params) {
  for (NamedAttribute Param : Params)
    if (!isa<IntegerAttr, StringAttr>(Param.getValue()))
      return EmitError() << "gene @" << Strategy.getValue() << ": parameter '"
                         << Param.getName().getValue()
                         << "' must be an integer or a string";
  return success();
}

LogicalResult GenomeAttr::verify(EmitErrorFn EmitError,
                                 ArrayRef<GeneAttr> Genes) {
  llvm::SmallPtrSet<Attribute, 8> Seen;
  for (GeneAttr Gene : Genes)
    if (!Seen.insert(Gene.getStrategy()).second)
      return EmitError() << "a genome holds each strategy at most once, but @"
                         << Gene.getStrategy().getValue() << " comes twice";
  return success();
}

static LogicalResult checkMap(EmitErrorFn EmitError, StringRef What,
                              AffineMapAttr Map, unsigned Results) {
  if (Map.getValue().getNumDims() != NumLaunchDims)
    return EmitError()
           << What << " must have the " << unsigned(NumLaunchDims)
           << " dims of a launch (gx, gy, gz, bx, by, bz, shared), not "
           << Map.getValue().getNumDims();
  if (Map.getValue().getNumResults() != Results)
    return EmitError() << What << " must have " << Results << " result(s), not "
                       << Map.getValue().getNumResults();
  return success();
}

LogicalResult LaunchAttr::verify(EmitErrorFn EmitError, StringRef Symbol,
                                 AffineMapAttr Grid, AffineMapAttr Block,
                                 AffineMapAttr Shared) {
  if (Symbol.empty())
    return EmitError() << "a launch must name the kernel's symbol";
  if (failed(checkMap(EmitError, "the grid of a launch", Grid, 3)) ||
      failed(checkMap(EmitError, "the block of a launch", Block, 3)))
    return failure();
  return checkMap(EmitError, "the shared memory of a launch", Shared, 1);
}

LogicalResult PlanAttr::verify(EmitErrorFn EmitError,
                               ArrayRef<LaunchAttr> Launches) {
  if (Launches.empty())
    return EmitError() << "a plan holds at least one launch";
  return success();
}

LogicalResult AlignAttr::verify(EmitErrorFn EmitError, PointerAttr,
                                unsigned Bytes) {
  if (!llvm::isPowerOf2_32(Bytes))
    return EmitError() << "an alignment is a power of two, not " << Bytes;
  return success();
}

LogicalResult DisjointAttr::verify(EmitErrorFn EmitError, PointerAttr A,
                                   PointerAttr B, AffineMapAttr ExtentA,
                                   AffineMapAttr ExtentB) {
  if (A == B)
    return EmitError() << "a pointer cannot be disjoint from itself";
  if (failed(checkMap(EmitError, "an extent", ExtentA, 1)))
    return failure();
  return checkMap(EmitError, "an extent", ExtentB, 1);
}

static bool isArchitecture(StringRef Arch) {
  return Arch.consume_front("sm_") && !Arch.empty() &&
         llvm::isDigit(Arch.front());
}

LogicalResult GuardAttr::verify(EmitErrorFn EmitError, StringRef Arch,
                                IntegerSetAttr Set, ArrayRef<AlignAttr>,
                                ArrayRef<DisjointAttr>) {
  if (!isArchitecture(Arch))
    return EmitError() << "a guard names the architecture as \"sm_NN\", not \""
                       << Arch << "\"";
  if (Set.getValue().getNumDims() != NumLaunchDims)
    return EmitError()
           << "the set of a guard must have the " << unsigned(NumLaunchDims)
           << " dims of a launch (gx, gy, gz, bx, by, bz, shared), not "
           << Set.getValue().getNumDims();
  return success();
}

LogicalResult BuildAttr::verify(EmitErrorFn EmitError, StringRef,
                                StringRef Arch, StringRef Digest) {
  if (!isArchitecture(Arch))
    return EmitError() << "a build names the architecture as \"sm_NN\", not \""
                       << Arch << "\"";
  if (!isDigest(Digest))
    return EmitError() << "\"" << Digest
                       << "\" is no digest (b3: and 64 hexadecimal digits)";
  return success();
}

LogicalResult MeasurementAttr::verify(EmitErrorFn EmitError, StringRef,
                                      StringRef Basis, FloatAttr Ratio,
                                      FloatAttr Low, FloatAttr High, unsigned,
                                      unsigned, BuildAttr) {
  if (Basis != "modelled" && Basis != "measured")
    return EmitError()
           << "a measurement is \"modelled\" or \"measured\", not \"" << Basis
           << "\"";
  if (Low.getValueAsDouble() > Ratio.getValueAsDouble() ||
      Ratio.getValueAsDouble() > High.getValueAsDouble())
    return EmitError()
           << "a ratio lies inside its interval: low <= ratio <= high";
  return success();
}

LogicalResult BufferAttr::verify(EmitErrorFn EmitError, uint64_t,
                                 uint64_t Align, StringRef Digest, StringRef) {
  if (!llvm::isPowerOf2_64(Align))
    return EmitError() << "an alignment is a power of two, not " << Align;
  if (!isDigest(Digest))
    return EmitError() << "\"" << Digest
                       << "\" is no digest (b3: and 64 hexadecimal digits)";
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult cupilot::verifyMapShape(EmitErrorFn EmitError, StringRef What,
                                      unsigned Dims, unsigned Symbols,
                                      unsigned Scalars) {
  if (Dims != NumLaunchDims || Symbols != Scalars)
    return EmitError() << What
                       << " must have one symbol for each of the kernel's "
                       << Scalars << " scalars, not " << Symbols;
  return success();
}

LogicalResult StrategyOp::verify() {
  for (NamedAttribute Param : getParams()) {
    auto Domain = dyn_cast<ArrayAttr>(Param.getValue());
    if (!Domain || Domain.empty())
      return emitOpError()
             << "parameter '" << Param.getName().getValue()
             << "' needs a domain: a non-empty array of integers or strings";
    bool Integers =
        llvm::all_of(Domain, [](Attribute A) { return isa<IntegerAttr>(A); });
    bool Strings =
        llvm::all_of(Domain, [](Attribute A) { return isa<StringAttr>(A); });
    if (!Integers && !Strings)
      return emitOpError() << "the domain of parameter '"
                           << Param.getName().getValue()
                           << "' must hold integers only, or strings only";
  }
  for (auto [Name, List] :
       {std::pair("requires", getRequired()), {"conflicts", getConflicts()}})
    for (Attribute A : List) {
      auto Ref = dyn_cast<FlatSymbolRefAttr>(A);
      if (!Ref)
        return emitOpError()
               << "'" << Name << "' holds names of strategies (@name)";
      if (Ref.getValue() == getSymName())
        return emitOpError()
               << "a strategy cannot name itself in '" << Name << "'";
    }
  for (Attribute A : getRequired())
    if (llvm::is_contained(getConflicts(), A))
      return emitOpError() << "@" << cast<FlatSymbolRefAttr>(A).getValue()
                           << " is both required and in conflict";
  return success();
}

template <typename AttrT> static bool allOf(ArrayAttr List) {
  return llvm::all_of(List, [](Attribute A) { return isa<AttrT>(A); });
}

LogicalResult KernelOp::verify() {
  if (!isDigest(getDigest()))
    return emitOpError() << "\"" << getDigest()
                         << "\" is no digest (b3: and 64 hexadecimal digits)";
  if (!allOf<ParamAttr>(getParams()))
    return emitOpError("'params' holds #cupilot.param attributes");
  if (!allOf<ScalarAttr>(getScalars()))
    return emitOpError("'scalars' holds #cupilot.scalar attributes");
  if (!allOf<PointerAttr>(getPointers()))
    return emitOpError("'pointers' holds #cupilot.pointer attributes");
  if (getBuilds() && !allOf<BuildAttr>(*getBuilds()))
    return emitOpError("'builds' holds #cupilot.build attributes");
  if ((getContract() == ContractKind::Relaxed) != getTolerance().has_value())
    return emitOpError(
        "a tolerance belongs to contract(relaxed), and to no other");
  unsigned Params = getParams().size();
  for (Attribute A : getScalars()) {
    auto Scalar = cast<ScalarAttr>(A);
    if (Scalar.getParam() >= Params ||
        Scalar.getOffset() + Scalar.getBits() / 8 >
            cast<ParamAttr>(getParams()[Scalar.getParam()]).getSize())
      return emitOpError() << "scalar " << Scalar
                           << " lies outside the parameters";
  }
  for (Attribute A : getPointers()) {
    auto Pointer = cast<PointerAttr>(A);
    if (Pointer.getParam() >= Params ||
        Pointer.getOffset() + 8 >
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

LogicalResult WorkloadOp::verify() {
  for (auto [Name, Dims] :
       {std::pair("grid", getGrid()), {"block", getBlock()}}) {
    if (Dims.size() != 3)
      return emitOpError() << "'" << Name << "' has three dimensions, not "
                           << Dims.size();
    if (llvm::any_of(Dims, [](int64_t D) { return D < 1; }))
      return emitOpError() << "a dimension of '" << Name << "' is at least 1";
  }
  if (!allOf<BufferAttr>(getBuffers()) || !allOf<AddressAttr>(getAddresses()))
    return emitOpError(
        "'buffers' and 'addresses' hold #cupilot.buffer and #cupilot.address");
  for (Attribute A : getAddresses()) {
    auto Address = cast<AddressAttr>(A);
    if (Address.getBuffer() >= getBuffers().size())
      return emitOpError() << Address << " names buffer " << Address.getBuffer()
                           << " of " << getBuffers().size();
    if (Address.getParam() >= getArgs().size() ||
        (Address.getOffset() + 8) * 2 >
            cast<StringAttr>(getArgs()[Address.getParam()]).getValue().size())
      return emitOpError() << Address << " lies outside the arguments";
  }
  for (Attribute A : getArgs()) {
    StringRef Bytes = cast<StringAttr>(A).getValue();
    if (Bytes.size() % 2 != 0 || !llvm::all_of(Bytes, llvm::isHexDigit))
      return emitOpError("an argument is its bytes in hexadecimal");
  }
  if (getBasis() != "modelled" && getBasis() != "measured")
    return emitOpError() << "a weight is \"modelled\" or \"measured\", not \""
                         << getBasis() << "\"";
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

LogicalResult VariantOp::verify() {
  auto Kernel = dyn_cast_or_null<KernelOp>((*this)->getParentOp());
  if (!Kernel)
    return emitOpError("belongs into a cupilot.kernel");
  auto EmitError = [&] { return emitOpError(); };
  if (!allOf<FlatSymbolRefAttr>(getParents()))
    return emitOpError("'parents' holds names of variants (@name)");
  if (getEvidence() && !allOf<MeasurementAttr>(*getEvidence()))
    return emitOpError("'evidence' holds #cupilot.measurement attributes");
  unsigned Scalars = Kernel.getScalars().size(),
           Params = Kernel.getParams().size();
  auto Check = [&](StringRef What, AffineMap Map) {
    return verifyMapShape(EmitError, What, Map.getNumDims(),
                          Map.getNumSymbols(), Scalars);
  };
  auto CheckPointer = [&](PointerAttr P) -> LogicalResult {
    if (P.getParam() >= Params)
      return emitOpError() << "the guard names parameter " << P.getParam()
                           << ", the kernel has " << Params;
    return success();
  };
  if (getPlan())
    for (LaunchAttr L : getPlan()->getLaunches())
      if (failed(Check("the grid", L.getGrid().getValue())) ||
          failed(Check("the block", L.getBlock().getValue())) ||
          failed(Check("the shared memory", L.getShared().getValue())))
        return failure();
  unsigned Arch = 0;
  if (GuardAttr G = getGuard().value_or(GuardAttr())) {
    if (failed(verifyMapShape(EmitError, "the set of the guard",
                              G.getSet().getValue().getNumDims(),
                              G.getSet().getValue().getNumSymbols(), Scalars)))
      return failure();
    for (AlignAttr A : G.getAlign())
      if (failed(CheckPointer(A.getPointer())))
        return failure();
    for (DisjointAttr D : G.getDisjoint())
      if (failed(CheckPointer(D.getA())) || failed(CheckPointer(D.getB())) ||
          failed(Check("an extent", D.getExtentA().getValue())) ||
          failed(Check("an extent", D.getExtentB().getValue())))
        return failure();
    G.getArch().drop_front(3).take_while(llvm::isDigit).getAsInteger(10, Arch);
  }
  Operation *Library = Kernel->getParentOp();
  if (Library && Library->hasTrait<OpTrait::SymbolTable>())
    return verifyGenome(EmitError, getGenome(), Library, Arch);
  return success();
}
