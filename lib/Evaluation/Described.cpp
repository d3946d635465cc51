//===- Described.cpp - Workloads in words -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/Element.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

static Error broken(const Twine &Why) {
  return usageError("invalid description of a workload: " + Why,
                    "'grid=16, block=256, args=[buffer f32 n=4096 uniform "
                    "seed=1, buffer f32 n=4096 output, 4096]'");
}

/// Larger buffers are not made to know their digest.
static constexpr uint64_t MostDigested = uint64_t(64) << 20;

/// Splits at the commas that stand outside of brackets.
static SmallVector<StringRef> splitItems(StringRef Text) {
  SmallVector<StringRef> Items;
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    Depth += Text[I] == '[' || Text[I] == '{';
    Depth -= Text[I] == ']' || Text[I] == '}';
    if (Text[I] == ',' && Depth == 0) {
      Items.push_back(Text.slice(Begin, I).trim());
      Begin = I + 1;
    }
  }
  if (StringRef Last = Text.substr(Begin).trim(); !Last.empty())
    Items.push_back(Last);
  return Items;
}

static bool parseDims(StringRef Text, std::array<uint64_t, 3> &Dims) {
  SmallVector<StringRef> Parts;
  Text.split(Parts, 'x');
  if (Parts.size() > 3)
    return false;
  for (auto [I, Part] : enumerate(Parts))
    if (Part.getAsInteger(10, Dims[I]) || Dims[I] == 0)
      return false;
  return true;
}

namespace {
class Parser {
public:
  Parser(const Kernel &K, Workload &W) : K(K), W(W) {}
  Error parse(StringRef Text);

private:
  Error parseArgs(StringRef Text);
  Error parseGlobal(StringRef Text);
  Error parseValue(StringRef Text, std::optional<ElementKind> Kind,
                   unsigned Param, unsigned Offset, uint64_t Room);
  Expected<WorkloadBuffer> parseBuffer(StringRef Text);

  const Kernel &K;
  Workload &W;
};
} // namespace

/// "f32 n=4096 uniform seed=1", without the word buffer.
Expected<WorkloadBuffer> Parser::parseBuffer(StringRef Text) {
  SmallVector<StringRef> Words;
  Text.split(Words, ' ', -1, /*KeepEmpty=*/false);
  WorkloadBuffer B;
  uint64_t N = 0;
  std::string Claimed;
  for (StringRef Word : Words) {
    auto [Name, Value] = Word.split('=');
    if (Name == "n") {
      if (Value.getAsInteger(10, N) || N == 0 || N > 1ull << 36)
        return broken("'" + Word + "' is not a number of elements");
      continue;
    }
    if (Name == "digest") {
      Claimed = Value.str();
      continue;
    }
    B.Generator += (B.Generator.empty() ? "" : " ") + Word.str();
  }
  std::optional<ElementKind> Kind =
      Words.empty() ? std::nullopt : elementOf(Words[0]);
  if (!Kind || N == 0)
    return broken("'buffer " + Text +
                  "' needs a type, and n= for the number of elements");
  B.Size = N * sizeOf(*Kind);
  // Buffers that only a GPU generates in full have no digest; their recipe is
  // tried.
  bool Large = B.Size > MostDigested && Claimed.empty();
  Expected<std::vector<uint8_t>> Content =
      generateContent(B.Generator, Large ? sizeOf(*Kind) : B.Size);
  if (!Content)
    return Content.takeError();
  if (Large)
    return B;
  B.Digest = digest(StringRef(reinterpret_cast<const char *>(Content->data()),
                              Content->size()));
  if (!Claimed.empty() && Claimed != B.Digest)
    return broken("'buffer " + Text + "' has the digest " + B.Digest);
  return B;
}

Error Parser::parseValue(StringRef Text, std::optional<ElementKind> Kind,
                         unsigned Param, unsigned Offset, uint64_t Room) {
  auto Point = [&](unsigned Buffer, uint64_t BufferOffset) -> Error {
    if (Room < 8)
      return broken("argument " + Twine(Param) + " is not a pointer");
    W.Pointers.push_back({Param, Offset, Buffer, BufferOffset});
    return Error::success();
  };
  if (Text == "null")
    return Error::success();
  if (Text.consume_front("buffer ")) {
    Expected<WorkloadBuffer> B = parseBuffer(Text);
    if (!B)
      return B.takeError();
    W.Buffers.push_back(std::move(*B));
    return Point(W.Buffers.size() - 1, 0);
  }
  if (Text.consume_front("arg ")) {
    auto [Index, Plus] = Text.split('+');
    unsigned Other;
    uint64_t Bytes = 0;
    if (Index.trim().getAsInteger(10, Other) ||
        (!Plus.empty() && Plus.trim().getAsInteger(10, Bytes)))
      return broken("'arg " + Text + "' is not 'arg I + BYTES'");
    for (const WorkloadPointer &P : W.Pointers)
      if (P.Param == Other && P.Offset == 0) {
        uint64_t At = P.BufferOffset + Bytes;
        if (At > W.Buffers[P.Buffer].Size)
          return broken("'arg " + Text + "' lies beyond the end of its buffer");
        return Point(P.Buffer, At);
      }
    return broken("argument " + Twine(Other) + " is not an earlier buffer");
  }
  if (any_of(K.Pointers, [&](const PointerRef &P) {
        return P.Param == Param && P.Offset == Offset;
      }))
    return broken("'" + Text + "' is not a value for argument " + Twine(Param) +
                  ", a pointer: it takes a buffer, arg I + BYTES, or null");
  if (!Kind)
    Kind = Room == 1   ? ElementKind::UInt8
           : Room == 2 ? ElementKind::UInt16
           : Room == 4 ? ElementKind::Int32
                       : ElementKind::Int64;
  if (sizeOf(*Kind) > Room)
    return broken("'" + Text + "' does not fit argument " + Twine(Param));
  uint8_t *At = W.Args[Param].data() + Offset;
  int64_t Integer;
  double Number;
  if (Text == "true" || Text == "false")
    writeInteger(*Kind, At, Text == "true");
  else if (isInteger(*Kind) && !Text.getAsInteger(0, Integer))
    writeInteger(*Kind, At, Integer);
  else if (isFloating(*Kind) && !Text.getAsDouble(Number))
    writeElement(*Kind, At, Number);
  else
    return broken("'" + Text + "' is not a value for argument " + Twine(Param) +
                  ", of type '" + K.Params[Param].Type + "'");
  return Error::success();
}

