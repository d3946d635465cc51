//===- Handshake.cpp - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fact denies a gene only where code with that gene cannot look so: for most
// strategies there is an instruction that they are made of. Strategies that no
// instruction shows stay when the model names them.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Handshake.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

bool CodeFacts::has(StringRef Text) const {
  return StringRef(Words).contains(Text);
}

/// Bytes that "ld.global.nc.v4.f32" moves; 0 for other instructions.
static unsigned globalBytes(StringRef Word) {
  bool Load = Word.consume_front("ld."),
       Store = !Load && Word.consume_front("st.");
  if (!Load && !Store)
    return 0;
  SmallVector<StringRef> Parts;
  Word.split(Parts, '.');
  // Without a space it may be any; those of other spaces say so.
  if (any_of(Parts, [](StringRef P) {
        return P == "shared" || P == "local" || P == "param" || P == "const";
      }))
    return 0;
  unsigned Count = 1, Bits = 0;
  for (StringRef P : Parts) {
    unsigned Number;
    if (StringRef Rest = P;
        Rest.consume_front("v") && !Rest.getAsInteger(10, Number))
      Count = Number;
    else if (StringRef Rest = P; !Rest.empty() && isAlpha(Rest.front()) &&
                                 !Rest.drop_front().getAsInteger(10, Number) &&
                                 StringRef("bsuf").contains(Rest.front()))
      Bits = Number;
  }
  return Count * Bits / 8;
}

CodeFacts codeFacts(StringRef Ptx) {
  CodeFacts F;
  StringSet<> Labels;
  bool InKernel = false;
  for (StringRef Rest = Ptx; !Rest.empty();) {
    auto [Whole, Behind] = Rest.split('\n');
    Rest = Behind;
    StringRef Line = Whole.split("//").first.trim();
    InKernel |= Line == "{";
    if (Line.empty())
      continue;
    if (Line.starts_with("$") && Line.ends_with(":")) {
      Labels.insert(Line.drop_back());
      continue;
    }
    F.Shared |= Line.contains(".shared");
    // A predicate stands before its instruction.
    StringRef Text = Line;
    if (Text.consume_front("@"))
      Text =
          Text.drop_while([](char C) { return C != ' ' && C != '\t'; }).ltrim();
    StringRef Word = Text.take_until(
        [](char C) { return C == ' ' || C == '\t' || C == ';'; });
    if (Word.starts_with(".") || !InKernel) {
      F.Words += (Line + "\n").str();
      continue;
    }
    if (Word.empty() || !isAlpha(Word.front()))
      continue;
    ++F.Instructions;
    F.Words += (Text + "\n").str();
    F.WidestAccess = std::max(F.WidestAccess, globalBytes(Word));
    if (Word.starts_with("bra"))
      F.BackwardBranches +=
          Labels.contains(Text.drop_front(Word.size()).trim(" \t;"));
  }
  return F;
}

namespace {
/// One candidate's hands.
class Handshake {
public:
  Handshake(const HandshakeCode &Code)
      : P(Code.P), Plan(Code.Variant.Record.Code->Plan),
        Source(Code.Variant.Record.Code->Source),
        Old(codeFacts(Code.OriginalPtx)), New(codeFacts(Code.Variant.Ptx)) {}
  /// Why the gene cannot be there; "" when it may. May put its values right.
  std::string denies(Gene &G, const LibraryStrategy *S) const;

private:
  std::string needs(std::initializer_list<StringRef> Any) const;
  std::string blockSize(Gene &G, const LibraryStrategy *S) const;
  std::string vectors() const;
  /// Threads (or blocks) of all launches of the plan, and of the original, on
  /// the first workload that can be reckoned.
  std::optional<std::pair<double, double>> sizes(bool Blocks) const;

  const SearchProblem &P;
  const LaunchPlan &Plan;
  StringRef Source;
  const CodeFacts Old, New;
};
} // namespace

std::string Handshake::needs(std::initializer_list<StringRef> Any) const {
  for (StringRef Text : Any)
    if (New.has(Text))
      return "";
  return "no " + join(Any, ", ") + " in the device code";
}

static GeneParam *param(Gene &G, StringRef Name) {
  for (GeneParam &Param : G.Params)
    if (Param.Name == Name)
      return &Param;
  return nullptr;
}

