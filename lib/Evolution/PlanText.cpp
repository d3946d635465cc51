//===- PlanText.cpp - Plans and guards in short forms -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The short forms are written out as the attributes that they stand for, so
// that MLIR's parser and the dialect's verifiers judge both.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Sample = "cupilot.sample";

std::vector<std::string> scalarNames(const Kernel &K) {
  StringSet<> Taken{"gx", "gy",     "gz",  "bx",       "by",
                    "bz", "shared", "mod", "floordiv", "ceildiv"};
  std::vector<std::string> Names;
  for (auto [I, S] : enumerate(K.Scalars)) {
    const KernelParam &P = K.Params[S.Param];
    bool Whole = S.Offset == 0 && P.Size == S.Bits / 8 && !P.Name.empty();
    Names.push_back(Whole && Taken.insert(P.Name).second ? P.Name
                                                         : "s" + utostr(I));
  }
  return Names;
}

/// "(gx, ..., shared)[n, s1]", with the names of the integer arguments.
static std::string spaceOf(const Kernel &K) {
  return "(gx, gy, gz, bx, by, bz, shared)[" + join(scalarNames(K), ", ") + "]";
}

/// The attribute that \p Text ends with; what stands before are its aliases.
template <typename AttrT>
static Expected<AttrT> parseAttr(mlir::MLIRContext &C, StringRef Aliases,
                                 StringRef Text, StringRef Option) {
  loadDialect(C);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M = parseModule(
      C,
      (Aliases + "\nmodule attributes {" + Sample + " = " + Text + "} {}\n")
          .str(),
      Option);
  if (!M)
    return M.takeError();
  if (auto Attr = (**M)->getAttrOfType<AttrT>(Sample))
    return Attr;
  return usageError("'" + Text + "' is not what " + Option + " takes");
}

/// "(a, b, c)"; a list of fewer dimensions is filled up with what the original
/// launch has, or, without \p Prefix, with ones.
static std::string threeOf(StringRef Text, StringRef Prefix) {
  Text = Text.trim();
  if (Text.starts_with("(") && Text.ends_with(")"))
    Text = Text.drop_front().drop_back();
  std::string Result = "(" + Text.str();
  for (size_t Have = Text.count(',') + 1; Have < 3; ++Have)
    Result +=
        Prefix.empty() ? ", 1" : (", " + Prefix + Twine("xyz"[Have])).str();
  return Result + ")";
}

static Expected<unsigned> pointerOf(StringRef Name, const Kernel &K) {
  for (auto [I, P] : enumerate(K.Params))
    if (P.Name == Name && P.IsPointer)
      return I;
  return usageError("'" + Name + "' is no pointer that '" + K.Name + "' takes");
}

namespace {
/// Writes the attribute that a plan in short form stands for.
class PlanWriter {
public:
  explicit PlanWriter(const Kernel &K)
      : K(K), Space("affine_map<" + spaceOf(K) + " -> ") {}
  Expected<std::string> write(StringRef Text);

private:
  /// A launch as the text has it so far.
  struct Shape {
    std::string Symbol, Grid = "(gx, gy, gz)", Block = "(bx, by, bz)",
                        Shared = "(shared)", Cluster;
  };
  std::string map(const Twine &Results) const {
    return (Space + Results + ">").str();
  }
  Error part(StringRef Text);
  Expected<std::string> tensorMap(StringRef Text) const;

  const Kernel &K;
  const std::string Space;
  Shape Default;
  std::vector<Shape> Launches;
  std::string Scratch, Maps;
};
} // namespace

static Error noPart(StringRef Text) {
  return usageError(
      "'" + Text.trim() + "' is no part of a plan",
      "--plan='grid=(n ceildiv 1024, 1, 1); block=(128, 1, 1); shared=0; "
      "cluster=(4, 1, 1); scratch=gx * 4; tensormap=x f32 extents(w, h) "
      "strides(w * 4) box(32, 8) swizzle(128B); launch NAME: grid=...'");
}

