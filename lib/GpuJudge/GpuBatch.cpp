//===- GpuBatch.cpp - Workloads and variants as batches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/GpuBatch.h"
#include "cupilot/Evaluation/GateCase.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Support/Assemble.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

Expected<GpuImage> assemble(StringRef Ptx, StringRef Arch,
                            ArrayRef<std::string> Flags) {
  Expected<std::optional<AssembledPtx>> Made = assemblePtx(Ptx, Arch, Flags);
  if (!Made)
    return Made.takeError();
  if (!*Made)
    return GpuImage{Ptx.str(), false};
  return GpuImage{std::move((*Made)->Cubin), true};
}

std::string GpuBatch::addImage(GpuImage Image) {
  std::string Digest = digest(Image.Bytes);
  B.Images[Digest] = Image.IsCubin ? "cubin" : "ptx";
  ImageBytes[Digest] = std::move(Image.Bytes);
  return Digest;
}

static runner::Elements elementsOf(const Layout &L) {
  runner::Elements E;
  E.Stride = L.Stride;
  for (const LayoutField &F : L.Fields)
    if (std::optional<runner::NumberKind> Kind =
            runner::numberKindOf(wordOf(F.Kind)))
      E.Fields.push_back({F.Offset, *Kind});
  if (E.Fields.size() != L.Fields.size() || E.Fields.empty())
    return {}; // Bytes whose meaning nobody knows.
  return E;
}

/// A described output holds nothing before the launch.
static bool isOutput(const WorkloadBuffer &B) {
  return StringRef(B.Generator).split(' ').second.starts_with("output");
}

Expected<runner::Buffer> GpuBatch::buffer(const WorkloadBuffer &From,
                                          const Layout &Holds,
                                          runner::Role Use) {
  runner::Buffer To;
  To.Size = From.Size;
  To.Alignment = From.Alignment;
  To.Use = Use;
  To.Holds = elementsOf(Holds);
  if (isOutput(From)) {
    To.Use = runner::Role::Out;
    return To;
  }
  // What was recorded is better than what is like it.
  bool Recorded =
      !From.File.empty() && sys::fs::exists(DataFolder + "/" + From.File);
  if (!From.Generator.empty() && !Recorded) {
    To.Before.Generator = From.Generator;
    return To;
  }
  if (DataBytes.count(From.Digest)) {
    To.Before.Data = From.Digest;
    B.Data[From.Digest] = From.Size;
    return To;
  }
  std::string Path = DataFolder + "/" + From.File;
  if (!sys::fs::exists(Path))
    return usageError("'" + Path + "' is missing", "capture the program again");
  To.Before.Data = From.Digest;
  B.Data[From.Digest] = From.Size;
  DataFiles[From.Digest] = std::move(Path);
  return To;
}

/// What buffer \p I of \p W holds, by the first parameter that sees it from an
/// element on; nothing where none does.
Layout GpuBatch::heldIn(const Workload &W, size_t I) const {
  for (const WorkloadPointer &P : W.Pointers)
    if (P.Buffer == I && P.Param < Types.Pointees.size() && P.Offset == 0) {
      const Layout &L = Types.Pointees[P.Param];
      if (!L.Fields.empty() && P.BufferOffset % L.Stride == 0)
        return L;
    }
  return {};
}

Expected<unsigned> GpuBatch::addCase(const Workload &W) {
  runner::Case C;
  C.Name = W.Name;
  for (size_t I = 0; I < W.Buffers.size(); ++I) {
    bool MayBeWritten = false;
    for (const WorkloadPointer &P : W.Pointers) {
      if (P.Buffer != I)
        continue;
      bool Known = P.Param < K.Params.size() && K.Params[P.Param].IsPointer;
      MayBeWritten |= !Known || !K.Params[P.Param].PointeeConst;
    }
    Expected<runner::Buffer> New =
        buffer(W.Buffers[I], heldIn(W, I),
               MayBeWritten ? runner::Role::InOut : runner::Role::In);
    if (!New)
      return New.takeError();
    C.Buffers.push_back(std::move(*New));
  }
  for (const WorkloadGlobal &G : W.Globals) {
    auto It = Types.Globals.find(G.Symbol);
    Expected<runner::Buffer> New =
        buffer(G.Content, It == Types.Globals.end() ? Layout() : It->second,
               runner::Role::InOut);
    if (!New)
      return New.takeError();
    C.Variables.push_back({G.Symbol, std::move(*New)});
  }
  B.Cases.push_back(std::move(C));
  return static_cast<unsigned>(B.Cases.size() - 1);
}

