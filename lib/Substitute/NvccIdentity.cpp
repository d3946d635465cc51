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
// that nvcc makes of the unit's path. A static shared variable stands in the
// function's body where the unit uses it nowhere else, and outside where it
// does ("has been demoted"): here it is always outside.
//
//===----------------------------------------------------------------------===//

#include "NvccAssertions.h"
#include "cupilot/Portable/UnitName.h"
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

/// A table of the toolkit's own functions, as sinf's: constant, and the same
/// wherever it stands.
static bool isToolkitTable(StringRef Name) {
  return Name.starts_with("__cudart_");
}

/// A device variable's name without what nvcc makes of the unit: the parts
/// "35_INTERNAL_d8b831c9_5_st_cu__Z2lkPfi" and "37_GLOBAL__N__d8b831c9..." of a
/// mangled name hold a digest of its path and the name of its first kernel, and
/// so does the prefix that relocatable device code has.
static std::string withoutUnit(StringRef Name) {
  Name = withoutUnitName(Name);
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
  /// It calls by a pointer, or takes a function's address.
  bool FunctionPointers = false;
  std::string WeakFunction;

private:
  Error print(const NvccPtx::Item &Item);
  Error printName(StringRef Name);
  Error reach(const NvccPtx::Item &Item, std::string &Name);
  StringRef word(const NvccPtx::Item &Item, unsigned I) const {
    return I >= Item.First && I < Item.Last ? M.spelling(M.Tokens[I])
                                            : StringRef();
  }
  bool isLabel(const NvccPtx::Item &Item, unsigned I) const;
  void findDemoted(const NvccPtx::Item &Function);

  using Kind = NvccPtx::Item::Kind;
  const NvccPtx &M;
  std::vector<NvccPtx::Item> Queue; ///< In the order of first use.
  /// The shared variables in the body that is printed, by name.
  StringMap<NvccPtx::Item> Demoted;
  StringMap<std::string> Global, Local;
  unsigned Locals = 0;
};

/// The name of a module-level item in the canonical text; at its first use it
/// is queued.
Error NvccPtxCanonicaliser::reach(const NvccPtx::Item &Item,
                                  std::string &Name) {
  StringRef Own = M.spelling(M.Tokens[Item.Name]);
  auto [It, New] = Global.try_emplace(Own);
  if (New) {
    bool Keep = Item.K == Kind::Variable && !isLiteral(Own);
    if (Item.K == Kind::Function && !Item.Defined) {
      if (!isSystemFunction(Own))
        return buildError(BuildReason::UndefinedFunction,
                          {NvccPtx::sourceName(Own)});
      Keep = true;
    }
    if (Item.K == Kind::Function && Item.Weak && WeakFunction.empty())
      WeakFunction = Own.str();
    if (Item.K == Kind::Kernel && !Queue.empty())
      return buildError(BuildReason::RefersToKernel, {Own});
    if (Item.K == Kind::Variable && Item.External)
      return buildError(BuildReason::ExternalVariable,
                        {NvccPtx::sourceName(Own)});
    if (Keep && Item.K == Kind::Variable &&
        !(isToolkitTable(Own) && Item.Defined))
      Variables.push_back(Own.str());
    It->second = Keep ? withoutUnit(Own) : "G" + utostr(Queue.size());
    Queue.push_back(Item);
  }
  Name = It->second;
  return Error::success();
}

