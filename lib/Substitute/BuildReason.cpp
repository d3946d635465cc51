//===- BuildReason.cpp - Why a build did what it did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/BuildReason.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace cupilot {

namespace {
struct Row {
  StringLiteral Word, Text;
};
} // namespace

static constexpr Row Table[] = {
#define CUPILOT_BUILD_REASON(Name, Word, Text) {Word, Text},
#include "cupilot/Substitute/BuildReason.def"
};

StringRef wordOf(BuildReason R) { return Table[static_cast<size_t>(R)].Word; }

ArrayRef<BuildReason> allBuildReasons() {
  static constexpr BuildReason All[] = {
#define CUPILOT_BUILD_REASON(Name, Word, Text) BuildReason::Name,
#include "cupilot/Substitute/BuildReason.def"
  };
  return All;
}

/// The text in pieces: what stands between the holes {0}, {1}, ..., which come
/// in this order.
static SmallVector<StringRef, 4> piecesOf(BuildReason R) {
  SmallVector<StringRef, 4> Pieces;
  StringRef Rest = Table[static_cast<size_t>(R)].Text;
  for (size_t At; (At = Rest.find('{')) != StringRef::npos;
       Rest = Rest.drop_front(At + 3))
    Pieces.push_back(Rest.take_front(At));
  Pieces.push_back(Rest);
  return Pieces;
}

std::string textOf(BuildReason R, ArrayRef<StringRef> Parts) {
  SmallVector<StringRef, 4> Pieces = piecesOf(R);
  std::string Text = Pieces.front().str();
  for (size_t I = 1; I < Pieces.size(); ++I) {
    if (I <= Parts.size())
      Text += Parts[I - 1];
    Text += Pieces[I];
  }
  return Text;
}

/// Whether \p Message is such a text, and how much of it is fixed.
static std::optional<size_t> match(ArrayRef<StringRef> Pieces,
                                   StringRef Message) {
  size_t Fixed = 0;
  for (StringRef Piece : Pieces)
    Fixed += Piece.size();
  if (!Message.consume_front(Pieces.front()))
    return std::nullopt;
  if (Pieces.size() == 1)
    return Message.empty() ? std::optional(Fixed) : std::nullopt;
  for (StringRef Piece : Pieces.drop_front().drop_back()) {
    size_t At = Message.find(Piece);
    if (At == StringRef::npos)
      return std::nullopt;
    Message = Message.drop_front(At + Piece.size());
  }
  return Message.ends_with(Pieces.back()) ? std::optional(Fixed) : std::nullopt;
}

std::optional<BuildReason> buildReasonOf(StringRef Message) {
  // From the whole to its last part: what stands before ": " says of what.
  for (size_t From = 0; From != StringRef::npos;) {
    std::optional<BuildReason> Best;
    size_t BestFixed = 0;
    for (BuildReason R : allBuildReasons())
      if (std::optional<size_t> Fixed =
              match(piecesOf(R), Message.drop_front(From));
          Fixed && *Fixed > BestFixed) {
        Best = R;
        BestFixed = *Fixed;
      }
    if (Best && !(*Best == BuildReason::Applied &&
                  Message.drop_front(From).contains(" left out: ")))
      return Best;
    size_t Colon = Message.find(": ", From);
    From = Colon == StringRef::npos ? Colon : Colon + 2;
  }
  return std::nullopt;
}

} // namespace cupilot
