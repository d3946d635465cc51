//===- EjectText.cpp - Plans and guards as CUDA C++ -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EjectText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

using namespace llvm;

namespace cupilot {

/// Dims as the launch function names them; gx is taken by nobody's kernel.
static const char *const DimWords[] = {
    "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "shared"};

/// Integers that fail where 64 bits do not suffice, or a divisor is not
/// positive: such a launch runs the original.
static const char CheckedInteger[] = R"(
// A 64-bit integer that remembers whether its value is right.
struct Checked {
  long long value;
  bool right;
  Checked(long long v, bool r = true) : value(v), right(r) {}
};
inline Checked operator+(Checked a, Checked b) {
  Checked r(0, a.right && b.right);
  r.right &= !__builtin_add_overflow(a.value, b.value, &r.value);
  return r;
}
inline Checked operator*(Checked a, Checked b) {
  Checked r(0, a.right && b.right);
  r.right &= !__builtin_mul_overflow(a.value, b.value, &r.value);
  return r;
}
inline Checked modulo(Checked a, Checked b) {
  bool right = a.right && b.right && b.value > 0;
  long long rest = right ? a.value % b.value : 0;
  return Checked(rest < 0 ? rest + b.value : rest, right);
}
inline Checked floorDivide(Checked a, Checked b) {
  bool right = a.right && b.right && b.value > 0;
  return Checked(right ? (a.value - modulo(a, b).value) / b.value : 0, right);
}
inline Checked ceilDivide(Checked a, Checked b) {
  Checked rest = modulo(a, b), quotient = floorDivide(a, b);
  return Checked(quotient.value + (rest.value != 0), quotient.right);
}
inline bool isAtLeast(Checked a, long long least) {
  return a.right && a.value >= least;
}
inline bool isZero(Checked a) { return a.right && a.value == 0; }
)";

static std::string signedType(const ScalarRef &S) {
  std::string Type = S.Bits == 8    ? "char"
                     : S.Bits == 16 ? "short"
                     : S.Bits == 32 ? "int"
                                    : "long long";
  return (S.Signed ? "signed " : "unsigned ") + Type;
}

namespace {
/// Expressions of one variant as C++.
class Writer {
public:
  Writer(const EjectKernel &K, const EjectNames &Names) : K(K), Names(Names) {}

