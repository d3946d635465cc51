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
#include "llvm/ADT/StringSet.h"
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

double readFloat(ArrayRef<Bytes> Args, const FloatRef &R) {
  return readElement(kindOf(R.Type), Args[R.Param].data() + R.Offset);
}

double readFloat(const GateCase &C, const FloatRef &R) {
  return readFloat(C.Args, R);
}

void writeFloat(GateCase &C, const FloatRef &R, double Value) {
  writeElement(kindOf(R.Type), C.Args[R.Param].data() + R.Offset, Value);
}

/// The integer whose bits \p Kind takes.
static ElementKind bitsFor(ElementKind Kind) {
  return sizeOf(Kind) == 2   ? ElementKind::Int16
         : sizeOf(Kind) == 4 ? ElementKind::Int32
                             : ElementKind::Int64;
}

static uint64_t bitsOf(ElementKind Kind, double Value) {
  uint64_t Raw = 0;
  writeElement(Kind, reinterpret_cast<uint8_t *>(&Raw), Value);
  return Raw;
}

static double readBits(ElementKind Kind, uint64_t Raw) {
  return readElement(Kind, reinterpret_cast<const uint8_t *>(&Raw));
}

/// The neighbour of \p Value in its format, above or below.
static double neighbour(ElementKind Kind, double Value, bool Above) {
  uint64_t Raw = bitsOf(Kind, Value);
  double Rounded = readBits(Kind, Raw);
  if (Above ? Rounded > Value : Rounded < Value)
    return Rounded;
  if (Rounded == 0) {
    Raw = 1;
    return Above ? readBits(Kind, Raw) : -readBits(Kind, Raw);
  }
  // Away from zero the bits count up.
  auto *At = reinterpret_cast<uint8_t *>(&Raw);
  writeInteger(bitsFor(Kind), At,
               readInteger(bitsFor(Kind), At) +
                   ((Rounded > 0) == Above ? 1 : -1));
  return readBits(Kind, Raw);
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

namespace {
/// What must come out for a case to prove something.
enum class Wanted { Any, Finite, NaN };

/// Cases in which some floating arguments have another value.
class FloatCases {
public:
  FloatCases(const CaseContext &X, const GateCase &Base, CaseMakers &Makers)
      : X(X), Base(Base), Makers(Makers) {}
  /// All of \p Refs get \p Value, unless one has it already.
  void add(ArrayRef<FloatRef> Refs, const std::string &Name, double Value,
           Wanted Result = Wanted::Any);
  void addScaled(const FloatRef &R);
  /// 0, 1, and both sides of what the code asks for, and that itself.
  void addCuts(const FloatRef &R, ArrayRef<FloatThresholdFact> Thresholds);
  void addZeroBesideNaN(const FloatRef &R);
  void addZeroBesideTiny(const FloatRef &R);
  /// One of each class of numbers.
  void addClasses(ArrayRef<FloatRef> Refs, const std::string &Name);

private:
  void push(ArrayRef<FloatRef> Refs, const std::string &Case, double Value,
            Wanted Result, bool Far);

  const CaseContext &X;
  const GateCase &Base;
  CaseMakers &Makers;
  StringSet<> Seen;
};
} // namespace

void FloatCases::push(ArrayRef<FloatRef> Refs, const std::string &Case,
                      double Value, Wanted Result, bool Far) {
  if (!Seen.insert(Case).second)
    return;
  Makers.push_back(
      {Base.Name + " " + Case,
       [&Base = Base, Case, Refs = Refs.vec(), Value, Result, Far] {
         GateCase C = varied(Base, Case);
         for (const FloatRef &R : Refs)
           writeFloat(C, R, Value);
         // Zeros of both signs meet there.
         if (Value == 0)
           changeFloats(C, [](ElementKind, size_t, uint64_t I, double V) {
             constexpr uint64_t Every = 7;
             return I % Every == 3 ? -0.0 : I % Every == 5 ? 0.0 : V;
           });
         C.ChangedFloats = Refs;
         C.NeedsFinite = Result == Wanted::Finite;
         C.NeedsNaN = Result == Wanted::NaN;
         // No guard can speak of numbers: what a variant gets
         // wrong here its domain leaves out.
         C.Far = Far;
         return C;
       }});
}

void FloatCases::add(ArrayRef<FloatRef> Refs, const std::string &Name,
                     double Value, Wanted Result) {
  for (const FloatRef &R : Refs) {
    ElementKind Kind = kindOf(R.Type);
    if (bitsOf(Kind, Value) == bitsOf(Kind, readFloat(Base, R)) ||
        (std::isfinite(Value) &&
         !std::isfinite(readBits(Kind, bitsOf(Kind, Value)))))
      return;
  }
  push(Refs, Name + "=" + valueText(Value), Value, Result, /*Far=*/true);
}

void FloatCases::addScaled(const FloatRef &R) {
  double Old = readFloat(Base, R);
  for (double Factor : {3.0, 0.01, -1.0})
    push(R, nameOf(X, R) + " x" + valueText(Factor),
         Old == 0 ? Factor : Old * Factor, Wanted::Any, /*Far=*/false);
}

void FloatCases::addCuts(const FloatRef &R,
                         ArrayRef<FloatThresholdFact> Thresholds) {
  std::string Name = nameOf(X, R);
  ElementKind Kind = kindOf(R.Type);
  for (const FloatThresholdFact &T : Thresholds)
    if (T.Number == R)
      for (double V : {T.Value, neighbour(Kind, T.Value, true),
                       neighbour(Kind, T.Value, false)})
        add(R, Name, V);
  add(R, Name, 0);
  add(R, Name, 1);
}

void FloatCases::addZeroBesideNaN(const FloatRef &R) {
  for (bool Inputs : {false, true}) {
    std::string Case =
        nameOf(X, R) + "=0 and NaN" + (Inputs ? " in inputs" : " in results");
    GateCase Trial = Base;
    if (fillWithNaN(X, Trial, Inputs))
      Makers.push_back(
          {Base.Name + " " + Case, [&X = X, &Base = Base, Case, R, Inputs] {
             GateCase C = varied(Base, Case);
             writeFloat(C, R, 0);
             C.ChangedFloats.push_back(R);
             fillWithNaN(X, C, Inputs);
             C.NeedsNaN = Inputs;
             C.Far = true;
             return C;
           }});
  }
}

/// Nothing is added to what products of the inputs are then, all of it
/// denormal.
void FloatCases::addZeroBesideTiny(const FloatRef &R) {
  std::string Case = nameOf(X, R) + "=0 and 2^-70 to 2^-62";
  Makers.push_back(
      {Base.Name + " " + Case, [&Base = Base, Case, R] {
         GateCase C = varied(Base, Case);
         writeFloat(C, R, 0);
         C.ChangedFloats.push_back(R);
         changeFloats(C, [](ElementKind, size_t, uint64_t I, double V) {
           return std::copysign(
               std::ldexp(1 + double(I % 13) / 16, int(I % 9) - 70), V);
         });
         C.Far = true;
         return C;
       }});
}

void FloatCases::addClasses(ArrayRef<FloatRef> Refs, const std::string &Name) {
  for (double V : {-0.0, -1.0, 2.0, 0.5})
    add(Refs, Name, V);
  bool Half = any_of(
      Refs, [](const FloatRef &R) { return R.Type == FloatRef::Format::Half; });
  add(Refs, Name, Half ? 0x1p12 : 0x1p90, Wanted::Finite);
  add(Refs, Name, Half ? -0x1p-12 : -0x1p-90, Wanted::Finite);
  // Between those, cubes and squares of some are denormal.
  if (!Half)
    for (double V : {0x1p21, 0x1p43, 0x1p64, 0x1p-43, 0x1p-64})
      add(Refs, Name, V, Wanted::Finite);
  if (X.Types.NoSpecialValues)
    return;
  add(Refs, Name, INFINITY, Wanted::NaN);
  add(Refs, Name, std::numeric_limits<double>::quiet_NaN(), Wanted::NaN);
}

static void addFloats(const CaseContext &X, const GateCase &Base,
                      ArrayRef<FloatThresholdFact> Thresholds,
                      CaseMakers &Makers) {
  // Of structs with more fields, all change together.
  constexpr size_t MostAlone = 4;
  std::vector<FloatRef> Refs = floatArguments(X, Base);
  FloatCases Cases(X, Base, Makers);
  for (const FloatRef &R : Refs)
    Cases.addScaled(R);
  for (const FloatRef &R : Refs)
    Cases.addCuts(R, Thresholds);
  if (!X.Types.NoSpecialValues)
    for (const FloatRef &R : ArrayRef(Refs).take_front(MostAlone)) {
      Cases.addZeroBesideNaN(R);
      Cases.addZeroBesideTiny(R);
    }
  if (Refs.size() > MostAlone)
    Cases.addClasses(Refs, "floats");
  else
    for (const FloatRef &R : Refs)
      Cases.addClasses(R, nameOf(X, R));
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
  addFloats(X, Base, Thresholds, Makers);
  for (size_t I = 0; I < Base.Globals.size(); ++I)
    addVariable(X, Base, I, Makers);
}

} // namespace cupilot
