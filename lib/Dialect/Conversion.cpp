//===- Conversion.cpp - Between plain data and the dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Nesting.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// Version of the modules' format, in the attribute cupilot.format.
static constexpr int64_t ModuleFormat = 1;

template <typename AttrT, typename ItemT, typename MakeT>
static ArrayAttr toArray(Builder &B, const std::vector<ItemT> &Items,
                         MakeT Make) {
  llvm::SmallVector<Attribute> Attrs;
  for (const ItemT &Item : Items)
    Attrs.push_back(AttrT(Make(Item)));
  return B.getArrayAttr(Attrs);
}

KernelOp addKernel(OpBuilder &B, const Kernel &K, StringRef Source,
                   ArrayRef<BuildEntry> Builds) {
  MLIRContext *C = B.getContext();
  ArrayAttr Params = toArray<ParamAttr>(B, K.Params, [&](const KernelParam &P) {
    return ParamAttr::get(C, P.Name, P.Type, P.Size,
                          P.IsPointer ? B.getStringAttr(P.Pointee)
                                      : StringAttr(),
                          P.PointeeSize, P.PointeeConst, P.Restrict);
  });
  ArrayAttr Scalars =
      toArray<ScalarAttr>(B, K.Scalars, [&](const ScalarRef &S) {
        return ScalarAttr::get(C, S.Param, S.Offset, S.Bits, S.Signed);
      });
  ArrayAttr Pointers =
      toArray<PointerAttr>(B, K.Pointers, [&](const PointerRef &P) {
        return PointerAttr::get(C, P.Param, P.Offset);
      });
  llvm::SmallVector<Attribute> BuildAttrs;
  for (const BuildEntry &E : Builds)
    BuildAttrs.push_back(BuildAttr::get(C, E.Compiler, E.Arch, E.Digest));
  auto Optional = [&](StringRef Text) {
    return Text.empty() ? StringAttr() : B.getStringAttr(Text);
  };
  std::string At = K.File.empty() ? "" : K.File + ":" + std::to_string(K.Line);
  bool Relaxed = K.Contract.K == PrecisionContract::Kind::Relaxed;
  auto Op = KernelOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(K.Name), B.getStringAttr(K.Symbol),
      B.getStringAttr(K.Digest), Optional(Source), Optional(K.Refusal),
      Optional(At), Params, Scalars, Pointers,
      ContractKindAttr::get(
          C, static_cast<ContractKind>(static_cast<int>(K.Contract.K))),
      Relaxed ? B.getF64FloatAttr(K.Contract.RelativeTolerance) : FloatAttr(),
      BuildAttrs.empty() ? ArrayAttr() : B.getArrayAttr(BuildAttrs),
      RooflineAttr());
  Op.getBody().emplaceBlock();
  return Op;
}

Kernel toKernel(KernelOp Op) {
  Kernel K;
  K.Name = Op.getSymName().str();
  K.Symbol = Op.getSymbol().str();
  K.Digest = Op.getDigest().str();
  K.Refusal = Op.getRefused().value_or("").str();
  auto [File, Line] = Op.getAt().value_or("").rsplit(':');
  K.File = File.str();
  Line.getAsInteger(10, K.Line);
  for (ParamAttr P : Op.getParams().getAsRange<ParamAttr>())
    K.Params.push_back({P.getName().str(), P.getType().str(), P.getSize(),
                        bool(P.getPointee()), P.getIsConst(), P.getIsRestrict(),
                        P.getPointee() ? P.getPointee().str() : "",
                        P.getPointeeSize()});
  for (ScalarAttr S : Op.getScalars().getAsRange<ScalarAttr>())
    K.Scalars.push_back(
        {S.getParam(), S.getOffset(), S.getBits(), S.getIsSigned()});
  for (PointerAttr P : Op.getPointers().getAsRange<PointerAttr>())
    K.Pointers.push_back({P.getParam(), P.getOffset()});
  K.Contract.K =
      static_cast<PrecisionContract::Kind>(static_cast<int>(Op.getContract()));
  if (Op.getTolerance())
    K.Contract.RelativeTolerance = Op.getTolerance()->convertToDouble();
  return K;
}

std::vector<BuildEntry> buildsOf(KernelOp Op) {
  std::vector<BuildEntry> Result;
  if (Op.getBuilds())
    for (BuildAttr B : Op.getBuilds()->getAsRange<BuildAttr>())
      Result.push_back(
          {B.getCompiler().str(), B.getArch().str(), B.getDigest().str()});
  return Result;
}

static BufferAttr toAttr(MLIRContext *C, const WorkloadBuffer &B) {
  return BufferAttr::get(C, B.Size, B.Alignment, B.Digest, B.File);
}

