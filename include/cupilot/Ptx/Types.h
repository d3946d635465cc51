//===- Types.h - Words of PTX that are decided on ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_TYPES_H
#define CUPILOT_PTX_TYPES_H

#include <optional>
#include <string_view>

namespace cupilot::ptx {

/// What a type's values are.
enum class Family { Predicate, Bits, Unsigned, Signed, Float, Packed, Opaque };

/// Types, of variables and of what instructions work on.
enum class Type {
#define CUPILOT_PTX_TYPE(Name, Word, Bits, Family) Name,
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_TYPE
};

/// State spaces.
enum class Space {
#define CUPILOT_PTX_SPACE(Name, Word, Declares) Name,
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_SPACE
};

/// Who sees a name of the module.
enum class Linkage {
  Internal, ///< The module alone.
#define CUPILOT_PTX_LINKAGE(Name, Word) Name,
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_LINKAGE
};

/// What a function says about how it is compiled and launched.
enum class Tuning {
#define CUPILOT_PTX_TUNING(Name, Word, Least, Most) Name,
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_TUNING
};

/// All other directives.
enum class Directive {
#define CUPILOT_PTX_DIRECTIVE(Name, Word) Name,
#include "cupilot/Ptx/Types.def"
#undef CUPILOT_PTX_DIRECTIVE
};

/// The words, without the point. Internal linkage has none: "".
std::string_view wordOf(Type T);
std::string_view wordOf(Space S);
std::string_view wordOf(Linkage L);
std::string_view wordOf(Tuning T);

/// What a word names, without its point; nothing when it names none.
std::optional<Type> typeOf(std::string_view Word);
std::optional<Space> spaceOf(std::string_view Word);
std::optional<Linkage> linkageOf(std::string_view Word);
std::optional<Tuning> tuningOf(std::string_view Word);
std::optional<Directive> directiveOf(std::string_view Word);

/// Bits of a value in a register; 0 for opaque types, which have none.
unsigned bitsOf(Type T);
Family familyOf(Type T);
/// Whether variables are declared in \p S: not in shared::cluster.
bool declaresVariables(Space S);
/// How many numbers stand behind the word.
unsigned leastNumbers(Tuning T);
unsigned mostNumbers(Tuning T);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_TYPES_H
