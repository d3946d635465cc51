//===- Cases.cpp - The launches that a variant is judged on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace llvm;

namespace cupilot {

static Expected<Bytes> loadContent(const WorkloadBuffer &B, StringRef Folder) {
  if (!B.Generator.empty())
    return generateContent(B.Generator, B.Size);
  std::string Path = (Folder + "/" + B.File).str();
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  if (Text->size() != B.Size || digest(*Text) != B.Digest)
    return usageError("'" + Path + "' is not the data that was captured",
                      "capture the program again");
  return Bytes(Text->begin(), Text->end());
}

static ElementKind kindOf(StringRef Pointee) {
  if (Pointee == "float")
    return ElementKind::Float;
  if (Pointee == "double")
    return ElementKind::Double;
  for (StringRef Vector : {"float2", "float3", "float4"})
    if (Pointee == Vector)
      return ElementKind::Float;
  return ElementKind::Bytes;
}

static Expected<GateCase> captured(const GateSetup &Setup, size_t Index) {
  const Workload &W = Setup.Workloads[Index];
  GateCase C;
  C.Name = W.Name;
  C.Workload = Index;
  C.Shape = W.Shape;
  C.Args = W.Args;
  C.Pointers = W.Pointers;
  for (const WorkloadBuffer &B : W.Buffers) {
    Expected<Bytes> Content = loadContent(B, Setup.DataFolder);
    if (!Content)
      return Content.takeError();
    C.Buffers.push_back(std::move(*Content));
  }
  C.Kinds.assign(C.Buffers.size(), ElementKind::Bytes);
  for (const WorkloadPointer &P : W.Pointers)
    if (P.Param < Setup.Original->Params.size())
      if (ElementKind K = kindOf(Setup.Original->Params[P.Param].Pointee);
          K != ElementKind::Bytes)
        C.Kinds[P.Buffer] = K;
  for (const WorkloadGlobal &G : W.Globals) {
    Expected<Bytes> Content = loadContent(G.Content, Setup.DataFolder);
    if (!Content)
      return Content.takeError();
    C.Globals.push_back({G.Symbol, std::move(*Content)});
  }
  return C;
}

template <typename T, typename FnT>
static void transform(Bytes &Content, FnT Change) {
  for (size_t At = 0; At + sizeof(T) <= Content.size(); At += sizeof(T)) {
    T Value;
    std::memcpy(&Value, Content.data() + At, sizeof(T));
    Value = static_cast<T>(Change(Value));
    std::memcpy(Content.data() + At, &Value, sizeof(T));
  }
}

template <typename FnT>
static GateCase rescaled(GateCase C, const Twine &Name, FnT Change) {
  C.Name = (C.Name + " " + Name).str();
  C.Doubtful = true;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    if (C.Kinds[I] == ElementKind::Float)
      transform<float>(C.Buffers[I], Change);
    else if (C.Kinds[I] == ElementKind::Double)
      transform<double>(C.Buffers[I], Change);
  }
  return C;
}

static uint64_t primeBelow(uint64_t N) {
  for (uint64_t P = N - 1; P > 2; --P) {
    bool Prime = P % 2 != 0;
    for (uint64_t D = 3; Prime && D * D <= P; D += 2)
      Prime = P % D != 0;
    if (Prime)
      return P;
  }
  return 1;
}

static void addScalarCases(const GateSetup &Setup, const GateCase &Base,
                           std::vector<GateCase> &Cases) {
  for (const ScalarRef &S : Setup.Original->Scalars) {
    uint64_t Value = 0;
    std::memcpy(&Value, Base.Args[S.Param].data() + S.Offset, S.Bits / 8);
    if (Value < 4 || Value >> 62)
      continue;
    // Downwards only: the buffers have the captured sizes.
    for (uint64_t New : {Value - 1, primeBelow(Value), Value / 2 + 1}) {
      GateCase C = Base;
      C.Name += " " + Setup.Original->Params[S.Param].Name + "=" +
                std::to_string(New);
      C.Doubtful = true;
      std::memcpy(C.Args[S.Param].data() + S.Offset, &New, S.Bits / 8);
      Cases.push_back(std::move(C));
    }
  }
}

template <typename T>
static void addFactorCases(const KernelParam &P, size_t Param,
                           const GateCase &Base, std::vector<GateCase> &Cases) {
  for (double Factor : {3.0, 0.01, -1.0}) {
    GateCase C = Base;
    raw_string_ostream(C.Name) << " " << P.Name << format(" x%g", Factor);
    C.Doubtful = true;
    transform<T>(C.Args[Param],
                 [&](double V) { return V == 0 ? Factor : V * Factor; });
    Cases.push_back(std::move(C));
  }
}