/// "extents(w, h)" as "w, h"; takes it off \p Text. Nothing when there is no
/// such group; "" when it does not end.
static std::optional<StringRef> takeGroup(StringRef &Text, StringRef Name) {
  size_t At = Text.find((Name + "(").str());
  if (At == StringRef::npos)
    return std::nullopt;
  size_t Begin = At + Name.size() + 1, End = Begin;
  for (unsigned Depth = 1; End < Text.size(); ++End) {
    Depth += Text[End] == '(';
    if (Text[End] == ')' && --Depth == 0)
      break;
  }
  StringRef Inner = Text.slice(Begin, End);
  return Inner.trim();
}

Expected<std::string> PlanWriter::tensorMap(StringRef Text) const {
  auto [Name, Rest] = Text.trim().split(' ');
  StringRef Type = Rest.trim().split(' ').first;
  Expected<unsigned> Param = pointerOf(Name, K);
  if (!Param)
    return Param.takeError();
  auto Group = [&](StringRef Key) { return takeGroup(Rest, Key); };
  std::optional<StringRef> Extents = Group("extents"), Box = Group("box");
  if (!Extents || !Box)
    return usageError("the tensor map '" + Text.trim() + "' has no " +
                          (Extents ? "box" : "extents"),
                      "tensormap=x f32 extents(w, h) strides(w * 4) "
                      "box(32, 8) swizzle(128B)");
  std::string Attr =
      ("<base = <param = " + Twine(*Param) + ">, type = \"" + Type +
       "\", extents = " + map("(" + *Extents + ")") +
       ", strides = " + map("(" + Group("strides").value_or("") + ")") +
       ", box = [" + *Box + "]")
          .str();
  if (std::optional<StringRef> Steps = Group("steps"))
    Attr += (", steps = [" + *Steps + "]").str();
  for (StringRef Key : {"swizzle", "promotion", "fill"})
    if (std::optional<StringRef> Word = Group(Key))
      Attr += (", " + Key + " = \"" + *Word + "\"").str();
  return Attr + ">";
}

Error PlanWriter::part(StringRef Text) {
  Text = Text.trim();
  if (Text.consume_front("launch ")) {
    auto [Name, Rest] = Text.split(':');
    Launches.push_back(Default);
    Launches.back().Symbol = Name.trim().str();
    Rest = Rest.trim();
    return Rest.empty() ? Error::success() : part(Rest);
  }
  auto [Name, Value] = Text.split('=');
  Name = Name.trim();
  Shape &L = Launches.empty() ? Default : Launches.back();
  if (Name == "grid")
    L.Grid = threeOf(Value, "g");
  else if (Name == "block")
    L.Block = threeOf(Value, "b");
  else if (Name == "shared")
    L.Shared = ("(" + Value + ")").str();
  else if (Name == "cluster")
    L.Cluster = threeOf(Value, "");
  else if (Name == "scratch")
    Scratch += (Scratch.empty() ? "" : ", ") + Value.trim().str();
  else if (Name == "tensormap") {
    Expected<std::string> Map = tensorMap(Value);
    if (!Map)
      return Map.takeError();
    Maps += (Maps.empty() ? "" : ", ") + *Map;
  } else {
    return noPart(Text);
  }
  return Error::success();
}

Expected<std::string> PlanWriter::write(StringRef Text) {
  Default.Symbol = K.Symbol;
  SmallVector<StringRef> Parts;
  Text.split(Parts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts)
    if (!Part.trim().empty())
      if (Error E = part(Part))
        return std::move(E);
  if (Launches.empty())
    Launches.push_back(Default);
  std::string Attr;
  for (const Shape &L : Launches) {
    Attr += (Attr.empty() ? "#cupilot.plan<[" : ", ");
    Attr += "<symbol = \"" + L.Symbol + "\", grid = " + map(L.Grid) +
            ", block = " + map(L.Block) + ", shared = " + map(L.Shared);
    if (!L.Cluster.empty())
      Attr += ", cluster = " + map(L.Cluster);
    Attr += ">";
  }
  Attr += "]";
  if (!Scratch.empty())
    Attr += " scratch " + map("(" + Scratch + ")");
  if (!Maps.empty())
    Attr += " tensormaps [" + Maps + "]";
  return Attr + ">";
}