Error Parser::parseArgs(StringRef Text) {
  if (!Text.consume_front("[") || !Text.consume_back("]"))
    return broken("args= needs a list in brackets");
  SmallVector<StringRef> Items = splitItems(Text);
  if (Items.size() != K.Params.size())
    return broken("'" + K.Name + "' takes " + Twine(K.Params.size()) +
                  " arguments, not " + Twine(Items.size()));
  for (auto [I, P] : enumerate(K.Params))
    W.Args.emplace_back(P.Size);
  for (auto [I, Item] : enumerate(Items)) {
    const KernelParam &P = K.Params[I];
    if (!Item.consume_front("{")) {
      if (Error E = parseValue(Item, elementOf(P.Type), I, 0, P.Size))
        return E;
      continue;
    }
    // A struct by its fields: {@0 i32 5, @8 buffer f32 n=4 zeros}.
    if (!Item.consume_back("}"))
      return broken("'{' without '}'");
    for (StringRef Field : splitItems(Item)) {
      auto [Where, Rest] = Field.split(' ');
      unsigned Offset;
      if (!Where.consume_front("@") || Where.getAsInteger(10, Offset) ||
          Offset >= P.Size)
        return broken("'" + Field + "' does not start with @OFFSET, in bytes");
      Rest = Rest.trim();
      std::optional<ElementKind> Kind = elementOf(Rest.split(' ').first);
      if (Kind)
        Rest = Rest.split(' ').second.trim();
      if (Error E = parseValue(Rest, Kind, I, Offset, P.Size - Offset))
        return E;
    }
  }
  return Error::success();
}

/// "SYMBOL f32 n=16 uniform": a device variable.
Error Parser::parseGlobal(StringRef Text) {
  auto [Symbol, Rest] = Text.split(' ');
  Expected<WorkloadBuffer> B = parseBuffer(Rest.trim());
  if (!B)
    return B.takeError();
  W.Globals.push_back({Symbol.str(), std::move(*B)});
  return Error::success();
}

Error Parser::parse(StringRef Text) {
  bool Grid = false, Block = false, Args = K.Params.empty();
  for (StringRef Item : splitItems(Text)) {
    auto [Name, Value] = Item.split('=');
    Name = Name.trim();
    Value = Value.trim();
    if (Name == "grid") {
      Grid = parseDims(Value, W.Shape.Grid);
    } else if (Name == "block") {
      Block = parseDims(Value, W.Shape.Block);
    } else if (Name == "cluster") {
      if (!parseDims(Value, W.Shape.Cluster))
        return broken("'" + Item + "' is not a size of a cluster");
    } else if (Name == "only") {
      // "card": as earlier versions had it.
      W.Only = StringSwitch<std::optional<Audience>>(Value)
                   .Case("gate", Audience::Gate)
                   .Cases({"gpu", "card"}, Audience::Gpu)
                   .Default(std::nullopt);
      if (!W.Only)
        return broken("'" + Item + "' is neither only=gate nor only=gpu");
    } else if (Name == "name") {
      W.Name = Value.str();
    } else if (Item == "cooperative") {
      W.Shape.Cooperative = true;
    } else if (Name == "shared") {
      if (Value.getAsInteger(10, W.Shape.Shared))
        return broken("'" + Item + "' is not a number of bytes");
    } else if (Name == "args") {
      Args = true;
      if (Error E = parseArgs(Value))
        return E;
    } else if (Name == "globals") {
      if (!Value.consume_front("[") || !Value.consume_back("]"))
        return broken("globals= needs a list in brackets");
      for (StringRef Global : splitItems(Value))
        if (Error E = parseGlobal(Global))
          return E;
    } else {
      return broken("'" + Item + "' is not a field of a workload");
    }
  }
  if (!Grid || !Block)
    return broken(Twine(Grid ? "block" : "grid") +
                  "= needs one to three numbers above 0, such as 16 or 8x4x1");
  return Args ? Error::success() : broken("args= is missing");
}

Expected<Workload> parseWorkload(StringRef Text, const Kernel &K,
                                 StringRef Name) {
  Workload W;
  W.Name = Name.str();
  W.Symbol = K.Symbol;
  W.Weight = 1;
  if (Error E = Parser(K, W).parse(Text))
    return std::move(E);
  return W;
}

} // namespace cupilot