/// Factors, learning rates: a variant may have the captured one built in.
static void addFloatCases(const GateSetup &Setup, const GateCase &Base,
                          std::vector<GateCase> &Cases) {
  const std::vector<KernelParam> &Params = Setup.Original->Params;
  for (size_t I = 0; I < Params.size() && I < Base.Args.size(); ++I) {
    StringRef Type = Params[I].Type;
    Type.consume_front("const ");
    if (Type == "float")
      addFactorCases<float>(Params[I], I, Base, Cases);
    else if (Type == "double")
      addFactorCases<double>(Params[I], I, Base, Cases);
  }
}

static void addLaunchCases(const GateCase &Base, std::vector<GateCase> &Cases) {
  auto Add = [&](const char *Name, LaunchShape Shape) {
    GateCase C = Base;
    C.Name += std::string(" ") + Name;
    C.Shape = Shape;
    C.Doubtful = true;
    Cases.push_back(std::move(C));
  };
  LaunchShape S = Base.Shape;
  ++S.Grid[0];
  Add("grid+1", S);
  if (Base.Shape.Grid[0] > 1) {
    S = Base.Shape;
    --S.Grid[0];
    Add("grid-1", S);
  }
  if (Base.Shape.Block[0] % 64 == 0) {
    S = Base.Shape;
    S.Block[0] /= 2;
    S.Grid[0] *= 2;
    Add("block/2", S);
  }
}

/// One buffer for two pointers: in == out.
static void addAliasCases(const GateSetup &Setup, const GateCase &Base,
                          std::vector<GateCase> &Cases) {
  const std::vector<KernelParam> &Params = Setup.Original->Params;
  for (const WorkloadPointer &In : Base.Pointers)
    for (const WorkloadPointer &Out : Base.Pointers) {
      if (In.Param >= Params.size() || Out.Param >= Params.size() ||
          In.Param == Out.Param)
        continue;
      const KernelParam &A = Params[In.Param], &B = Params[Out.Param];
      if (!A.IsPointer || !B.IsPointer || !A.PointeeConst || B.PointeeConst ||
          A.Restrict || B.Restrict || A.PointeeSize != B.PointeeSize ||
          Base.Buffers[In.Buffer].size() < Base.Buffers[Out.Buffer].size())
        continue;
      GateCase C = Base;
      C.Name += " " + A.Name + "==" + B.Name;
      C.Doubtful = true;
      for (WorkloadPointer &P : C.Pointers)
        if (P.Param == Out.Param) {
          P.Buffer = In.Buffer;
          P.BufferOffset = In.BufferOffset;
        }
      Cases.push_back(std::move(C));
    }
}

Expected<std::vector<GateCase>> buildCases(const GateSetup &Setup) {
  std::vector<GateCase> Cases;
  for (size_t I = 0; I < Setup.Workloads.size(); ++I) {
    Expected<GateCase> Base = captured(Setup, I);
    if (!Base)
      return Base.takeError();
    Cases.push_back(*Base);
    // The variations of one workload say what those of its likes would say.
    if (I > 1)
      continue;
    Cases.push_back(rescaled(*Base, "x3", [](double V) { return V * 3; }));
    Cases.push_back(
        rescaled(*Base, "x0.01", [](double V) { return V * 0.01; }));
    Cases.push_back(rescaled(*Base, "x-1", [](double V) { return -V; }));
    std::mt19937_64 Engine(Setup.Seed);
    Cases.push_back(rescaled(*Base, "heavy-tailed", [&](double V) {
      // A few values are hundreds of times larger than the rest.
      uint64_t Draw = Engine();
      double Size = std::exp2(double(Draw >> 8 & 15) - 8 +
                              double(Draw >> 16 & 255) / 256);
      return (Draw & 1 ? -Size : Size) * ((Draw >> 1 & 63) == 0 ? 64 : 1);
    }));
    addScalarCases(Setup, *Base, Cases);
    addFloatCases(Setup, *Base, Cases);
    addLaunchCases(*Base, Cases);
    addAliasCases(Setup, *Base, Cases);
    uint64_t Element = 0;
    for (const KernelParam &P : Setup.Original->Params)
      if (P.IsPointer)
        Element = std::max<uint64_t>(Element, P.PointeeSize);
    if (Element == 4 || Element == 8) {
      GateCase Shifted = *Base;
      Shifted.Name += " shifted";
      Shifted.Shift = Element;
      Shifted.Doubtful = true;
      Cases.push_back(std::move(Shifted));
    }
  }
  return Cases;
}

} // namespace cupilot