Expected<LaunchPlan> parsePlan(StringRef Text, const Kernel &K) {
  Text = Text.trim();
  mlir::MLIRContext C;
  if (size_t At = Text.rfind("#cupilot.plan<"); At != StringRef::npos) {
    Expected<PlanAttr> Plan =
        parseAttr<PlanAttr>(C, Text.substr(0, At), Text.substr(At), "--plan");
    if (!Plan)
      return Plan.takeError();
    return fromAttr(*Plan);
  }
  Expected<std::string> Written = PlanWriter(K).write(Text);
  if (!Written)
    return Written.takeError();
  Expected<PlanAttr> Plan = parseAttr<PlanAttr>(C, "", *Written, "--plan");
  if (!Plan)
    return Plan.takeError();
  return fromAttr(*Plan);
}

Expected<Guard> parseGuard(StringRef Text, const Kernel &K, StringRef Arch) {
  Text = Text.trim();
  mlir::MLIRContext C;
  if (size_t At = Text.rfind("#cupilot.guard<"); At != StringRef::npos) {
    Expected<GuardAttr> When =
        parseAttr<GuardAttr>(C, Text.substr(0, At), Text.substr(At), "--guard");
    if (!When)
      return When.takeError();
    return fromAttr(*When);
  }
  std::string Space = spaceOf(K), Set, Align, Disjoints;
  SmallVector<StringRef> Clauses;
  Text.split(Clauses, ';', -1, /*KeepEmpty=*/false);
  auto Pointer = [&](StringRef Name) -> Expected<std::string> {
    Expected<unsigned> Param = pointerOf(Name.trim(), K);
    if (!Param)
      return Param.takeError();
    return "<param = " + utostr(*Param) + ">";
  };
  for (StringRef Clause : Clauses) {
    Clause = Clause.trim();
    if (Clause.consume_front("align ")) {
      auto [Name, Bytes] = Clause.trim().split(' ');
      Expected<std::string> P = Pointer(Name);
      if (!P)
        return P.takeError();
      Align += (Twine(Align.empty() ? "" : ", ") + "<pointer = " + *P +
                ", bytes = " + Bytes.trim() + ">")
                   .str();
    } else if (Clause.consume_front("disjoint ")) {
      auto [A, B] = Clause.split(',');
      auto [NameA, ExtentA] = A.trim().split(' ');
      auto [NameB, ExtentB] = B.trim().split(' ');
      Expected<std::string> PA = Pointer(NameA), PB = Pointer(NameB);
      if (!PA || !PB)
        return joinErrors(PA ? Error::success() : PA.takeError(),
                          PB ? Error::success() : PB.takeError());
      Disjoints += (Twine(Disjoints.empty() ? "" : ", ") + "<a = " + *PA +
                    ", b = " + *PB + ", extent_a = affine_map<" + Space +
                    " -> (" + ExtentA + ")>, extent_b = affine_map<" + Space +
                    " -> (" + ExtentB + ")>>")
                       .str();
    } else {
      Set += (Set.empty() ? "" : ", ") + Clause.str();
    }
  }
  std::string Aliases = "#set = affine_set<" + Space + " : (" +
                        (Set.empty() ? "0 == 0" : Set) + ")>";
  std::string Attr = "#cupilot.guard<\"" + Arch.str() + "\", #set";
  if (!Align.empty())
    Attr += " align [" + Align + "]";
  if (!Disjoints.empty())
    Attr += " disjoint [" + Disjoints + "]";
  Expected<GuardAttr> When =
      parseAttr<GuardAttr>(C, Aliases, Attr + ">", "--guard");
  if (!When)
    return When.takeError();
  return fromAttr(*When);
}

} // namespace cupilot