  std::string expr(const Expr &E) {
    switch (E.K) {
    case Expr::Kind::Constant:
      return "Checked(" + std::to_string(E.Value) + ")";
    case Expr::Kind::Dim:
      return std::string("Checked(") + DimWords[E.Value] + ")";
    case Expr::Kind::Symbol: {
      const ScalarRef &S = K.K.Scalars[static_cast<size_t>(E.Value)];
      return "Checked(static_cast<" + signedType(S) + ">(" +
             Names.ParamNames[S.Param] + "))";
    }
    case Expr::Kind::Add:
      return "(" + expr(E.Operands[0]) + " + " + expr(E.Operands[1]) + ")";
    case Expr::Kind::Mul:
      return expr(E.Operands[0]) + " * " + expr(E.Operands[1]);
    case Expr::Kind::Mod:
      return call("modulo", E);
    case Expr::Kind::FloorDiv:
      return call("floorDivide", E);
    case Expr::Kind::CeilDiv:
      return call("ceilDivide", E);
    }
    llvm_unreachable("no other expressions");
  }

private:
  std::string call(const char *Name, const Expr &E) {
    return std::string(Name) + "(" + expr(E.Operands[0]) + ", " +
           expr(E.Operands[1]) + ")";
  }
  const EjectKernel &K;
  const EjectNames &Names;
};
} // namespace

static void eachSymbol(const Expr &E, function_ref<void(int64_t)> Use) {
  if (E.K == Expr::Kind::Symbol)
    Use(E.Value);
  for (const Expr &Operand : E.Operands)
    eachSymbol(Operand, Use);
}

std::string ejectNamespace(const EjectNames &Names, const EjectVariant &V) {
  return Names.Kernel + "_" + V.Name;
}

std::string ejectRefusal(const EjectKernel &K, const EjectNames &Names,
                         const EjectVariant &V) {
  if (V.Plan.Launches.size() != 1)
    return "its plan has several launches";
  // What this knows of a plan and a guard is all that there may be of them.
  LaunchPlan Plain;
  Plain.Launches.emplace_back();
  Launch &L = Plain.Launches.front();
  L.Symbol = V.Plan.Launches.front().Symbol;
  L.Grid = V.Plan.Launches.front().Grid;
  L.Block = V.Plan.Launches.front().Block;
  L.Shared = V.Plan.Launches.front().Shared;
  Guard Known;
  Known.Arch = V.When.Arch;
  Known.Constraints = V.When.Constraints;
  Known.Alignments = V.When.Alignments;
  Known.Disjoints = V.When.Disjoints;
  if (!(Plain == V.Plan) || !(Known == V.When))
    return "its plan or guard needs more than a launch of another shape";
  unsigned Number = 0;
  StringRef Arch = V.When.Arch;
  if (!Arch.consume_front("sm_") || Arch.getAsInteger(10, Number))
    return "it is for '" + V.When.Arch +
           "', which a running program cannot tell from others";
  std::string Why;
  auto Look = [&](const Expr &E) {
    eachSymbol(E, [&](int64_t I) {
      const ScalarRef &S = K.K.Scalars[static_cast<size_t>(I)];
      if (Names.IsClass[S.Param])
        Why = "its plan or guard reads a field of the argument '" +
              Names.ParamNames[S.Param] + "'";
    });
  };
  auto LookAt = [&](const PointerRef &P) {
    if (Names.IsClass[P.Param])
      Why = "its guard reads a field of the argument '" +
            Names.ParamNames[P.Param] + "'";
  };
  for (unsigned I = 0; I < 3; ++I) {
    Look(L.Grid[I]);
    Look(L.Block[I]);
  }
  Look(L.Shared);
  for (const Constraint &C : V.When.Constraints)
    Look(C.E);
  for (const Alignment &A : V.When.Alignments)
    LookAt(A.Pointer);
  for (const Disjoint &D : V.When.Disjoints) {
    LookAt(D.A);
    LookAt(D.B);
    Look(D.ExtentA);
    Look(D.ExtentB);
  }
  return Why;
}

/// "dim3 grid, dim3 block, size_t shared, cudaStream_t stream, float *p".
static std::string parameters(const EjectNames &Names) {
  std::string Text =
      "dim3 grid, dim3 block, size_t shared, cudaStream_t stream";
  for (const std::string &P : Names.ParamDecls)
    Text += ", " + P;
  return Text;
}

static std::string arguments(const EjectNames &Names) {
  return join(Names.ParamNames, ", ");
}

/// The conditions under which it may run, as statements.
static std::string guardText(const EjectVariant &V, const EjectNames &Names,
                             Writer &W) {
  std::string Text;
  auto Require = [&](const std::string &Condition) {
    Text += "  if (!(" + Condition + "))\n    return false;\n";
  };
  auto Address = [&](const PointerRef &P) {
    return "reinterpret_cast<unsigned long long>(" + Names.ParamNames[P.Param] +
           ")";
  };
  for (const Constraint &C : V.When.Constraints) {
    if (C.E.K == Expr::Kind::Constant &&
        (C.IsEq ? C.E.Value == 0 : C.E.Value >= 0))
      continue;
    std::string E = W.expr(C.E);
    Require(C.IsEq ? "isZero(" + E + ")" : "isAtLeast(" + E + ", 0)");
  }
  for (const Alignment &A : V.When.Alignments)
    Require(Address(A.Pointer) + " % " + std::to_string(A.Bytes) + " == 0");
  for (const Disjoint &D : V.When.Disjoints) {
    std::string EA = W.expr(D.ExtentA), EB = W.expr(D.ExtentB),
                PA = Address(D.A), PB = Address(D.B);
    Require("isAtLeast(" + EA + ", 0) && isAtLeast(" + EB + ", 0)");
    auto End = [](const std::string &P, const std::string &E) {
      return P + " + static_cast<unsigned long long>((" + E + ").value)";
    };
    Require(End(PA, EA) + " >= " + PA + " && " + End(PB, EB) + " >= " + PB);
    Require(End(PA, EA) + " <= " + PB + " || " + End(PB, EB) + " <= " + PA);
  }
  return Text;
}

namespace {
/// The shape of a launch: what stands for each dim, and what must be checked.
struct ShapeText {
  std::array<std::string, 7> Value;
  std::string Declarations;
  std::vector<std::string> Broken; ///< Conditions under which it is refused.
  bool SameBlock = true;
};
} // namespace

static bool isArithmetic(const Expr &E) { return !E.Operands.empty(); }

static bool needsChecked(const EjectVariant &V) {
  const Launch &L = V.Plan.Launches.front();
  auto Is = [](const Expr &E) { return isArithmetic(E); };
  return any_of(L.Grid, Is) || any_of(L.Block, Is) || Is(L.Shared) ||
         any_of(V.When.Constraints,
                [](const Constraint &C) {
                  return C.E.K != Expr::Kind::Constant;
                }) ||
         !V.When.Disjoints.empty();
}

static ShapeText shapeText(const Launch &L, const EjectKernel &K,
                           const EjectNames &Names, Writer &W) {
  static const char *const Words[] = {"gridX",  "gridY",  "gridZ", "blockX",
                                      "blockY", "blockZ", "bytes"};
  static const char *const Most[] = {"2147483647", "65535", "65535", "1024",
                                     "1024",       "64",    ""};
  ShapeText S;
  for (unsigned I = 0; I < 7; ++I) {
    const Expr &E = I < 3 ? L.Grid[I] : I < 6 ? L.Block[I - 3] : L.Shared;
    bool Same = E == Expr::dim(I);
    S.SameBlock &= Same || I < 3 || I == 6;
    if (Same) {
      S.Value[I] = DimWords[I]; // Looked at with the original's.
      continue;
    }
    std::string Least = I == 6 ? "0" : "1";
    if (isArithmetic(E)) {
      S.Declarations += std::string("  const Checked ") + Words[I] + " = " +
                        W.expr(E) + ";\n";
      S.Broken.push_back(std::string("!isAtLeast(") + Words[I] + ", " + Least +
                         ")");
      S.Value[I] = std::string(Words[I]) + ".value";
    } else {
      S.Value[I] =
          E.K == Expr::Kind::Constant ? std::to_string(E.Value)
          : E.K == Expr::Kind::Dim
              ? "static_cast<long long>(" + std::string(DimWords[E.Value]) + ")"
              : "static_cast<long long>(" +
                    Names.ParamNames[K.K.Scalars[static_cast<size_t>(E.Value)]
                                         .Param] +
                    ")";
      if (E.K != Expr::Kind::Constant)
        S.Broken.push_back(S.Value[I] + " < " + Least);
    }
    if (I < 6 && E.K != Expr::Kind::Constant)
      S.Broken.push_back(S.Value[I] + " > " + Most[I]);
  }
  return S;
}

static std::string dim3Text(ArrayRef<std::string> Values, StringRef Same) {
  if (Values[0] == (Same + ".x").str() && Values[1] == (Same + ".y").str() &&
      Values[2] == (Same + ".z").str())
    return Same.str();
  std::string Text;
  for (const std::string &V : Values)
    Text += (Text.empty() ? "dim3(" : ", ") +
            (StringRef(V).contains("value") || StringRef(V).contains("cast")
                 ? "static_cast<unsigned>(" + V + ")"
                 : V);
  return Text + ")";
}

std::string variantText(const EjectKernel &K, const EjectNames &Names,
                        const EjectVariant &V, StringRef Body) {
  Writer W(K, Names);
  StringRef Arch = StringRef(V.When.Arch).drop_front(3);
  // Qualified: arguments must not bring the original in.
  std::string Own = ejectNamespace(Names, V) + "::" + Names.Kernel;
  std::string Text = "\n// Variant " + V.Name + " of " + Names.Kernel + ": " +
                     V.Genome + ".\n";
  Text += "namespace " + ejectNamespace(Names, V) + " {\n\n";
  Text += Body.trim("\n").str() + "\n";
  if (needsChecked(V))
    Text += CheckedInteger;
  Text +=
      "\n// Launches it where that is proved to be right; false elsewhere.\n"
      "static inline bool tryLaunch(" +
      parameters(Names) + ") {\n";
  // What the run time would refuse must stay refused.
  Text += "  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || block.x < 1 ||\n"
          "      block.y < 1 || block.z < 1 || grid.x > 2147483647 || grid.y > "
          "65535 ||\n      grid.z > 65535 || block.x > 1024 || block.y > 1024 "
          "|| block.z > 64 ||\n      block.x * block.y * block.z > 1024)\n"
          "    return false;\n";
  Text += guardText(V, Names, W);
  ShapeText S = shapeText(V.Plan.Launches.front(), K, Names, W);
  Text += S.Declarations;
  ArrayRef<std::string> Value(S.Value);
  std::string Threads = join(Value.slice(3, 3), " * ");
  if (!S.SameBlock)
    S.Broken.push_back("1LL * " + Threads + " > 1024");
  if (!S.Broken.empty())
    Text += "  if (" + join(S.Broken, " ||\n      ") + ")\n    return false;\n";
  Text += "  // The GPU for which it was proved, with room for its blocks.\n"
          "  const cudaError_t before = cudaPeekAtLastError();\n"
          "  cudaFuncAttributes facts;\n"
          "  if (cudaFuncGetAttributes(&facts,\n"
          "                            reinterpret_cast<const void *>(&" +
          Own +
          ")) !=\n      cudaSuccess) {\n"
          "    if (before == cudaSuccess)\n"
          "      cudaGetLastError(); // That one was ours.\n"
          "    return false;\n  }\n";
  Text += "  if (facts.binaryVersion != " + Arch.str() + " ||\n      1LL * " +
          Threads +
          " > facts.maxThreadsPerBlock ||\n      static_cast<long long>(" +
          S.Value[6] +
          ") > facts.maxDynamicSharedSizeBytes)\n    return false;\n";
  std::string Shared = S.Value[6];
  if (StringRef(Shared).contains("value"))
    Shared = "static_cast<size_t>(" + Shared + ")";
  Text += "  " + Own + "<<<" + dim3Text(Value.slice(0, 3), "grid") +
          ",\n      " + dim3Text(Value.slice(3, 3), "block") + ", " + Shared +
          ", stream>>>(" + arguments(Names) + ");\n  return true;\n}\n\n";
  Text += "} // namespace " + ejectNamespace(Names, V) + "\n";
  return Text;
}

std::string chooserText(const EjectKernel &K, const EjectNames &Names,
                        ArrayRef<const EjectVariant *> Variants) {
  std::string Text = "\n// Launches a variant of " + Names.Kernel +
                     ", or the original.\nstatic inline void " + Names.Chooser +
                     "(" + parameters(Names) + ") {\n";
  std::string Args = Names.ParamNames.empty() ? "" : ", " + arguments(Names);
  for (const EjectVariant *V : Variants)
    Text += "  if (" + ejectNamespace(Names, *V) +
            "::tryLaunch(grid, block, shared, stream" + Args +
            "))\n    return;\n";
  return Text + "  " + Names.Kernel + "<<<grid, block, shared, stream>>>(" +
         arguments(Names) + ");\n}\n";
}

} // namespace cupilot