Expected<std::optional<unsigned>> GpuBatch::addScaledCase(const Workload &W,
                                                          double Factor) {
  const GateSetup Setup{&K, {}, {W}, DataFolder, B.Arch};
  Expected<GateCase> C = capturedCase(Setup, Types, 0);
  if (!C)
    return C.takeError();
  bool Any = false;
  Workload Scaled = W;
  for (size_t I = 0; I < W.Buffers.size(); ++I) {
    if (!C->Layouts[I].hasFloats() || isOutput(W.Buffers[I]))
      continue;
    transformFloats(C->Buffers[I], C->Layouts[I],
                    [&](uint64_t, double Value) { return Value * Factor; });
    Any = true;
    std::string Bytes(C->Buffers[I].begin(), C->Buffers[I].end());
    WorkloadBuffer &To = Scaled.Buffers[I];
    To.Generator.clear();
    To.Digest = digest(Bytes);
    DataBytes[To.Digest] = std::move(Bytes);
  }
  if (!Any)
    return std::nullopt;
  Scaled.Name += " x" + formatv("{0}", Factor).str();
  Expected<unsigned> Index = addCase(Scaled);
  if (!Index)
    return Index.takeError();
  return *Index;
}

StringRef otherKind(const Workload &W) {
  static constexpr StringLiteral Heavy = "heavy-tailed";
  return any_of(W.Buffers,
                [&](const WorkloadBuffer &B) {
                  return is_contained(split(B.Generator, ' '), Heavy);
                })
             ? StringRef("normal")
             : StringRef(Heavy);
}

Expected<std::optional<unsigned>>
GpuBatch::addOtherValuesCase(const Workload &W) {
  bool Any = false;
  Workload Other = W;
  for (size_t I = 0; I < W.Buffers.size(); ++I) {
    // Numbers of one type; what is made of several keeps what it holds.
    const Layout L = heldIn(W, I);
    if (!L.hasFloats() || L.Fields.size() != 1 || isOutput(W.Buffers[I]))
      continue;
    WorkloadBuffer &To = Other.Buffers[I];
    To.Digest.clear();
    To.File.clear();
    To.Generator = formatv("{0} {1} seed={2}", wordOf(L.Fields.front().Kind),
                           otherKind(W), I + 1)
                       .str();
    Any = true;
  }
  if (!Any)
    return std::nullopt;
  Other.Name += " other values";
  Expected<unsigned> Index = addCase(Other);
  if (!Index)
    return Index.takeError();
  return *Index;
}

static runner::KernelLaunch launchOf(const Workload &W, StringRef Symbol,
                                     const LaunchShape &Shape,
                                     StringRef Image) {
  runner::KernelLaunch L;
  L.Image = Image.str();
  L.Symbol = Symbol.str();
  L.Grid = Shape.Grid;
  L.Block = Shape.Block;
  L.Shared = Shape.Shared;
  L.Cooperative = Shape.Cooperative;
  if (Shape.Cluster != std::array<uint64_t, 3>{1, 1, 1})
    L.Cluster = Shape.Cluster;
  L.Args = W.Args;
  for (const WorkloadPointer &P : W.Pointers)
    L.Patches.push_back(
        {P.Param, P.Offset, /*Scratch=*/false, P.Buffer, P.BufferOffset});
  return L;
}