static bool inDomain(const LibraryStrategy *S, StringRef Name, int64_t Value) {
  if (!S)
    return false;
  for (const StrategyInfo::Param &Param : S->Info.Params)
    if (Param.Name == Name)
      return is_contained(Param.Values, Value);
  return false;
}

std::optional<std::pair<double, double>> Handshake::sizes(bool Blocks) const {
  for (const Workload &W : P.Workloads) {
    Expected<Bindings> B = bindLaunch(W.Shape, P.K.Scalars, W.Args);
    if (!B) {
      consumeError(B.takeError());
      continue;
    }
    double Before = 1, After = 0;
    for (unsigned I = 0; I < 3; ++I)
      Before *=
          double(W.Shape.Grid[I]) * (Blocks ? 1 : double(W.Shape.Block[I]));
    bool Known = true;
    for (const Launch &L : Plan.Launches) {
      double Size = 1;
      for (unsigned I = 0; I < 3; ++I) {
        std::optional<int64_t> G = evaluate(L.Grid[I], *B),
                               T = evaluate(L.Block[I], *B);
        Known &= G && T;
        Size *= double(G.value_or(0)) * (Blocks ? 1 : double(T.value_or(0)));
      }
      // The others prepare or combine: the largest one does the work.
      After = std::max(After, Size);
    }
    if (Known)
      return std::pair(Before, After);
  }
  return std::nullopt;
}

std::string Handshake::blockSize(Gene &G, const LibraryStrategy *S) const {
  GeneParam *X = param(G, "x");
  std::vector<int64_t> Sizes;
  for (const Launch &L : Plan.Launches) {
    if (L.Block == Launch().Block)
      continue;
    std::optional<int64_t> First = evaluate(L.Block[0], Bindings()),
                           Product = First;
    for (unsigned I = 1; I < 3; ++I)
      if (std::optional<int64_t> Size = evaluate(L.Block[I], Bindings());
          Size && Product)
        *Product *= *Size;
      else
        Product.reset();
    // Sizes that depend on the launch have no one number.
    if (!First || *First <= 0 || !Product || *Product <= 0)
      return "";
    if (X && (*First == X->Value || *Product == X->Value))
      return "";
    Sizes.push_back(*Product);
    Sizes.push_back(*First);
  }
  if (Sizes.empty())
    return "the plan's blocks are those of the original";
  for (int64_t Size : Sizes)
    if (X && inDomain(S, "x", Size)) {
      X->Value = Size;
      return "";
    }
  return "the plan's blocks have " + std::to_string(Sizes.front()) + " threads";
}

std::string Handshake::vectors() const {
  // How many elements a register holds is not to be seen: of widths nothing
  // is said.
  bool Vectors = false;
  for (StringRef Rest = New.Words; !Rest.empty() && !Vectors;) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    StringRef Word =
        Line.take_until([](char C) { return C == ' ' || C == '\t'; });
    Vectors =
        globalBytes(Word) && (Word.contains(".v2.") || Word.contains(".v4.") ||
                              Word.contains(".v8."));
  }
  return Vectors || New.WidestAccess > Old.WidestAccess
             ? ""
             : "no access to global memory is wider than the original's " +
                   std::to_string(Old.WidestAccess) + " bytes";
}

