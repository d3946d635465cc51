//===- Text.cpp - Plans as CUDA C++ -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same steps in the same order as what the build emits at a launch
// (docs/LaunchPlans.md).
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

using namespace llvm;

namespace cupilot {

std::string ejectNamespace(const EjectGroup &Group, const EjectCode &Code) {
  return Group.Stem + "_" + Code.Id;
}

static ArrayRef<DomainBox> boxesOf(const EjectVariant &V) {
  return V.Where ? ArrayRef(V.Where->Boxes) : ArrayRef<DomainBox>();
}

static void eachExpr(const EjectVariant &V,
                     function_ref<void(const Expr &)> F) {
  for (const Launch &L : V.Plan.Launches) {
    for (unsigned I = 0; I < 3; ++I) {
      F(L.Grid[I]);
      F(L.Block[I]);
      if (L.Cluster)
        F((*L.Cluster)[I]);
    }
    F(L.Shared);
  }
  for (const Expr &E : V.Plan.Scratch)
    F(E);
  for (const TensorMapPlan &Map : V.Plan.TensorMaps) {
    for_each(Map.Extents, F);
    for_each(Map.Strides, F);
  }
  for (const Constraint &C : V.When.Constraints)
    F(C.E);
  for (const Disjoint &D : V.When.Disjoints) {
    F(D.ExtentA);
    F(D.ExtentB);
  }
  for (const DomainBox &Box : boxesOf(V)) {
    for (const RangeClause &C : Box.Ranges)
      F(C.E);
    for (const ResidueClause &C : Box.Residues)
      F(C.E);
    for (const PairClause &C : Box.Pairs)
      for (const Extents *E : {&C.OfA, &C.OfB}) {
        F(E->Begin);
        F(E->End);
      }
  }
}

static bool isKnown(const EjectHost &Host, const Expr &E) {
  if (E.K == Expr::Kind::Symbol)
    return static_cast<size_t>(E.Value) < Host.Scalars.size();
  if (E.K == Expr::Kind::Dim)
    return static_cast<size_t>(E.Value) < NumLaunchDims;
  return all_of(E.Operands, [&](const Expr &O) { return isKnown(Host, O); });
}

Error checkVariant(const EjectHost &Host, const EjectVariant &V) {
  std::optional<Architecture> Arch = Architecture::parse(V.When.Arch);
  if (!Arch || Arch->Suffix)
    return findingError("it is for '" + V.When.Arch +
                        "', which a running program cannot tell from others");
  bool Known = !V.Plan.Launches.empty();
  eachExpr(V, [&](const Expr &E) { Known &= isKnown(Host, E); });
  auto Look = [&](const PointerRef &P) {
    Known &= is_contained(Host.Of->K.Pointers, P);
  };
  for (const Alignment &A : V.When.Alignments)
    Look(A.Pointer);
  for (const Disjoint &D : V.When.Disjoints) {
    Look(D.A);
    Look(D.B);
  }
  for (const TensorMapPlan &Map : V.Plan.TensorMaps)
    Look(Map.Base);
  for (const DomainBox &Box : boxesOf(V)) {
    for (const NullClause &C : Box.Nulls)
      Look(C.Pointer);
    for (const Alignment &A : Box.Alignments)
      Look(A.Pointer);
    for (const PairClause &C : Box.Pairs) {
      Look(C.A);
      Look(C.B);
    }
    for (const FloatClause &C : Box.Floats)
      Known &= any_of(Host.Floats,
                      [&](const auto &F) { return F.first == C.Number; });
  }
  return Known ? Error::success()
               : findingError("its plan, guard or domain reads what the kernel "
                              "does not get");
}

namespace {
/// The shape of a launch: what stands for each dim, and what must be checked.
struct ShapeText {
  std::array<std::string, 7> Value;
  std::vector<std::string> Cluster; ///< Empty, or three.
  std::string Declarations;
  std::vector<std::string> Broken; ///< Conditions under which it is refused.
  std::string threads() const {
    return "1LL * " + Value[3] + " * " + Value[4] + " * " + Value[5];
  }
  /// The statements that refuse it.
  std::string checks() const {
    return Declarations + (Broken.empty()
                               ? ""
                               : "  if (" + join(Broken, " ||\n      ") +
                                     ")\n    return false;\n");
  }
};

/// The body of the function for one variant.
class AttemptWriter {
public:
  AttemptWriter(const EjectGroup &Group, const EjectHost &Host,
                const EjectCode &Code, EjectHelpers &Needs)
      : Group(Group), Host(Host), Code(Code), Plan(Code.V->Plan), Needs(Needs) {
  }
  std::string body();

private:
  ShapeText shape(const Launch &L, size_t Index);
  std::string value(const Expr &E, const std::string &Name, long long Least,
                    const std::string &Most, ShapeText &S);
  std::string kernel(const Launch &L) const {
    // Qualified: arguments must not bring the original in.
    return ejectNamespace(Group, Code) + "::" + Code.Kernels[Plan.indexOf(L)];
  }
  std::string handle(const Launch &L) const {
    return "reinterpret_cast<const void *>(&" + kernel(L) + ")";
  }
  std::string simpleLaunch(const ShapeText &S) const;
  std::string tensorMap(const TensorMapPlan &Map, const std::string &Name);
  std::string extendedLaunches(ArrayRef<ShapeText> Shapes);
  std::string oneLaunch(const Launch &L, const ShapeText &S) const;

