//===- NvccIdentity.cpp - Canonical texts of nvcc's kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closure is walked in the order of first use. Names that a program or the
// compiler chose become numbers; device variables keep theirs, without the part
// that nvcc makes of the unit's path.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

/// Functions that the driver or the toolkit's own device run time defines: they
/// are the same for every unit (CUDA C++ Programming Guide, "Formatted Output",
/// "Dynamic Global Memory Allocation", "Assertion").
static bool isSystemFunction(StringRef Name) {
  return Name == "vprintf" || Name == "malloc" || Name == "free" ||
         Name == "__assertfail";
}

/// String literals and what the compiler itself names: content without address.
static bool isLiteral(StringRef Name) {
  return Name.starts_with("$str") || Name.starts_with("__unnamed_");
}

/// A device variable's name without what nvcc makes of the unit: the parts
/// "35_INTERNAL_d8b831c9_5_st_cu__Z2lkPfi" and "37_GLOBAL__N__d8b831c9..." of a
/// mangled name hold a digest of its path and the name of its first kernel.
static std::string withoutUnit(StringRef Name) {
  std::string Result;
  while (!Name.empty()) {
    StringRef Rest = Name;
    unsigned Length = 0;
    if (!Rest.consumeInteger(10, Length) && Length <= Rest.size() &&
        (Rest.starts_with("_INTERNAL_") || Rest.starts_with("_GLOBAL__N_"))) {
      Result += Rest.take_front(sizeof("_INTERNAL"));
      Name = Rest.drop_front(Length);
      continue;
    }
    Result += Name.front();
    Name = Name.drop_front();
  }
  return Result;
}

class NvccPtxCanonicaliser {
public:
  explicit NvccPtxCanonicaliser(const NvccPtx &M) : M(M) {}
  Error run(StringRef Kernel);
  std::string Text;
  std::vector<std::string> Variables;

private:
  Error print(unsigned Item);
  Error printName(StringRef Name);
  Error reach(unsigned Item, std::string &Name);

  using Kind = NvccPtx::Item::Kind;
  const NvccPtx &M;
  std::vector<unsigned> Queue; ///< Items in the order of first use.
  StringMap<std::string> Global, Local;
  unsigned Locals = 0;
};

/// The name of a module-level item in the canonical text; at its first use it
/// is queued.
Error NvccPtxCanonicaliser::reach(unsigned Number, std::string &Name) {
  const NvccPtx::Item &Item = M.Items[Number];
  StringRef Own = M.spelling(M.Tokens[Item.Name]);
  auto [It, New] = Global.try_emplace(Own);
  if (New) {
    bool Keep = Item.K == Kind::Variable && !isLiteral(Own);
    if (Item.K == Kind::Function && !Item.Defined) {
      if (!isSystemFunction(Own))
        return findingError(textOf(BuildReason::UndefinedFunction, {Own}));
      Keep = true;
    }
    if (Item.K == Kind::Kernel && !Queue.empty())
      return findingError(textOf(BuildReason::RefersToKernel, {Own}));
    if (Item.K == Kind::Variable && Item.External)
      return findingError(textOf(BuildReason::ExternalVariable, {Own}));
    if (Keep && Item.K == Kind::Variable)
      Variables.push_back(Own.str());
    It->second = Keep ? withoutUnit(Own) : "G" + utostr(Queue.size());
    Queue.push_back(Number);
  }
  Name = It->second;
  return Error::success();
}

Error NvccPtxCanonicaliser::printName(StringRef Name) {
  auto Known = M.Index.find(Name);
  std::string As;
  if (Known != M.Index.end() && !Local.contains(Name)) {
    if (Error E = reach(Known->second, As))
      return E;
  } else if (auto It = Local.find(Name); It != Local.end()) {
    if (It->second.empty())
      It->second = "L" + utostr(Locals++);
    As = It->second;
  } else {
    As = Name.str();
  }
  Text += As;
  return Error::success();
}

Error NvccPtxCanonicaliser::print(unsigned Number) {
  const NvccPtx::Item &Item = M.Items[Number];
  auto Word = [&](unsigned I) {
    return I >= Item.First && I < Item.Last ? M.spelling(M.Tokens[I])
                                            : StringRef();
  };
  // Names that the item itself declares: parameters, locals, labels.
  Local.clear();
  Locals = 0;
  StringMap<unsigned> Mentions;
  bool Declaration = false;
  for (unsigned I = Item.First; I < Item.Last; ++I) {
    StringRef W = Word(I);
    if (W == ".param" || W == ".local" || W == ".shared" || W == ".global" ||
        W == ".const" || W == ".reg")
      Declaration = true;
    else if (W == ";" || W == ")" || W == "{")
      Declaration = false;
    if (!M.Tokens[I].IsName)
      continue;
    ++Mentions[W];
    bool Label = Word(I + 1) == ":";
    if (I != Item.Name && (Label || Declaration))
      Local.try_emplace(W);
    // Of lists, ".reg .b64 a, b;", all.
    Declaration &= Word(I + 1) == ",";
  }
  bool Linkage = true;
  for (unsigned I = Item.First; I < Item.Last; ++I) {
    StringRef W = Word(I);
    // Who may see a function changes nothing without a device linker.
    if (Linkage && (W == ".visible" || W == ".weak" || W == ".extern" ||
                    W == ".common" || W == ".hidden"))
      continue;
    Linkage = false;
    if (M.Tokens[I].IsName) {
      if (Word(I + 1) == ":" && Mentions[W] == 1) {
        ++I; // Only a debugger knows that label.
        continue;
      }
      if (Error E = printName(W))
        return E;
    } else {
      if (W.starts_with("%envreg"))
        return findingError(textOf(BuildReason::WaitsOrDepends));
      Text += W;
    }
    Text += W == ";" || W == "{" || W == "}" ? '\n' : ' ';
  }
  Text += "\n";
  return Error::success();
}

Error NvccPtxCanonicaliser::run(StringRef Kernel) {
  auto It = M.Index.find(Kernel);
  if (It == M.Index.end() || M.Items[It->second].K != Kind::Kernel ||
      !M.Items[It->second].Defined)
    return findingError(textOf(BuildReason::NotInPtx, {Kernel}));
  if (StringRef(M.TargetLine).contains("debug"))
    return findingError(textOf(BuildReason::NotOptimised));
  std::string Name;
  if (Error E = reach(It->second, Name))
    return E;
  for (size_t I = 0; I < Queue.size(); ++I)
    if (Error E = print(Queue[I]))
      return E;
  return Error::success();
}

Expected<std::string> NvccPtx::canonicalText(StringRef Kernel,
                                             StringRef Context) const {
  NvccPtxCanonicaliser C(*this);
  if (Error E = C.run(Kernel))
    return std::move(E);
  return "ptx " + TargetLine + "\n" + C.Text +
         (Context.empty() ? "" : ("ptxas " + Context + "\n").str());
}

Expected<std::vector<std::string>> NvccPtx::variables(StringRef Kernel) const {
  NvccPtxCanonicaliser C(*this);
  if (Error E = C.run(Kernel))
    return std::move(E);
  return std::move(C.Variables);
}

} // namespace cupilot