std::string Handshake::denies(Gene &G, const LibraryStrategy *S) const {
  StringRef Name = G.Strategy;
  if (Name == "vectorized_access")
    return vectors();
  if (Name == "block_size")
    return blockSize(G, S);
  if (Name == "shared_memory_tiling" || Name == "shared_padding" ||
      Name == "shared_swizzle" || Name == "coalesced_layout")
    return New.Shared ? "" : "the device code has no shared memory";
  if (Name == "privatized_atomics")
    return New.Shared ? needs({"atom", "red."})
                      : "the device code has no shared memory";
  if (Name == "async_copy")
    return needs({"cp.async.ca.shared", "cp.async.cg.shared"});
  if (Name == "bulk_copy")
    return needs({"cp.async.bulk", "cp.reduce.async.bulk"});
  if (Name == "tma_tensor_copy")
    return needs({"cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"});
  if (Name == "multicast")
    return needs({"multicast::cluster"});
  if (Name == "wgmma")
    return needs({"wgmma.mma_async"});
  if (Name == "tensor_core_mma")
    return needs({"mma.sync"});
  if (Name == "mma_pipeline")
    return needs({"mma.sync", "wgmma.mma_async"});
  if (Name == "ldmatrix")
    return needs({"ldmatrix"});
  if (Name == "setmaxnreg")
    return needs({"setmaxnreg"});
  if (Name == "warp_shuffle_reduction")
    return needs({"shfl.sync", "redux.sync"});
  if (Name == "read_only_loads")
    return needs({"ld.global.nc", "tex."});
  if (Name == "cache_hints")
    return needs({".cs", ".cg", ".lu", ".cv", ".wt", "L1::", "L2::", "prefetch",
                  "createpolicy"});
  if (Name == "constant_memory")
    return needs({".const"});
  if (Name == "launch_bounds")
    return needs({".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"});
  if (Name == "fast_intrinsics")
    return needs({".approx", ".ftz"});
  if (Name == "ptx_level")
    return Source.contains("asm") ? "" : "the source has no inline PTX";
  if (Name == "thread_block_cluster") {
    bool InPlan = any_of(Plan.Launches,
                         [](const Launch &L) { return L.Cluster.has_value(); });
    return InPlan ? "" : needs({".reqnctapercluster", ".explicitcluster"});
  }
  if (Name == "unroll") {
    // The original's loops may have been unrolled by the compiler, too: where
    // the source asks for it, the number of instructions says nothing.
    bool Asked = Source.contains("unroll");
    return !Asked && New.Instructions <= Old.Instructions &&
                   New.BackwardBranches >= Old.BackwardBranches &&
                   Old.BackwardBranches > 0
               ? "the source does not ask for it, there are as many loops as "
                 "in the original, and no more instructions"
               : "";
  }
  if (Name == "thread_coarsening") {
    auto Threads = sizes(/*Blocks=*/false);
    return Threads && Threads->second >= Threads->first
               ? "no fewer threads are launched"
               : "";
  }
  if (Name == "persistent_kernel") {
    auto Blocks = sizes(/*Blocks=*/true);
    double Most = double(P.Gpu.Multiprocessors) * P.Gpu.MaxBlocksPerSM;
    return Blocks && Blocks->second > Most
               ? "more blocks are launched than the GPU can hold"
               : "";
  }
  if (Name == "split_reduction") {
    auto Blocks = sizes(/*Blocks=*/true);
    bool Combines = Plan.Launches.size() > 1 || New.has("atom") ||
                    New.has("red.") || New.has("barrier.cluster");
    return !Combines && Blocks && Blocks->second <= Blocks->first
               ? "no more blocks are launched, and nothing combines parts"
               : "";
  }
  return "";
}

HandshakeResult shakeHands(const Genome &Asked,
                           const std::vector<std::string> *CarriedOut,
                           const HandshakeCode &Code,
                           ArrayRef<LibraryStrategy> Library) {
  Handshake Hands(Code);
  HandshakeResult R;
  auto Find = [&](StringRef Name) -> const LibraryStrategy * {
    for (const LibraryStrategy &S : Library)
      if (S.Info.Name == Name)
        return &S;
    return nullptr;
  };
  for (const Gene &Each : Asked) {
    Gene G = Each;
    // Models write "unroll" as well as "unroll{factor=4}".
    bool Named = !CarriedOut || any_of(*CarriedOut, [&](StringRef Text) {
      return Text.take_until([](char C) { return C == '{' || C == '('; })
                 .trim(" \t`'\"@") == G.Strategy;
    });
    std::string Why = Named ? Hands.denies(G, Find(G.Strategy))
                            : "the model does not name it";
    if (Why.empty())
      R.Carried.push_back(std::move(G));
    else
      R.Denied.push_back({Each.str(), std::move(Why)});
  }
  // What cannot stand alone goes with what it stands on.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = 0; I < R.Carried.size(); ++I) {
      const LibraryStrategy *S = Find(R.Carried[I].Strategy);
      if (!S)
        continue;
      auto Missing = find_if(S->Info.Requires, [&](const std::string &Name) {
        return none_of(R.Carried, [&](const Gene &Other) {
          return Other.Strategy == Name;
        });
      });
      if (Missing == S->Info.Requires.end())
        continue;
      R.Denied.push_back({R.Carried[I].str(), "it requires " + *Missing});
      R.Carried.erase(R.Carried.begin() + I);
      Changed = true;
      break;
    }
  }
  return R;
}

} // namespace cupilot
