//===- Types.cpp - Words of PTX that are decided on -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Types.h"
#include <cstddef>

namespace cupilot::ptx {

namespace {
struct TypeRow {
  std::string_view Word;
  unsigned Bits;
  Family Kind;
};
struct SpaceRow {
  std::string_view Word;
  bool Declares;
};
struct WordRow {
  std::string_view Word;
};
struct TuningRow {
  std::string_view Word;
  unsigned Least, Most;
};
} // namespace

static constexpr TypeRow Types[] = {
#define CUPILOT_PTX_TYPE(Name, Word, Bits, Kind) {Word, Bits, Family::Kind},
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_TYPE
};
static constexpr SpaceRow Spaces[] = {
#define CUPILOT_PTX_SPACE(Name, Word, Declares) {Word, Declares},
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_SPACE
};
static constexpr WordRow Linkages[] = {
    {""},
#define CUPILOT_PTX_LINKAGE(Name, Word) {Word},
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_LINKAGE
};
static constexpr TuningRow Tunings[] = {
#define CUPILOT_PTX_TUNING(Name, Word, Least, Most) {Word, Least, Most},
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_TUNING
};
static constexpr WordRow Directives[] = {
#define CUPILOT_PTX_DIRECTIVE(Name, Word) {Word},
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_DIRECTIVE
};

template <class Enum, class Row, size_t Size>
static std::optional<Enum> find(const Row (&Rows)[Size],
                                std::string_view Word) {
  for (size_t I = 0; I < Size && !Word.empty(); ++I)
    if (Rows[I].Word == Word)
      return static_cast<Enum>(I);
  return std::nullopt;
}

std::string_view wordOf(Type T) { return Types[static_cast<size_t>(T)].Word; }
std::string_view wordOf(Space S) { return Spaces[static_cast<size_t>(S)].Word; }
std::string_view wordOf(Linkage L) {
  return Linkages[static_cast<size_t>(L)].Word;
}
std::string_view wordOf(Tuning T) {
  return Tunings[static_cast<size_t>(T)].Word;
}

std::optional<Type> typeOf(std::string_view Word) {
  return find<Type>(Types, Word);
}
std::optional<Space> spaceOf(std::string_view Word) {
  return find<Space>(Spaces, Word);
}
std::optional<Linkage> linkageOf(std::string_view Word) {
  return find<Linkage>(Linkages, Word);
}
std::optional<Tuning> tuningOf(std::string_view Word) {
  return find<Tuning>(Tunings, Word);
}
std::optional<Directive> directiveOf(std::string_view Word) {
  return find<Directive>(Directives, Word);
}

unsigned bitsOf(Type T) { return Types[static_cast<size_t>(T)].Bits; }
Family familyOf(Type T) { return Types[static_cast<size_t>(T)].Kind; }
bool declaresVariables(Space S) {
  return Spaces[static_cast<size_t>(S)].Declares;
}
unsigned leastNumbers(Tuning T) {
  return Tunings[static_cast<size_t>(T)].Least;
}
unsigned mostNumbers(Tuning T) { return Tunings[static_cast<size_t>(T)].Most; }

} // namespace cupilot::ptx