runner::Program GpuBatch::original(const Workload &W, StringRef Image) const {
  return {{}, {launchOf(W, K.Symbol, W.Shape, Image)}};
}

std::vector<std::vector<uint8_t>> recordedArguments(const Workload &W) {
  std::vector<std::vector<uint8_t>> Args = W.Args;
  for (const WorkloadPointer &P : W.Pointers) {
    uint64_t Alignment = W.Buffers[P.Buffer].Alignment;
    uint64_t Target = (uint64_t(P.Buffer + 1) << 40) +
                      (Alignment < 256 ? Alignment : 0) + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, sizeof(Target));
  }
  return Args;
}

/// Parameter \p Arg of \p L as a tensor map. False: no map could be made.
static bool addMap(runner::KernelLaunch &L, const Workload &W,
                   const TensorMapPlan &Map, const Bindings &Values,
                   unsigned Arg) {
  std::optional<TensorMapValues> Numbers = tensorValues(Map, Values);
  auto Base = find_if(W.Pointers, [&](const WorkloadPointer &P) {
    return P.Param == Map.Base.Param && P.Offset == Map.Base.Offset;
  });
  if (!Numbers || Base == W.Pointers.end())
    return false;
  runner::MapArgument M;
  M.Arg = Arg;
  M.Buffer = Base->Buffer;
  M.At = Base->BufferOffset;
  M.Type = Map.Type;
  M.Swizzle = Map.Swizzle;
  M.Promotion = Map.Promotion;
  M.FillNan = Map.FillNan;
  M.Extents = Numbers->Extents;
  M.Strides = Numbers->Strides;
  M.Box.assign(Map.Box.begin(), Map.Box.end());
  for (unsigned I = 0; I < Map.rank(); ++I)
    M.Steps.push_back(Map.step(I));
  L.Maps.push_back(std::move(M));
  L.Args.emplace_back(128);
  return true;
}

Expected<std::optional<runner::Program>>
GpuBatch::variant(const Workload &W, const LaunchPlan &Plan, const Guard &When,
                  StringRef Image) const {
  std::vector<std::vector<uint8_t>> Args = recordedArguments(W);
  Expected<Bindings> Values = bindLaunch(W.Shape, K.Scalars, Args);
  if (!Values)
    return Values.takeError();
  if (!admits(When, *Values, Args))
    return std::nullopt;
  Error Illegal = findingError("the guard admits " + W.Name +
                               ", for which the plan is no legal launch");
  runner::Program P;
  for (const Expr &Size : Plan.Scratch) {
    std::optional<uint64_t> Bytes = scratchBytes(Size, *Values);
    if (!Bytes)
      return std::move(Illegal);
    P.Scratch.push_back(*Bytes);
  }
  for (const Launch &Each : Plan.Launches) {
    std::optional<LaunchShape> Shape = planShape(Each, *Values);
    if (!Shape)
      return std::move(Illegal);
    runner::KernelLaunch L = launchOf(W, Each.Symbol, *Shape, Image);
    for (unsigned I = 0; I < P.Scratch.size(); ++I) {
      L.Patches.push_back({static_cast<unsigned>(L.Args.size()), 0,
                           /*Scratch=*/true, I, 0});
      L.Args.emplace_back(8);
    }
    for (const TensorMapPlan &Map : Plan.TensorMaps)
      if (!addMap(L, W, Map, *Values, static_cast<unsigned>(L.Args.size())))
        return std::move(Illegal);
    P.Launches.push_back(std::move(L));
  }
  consumeError(std::move(Illegal));
  return P;
}

/// The value of the least exact format that a buffer holds; 0 without one.
static double ofLeastExact(const KernelLayout &Types, double BFloat,
                           double Half, double Float, double Double) {
  double Value = 0;
  for (const Layout &L : Types.Pointees)
    for (const LayoutField &F : L.Fields)
      if (isFloating(F.Kind))
        Value = std::max(Value, F.Kind == ElementKind::BFloat  ? BFloat
                                : F.Kind == ElementKind::Half  ? Half
                                : F.Kind == ElementKind::Float ? Float
                                                               : Double);
  return Value;
}

