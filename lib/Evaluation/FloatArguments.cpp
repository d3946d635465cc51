//===- FloatArguments.cpp - Other numbers for arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floating arguments, floating fields of by-value arguments, and device
// variables. A factor of 0, 1 or -1 is where kernels take a short cut, and so
// is each constant that the code compares a number with.
//
//===----------------------------------------------------------------------===//

#include "InputValues.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace cupilot {

static FloatRef::Format formatOf(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return FloatRef::Format::Half;
  case ElementKind::BFloat:
    return FloatRef::Format::BFloat;
  case ElementKind::Double:
    return FloatRef::Format::Double;
  default:
    return FloatRef::Format::Float;
  }
}

static ElementKind kindOf(FloatRef::Format F) {
  switch (F) {
  case FloatRef::Format::Half:
    return ElementKind::Half;
  case FloatRef::Format::BFloat:
    return ElementKind::BFloat;
  case FloatRef::Format::Double:
    return ElementKind::Double;
  case FloatRef::Format::Float:
    return ElementKind::Float;
  }
  llvm_unreachable("a format that is none");
}

std::vector<FloatRef> floatArguments(const CaseContext &X,
                                     const GateCase &Base) {
  std::vector<FloatRef> Result;
  for (size_t I = 0; I < X.K.Params.size() && I < Base.Args.size(); ++I)
    for (const LayoutField &F : X.Types.Values[I].Fields)
      if (isFloating(F.Kind) &&
          F.Offset + sizeOf(F.Kind) <= Base.Args[I].size())
        Result.push_back({static_cast<unsigned>(I),
                          static_cast<unsigned>(F.Offset), formatOf(F.Kind)});
  return Result;
}

double readFloat(const GateCase &C, const FloatRef &R) {
  return readElement(kindOf(R.Type), C.Args[R.Param].data() + R.Offset);
}

void writeFloat(GateCase &C, const FloatRef &R, double Value) {
  writeElement(kindOf(R.Type), C.Args[R.Param].data() + R.Offset, Value);
}

/// The neighbour of \p Value in its format, above or below.
static double neighbour(ElementKind K, double Value, bool Above) {
  uint8_t Raw[8] = {};
  writeElement(K, Raw, Value);
  double Rounded = readElement(K, Raw);
  if (Above ? Rounded > Value : Rounded < Value)
    return Rounded;
  int64_t Bits = readInteger(sizeOf(K) == 2   ? ElementKind::Int16
                             : sizeOf(K) == 4 ? ElementKind::Int32
                                              : ElementKind::Int64,
                             Raw);
  // Away from zero the bits count up.
  if (Rounded == 0)
    return (Above ? 1 : -1) * (K == ElementKind::Half     ? 0x1p-14
                               : K == ElementKind::Double ? 0x1p-1022
                                                          : 0x1p-126);
  Bits += (Rounded > 0) == Above ? 1 : -1;
  writeInteger(sizeOf(K) == 2   ? ElementKind::Int16
               : sizeOf(K) == 4 ? ElementKind::Int32
                                : ElementKind::Int64,
               Raw, Bits);
  return readElement(K, Raw);
}

static std::string nameOf(const CaseContext &X, const FloatRef &R) {
  std::string Name = X.K.Params[R.Param].Name;
  if (X.Types.Values[R.Param].Fields.size() > 1)
    Name += "." + std::to_string(R.Offset);
  return Name;
}

static std::string valueText(double V) {
  std::string Text;
  raw_string_ostream(Text) << format("%.9g", V);
  return Text;
}

/// Buffers that a kernel may change and reads: what a factor of 0 must, or must
/// not, make it forget.
static bool fillWithNaN(const CaseContext &X, GateCase &C, bool Inputs) {
  bool Any = false;
  for (size_t I = 0; I < C.Buffers.size(); ++I)
    if (mayBeWritten(X.K, C, I) != Inputs &&
        (C.PureOutput.empty() || !C.PureOutput[I]) &&
        C.Layouts[I].hasFloats()) {
      Any = true;
      transformFloats(C.Buffers[I], C.Layouts[I], [&](uint64_t At, double V) {
        return !Inputs || At % 61 == 30
                   ? std::numeric_limits<double>::quiet_NaN()
                   : V;
      });
    }
  return Any;
}