static WorkloadBuffer fromAttr(BufferAttr B) {
  return {B.getSize(), B.getAlign(), B.getDigest().str(), B.getFile().str()};
}

WorkloadOp addWorkload(OpBuilder &B, const Workload &W) {
  MLIRContext *C = B.getContext();
  auto Dims = [&](const std::array<uint64_t, 3> &D) {
    return B.getDenseI64ArrayAttr(
        {int64_t(D[0]), int64_t(D[1]), int64_t(D[2])});
  };
  llvm::SmallVector<StringRef> Args;
  std::vector<std::string> Hex;
  Hex.reserve(W.Args.size());
  for (const std::vector<uint8_t> &Arg : W.Args)
    Hex.push_back(llvm::toHex(Arg, /*LowerCase=*/true));
  Args.assign(Hex.begin(), Hex.end());
  ArrayAttr Addresses =
      toArray<AddressAttr>(B, W.Pointers, [&](const WorkloadPointer &P) {
        return AddressAttr::get(C, P.Param, P.Offset, P.Buffer, P.BufferOffset);
      });
  ArrayAttr Buffers =
      toArray<BufferAttr>(B, W.Buffers, [&](const WorkloadBuffer &Each) {
        return toAttr(C, Each);
      });
  ArrayAttr Globals =
      toArray<GlobalAttr>(B, W.Globals, [&](const WorkloadGlobal &G) {
        return GlobalAttr::get(C, G.Symbol, toAttr(C, G.Content));
      });
  return WorkloadOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(W.Name), B.getStringAttr(W.Symbol),
      Dims(W.Shape.Grid), Dims(W.Shape.Block),
      B.getI64IntegerAttr(W.Shape.Shared), B.getStrArrayAttr(Args), Addresses,
      Buffers, W.Globals.empty() ? ArrayAttr() : Globals,
      B.getI64IntegerAttr(W.Count), B.getF64FloatAttr(W.Weight),
      B.getStringAttr(W.WeightBasis));
}

Workload toWorkload(WorkloadOp Op) {
  Workload W;
  W.Name = Op.getSymName().str();
  W.Symbol = Op.getKernel().str();
  for (unsigned I = 0; I < 3; ++I) {
    W.Shape.Grid[I] = Op.getGrid()[I];
    W.Shape.Block[I] = Op.getBlock()[I];
  }
  W.Shape.Shared = Op.getShared();
  for (StringAttr Arg : Op.getArgs().getAsRange<StringAttr>()) {
    std::string Bytes = llvm::fromHex(Arg.getValue());
    W.Args.emplace_back(Bytes.begin(), Bytes.end());
  }
  for (AddressAttr A : Op.getAddresses().getAsRange<AddressAttr>())
    W.Pointers.push_back(
        {A.getParam(), A.getOffset(), A.getBuffer(), A.getAt()});
  for (BufferAttr B : Op.getBuffers().getAsRange<BufferAttr>())
    W.Buffers.push_back(fromAttr(B));
  if (Op.getGlobals())
    for (GlobalAttr G : Op.getGlobals()->getAsRange<GlobalAttr>())
      W.Globals.push_back({G.getSymbol().str(), fromAttr(G.getContent())});
  W.Count = Op.getCount();
  W.Weight = Op.getWeight().convertToDouble();
  W.WeightBasis = Op.getBasis().str();
  return W;
}

VariantOp addVariant(OpBuilder &B, const Variant &V, unsigned NumScalars) {
  MLIRContext *C = B.getContext();
  llvm::SmallVector<Attribute> Parents;
  for (const std::string &P : V.Parents)
    Parents.push_back(FlatSymbolRefAttr::get(C, P));
  auto Optional = [&](StringRef Text) {
    return Text.empty() ? StringAttr() : B.getStringAttr(Text);
  };
  ArrayAttr Evidence =
      toArray<MeasurementAttr>(B, V.Evidence, [&](const Measurement &M) {
        return MeasurementAttr::get(
            C, M.Device, M.Basis, B.getF64FloatAttr(M.Ratio),
            B.getF64FloatAttr(M.Low), B.getF64FloatAttr(M.High), M.Gate,
            M.Checks, BuildAttr::get(C, M.Compiler, M.Arch, M.Digest));
      });
  return VariantOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(V.Name), B.getArrayAttr(Parents),
      toAttr(*C, V.Genes),
      V.Plan ? toAttr(*C, *V.Plan, NumScalars) : PlanAttr(),
      V.When ? toAttr(*C, *V.When, NumScalars) : GuardAttr(),
      Optional(V.Source), Optional(V.Digest),
      V.Fitness ? B.getF64FloatAttr(*V.Fitness) : FloatAttr(),
      Optional(V.Outcome), V.Evidence.empty() ? ArrayAttr() : Evidence);
}