runner::Tolerance GpuBatch::tolerance() const {
  switch (K.Contract.K) {
  case PrecisionContract::Kind::Exact:
    return {};
  case PrecisionContract::Kind::Relaxed:
    // What the original's own error is, is not known here: hence the addend.
    return {0, K.Contract.RelativeTolerance, 1,
            K.Contract.NormTolerance > 0
                ? K.Contract.NormTolerance +
                      ofLeastExact(Types, 0x1p-8, 0x1p-11, 0x1p-16, 0x1p-45)
                : 0};
  case PrecisionContract::Kind::Same:
    break;
  }
  // The gate compared with float64 on the cpu device. Here the original is the
  // measure, whose own error counts too; what races and the like do is larger.
  // A sum of terms of both signs that ends near zero is off by what its terms
  // were rounded to, not by a share of itself: hence the part of the rms.
  return {0, ofLeastExact(Types, 0x1p-4, 0x1p-7, 0x1p-14, 0x1p-42), 0x1p-4};
}

void GpuBatch::finish() {
  DigestBuilder All;
  All.add(B.Arch);
  for (const runner::Request &R : B.Requests)
    All.add(R.Id).add(runner::requestDigest(B, R));
  B.Id = "batch-" + shortDigest(All.str());
}

static Error writeFiles(StringRef Folder, const runner::Batch &B,
                        const std::map<std::string, std::string> &Images,
                        const std::map<std::string, std::string> &Data,
                        const std::map<std::string, std::string> &Made) {
  for (const auto &[Digest, Bytes] : Made)
    if (Error E = writeFileAtomic(
            (Folder + "/data/" + dataFileName(Digest, 64)).str(), Bytes))
      return E;
  for (const auto &[Digest, Bytes] : Images)
    if (Error E =
            writeFileAtomic((Folder + "/images/" + shortDigest(Digest, 64) +
                             "." + B.Images.at(Digest))
                                .str(),
                            Bytes))
      return E;
  for (const auto &[Digest, Path] : Data) {
    Expected<std::string> Bytes = readFile(Path);
    if (!Bytes)
      return Bytes.takeError();
    if (digest(*Bytes) != Digest)
      return usageError("'" + Path + "' has changed since it was captured",
                        "capture the program again");
    if (Error E = writeFileAtomic(
            (Folder + "/data/" + dataFileName(Digest, 64)).str(), *Bytes))
      return E;
  }
  return ensureDirectory((Folder + "/results").str());
}

/// A batch that lies in \p Folder was written last, and its name says what is
/// in it; but somebody may have touched it since.
static Error checkWritten(StringRef Folder, const runner::Batch &B) {
  std::string Why;
  try {
    const runner::Batch There = runner::readBatch(Folder.str());
    if (There.Id == B.Id && There.Requests.size() == B.Requests.size())
      return Error::success();
    Why = "it is another batch";
  } catch (const Failure &F) {
    Why = (Twine(F.what()) + " [" + F.word() + "]").str();
  }
  return resourceError(
      "the batch in '" + Folder + "' was damaged: " + Why,
      "delete its batch.json and run the same command again, with --resume for "
      "a search: the batch is written again, and existing results are kept");
}

Error GpuBatch::write(StringRef Folder) const {
  if (sys::fs::exists(Folder + "/batch.json"))
    return checkWritten(Folder, B);
  if (Error E = writeFiles(Folder, B, ImageBytes, DataFiles, DataBytes))
    return E;
  try {
    runner::writeBatch(Folder.str(), B);
  } catch (const Failure &F) {
    return F.kind() == FailureKind::Disk ? resourceError(F.what())
                                         : usageError(F.what());
  }
  return Error::success();
}

} // namespace cupilot
