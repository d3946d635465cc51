//===- Cases.cpp - The launches that a variant is judged on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

void appendInTurn(std::vector<CaseMakers> Each, CaseMakers &To) {
  for (size_t I = 0, Any = 1; Any; ++I) {
    Any = 0;
    for (CaseMakers &Own : Each)
      if (I < Own.size()) {
        To.push_back(std::move(Own[I]));
        Any = 1;
      }
  }
}

static Expected<Bytes> loadContent(const WorkloadBuffer &B, StringRef Folder) {
  if (!B.Generator.empty())
    return generateContent(B.Generator, B.Size);
  std::string Path = (Folder + "/" + B.File).str();
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  if (Text->size() != B.Size || digest(*Text) != B.Digest)
    return usageError("'" + Path + "' has changed since it was captured",
                      "capture the program again");
  return Bytes(Text->begin(), Text->end());
}

Expected<GateCase> capturedCase(const GateSetup &Setup,
                                const KernelLayout &Types, size_t Index) {
  const Workload &W = Setup.Workloads[Index];
  GateCase C;
  C.Name = W.Name;
  C.Workload = Index;
  C.Shape = W.Shape;
  C.Args = W.Args;
  C.Pointers = W.Pointers;
  C.Captured = true;
  for (const WorkloadBuffer &B : W.Buffers) {
    Expected<Bytes> Content = loadContent(B, Setup.DataFolder);
    if (!Content)
      return Content.takeError();
    C.Buffers.push_back(std::move(*Content));
  }
  C.Layouts.resize(C.Buffers.size());
  for (const WorkloadPointer &P : W.Pointers) {
    // Where two parameters see a buffer differently, bytes are bytes.
    if (P.Param >= Types.Pointees.size() || P.Offset != 0 ||
        Types.Pointees[P.Param].Fields.empty())
      continue;
    const Layout &L = Types.Pointees[P.Param];
    if (P.BufferOffset % L.Stride == 0 && C.Layouts[P.Buffer].Fields.empty())
      C.Layouts[P.Buffer] = L;
  }
  for (const WorkloadGlobal &G : W.Globals) {
    Expected<Bytes> Content = loadContent(G.Content, Setup.DataFolder);
    if (!Content)
      return Content.takeError();
    C.Globals.push_back({G.Symbol, std::move(*Content)});
  }
  return C;
}

uint64_t bytesOf(ArrayRef<Bytes> Buffers) {
  uint64_t Sum = 0;
  for (const Bytes &B : Buffers)
    Sum += B.size();
  return Sum;
}

uint64_t readScalar(const GateCase &C, const ScalarRef &S) {
  uint64_t Value = 0;
  std::memcpy(&Value, C.Args[S.Param].data() + S.Offset, S.Bits / 8);
  return Value;
}

void writeScalar(GateCase &C, const ScalarRef &S, uint64_t Value) {
  std::memcpy(C.Args[S.Param].data() + S.Offset, &Value, S.Bits / 8);
}

std::string scalarName(const Kernel &K, const ScalarRef &S) {
  const KernelParam &P = K.Params[S.Param];
  std::string Name = P.Name.empty() ? "argument" + utostr(S.Param) : P.Name;
  return P.Size == S.Bits / 8 ? Name : Name + "." + utostr(S.Offset);
}

uint64_t widestElement(const Kernel &K) {
  uint64_t Element = 0;
  for (const KernelParam &P : K.Params)
    if (P.IsPointer)
      Element = std::max(Element, P.PointeeSize);
  return Element;
}

bool mayBeWritten(const Kernel &K, const GateCase &C, size_t Buffer) {
  ArrayRef<KernelParam> Params = K.Params;
  return any_of(C.Pointers, [&](const WorkloadPointer &P) {
    return P.Buffer == Buffer && P.Param < Params.size() &&
           !(Params[P.Param].IsPointer && Params[P.Param].PointeeConst);
  });
}

void transformFloats(
    Bytes &Content, const Layout &L,
    function_ref<double(uint64_t Index, double Value)> Change) {
  if (!L.hasFloats())
    return;
  uint64_t Index = 0;
  for (size_t At = 0; At + L.Stride <= Content.size(); At += L.Stride)
    for (const LayoutField &F : L.Fields)
      if (isFloating(F.Kind)) {
        uint8_t *P = Content.data() + At + F.Offset;
        writeElement(F.Kind, P, Change(Index++, readElement(F.Kind, P)));
      }
}

void transformIntegers(
    Bytes &Content, const Layout &L,
    function_ref<int64_t(uint64_t Index, int64_t Value)> Change) {
  if (!L.hasIntegers())
    return;
  uint64_t Index = 0;
  for (size_t At = 0; At + L.Stride <= Content.size(); At += L.Stride)
    for (const LayoutField &F : L.Fields)
      if (isInteger(F.Kind)) {
        uint8_t *P = Content.data() + At + F.Offset;
        writeInteger(F.Kind, P, Change(Index++, readInteger(F.Kind, P)));
      }
}

} // namespace cupilot