Variant toVariant(VariantOp Op) {
  Variant V;
  V.Name = Op.getSymName().str();
  for (FlatSymbolRefAttr P : Op.getParents().getAsRange<FlatSymbolRefAttr>())
    V.Parents.push_back(P.getValue().str());
  V.Genes = fromAttr(Op.getGenome());
  if (Op.getPlan())
    V.Plan = fromAttr(*Op.getPlan());
  if (Op.getGuard())
    V.When = fromAttr(*Op.getGuard());
  V.Source = Op.getSource().value_or("").str();
  V.Digest = Op.getDigest().value_or("").str();
  if (Op.getFitness())
    V.Fitness = Op.getFitness()->convertToDouble();
  V.Outcome = Op.getOutcome().value_or("").str();
  if (Op.getEvidence())
    for (MeasurementAttr M : Op.getEvidence()->getAsRange<MeasurementAttr>())
      V.Evidence.push_back(
          {M.getDevice().str(), M.getBasis().str(),
           M.getRatio().getValueAsDouble(), M.getLow().getValueAsDouble(),
           M.getHigh().getValueAsDouble(), M.getGate(), M.getChecks(),
           M.getBuild().getCompiler().str(), M.getBuild().getArch().str(),
           M.getBuild().getDigest().str()});
  return V;
}

std::vector<StrategyInfo> strategiesOf(Operation *Library) {
  std::vector<StrategyInfo> Result;
  for (StrategyOp Op : Library->getRegion(0).getOps<StrategyOp>()) {
    StrategyInfo Info;
    Info.Name = Op.getSymName().str();
    for (NamedAttribute P : Op.getParams()) {
      StrategyInfo::Param Param{P.getName().str(), {}, {}};
      for (Attribute Value : cast<ArrayAttr>(P.getValue()))
        if (auto Number = dyn_cast<IntegerAttr>(Value))
          Param.Values.push_back(Number.getInt());
        else
          Param.Words.push_back(cast<StringAttr>(Value).str());
      Info.Params.push_back(std::move(Param));
    }
    for (auto [List, Names] : {std::pair(Op.getRequired(), &Info.Requires),
                               {Op.getConflicts(), &Info.Conflicts}})
      for (FlatSymbolRefAttr Name : List.getAsRange<FlatSymbolRefAttr>())
        Names->push_back(Name.getValue().str());
    Result.push_back(std::move(Info));
  }
  return Result;
}

void loadDialect(MLIRContext &C) { C.getOrLoadDialect<CupilotDialect>(); }

OwningOpRef<ModuleOp> createModule(MLIRContext &C) {
  loadDialect(C);
  Builder B(&C);
  OwningOpRef<ModuleOp> M = ModuleOp::create(B.getUnknownLoc());
  (*M)->setAttr("cupilot.format", B.getI64IntegerAttr(ModuleFormat));
  return M;
}

std::string printModule(ModuleOp M) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  M.print(OS);
  OS << "\n";
  return Text;
}

/// The format that \p Text says it has; 0 where it says nothing. Looked for in
/// the text, so that a newer module is named as such even when its operations
/// do not parse here.
static int64_t formatOf(StringRef Text) {
  static constexpr StringRef Key = "cupilot.format = ";
  StringRef Header = Text.take_until([](char C) { return C == '}'; });
  size_t At = Header.find(Key);
  int64_t Format = 0;
  if (At != StringRef::npos)
    Header.drop_front(At + Key.size()).consumeInteger(10, Format);
  return Format;
}

/// True for text that MLIR's parser, which goes down the stack for each bracket
/// and each operator of an affine expression, could not end well.
static bool nestsTooDeep(StringRef Text) {
  // Longer expressions than any launch needs; an operator takes two characters.
  static constexpr size_t MostAffine = 2 * MaxNesting;
  for (size_t At = Text.find("affine_"); At != StringRef::npos;
       At = Text.find("affine_", At + 1)) {
    StringRef Line =
        Text.substr(At).take_until([](char C) { return C == '>' || C == '"'; });
    // "->" and ">=" do not end it.
    for (size_t End = At + Line.size();
         End < Text.size() && Text[End] == '>' &&
         (Text[End - 1] == '-' || Text.substr(End).starts_with(">="));) {
      End += 1 + Text.substr(End + 1)
                     .take_until([](char C) { return C == '>' || C == '"'; })
                     .size();
      Line = Text.slice(At, End);
    }
    if (Line.size() > MostAffine)
      return true;
  }
  return nestingDepth(Text, /*Angles=*/true) > MaxNesting / 4;
}