  const EjectGroup &Group;
  const EjectHost &Host;
  const EjectCode &Code;
  const LaunchPlan &Plan;
  EjectHelpers &Needs;
};
} // namespace

/// The name of the value of \p E, which is declared and checked where need be.
std::string AttemptWriter::value(const Expr &E, const std::string &Name,
                                 long long Least, const std::string &Most,
                                 ShapeText &S) {
  std::string Value;
  if (!E.Operands.empty()) {
    Needs.Checked = true;
    S.Declarations +=
        "  const Checked " + Name + " = " + checkedText(Host, E) + ";\n";
    S.Broken.push_back("!isAtLeast(" + Name + ", " + std::to_string(Least) +
                       ")");
    Value = Name + ".value";
  } else {
    Value = plainText(Host, E);
    if (E.K != Expr::Kind::Constant || E.Value < Least)
      S.Broken.push_back(Value + " < " + std::to_string(Least));
  }
  if (!Most.empty() && E.K != Expr::Kind::Constant)
    S.Broken.push_back(Value + " > " + Most);
  return Value;
}

ShapeText AttemptWriter::shape(const Launch &L, size_t Index) {
  static const char *const Words[] = {"gridX",  "gridY",  "gridZ", "blockX",
                                      "blockY", "blockZ", "bytes"};
  std::string Suffix = Index ? std::to_string(Index + 1) : "";
  ShapeText S;
  bool SameBlock = true;
  for (unsigned I = 0; I < 7; ++I) {
    const Expr &E = I < 3 ? L.Grid[I] : I < 6 ? L.Block[I - 3] : L.Shared;
    bool Same = E == Expr::dim(I);
    SameBlock &= Same || I < 3 || I == 6;
    // The original's own were looked at.
    S.Value[I] = Same ? dimText(I)
                      : value(E, Words[I] + Suffix, I < 6,
                              I < 3   ? std::to_string(MaxGrid[I])
                              : I < 6 ? std::to_string(MaxBlock[I - 3])
                                      : "",
                              S);
  }
  if (!SameBlock)
    S.Broken.push_back(S.threads() + " > " + std::to_string(MaxBlockThreads));
  for (unsigned I = 0; L.Cluster && I < 3; ++I) {
    S.Cluster.push_back(value((*L.Cluster)[I],
                              "cluster" + std::string(1, "XYZ"[I]) + Suffix, 1,
                              std::to_string(MostClusterBlocks), S));
    S.Broken.push_back(S.Value[I] + " % " + S.Cluster[I] + " != 0");
  }
  if (L.Cluster)
    S.Broken.push_back("1LL * " + join(S.Cluster, " * ") + " > " +
                       std::to_string(MostClusterBlocks));
  return S;
}

/// Narrowed where it is wider.
static std::string narrow(const std::string &Value, const char *Type) {
  bool Wide = StringRef(Value).contains("value") ||
              StringRef(Value).contains("long long");
  return Wide ? std::string("static_cast<") + Type + ">(" + Value + ")" : Value;
}

static std::string dim3Text(ArrayRef<std::string> Values, StringRef Same = "") {
  if (!Same.empty() && Values[0] == (Same + ".x").str() &&
      Values[1] == (Same + ".y").str() && Values[2] == (Same + ".z").str())
    return Same.str();
  std::vector<std::string> Narrow;
  for (const std::string &V : Values)
    Narrow.push_back(narrow(V, "unsigned"));
  return "dim3(" + join(Narrow, ", ") + ")";
}

std::string AttemptWriter::simpleLaunch(const ShapeText &S) const {
  ArrayRef<std::string> Value(S.Value);
  return "  " + kernel(Plan.Launches.front()) + "<<<" +
         dim3Text(Value.slice(0, 3), "grid") + ",\n      " +
         dim3Text(Value.slice(3, 3), "block") + ", " +
         narrow(S.Value[6], "size_t") + ", stream>>>(" +
         join(Host.Params.Arguments, ", ") +
         ");\n  // The original runs where it could not be launched.\n"
         "  return cudaGetLastError() == cudaSuccess;\n";
}

/// The call that makes one launch of an extended plan: a cudaError_t.
std::string AttemptWriter::oneLaunch(const Launch &L,
                                     const ShapeText &S) const {
  ArrayRef<std::string> Value(S.Value);
  std::string Text =
      (L.Cluster ? "cupilotLaunchCluster(" : "cudaLaunchKernel(") + handle(L) +
      ",\n      " + dim3Text(Value.slice(0, 3), "grid") + ", " +
      dim3Text(Value.slice(3, 3), "block") + ", ";
  if (L.Cluster)
    Text += dim3Text(S.Cluster) + ", ";
  return Text + "args, " + narrow(S.Value[6], "size_t") + ", stream)";
}

std::string AttemptWriter::tensorMap(const TensorMapPlan &Map,
                                     const std::string &Name) {
  Needs.TensorMap = true;
  auto Numbers = [](auto &&Values) {
    std::vector<std::string> Texts;
    for (const auto &V : Values)
      if constexpr (std::is_convertible_v<decltype(V), std::string>)
        Texts.push_back(V);
      else
        Texts.push_back(std::to_string(V));
    return "{" + join(Texts, ", ") + "}";
  };
  ShapeText S;
  std::vector<std::string> Extents, Strides;
  for (auto [I, E] : enumerate(Map.Extents))
    Extents.push_back(
        "static_cast<unsigned long long>(" +
        value(E, Name + "Extent" + std::to_string(I), 1, "4294967296", S) +
        ")");
  for (auto [I, E] : enumerate(Map.Strides)) {
    std::string V =
        value(E, Name + "Stride" + std::to_string(I), 16, "1099511627775", S);
    S.Broken.push_back(V + " % 16 != 0");
    Strides.push_back("static_cast<unsigned long long>(" + V + ")");
  }
  std::vector<unsigned> Steps = Map.Steps;
  Steps.resize(Map.rank(), 1);
  return S.checks() + "  const CupilotMapKey " + Name + "Key = {\n      " +
         addressText(Host, Map.Base) + ",\n      " + Numbers(Extents) + ", " +
         Numbers(Strides) + "};\n  static const CupilotMapPlan " + Name +
         "Plan = {\n      /*type=*/" + std::to_string(Map.Type) +
         ", /*swizzle=*/" + std::to_string(Map.Swizzle) + ", /*promotion=*/" +
         std::to_string(Map.Promotion) + ", /*fill=*/" +
         std::to_string(Map.FillNan) + ",\n      /*rank=*/" +
         std::to_string(Map.rank()) + ", /*box=*/" + Numbers(Map.Box) +
         ", /*steps=*/" + Numbers(Steps) +
         "};\n  static thread_local CupilotMapCache " + Name +
         "Cache;\n  void *const " + Name + " = cupilotTensorMap(&" + Name +
         "Cache, &" + Name + "Key, &" + Name + "Plan);\n  if (!" + Name +
         ")\n    return false;\n";
}

std::string AttemptWriter::extendedLaunches(ArrayRef<ShapeText> Shapes) {
  std::string Text;
  std::vector<std::string> Args, Rooms;
  for (const std::string &Name : Host.Params.Names)
    Args.push_back("(void *)__builtin_addressof(" + Name + ")");
  ShapeText Sizes;
  for (auto [I, Size] : enumerate(Plan.Scratch)) {
    std::string Number = std::to_string(I + 1);
    std::string Value =
        value(Size, "size" + Number, 1, std::to_string(MostScratch), Sizes);
    Rooms.push_back("(" + Value + " + " + std::to_string(ScratchAlignment - 1) +
                    ") / " + std::to_string(ScratchAlignment) + " * " +
                    std::to_string(ScratchAlignment));
    Args.push_back("&scratch" + Number);
  }
  Text += Sizes.checks();
  for (auto [I, Map] : enumerate(Plan.TensorMaps)) {
    std::string Name = "map" + std::to_string(I + 1);
    Text += tensorMap(Map, Name);
    Args.push_back(Name);
  }
  if (!Rooms.empty()) {
    std::string Total = join(Rooms, " + ");
    Needs.Scratch = true;
    Text += "  char *const scratch = cupilotAllocate(static_cast<size_t>(" +
            Total +
            "),\n                                        stream, device);\n"
            "  if (!scratch)\n    return false;\n";
    for (size_t I = 0; I < Rooms.size(); ++I)
      Text += "  char *scratch" + std::to_string(I + 1) + " = " +
              (I ? "scratch" + std::to_string(I) + " + " + Rooms[I - 1]
                 : "scratch") +
              ";\n";
  }
  Text += "  void *args[] = {" + (Args.empty() ? "nullptr" : join(Args, ", ")) +
          "};\n  const cudaError_t first = " +
          oneLaunch(Plan.Launches[0], Shapes[0]) + ";\n";
  if (Shapes.size() > 1) {
    Text += "  // What the first did is done: now errors are the program's.\n"
            "  if (first == cudaSuccess";
    for (size_t I = 1; I + 1 < Shapes.size(); ++I)
      Text += " &&\n      " + oneLaunch(Plan.Launches[I], Shapes[I]) +
              " == cudaSuccess";
    Text += ")\n    " + oneLaunch(Plan.Launches.back(), Shapes.back()) + ";\n";
  }
  Text += "  if (first != cudaSuccess)\n"
          "    cudaGetLastError(); // The original runs.\n";
  if (!Rooms.empty())
    Text += "  cudaFreeAsync(scratch, stream);\n";
  return Text + "  return first == cudaSuccess;\n";
}

std::string AttemptWriter::body() {
  const EjectVariant &V = *Code.V;
  Needs.FieldAt |= Host.ReadsBytes;
  Needs.Checked |= !V.When.Disjoints.empty() ||
                   any_of(V.When.Constraints, [](const Constraint &C) {
                     return C.E.K != Expr::Kind::Constant ||
                            (C.IsEq ? C.E.Value != 0 : C.E.Value < 0);
                   });
  std::string Text = guardText(Host, V);
  if (V.Where) {
    Text += domainText(Host, *V.Where);
    Needs.Domain |= any_of(V.Where->Boxes,
                           [](const DomainBox &Box) { return Box.size() > 0; });
    Needs.Checked |= Needs.Domain;
  }
  std::vector<ShapeText> Shapes;
  for (auto [I, L] : enumerate(Plan.Launches)) {
    Shapes.push_back(shape(L, I));
    Needs.Cluster |= L.Cluster.has_value();
    Text += Shapes.back().checks();
  }
  std::string Arch = StringRef(V.When.Arch).drop_front(3).str();
  Text += "  // The GPU for which it was proved, with room for its blocks.\n"
          "  static unsigned long long known[" +
          std::to_string(Code.Kernels.size()) + "][64];\n";
  // What the program allows the original, the variant needs too.
  const char *Raise =
      any_of(Plan.Launches,
             [](const Launch &L) { return L.Shared != Expr::constant(0); })
          ? "1"
          : "0";
  for (auto [I, L] : enumerate(Plan.Launches))
    Text += "  if (!cupilotFits(cupilotFacts(" + handle(L) +
            ",\n                                " + Arch + ", device, " +
            Raise + ", known[" + std::to_string(Plan.indexOf(L)) +
            "]),\n                   " + Shapes[I].threads() + ", " +
            Shapes[I].Value[6] + "))\n    return false;\n";
  Text += "  if (cupilotIsCapturing(stream))\n    return false;\n";
  return Text + (Plan.isExtended() ? extendedLaunches(Shapes)
                                   : simpleLaunch(Shapes.front()));
}

std::string deviceText(const EjectGroup &Group, const EjectCode &Code) {
  std::string Name = ejectNamespace(Group, Code);
  return "\n// Variant " + Code.V->Name + " of " + Group.Callee + ": " +
         Code.V->Genome + ".\nnamespace " + Name + " {\n\n" +
         StringRef(Code.Body).trim("\n").str() + "\n\n} // namespace " + Name +
         "\n";
}

std::string attemptText(const EjectGroup &Group, const EjectHost &Host,
                        const EjectCode &Code, EjectHelpers &Needs) {
  std::string Body = AttemptWriter(Group, Host, Code, Needs).body();
  return "\n// Launches " + Code.V->Name +
         " where that is proved to be right; false elsewhere.\n"
         "static inline bool launch_" +
         Code.Id + "(int device, " +
         ejectParameters(Host.Params, false, &Body) + ") {\n" + Body + "}\n";
}

} // namespace cupilot
