//===- Conversion.cpp - Between plain data and the dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using llvm::StringRef;

namespace cupilot {

template <typename AttrT, typename ItemT, typename MakeT>
static ArrayAttr toArray(Builder &B, const std::vector<ItemT> &Items,
                         MakeT Make) {
  llvm::SmallVector<Attribute> Attrs;
  for (const ItemT &Item : Items)
    Attrs.push_back(AttrT(Make(Item)));
  return B.getArrayAttr(Attrs);
}

static BasisKind toKind(Basis B) { return static_cast<BasisKind>(B); }
static Basis fromKind(BasisKind K) { return static_cast<Basis>(K); }
static ArrayAttr toStrings(Builder &B, const std::vector<std::string> &Texts) {
  return B.getStrArrayAttr(
      llvm::SmallVector<StringRef>(Texts.begin(), Texts.end()));
}

static std::vector<std::string> fromStrings(ArrayAttr Texts) {
  std::vector<std::string> All;
  if (Texts)
    for (StringRef Text : Texts.getAsValueRange<StringAttr>())
      All.push_back(Text.str());
  return All;
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
  ArrayAttr Ranges;
  if (!K.Contract.Ranges.empty())
    Ranges = toArray<MagnitudesAttr>(
        B, K.Contract.Ranges, [&](const MagnitudeRange &R) {
          return MagnitudesAttr::get(C, B.getF64FloatAttr(R.Low),
                                     B.getF64FloatAttr(R.High), R.Buffer);
        });
  auto Op = KernelOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(K.Name), B.getStringAttr(K.Symbol),
      B.getStringAttr(K.Digest), Optional(Source),
      Optional(K.Refusal.value_or("")), Optional(At), Params, Scalars, Pointers,
      ContractKindAttr::get(
          C, static_cast<ContractKind>(static_cast<int>(K.Contract.K))),
      Relaxed ? B.getF64FloatAttr(K.Contract.RelativeTolerance) : FloatAttr(),
      Relaxed && K.Contract.NormTolerance > 0
          ? B.getF64FloatAttr(K.Contract.NormTolerance)
          : FloatAttr(),
      Ranges, K.Contract.Biased ? B.getUnitAttr() : UnitAttr(),
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
  K.Refusal = Op.getRefused();
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
  if (Op.getNorm())
    K.Contract.NormTolerance = Op.getNorm()->convertToDouble();
  if (Op.getRanges())
    for (MagnitudesAttr R : Op.getRanges()->getAsRange<MagnitudesAttr>())
      K.Contract.Ranges.push_back({R.getBuffer().str(),
                                   R.getLow().getValueAsDouble(),
                                   R.getHigh().getValueAsDouble()});
  K.Contract.Biased = Op.getBiased();
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
  return BufferAttr::get(C, B.Size, B.Alignment, B.Digest, B.File, B.Generator);
}

static WorkloadBuffer fromAttr(BufferAttr B) {
  return {B.getSize(), B.getAlign(), B.getDigest().str(), B.getFile().str(),
          B.getGenerator().str()};
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
  bool Clustered = W.Shape.Cluster != std::array<uint64_t, 3>{1, 1, 1};
  llvm::SmallVector<StringRef> After(W.After.begin(), W.After.end());
  return WorkloadOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(W.Name), B.getStringAttr(W.Symbol),
      Dims(W.Shape.Grid), Dims(W.Shape.Block),
      Clustered ? Dims(W.Shape.Cluster) : DenseI64ArrayAttr(),
      B.getI64IntegerAttr(W.Shape.Shared),
      W.Shape.Cooperative ? B.getUnitAttr() : UnitAttr(),
      B.getStrArrayAttr(Args), Addresses, Buffers,
      W.After.empty() ? ArrayAttr() : B.getStrArrayAttr(After),
      W.Globals.empty() ? ArrayAttr() : Globals, B.getI64IntegerAttr(W.Count),
      B.getF64FloatAttr(W.Weight), BasisKindAttr::get(C, toKind(W.WeightBasis)),
      W.Only ? AudienceKindAttr::get(C, *W.Only == Audience::Gate
                                            ? AudienceKind::Gate
                                            : AudienceKind::Gpu)
             : AudienceKindAttr());
}

