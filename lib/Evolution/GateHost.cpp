//===- GateHost.cpp - What the gate's verdicts depend on ------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GateHost.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace llvm;

namespace cupilot {

/// Numbers of many sizes and both signs, the same everywhere.
static std::vector<double> sampleNumbers(unsigned Count) {
  std::vector<double> All;
  uint64_t State = 1;
  for (unsigned I = 0; I < Count; ++I) {
    State = State * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
    const double Fraction = 1 + double(State >> 12) * 0x1p-52;
    const int Exponent = int(I % 24) - 16;
    All.push_back(std::ldexp(State >> 11 & 1 ? -Fraction : Fraction, Exponent));
  }
  return All;
}

namespace {
struct OneArgument {
  double (*Double)(double);
  float (*Float)(float);
};
struct TwoArguments {
  double (*Double)(double, double);
  float (*Float)(float, float);
};
} // namespace

/// The functions that lowerLibdevice calls.
static constexpr OneArgument OneArgumentFunctions[] = {
#define BOTH(Name) {::Name, ::Name##f}
    BOTH(sin),   BOTH(cos),   BOTH(tan),  BOTH(asin),   BOTH(acos),
    BOTH(atan),  BOTH(sinh),  BOTH(cosh), BOTH(tanh),   BOTH(asinh),
    BOTH(acosh), BOTH(atanh), BOTH(exp),  BOTH(exp2),   BOTH(exp10),
    BOTH(expm1), BOTH(log),   BOTH(log2), BOTH(log10),  BOTH(log1p),
    BOTH(cbrt),  BOTH(erf),   BOTH(erfc), BOTH(tgamma), BOTH(lgamma),
    BOTH(j0),    BOTH(j1),    BOTH(y0),   BOTH(y1),     BOTH(logb)};
static constexpr TwoArguments TwoArgumentFunctions[] = {
    BOTH(atan2),     BOTH(pow),       BOTH(hypot), BOTH(fmod),
    BOTH(remainder), BOTH(nextafter), BOTH(fdim)};
#undef BOTH

static std::string mathDigest() {
  // Functions for different processors agree in nearly all last digits.
  const std::vector<double> Numbers = sampleNumbers(16384);
  std::string All;
  auto Add = [&](auto Value) {
    // Of what is no number, only that matters.
    if (std::isnan(Value))
      Value = std::numeric_limits<decltype(Value)>::quiet_NaN();
    char Bytes[sizeof(Value)];
    std::memcpy(Bytes, &Value, sizeof(Value));
    All.append(Bytes, sizeof(Value));
  };
  for (const OneArgument &F : OneArgumentFunctions)
    for (double X : Numbers) {
      Add(F.Double(X));
      Add(F.Float(float(X)));
    }
  for (const TwoArguments &F : TwoArgumentFunctions)
    for (size_t I = 0; I < Numbers.size(); ++I) {
      const double X = Numbers[I], Y = Numbers[(I * 7 + 5) % Numbers.size()];
      Add(F.Double(X, Y));
      Add(F.Float(float(X), float(Y)));
    }
  return shortDigest(digest(All));
}

/// What \p Program says of its version, in the line with \p Word; "none" where
/// it does not run.
static std::string versionOf(const std::string &Program, StringRef Word) {
  if (Program.empty())
    return "none";
  Expected<ProcessResult> R = runProcess({Program, "--version"}, 60);
  if (!R) {
    consumeError(R.takeError());
    return "none";
  }
  for (StringRef Line : split(R->Out, '\n'))
    if (Line.contains(Word))
      return Line.trim().str();
  return "none";
}

Expected<json::Object> gateHost(ArrayRef<std::string> Flags,
                                const std::optional<NvccUse> &Nvcc) {
  Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  unsigned Major = 0, Minor = 0, Patch = 0;
  LLVMGetVersion(&Major, &Minor, &Patch);
  json::Object Host{{"cuPilot", CUPILOT_VERSION},
                    {"LLVM", formatv("{0}.{1}.{2}", Major, Minor, Patch).str()},
                    {"clang", versionOf(Tools->Clang, "version")},
                    {"the CUDA toolkit", utostr(Tools->headerVersion())},
                    {"ptxas", versionOf(Tools->Ptxas, "release")},
                    {"what its mathematical functions compute", mathDigest()}};
  if (Nvcc) {
    Expected<std::string> Name = Nvcc->name();
    if (!Name)
      return Name.takeError();
    Host["nvcc"] = *Name;
  }
  return Host;
}

std::string differenceOf(const json::Object &There, const json::Object &Here) {
  std::set<std::string> Keys;
  for (const json::Object *O : {&There, &Here})
    for (const auto &[Key, Value] : *O)
      Keys.insert(Key.str());
  std::vector<std::string> All;
  for (const std::string &Key : Keys)
    if (textIn(There, Key) != textIn(Here, Key))
      All.push_back(Key + " is '" + textIn(There, Key) + "', not '" +
                    textIn(Here, Key) + "'");
  return join(All, "; ");
}

} // namespace cupilot
