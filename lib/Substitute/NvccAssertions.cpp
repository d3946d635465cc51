//===- NvccAssertions.cpp - Where assertions stand -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of __assertfail (CUDA C++ Programming Guide, "Assertion") as nvcc
// writes it:
//
//   mov.u64 %rd3, $str$1;  cvta.global.u64 %rd4, %rd3;
//   { ... st.param.b64 [param1+0], %rd4; ... st.param.b32 [param2+0], 28; ...
//     call.uni __assertfail, (param0, param1, param2, param3, param4); }
//
// File, line and function are data, and data of assertions only where nothing
// else reads the registers that they go through.
//
//===----------------------------------------------------------------------===//

#include "NvccAssertions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace cupilot {

namespace {
class AssertionReader {
public:
  AssertionReader(ArrayRef<StringRef> Words,
                  function_ref<bool(StringRef)> IsLiteral)
      : Words(Words), IsLiteral(IsLiteral) {}
  DenseSet<unsigned> run();

private:
  StringRef word(size_t I) const {
    return I < Words.size() ? Words[I] : StringRef();
  }
  void readCall(unsigned At);
  unsigned argument(unsigned Call, StringRef Param) const;
  void follow(StringRef Register);

  ArrayRef<StringRef> Words;
  function_ref<bool(StringRef)> IsLiteral;
  StringMap<SmallVector<unsigned, 4>> Mentions; ///< Of registers.
  SmallVector<unsigned> Handed; ///< Registers handed to assertions.
  DenseSet<unsigned> Found;
};
} // namespace

/// The operand that the store into \p Param before the call takes; 0 if none.
unsigned AssertionReader::argument(unsigned Call, StringRef Param) const {
  for (unsigned I = Call, Depth = 0; I > 0; --I) {
    Depth += word(I) == "}";
    if (word(I) == "{" && Depth-- == 0)
      return 0;
    if (Depth == 0 && word(I).starts_with("st.param.") && word(I + 1) == "[" &&
        word(I + 2) == Param && word(I + 3) == "+" && word(I + 4) == "0" &&
        word(I + 5) == "]" && word(I + 6) == "," && word(I + 8) == ";")
      return I + 7;
  }
  return 0;
}

void AssertionReader::readCall(unsigned At) {
  SmallVector<StringRef, 5> Params;
  for (unsigned I = At + 3; I < Words.size() && word(I) != ";"; ++I)
    if (word(I) != "," && word(I) != ")")
      Params.push_back(word(I));
  if (Params.size() != 5)
    return;
  if (unsigned Line = argument(At, Params[2]);
      Line && !word(Line).starts_with("%"))
    Found.insert(Line);
  for (unsigned Each : {1, 3})
    if (unsigned Text = argument(At, Params[Each]);
        Text && word(Text).starts_with("%"))
      Handed.push_back(Text);
}

/// Finds the literal whose generic address \p Register holds, if assertions
/// alone use it.
void AssertionReader::follow(StringRef Register) {
  unsigned Source = 0;
  for (unsigned I : Mentions[Register]) {
    if (is_contained(Handed, I))
      continue;
    if (Source || !word(I - 1).starts_with("cvta.global.") ||
        word(I + 1) != "," || word(I + 3) != ";")
      return;
    Source = I + 2;
  }
  if (!Source)
    return;
  unsigned Literal = 0;
  for (unsigned I : Mentions[word(Source)]) {
    if (I == Source)
      continue;
    if (Literal || !word(I - 1).starts_with("mov.") || word(I + 1) != "," ||
        word(I + 3) != ";" || !IsLiteral(word(I + 2)))
      return;
    Literal = I + 2;
  }
  if (Literal)
    Found.insert(Literal);
}

DenseSet<unsigned> AssertionReader::run() {
  for (unsigned I = 0; I < Words.size(); ++I) {
    if (Words[I].starts_with("%"))
      Mentions[Words[I]].push_back(I);
    if (Words[I] == "__assertfail" && word(I + 1) == "," && word(I + 2) == "(")
      readCall(I);
  }
  for (unsigned I : Handed)
    follow(word(I));
  return std::move(Found);
}

DenseSet<unsigned>
findAssertionPlaces(ArrayRef<StringRef> Words,
                    function_ref<bool(StringRef)> IsLiteral) {
  return AssertionReader(Words, IsLiteral).run();
}

} // namespace cupilot
