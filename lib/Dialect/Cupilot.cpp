//===- Cupilot.cpp - The cupilot dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/LaunchPlan.h"
#include "cupilot/Portable/Digest.h"
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

/// The words of a closed set: "zero, nan".
template <typename EnumT> static std::string wordsOf() {
  llvm::SmallVector<StringRef> Words;
  for (unsigned I = 0;; ++I) {
    StringRef Word = stringifyEnum(static_cast<EnumT>(I));
    if (Word.empty())
      return llvm::join(Words, ", ");
    Words.push_back(Word);
  }
}

/// One of them, which \p What describes. Older versions wrote all in quotes.
template <typename EnumT>
static FailureOr<EnumT> parseWord(AsmParser &Parser, StringRef What) {
  llvm::SMLoc At = Parser.getCurrentLocation();
  std::string Word;
  if (succeeded(Parser.parseOptionalKeywordOrString(&Word)))
    if (std::optional<EnumT> Known = symbolizeEnum<EnumT>(Word))
      return *Known;
  Parser.emitError(At) << What << " is one of " << wordsOf<EnumT>()
                       << ", not \"" << Word << "\"";
  return failure();
}

static ParseResult parseSign(AsmParser &Parser,
                             llvm::SmallVector<PlanFact> &Plan,
                             llvm::SmallVector<CodeProbe> &Probes,
                             llvm::SmallVector<StringAttr> &Instructions) {
  auto Words = [&]<typename EnumT>(llvm::SmallVector<EnumT> &List,
                                   StringRef What) {
    return Parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      FailureOr<EnumT> Word = parseWord<EnumT>(Parser, What);
      if (failed(Word))
        return failure();
      List.push_back(*Word);
      return success();
    });
  };
  do {
    llvm::SMLoc At = Parser.getCurrentLocation();
    StringRef Kind;
    if (failed(Parser.parseOptionalKeyword(&Kind,
                                           {"plan", "probe", "instruction"})))
      return Parser.emitError(
          At, "a sign is plan(...), probe(...) or instruction(...)");
    if (Kind == "plan" ? Words(Plan, "a fact of a plan")
        : Kind == "probe"
            ? Words(Probes, "a probe of code")
            : Parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
                return Parser.parseAttribute(Instructions.emplace_back());
              }))
      return failure();
  } while (succeeded(Parser.parseOptionalKeyword("or")));
  return success();
}

static void printSign(AsmPrinter &Printer, ArrayRef<PlanFact> Plan,
                      ArrayRef<CodeProbe> Probes,
                      ArrayRef<StringAttr> Instructions) {
  StringRef Or;
  auto Print = [&](StringRef Kind, const auto &List) {
    if (List.empty())
      return;
    Printer << Or << Kind << "(";
    llvm::interleaveComma(List, Printer);
    Printer << ")";
    Or = " or ";
  };
  Print("plan", Plan);
  Print("probe", Probes);
  Print("instruction", Instructions);
}

/// Signs, all of which must be there, without their mnemonic.
static ParseResult parseSigns(OpAsmParser &Parser, ArrayAttr &Signs) {
  llvm::SmallVector<Attribute> All;
  auto ParseOne = [&] {
    llvm::SMLoc At = Parser.getCurrentLocation();
    llvm::SmallVector<PlanFact> Plan;
    llvm::SmallVector<CodeProbe> Probes;
    llvm::SmallVector<StringAttr> Instructions;
    if (parseSign(Parser, Plan, Probes, Instructions))
      return failure();
    SignAttr Sign =
        SignAttr::getChecked([&] { return Parser.emitError(At); },
                             Parser.getContext(), Plan, Probes, Instructions);
    All.push_back(Sign);
    return success(Sign != nullptr);
  };
  if (Parser.parseCommaSeparatedList(ParseOne))
    return failure();
  Signs = Parser.getBuilder().getArrayAttr(All);
  return success();
}

static void printSigns(OpAsmPrinter &Printer, Operation *, ArrayAttr Signs) {
  llvm::interleaveComma(Signs.getAsRange<SignAttr>(), Printer, [&](SignAttr S) {
    printSign(Printer, S.getPlan(), S.getProbes(), S.getInstructions());
  });
}

/// "n = columns, size = cluster_blocks".
static ParseResult parseReadings(OpAsmParser &Parser, ArrayAttr &Readings) {
  llvm::SmallVector<Attribute> All;
  auto ParseOne = [&]() -> ParseResult {
    std::string Param;
    if (Parser.parseKeywordOrString(&Param) || Parser.parseEqual())
      return failure();
    FailureOr<CodeValue> Value =
        parseWord<CodeValue>(Parser, "a value that code shows");
    if (failed(Value))
      return failure();
    All.push_back(ReadingAttr::get(
        Parser.getContext(), Parser.getBuilder().getStringAttr(Param), *Value));
    return success();
  };
  if (Parser.parseCommaSeparatedList(ParseOne))
    return failure();
  Readings = Parser.getBuilder().getArrayAttr(All);
  return success();
}