static void addFloat(const CaseContext &X, const GateCase &Base,
                     const FloatRef &R, ArrayRef<FloatThresholdFact> Thresholds,
                     CaseMakers &Makers) {
  enum class Result { Any, Finite, NaN };
  // No guard can speak of numbers: what a variant gets wrong here its domain
  // leaves out.
  std::string Name = nameOf(X, R);
  ElementKind Kind = kindOf(R.Type);
  double Old = readFloat(Base, R);
  auto AddValue = [&](const std::string &Case, double Value, Result Wanted,
                      bool Far) {
    Makers.push_back(
        {Base.Name + " " + Case, [&Base, Case, R, Value, Wanted, Far] {
           GateCase C = varied(Base, Case);
           writeFloat(C, R, Value);
           C.ChangedFloats.push_back(R);
           C.NeedsFinite = Wanted == Result::Finite;
           C.NeedsNaN = Wanted == Result::NaN;
           C.Far = Far;
           return C;
         }});
  };
  for (double Factor : {3.0, 0.01, -1.0})
    AddValue(Name + " x" + valueText(Factor), Old == 0 ? Factor : Old * Factor,
             Result::Any, /*Far=*/false);
  SmallSet<uint64_t, 16> Seen;
  auto Add = [&](double Value, Result Wanted) {
    uint64_t Raw = 0;
    writeElement(Kind, reinterpret_cast<uint8_t *>(&Raw), Value);
    if (Seen.insert(Raw).second)
      AddValue(Name + "=" + valueText(Value), Value, Wanted, /*Far=*/true);
  };
  uint64_t Now = 0;
  writeElement(Kind, reinterpret_cast<uint8_t *>(&Now), Old);
  Seen.insert(Now);
  // Both sides of what the code asks for, and that itself.
  for (const FloatThresholdFact &T : Thresholds)
    if (T.Number == R) {
      Add(T.Value, Result::Any);
      Add(neighbour(Kind, T.Value, true), Result::Any);
      Add(neighbour(Kind, T.Value, false), Result::Any);
    }
  Add(0, Result::Any);
  Add(1, Result::Any);
  if (!X.Types.NoSpecialValues)
    for (bool Inputs : {false, true}) {
      std::string Case =
          Name + "=0 and NaN" + (Inputs ? " in inputs" : " in results");
      GateCase Probe = Base;
      if (fillWithNaN(X, Probe, Inputs))
        Makers.push_back({Base.Name + " " + Case, [&X, &Base, Case, R, Inputs] {
                            GateCase C = varied(Base, Case);
                            writeFloat(C, R, 0);
                            C.ChangedFloats.push_back(R);
                            fillWithNaN(X, C, Inputs);
                            C.NeedsNaN = Inputs;
                            C.Far = true;
                            return C;
                          }});
    }
  bool Half = Kind == ElementKind::Half;
  Add(-0.0, Result::Any);
  Add(-1, Result::Any);
  Add(2, Result::Any);
  Add(0.5, Result::Any);
  Add(Half ? 0x1p12 : 0x1p90, Result::Finite);
  Add(Half ? -0x1p-12 : -0x1p-90, Result::Finite);
  if (X.Types.NoSpecialValues)
    return;
  Add(INFINITY, Result::NaN);
  Add(std::numeric_limits<double>::quiet_NaN(), Result::NaN);
}

static void addVariable(const CaseContext &X, const GateCase &Base, size_t I,
                        CaseMakers &Makers) {
  auto It = X.Types.Globals.find(Base.Globals[I].first);
  if (It == X.Types.Globals.end())
    return;
  const Layout &L = It->second;
  std::string Name = Base.Globals[I].first;
  if (L.hasFloats())
    for (double Factor : {3.0, 0.01, -1.0}) {
      std::string Case = Name + " x" + valueText(Factor);
      Makers.push_back(
          {Base.Name + " " + Case, [&Base, Case, I, &L, Factor] {
             GateCase C = varied(Base, Case);
             transformFloats(
                 C.Globals[I].second, L, [Factor](uint64_t Index, double V) {
                   return V == 0 ? Factor * (1 + double(Index)) : V * Factor;
                 });
             return C;
           }});
    }
  if (L.hasIntegers())
    Makers.push_back({Base.Name + " " + Name + " +1", [&Base, Name, I, &L] {
                        GateCase C = varied(Base, Name + " +1");
                        transformIntegers(
                            C.Globals[I].second, L,
                            [](uint64_t, int64_t V) { return V + 1; });
                        return C;
                      }});
}

void addConstantCases(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers,
                      ArrayRef<FloatThresholdFact> Thresholds) {
  for (const FloatRef &R : floatArguments(X, Base))
    addFloat(X, Base, R, Thresholds, Makers);
  for (size_t I = 0; I < Base.Globals.size(); ++I)
    addVariable(X, Base, I, Makers);
}

} // namespace cupilot
