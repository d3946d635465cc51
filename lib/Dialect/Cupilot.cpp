//===- Cupilot.cpp - The cupilot dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/LaunchPlan.h"
#include "cupilot/Support/Digest.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SmallPtrSet.h"
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

/// Genes in square brackets; none is a genome too.
static ParseResult parseGenes(AsmParser &Parser,
                              llvm::SmallVector<GeneAttr> &Genes) {
  return Parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    FailureOr<GeneAttr> Gene = FieldParser<GeneAttr>::parse(Parser);
    if (failed(Gene))
      return failure();
    Genes.push_back(*Gene);
    return success();
  });
}

static void printGenes(AsmPrinter &Printer, ArrayRef<GeneAttr> Genes) {
  Printer << "[";
  Printer.printStrippedAttrOrType(Genes);
  Printer << "]";
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

/// The launch is the dims, or, where a map multiplies or divides by it, the
/// first symbols: MLIR takes products of symbols only.
static LogicalResult checkLaunchDims(EmitErrorFn EmitError, StringRef What,
                                     unsigned Dims, unsigned Symbols) {
  if (Dims == NumLaunchDims || (Dims == 0 && Symbols >= NumLaunchDims))
    return success();
  return EmitError() << What << " must have the " << unsigned(NumLaunchDims)
                     << " dims of a launch (gx, gy, gz, bx, by, bz, shared), "
                        "or these as its first symbols, not "
                     << Dims << " dim(s) and " << Symbols << " symbol(s)";
}

static LogicalResult checkMap(EmitErrorFn EmitError, StringRef What,
                              AffineMapAttr Map, unsigned Results) {
  AffineMap M = Map.getValue();
  if (failed(
          checkLaunchDims(EmitError, What, M.getNumDims(), M.getNumSymbols())))
    return failure();
  if (M.getNumResults() != Results)
    return EmitError() << What << " must have " << Results << " result(s), not "
                       << M.getNumResults();
  return success();
}

LogicalResult LaunchAttr::verify(EmitErrorFn EmitError, StringRef Symbol,
                                 AffineMapAttr Grid, AffineMapAttr Block,
                                 AffineMapAttr Shared, AffineMapAttr Cluster) {
  if (Symbol.empty())
    return EmitError() << "a launch must name the kernel's symbol";
  if (failed(checkMap(EmitError, "the grid of a launch", Grid, 3)) ||
      failed(checkMap(EmitError, "the block of a launch", Block, 3)) ||
      failed(checkMap(EmitError, "the shared memory of a launch", Shared, 1)))
    return failure();
  if (!Cluster)
    return success();
  if (failed(checkMap(EmitError, "the cluster of a launch", Cluster, 3)))
    return failure();
  int64_t Blocks = 1;
  for (AffineExpr E : Cluster.getValue().getResults())
    if (auto Number = dyn_cast<AffineConstantExpr>(E)) {
      if (Number.getValue() < 1 || Number.getValue() > MostClusterBlocks)
        return EmitError() << "a dimension of a cluster is 1 to "
                           << MostClusterBlocks << " blocks, not "
                           << Number.getValue();
      Blocks *= Number.getValue();
    }
  if (Blocks > MostClusterBlocks)
    return EmitError() << "a cluster has at most " << MostClusterBlocks
                       << " blocks, not " << Blocks;
  return success();
}

static std::optional<unsigned> placeOf(ArrayRef<StringRef> Words,
                                       StringRef Word) {
  const StringRef *At = llvm::find(Words, Word);
  if (At == Words.end())
    return std::nullopt;
  return At - Words.begin();
}

LogicalResult TensorMapAttr::verify(EmitErrorFn EmitError, PointerAttr,
                                    StringRef Type, AffineMapAttr Extents,
                                    AffineMapAttr Strides,
                                    DenseI64ArrayAttr Box,
                                    DenseI64ArrayAttr Steps, StringRef Swizzle,
                                    StringRef Promotion, StringRef Fill) {
  TensorMapPlan Plan;
  for (auto [Word, Words, Place, What] :
       {std::tuple(Type, tensorTypeWords(), &Plan.Type, "element type"),
        {Swizzle, tensorSwizzleWords(), &Plan.Swizzle, "swizzle"},
        {Promotion, tensorPromotionWords(), &Plan.Promotion, "promotion"}}) {
    std::optional<unsigned> Known = placeOf(Words, Word);
    if (!Known)
      return EmitError() << "the " << What << " of a tensor map is one of "
                         << llvm::join(Words, ", ") << ", not \"" << Word
                         << "\"";
    *Place = *Known;
  }
  if (Fill != "zero" && Fill != "nan")
    return EmitError() << "a tensor map fills with \"zero\" or \"nan\", not \""
                       << Fill << "\"";
  Plan.FillNan = Fill == "nan";
  // Numbers beyond their type are as wrong as those beyond the hardware's.
  auto Narrow = [](int64_t N) {
    return static_cast<unsigned>(std::clamp<int64_t>(N, 0, 100000));
  };
  for (int64_t Side : Box.asArrayRef())
    Plan.Box.push_back(Narrow(Side));
  if (Steps)
    for (int64_t Step : Steps.asArrayRef())
      Plan.Steps.push_back(Narrow(Step));
  Plan.Extents.resize(Extents.getValue().getNumResults());
  Plan.Strides.resize(Strides.getValue().getNumResults());
  if (std::string Why = describeBroken(Plan); !Why.empty())
    return EmitError() << "no GPU has such a tensor map: " << Why;
  if (failed(checkMap(EmitError, "the extents of a tensor map", Extents,
                      Plan.rank())))
    return failure();
  return checkMap(EmitError, "the strides of a tensor map", Strides,
                  Plan.rank() - 1);
}

LogicalResult PlanAttr::verify(EmitErrorFn EmitError,
                               ArrayRef<LaunchAttr> Launches,
                               AffineMapAttr Scratch,
                               ArrayRef<TensorMapAttr> Maps) {
  // CUDA has no limit; these are what nobody needs more of.
  constexpr unsigned MostLaunches = 64, MostBuffers = 16;
  if (Launches.empty())
    return EmitError() << "a plan holds at least one launch";
  if (Launches.size() > MostLaunches)
    return EmitError() << "a plan holds at most " << MostLaunches
                       << " launches, not " << Launches.size();
  if (Maps.size() > MostBuffers)
    return EmitError() << "a plan holds at most " << MostBuffers
                       << " tensor maps, not " << Maps.size();
  if (!Scratch)
    return success();
  unsigned Buffers = Scratch.getValue().getNumResults();
  if (Buffers < 1 || Buffers > MostBuffers)
    return EmitError() << "a plan with scratch memory has 1 to " << MostBuffers
                       << " buffers, not " << Buffers;
  for (AffineExpr E : Scratch.getValue().getResults())
    if (auto Number = dyn_cast<AffineConstantExpr>(E);
        Number && (Number.getValue() < 1 || Number.getValue() > MostScratch))
      return EmitError() << "a scratch buffer has 1 to " << MostScratch
                         << " bytes, not " << Number.getValue();
  return checkMap(EmitError, "the scratch memory of a plan", Scratch, Buffers);
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

LogicalResult GuardAttr::verify(EmitErrorFn EmitError, StringRef Arch,
                                IntegerSetAttr Set, ArrayRef<AlignAttr>,
                                ArrayRef<DisjointAttr>) {
  if (!Architecture::parse(Arch))
    return EmitError() << "a guard names the architecture as \"sm_NN\", not \""
                       << Arch << "\"";
  return checkLaunchDims(EmitError, "the set of a guard",
                         Set.getValue().getNumDims(),
                         Set.getValue().getNumSymbols());
}

LogicalResult BuildAttr::verify(EmitErrorFn EmitError, StringRef Compiler,
                                StringRef Arch, StringRef Digest) {
  if (Compiler.empty())
    return EmitError() << "a build names its compiler";
  if (!Architecture::parse(Arch))
    return EmitError() << "a build names the architecture as \"sm_NN\", not \""
                       << Arch << "\"";
  if (!isDigest(Digest))
    return EmitError() << "\"" << Digest
                       << "\" is no digest (b3: and 64 hexadecimal digits)";
  return success();
}

LogicalResult MeasurementAttr::verify(EmitErrorFn EmitError, StringRef Device,
                                      StringRef Basis, FloatAttr Ratio,
                                      FloatAttr Low, FloatAttr High, unsigned,
                                      unsigned, BuildAttr) {
  if (Device.empty())
    return EmitError() << "a measurement names its device";
  // "declared": nothing was run; a person answers for the variant.
  if (Basis != "modelled" && Basis != "measured" && Basis != "declared")
    return EmitError()
           << "a measurement is \"modelled\" or \"measured\", not \"" << Basis
           << "\"";
  for (FloatAttr Value : {Ratio, Low, High})
    if (!Value.getValue().isFinite() || Value.getValueAsDouble() < 0)
      return EmitError() << "a ratio of times is finite and not negative";
  if (Low.getValueAsDouble() > Ratio.getValueAsDouble() ||
      Ratio.getValueAsDouble() > High.getValueAsDouble())
    return EmitError()
           << "a ratio lies inside its interval: low <= ratio <= high";
  return success();
}

LogicalResult RooflineAttr::verify(EmitErrorFn EmitError, BottleneckKind,
                                   StringRef Basis, FloatAttr Intensity) {
  if (Basis != "static" && Basis != "modelled" && Basis != "measured")
    return EmitError() << "a roofline is \"static\", \"modelled\" or "
                          "\"measured\", not \""
                       << Basis << "\"";
  if (!Intensity.getValue().isFinite() || Intensity.getValueAsDouble() < 0)
    return EmitError() << "an intensity is finite and not negative";
  return success();
}

LogicalResult BufferAttr::verify(EmitErrorFn EmitError, uint64_t,
                                 uint64_t Align, StringRef Digest, StringRef,
                                 StringRef Generator) {
  if (!llvm::isPowerOf2_64(Align))
    return EmitError() << "an alignment is a power of two, not " << Align;
  if (!isDigest(Digest) && (!Digest.empty() || Generator.empty()))
    return EmitError() << "\"" << Digest
                       << "\" is no digest (b3: and 64 hexadecimal digits)";
  return success();
}