/// Runs \p Work and returns what it diagnosed in \p C, a line each.
static std::string diagnosticsOf(MLIRContext &C,
                                 llvm::function_ref<void()> Work) {
  std::string Messages;
  ScopedDiagnosticHandler Handler(&C, [&](Diagnostic &D) {
    llvm::raw_string_ostream OS(Messages);
    OS << "\n  " << D.getLocation() << ": " << D.str();
    return success();
  });
  Work();
  return Messages;
}

Expected<OwningOpRef<ModuleOp>> parseModule(MLIRContext &C, StringRef Text,
                                            StringRef Name) {
  loadDialect(C);
  if (int64_t Format = formatOf(Text); Format > ModuleFormat)
    return usageError("'" + Name + "' has format " + llvm::Twine(Format) +
                          "; this cupilot knows formats up to " +
                          llvm::Twine(ModuleFormat),
                      "use the cupilot that wrote it");
  if (nestsTooDeep(Text))
    return usageError("'" + Name +
                          "' is no valid cupilot module: it nests too "
                          "deep",
                      "was it edited by hand?");
  OwningOpRef<ModuleOp> M;
  // MLIR's lexer looks for the zero byte behind the text.
  std::string Ended = Text.str();
  std::string Messages = diagnosticsOf(
      C, [&] { M = parseSourceString<ModuleOp>(Ended, &C, Name); });
  if (!M)
    return usageError("'" + Name + "' is no valid cupilot module:" + Messages,
                      "was it edited by hand?");
  return M;
}

Expected<OwningOpRef<ModuleOp>> loadModule(MLIRContext &C, StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  return parseModule(C, *Text, Path);
}

Expected<std::vector<Kernel>> loadKernels(StringRef Path) {
  MLIRContext C;
  Expected<OwningOpRef<ModuleOp>> M = loadModule(C, Path);
  if (!M)
    return M.takeError();
  std::vector<Kernel> All;
  for (KernelOp Op : (*M)->getOps<KernelOp>()) {
    Kernel K = toKernel(Op);
    StringRef Source = Op.getSource().value_or("");
    llvm::SmallString<256> File(Source);
    if (!File.empty()) {
      if (llvm::sys::path::is_relative(File)) {
        File = llvm::sys::path::parent_path(Path);
        llvm::sys::path::append(File, Source);
      }
      Expected<std::string> Slice = readFile(File);
      if (!Slice)
        return Slice.takeError();
      K.Slice = std::move(*Slice);
    } else if (K.Refusal.empty()) {
      K.Refusal = "the module names no slice for it; cupilot extract -o writes "
                  "both";
    }
    All.push_back(std::move(K));
  }
  if (All.empty())
    return usageError("'" + Path + "' holds no kernels",
                      "cupilot extract F.cu -o K.mlir makes such a file");
  return All;
}

Expected<std::vector<Workload>> loadWorkloads(StringRef Path) {
  MLIRContext C;
  Expected<OwningOpRef<ModuleOp>> M = loadModule(C, Path);
  if (!M)
    return M.takeError();
  std::vector<Workload> All;
  (*M)->walk([&](WorkloadOp Op) { All.push_back(toWorkload(Op)); });
  return All;
}

Expected<OwningOpRef<ModuleOp>> loadLibrary(MLIRContext &C, StringRef Folder) {
  std::set<std::string> Files;
  std::error_code EC;
  for (llvm::sys::fs::directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC))
    if (llvm::sys::path::extension(It->path()) == ".mlir")
      Files.insert(It->path());
  if (EC)
    return usageError("cannot read the strategy library '" + Folder +
                          "': " + EC.message(),
                      "name the folder of the strategies with --strategies");
  if (Files.empty())
    return usageError("there is no strategy library in '" + Folder + "'",
                      "name the folder of the strategies with --strategies");
  OwningOpRef<ModuleOp> All = createModule(C);
  for (const std::string &File : Files) {
    Expected<OwningOpRef<ModuleOp>> M = loadModule(C, File);
    if (!M)
      return M.takeError();
    for (Operation &Op : llvm::make_early_inc_range(*(*M)->getBody())) {
      Op.remove();
      All->push_back(&Op);
    }
  }
  bool Valid = true;
  std::string Messages =
      diagnosticsOf(C, [&] { Valid = succeeded(mlir::verify(*All)); });
  if (!Valid)
    return usageError("the strategy library in '" + Folder +
                      "' does not verify:" + Messages);
  return All;
}

} // namespace cupilot