Error NvccPtxCanonicaliser::printName(StringRef Name) {
  auto Known = M.Index.find(Name);
  std::string As;
  if (auto It = Demoted.find(Name); It != Demoted.end()) {
    if (Error E = reach(It->second, As))
      return E;
  } else if (Known != M.Index.end() && !Local.contains(Name)) {
    if (Error E = reach(M.Items[Known->second], As))
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

void NvccPtxCanonicaliser::findDemoted(const NvccPtx::Item &Function) {
  Demoted.clear();
  if (Function.K != Kind::Function && Function.K != Kind::Kernel)
    return;
  for (unsigned I = Function.First; I < Function.Last; ++I) {
    StringRef Before = word(Function, I - 1);
    if (word(Function, I) != ".shared" || (Before != ";" && Before != "{"))
      continue;
    NvccPtx::Item Variable;
    Variable.K = Kind::Shared;
    Variable.First = Variable.Name = I;
    while (I < Function.Last && word(Function, I) != ";") {
      if (M.Tokens[I].IsName && Variable.Name == Variable.First)
        Variable.Name = I;
      ++I;
    }
    Variable.Last = std::min(I + 1, Function.Last);
    if (Variable.Name != Variable.First)
      Demoted[word(Function, Variable.Name)] = Variable;
  }
}

/// A name with a colon behind it, but for modifiers: "ld.global.L2::128B".
bool NvccPtxCanonicaliser::isLabel(const NvccPtx::Item &Item,
                                   unsigned I) const {
  return word(Item, I + 1) == ":" && word(Item, I + 2) != ":";
}

Error NvccPtxCanonicaliser::print(const NvccPtx::Item &Item) {
  auto Word = [&](unsigned I) { return word(Item, I); };
  findDemoted(Item);
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
    bool Label = isLabel(Item, I);
    if (I != Item.Name && (Label || Declaration) && !Demoted.contains(W))
      Local.try_emplace(W);
    // Of lists, ".reg .b64 a, b;", all.
    Declaration &= Word(I + 1) == ",";
  }
  SmallVector<StringRef> Words;
  for (unsigned I = Item.First; I < Item.Last; ++I)
    Words.push_back(Word(I));
  DenseSet<unsigned> Places = findAssertionPlaces(Words, isLiteral);
  bool Linkage = true, IsCall = false;
  for (unsigned I = Item.First; I < Item.Last; ++I) {
    StringRef W = Word(I);
    if (W == ";" || W == "{" || W == "}")
      IsCall = false;
    IsCall |= W == "call" || W.starts_with("call.");
    FunctionPointers |= W == ".callprototype" || W == ".calltargets";
    // Who may see a function changes nothing without a device linker.
    if (Linkage && (W == ".visible" || W == ".weak" || W == ".extern" ||
                    W == ".common" || W == ".hidden"))
      continue;
    Linkage = false;
    if (W == ".shared" && (Word(I - 1) == ";" || Word(I - 1) == "{")) {
      unsigned End = I;
      while (End + 1 < Item.Last && Word(End) != ";")
        ++End;
      if (any_of(Demoted,
                 [&](const auto &Each) { return Each.second.First == I; })) {
        I = End;
        continue;
      }
    }
    if (Places.contains(I - Item.First)) {
      Text += "place ";
      continue;
    }
    if (M.Tokens[I].IsName) {
      if (isLabel(Item, I) && Mentions[W] == 1) {
        ++I; // Only a debugger knows that label.
        continue;
      }
      if (auto Named = M.Index.find(W);
          I != Item.Name && !IsCall && Named != M.Index.end() &&
          !Local.contains(W) && M.Items[Named->second].K == Kind::Function)
        FunctionPointers = true;
      if (I == Item.Name)
        Text += Global[W];
      else if (Error E = printName(W))
        return E;
    } else {
      if (W.starts_with("%envreg"))
        return buildError(BuildReason::WaitsOrDepends);
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
    return buildError(BuildReason::NotInPtx, {Kernel});
  if (StringRef(M.TargetLine).contains("debug"))
    return buildError(BuildReason::NotOptimised);
  std::string Name;
  if (Error E = reach(M.Items[It->second], Name))
    return E;
  for (size_t I = 0; I < Queue.size(); ++I)
    // By value: the queue grows.
    if (Error E = print(NvccPtx::Item(Queue[I])))
      return E;
  return Error::success();
}

Expected<NvccPtx::Closure> NvccPtx::closure(StringRef Kernel,
                                            StringRef Context) const {
  NvccPtxCanonicaliser C(*this);
  if (Error E = C.run(Kernel))
    return std::move(E);
  return Closure{"ptx " + TargetLine + "\n" + C.Text +
                     (Context.empty() ? "" : ("ptxas " + Context + "\n").str()),
                 std::move(C.Variables), C.FunctionPointers,
                 std::move(C.WeakFunction)};
}

Expected<std::string> NvccPtx::canonicalText(StringRef Kernel,
                                             StringRef Context) const {
  Expected<Closure> C = closure(Kernel, Context);
  if (!C)
    return C.takeError();
  return std::move(C->Text);
}

} // namespace cupilot