static void printReadings(OpAsmPrinter &Printer, Operation *,
                          ArrayAttr Readings) {
  llvm::interleaveComma(Readings.getAsRange<ReadingAttr>(), Printer,
                        [&](ReadingAttr R) {
                          Printer.printKeywordOrString(R.getParam().getValue());
                          Printer << " = " << stringifyEnum(R.getValue());
                        });
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

/// What a pattern of PTX can begin with (PTX ISA 9.0): instructions, and
/// modifiers and directives by which strategies show.
static constexpr llvm::StringLiteral
    PtxInstructions =
        "abs activemask add addc alloca and applypriority atom bar barrier bfe "
        "bfi bfind bmsk bra brev brx call clusterlaunchcontrol cnot copysign "
        "cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit "
        "fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix "
        "ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma "
        "mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc "
        "prefetch prefetchu prmt rcp red redux rem rsqrt sad selp set "
        "setmaxnreg setp shf shfl shl shr sin slct sqrt st stmatrix sub subc "
        "suld sured sust szext tanh tcgen05 tensormap testp tex tld4 trap "
        "vabsdiff2 "
        "vabsdiff4 vadd2 vadd4 vavrg2 vavrg4 vmax2 vmax4 vmin2 vmin4 vote "
        "vset2 vset4 vsub2 vsub4 wgmma wmma xor",
    PtxModifiers =
        "L1 L2 approx async bf16 bf16x2 bulk ca cg const cs cta_group cv "
        "e4m3 e5m2 explicitcluster f16 f16x2 ftz global lu local "
        "maxclusterrank maxnctapersm maxnreg maxntid minnctapersm multicast nc "
        "noreturn param relaxed reqnctapercluster reqntid s8 shared sp sync "
        "tensor tf32 u8 v2 v4 v8 wb wt x2 x4";

static bool isPtxPattern(StringRef Pattern) {
  bool Modifier = Pattern.consume_front(".");
  StringRef First =
      Pattern.take_until([](char C) { return C == '.' || C == ':'; });
  auto In = [&](StringRef Words) {
    llvm::SmallVector<StringRef> List;
    Words.split(List, ' ');
    return llvm::is_contained(List, First);
  };
  return In(PtxModifiers) || (!Modifier && In(PtxInstructions));
}

LogicalResult SignAttr::verify(EmitErrorFn EmitError, ArrayRef<PlanFact> Plan,
                               ArrayRef<CodeProbe> Probes,
                               ArrayRef<StringAttr> Instructions) {
  if (Plan.empty() && Probes.empty() && Instructions.empty())
    return EmitError() << "a sign has at least one alternative";
  for (StringAttr Pattern : Instructions)
    if (!isPtxPattern(Pattern))
      return EmitError() << Pattern
                         << " is no pattern of PTX: its first word is "
                         << "none of the instructions " << PtxInstructions
                         << ", and none of the modifiers and directives "
                         << PtxModifiers;
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

LogicalResult TensorMapAttr::verify(
    EmitErrorFn EmitError, PointerAttr, TensorType Type, AffineMapAttr Extents,
    AffineMapAttr Strides, DenseI64ArrayAttr Box, DenseI64ArrayAttr Steps,
    TensorSwizzle Swizzle, TensorPromotion Promotion, TensorFill Fill) {
  TensorMapPlan Plan;
  Plan.Type = static_cast<unsigned>(Type);
  Plan.Swizzle = static_cast<unsigned>(Swizzle);
  Plan.Promotion = static_cast<unsigned>(Promotion);
  Plan.FillNan = Fill == TensorFill::NaN;
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
  if (llvm::Error E = checkTensorMap(Plan))
    return EmitError() << "no GPU has such a tensor map: "
                       << llvm::toString(std::move(E));
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

/// Ends of intervals: least and most in turn, in order and apart.
static LogicalResult checkEnds(EmitErrorFn EmitError, StringRef What,
                               ArrayRef<int64_t> Ends) {
  bool Right = !Ends.empty() && Ends.size() % 2 == 0;
  for (size_t I = 1; Right && I < Ends.size(); ++I)
    Right = I % 2 ? Ends[I - 1] <= Ends[I] : Ends[I - 1] < Ends[I];
  if (Right)
    return success();
  return EmitError() << What
                     << " has intervals in order: least and most in turn";
}

LogicalResult FloatClassAttr::verify(EmitErrorFn EmitError, unsigned, unsigned,
                                     FloatFormat, DenseI64ArrayAttr In) {
  return checkEnds(EmitError, "a class of numbers", In.asArrayRef());
}

LogicalResult PairAttr::verify(EmitErrorFn EmitError, PointerAttr A,
                               PointerAttr B, AffineMapAttr Bytes) {
  if (A == B)
    return EmitError() << "a pair is two pointers";
  return Bytes ? checkMap(EmitError, "the bytes of a pair", Bytes, 4)
               : success();
}

LogicalResult BoxAttr::verify(EmitErrorFn EmitError, SeenBy,
                              AffineMapAttr Ranges,
                              ArrayRef<DenseI64ArrayAttr> Bounds,
                              AffineMapAttr Residues, DenseI64ArrayAttr Moduli,
                              ArrayRef<DenseI64ArrayAttr> Rests,
                              ArrayRef<FloatClassAttr>, ArrayRef<NullAttr>,
                              ArrayRef<AlignAttr>, ArrayRef<PairAttr>) {
  if (!Ranges && !Bounds.empty())
    return EmitError() << "bounds belong to ranges";
  if (Ranges && failed(checkMap(EmitError, "ranges", Ranges, Bounds.size())))
    return failure();
  for (DenseI64ArrayAttr Ends : Bounds)
    if (failed(checkEnds(EmitError, "a range", Ends.asArrayRef())))
      return failure();
  if (!Residues)
    return Rests.empty() && !Moduli ? success()
                                    : EmitError() << "rests belong to residues";
  if (failed(checkMap(EmitError, "residues", Residues, Rests.size())))
    return failure();
  if (!Moduli || Moduli.asArrayRef().size() != Rests.size())
    return EmitError() << "each residue has its modulus";
  for (auto [Modulus, In] : llvm::zip_equal(Moduli.asArrayRef(), Rests)) {
    ArrayRef<int64_t> All = In.asArrayRef();
    bool Right =
        !All.empty() && Modulus > 0 && All.front() >= 0 && All.back() < Modulus;
    for (size_t I = 1; I < All.size(); ++I)
      Right &= All[I - 1] < All[I];
    if (!Right)
      return EmitError() << "the rests of a modulus lie in order between 0 and "
                            "the modulus";
  }
  return success();
}

LogicalResult DomainAttr::verify(EmitErrorFn EmitError,
                                 ArrayRef<BoxAttr> Boxes) {
  if (Boxes.empty())
    return EmitError() << "a domain has at least one box";
  return success();
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

LogicalResult CasesAttr::verify(EmitErrorFn EmitError, ArrayAttr Cases) {
  if (Cases.empty() || !llvm::all_of(Cases, llvm::IsaPred<StringAttr>))
    return EmitError() << "'cases' holds names of workloads, at least one";
  return success();
}

LogicalResult AuthorAttr::verify(EmitErrorFn EmitError, StringRef, StringRef,
                                 StringRef, ArrayAttr Prompts) {
  if (Prompts && !llvm::all_of(Prompts, llvm::IsaPred<StringAttr>))
    return EmitError() << "'prompts' holds strings";
  return success();
}

static LogicalResult verifyRatio(EmitErrorFn EmitError, FloatAttr Ratio,
                                 FloatAttr Low, FloatAttr High) {
  for (FloatAttr Value : {Ratio, Low, High})
    if (!Value.getValue().isFinite() || Value.getValueAsDouble() < 0)
      return EmitError() << "a ratio of times is finite and not negative";
  if (Low.getValueAsDouble() > Ratio.getValueAsDouble() ||
      Ratio.getValueAsDouble() > High.getValueAsDouble())
    return EmitError()
           << "a ratio lies inside its interval: low <= ratio <= high";
  return success();
}

LogicalResult MeasurementAttr::verify(EmitErrorFn EmitError, StringRef Device,
                                      BasisKind Basis, FloatAttr Ratio,
                                      FloatAttr Low, FloatAttr High, unsigned,
                                      unsigned, BuildAttr, StringRef Original,
                                      StringRef Contract, CasesAttr,
                                      OtherValuesAttr) {
  if (!Original.empty() && !isDigest(Original))
    return EmitError() << "\"" << Original
                       << "\" is no digest (b3: and 64 hexadecimal digits)";
  if (llvm::Expected<PrecisionContract> C =
          parseContract(Contract.empty() ? StringRef("same") : Contract);
      !C)
    return EmitError() << llvm::toString(C.takeError());
  if (Device.empty())
    return EmitError() << "a measurement names its device";
  if (Basis == BasisKind::Static)
    return EmitError() << "a measurement is modelled, measured or declared, "
                          "not static";
  return verifyRatio(EmitError, Ratio, Low, High);
}

LogicalResult OtherValuesAttr::verify(EmitErrorFn EmitError, StringRef Kind,
                                      FloatAttr Ratio, FloatAttr Low,
                                      FloatAttr High) {
  if (Kind.empty())
    return EmitError() << "other values name their kind";
  return verifyRatio(EmitError, Ratio, Low, High);
}

LogicalResult RooflineAttr::verify(EmitErrorFn EmitError, BottleneckKind,
                                   BasisKind Basis, FloatAttr Intensity) {
  if (Basis == BasisKind::Declared)
    return EmitError() << "a roofline is static, modelled or measured, not "
                          "declared";
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