Workload toWorkload(WorkloadOp Op) {
  Workload W;
  W.Name = Op.getSymName().str();
  W.Symbol = Op.getKernel().str();
  for (unsigned I = 0; I < 3; ++I) {
    W.Shape.Grid[I] = Op.getGrid()[I];
    W.Shape.Block[I] = Op.getBlock()[I];
    if (Op.getCluster())
      W.Shape.Cluster[I] = (*Op.getCluster())[I];
  }
  W.Shape.Shared = Op.getShared();
  W.Shape.Cooperative = Op.getCooperative();
  for (StringAttr Arg : Op.getArgs().getAsRange<StringAttr>()) {
    std::string Bytes = llvm::fromHex(Arg.getValue());
    W.Args.emplace_back(Bytes.begin(), Bytes.end());
  }
  for (AddressAttr A : Op.getAddresses().getAsRange<AddressAttr>())
    W.Pointers.push_back(
        {A.getParam(), A.getOffset(), A.getBuffer(), A.getAt()});
  for (BufferAttr B : Op.getBuffers().getAsRange<BufferAttr>())
    W.Buffers.push_back(fromAttr(B));
  if (Op.getAfter())
    for (StringAttr Digest : Op.getAfter()->getAsRange<StringAttr>())
      W.After.push_back(Digest.getValue().str());
  if (Op.getGlobals())
    for (GlobalAttr G : Op.getGlobals()->getAsRange<GlobalAttr>())
      W.Globals.push_back({G.getSymbol().str(), fromAttr(G.getContent())});
  W.Count = Op.getCount();
  W.Weight = Op.getWeight().convertToDouble();
  W.WeightBasis = fromKind(Op.getBasis());
  if (Op.getOnly())
    W.Only =
        *Op.getOnly() == AudienceKind::Gate ? Audience::Gate : Audience::Gpu;
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
            C, M.Device, toKind(M.Basis), B.getF64FloatAttr(M.Ratio),
            B.getF64FloatAttr(M.Low), B.getF64FloatAttr(M.High), M.Gate,
            M.Checks, BuildAttr::get(C, M.Compiler, M.Arch, M.Digest),
            M.Original, M.Contract,
            M.Cases.empty() ? CasesAttr()
                            : CasesAttr::get(C, toStrings(B, M.Cases)),
            M.Others ? OtherValuesAttr::get(C, M.Others->Kind,
                                            B.getF64FloatAttr(M.Others->Ratio),
                                            B.getF64FloatAttr(M.Others->Low),
                                            B.getF64FloatAttr(M.Others->High))
                     : OtherValuesAttr());
      });
  ArrayAttr Prompts = V.Prompts.empty() ? ArrayAttr() : toStrings(B, V.Prompts);
  bool HasAuthor = !V.By.Provider.empty() || !V.By.Model.empty() || Prompts;
  return VariantOp::create(
      B, B.getUnknownLoc(), B.getStringAttr(V.Name), B.getArrayAttr(Parents),
      toAttr(*C, V.Genes),
      V.Plan ? toAttr(*C, *V.Plan, NumScalars) : PlanAttr(),
      V.When ? toAttr(*C, *V.When, NumScalars) : GuardAttr(),
      V.Where ? toAttr(*C, *V.Where, NumScalars) : DomainAttr(),
      Optional(V.Source), Optional(V.Digest),
      V.Fitness ? B.getF64FloatAttr(*V.Fitness) : FloatAttr(),
      V.Outcome ? B.getStringAttr(wordOf(*V.Outcome)) : StringAttr(),
      V.Evidence.empty() ? ArrayAttr() : Evidence,
      HasAuthor
          ? AuthorAttr::get(C, V.By.Provider, V.By.Model, V.By.Effort, Prompts)
          : AuthorAttr(),
      ArrayAttr());
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
  if (Op.getDomain())
    V.Where = fromAttr(*Op.getDomain());
  V.Source = Op.getSource().value_or("").str();
  V.Digest = Op.getDigest().value_or("").str();
  if (Op.getFitness())
    V.Fitness = Op.getFitness()->convertToDouble();
  V.Outcome = candidateOutcomeOf(Op.getOutcome().value_or(""));
  if (Op.getEvidence())
    for (MeasurementAttr M : Op.getEvidence()->getAsRange<MeasurementAttr>()) {
      V.Evidence.push_back(
          {M.getDevice().str(), fromKind(M.getBasis()),
           M.getRatio().getValueAsDouble(), M.getLow().getValueAsDouble(),
           M.getHigh().getValueAsDouble(), M.getGate(), M.getChecks(),
           M.getBuild().getCompiler().str(), M.getBuild().getArch().str(),
           M.getBuild().getDigest().str(), M.getOriginal().str(),
           M.getContract().str(),
           fromStrings(M.getDomain() ? M.getDomain().getCases()
                                     : ArrayAttr())});
      if (OtherValuesAttr O = M.getOthers())
        V.Evidence.back().Others = {
            O.getKind().str(), O.getRatio().getValueAsDouble(),
            O.getLow().getValueAsDouble(), O.getHigh().getValueAsDouble()};
    }
  V.Prompts = fromStrings(Op.getPrompts().value_or(ArrayAttr()));
  if (AuthorAttr By = Op.getAuthor().value_or(AuthorAttr())) {
    V.By = {By.getProvider().str(), By.getModel().str(), By.getEffort().str()};
    V.Prompts = fromStrings(By.getPrompts());
  }
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

} // namespace cupilot
