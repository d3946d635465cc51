//===- Pointees.cpp - What kernels' pointers point to -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Pointees.h"
#include "cupilot/Capture/Report.h"
#include <utility>

namespace cupilot::capture {

/// The types between the parentheses that end \p Demangled.
static std::vector<std::string> parameterTypes(std::string_view Demangled) {
  std::vector<std::string> Types;
  if (!Demangled.ends_with(')'))
    return Types;
  Demangled.remove_suffix(1);
  size_t Begin = Demangled.size();
  for (unsigned Depth = 1; Begin > 0; --Begin) {
    Depth += Demangled[Begin - 1] == ')';
    Depth -= Demangled[Begin - 1] == '(';
    if (Depth == 0)
      break;
  }
  int Depth = 0;
  std::string Type;
  for (char C : Demangled.substr(Begin)) {
    Depth += C == '(' || C == '<' || C == '[';
    Depth -= C == ')' || C == '>' || C == ']';
    if (C == ',' && Depth == 0)
      Types.push_back(std::exchange(Type, ""));
    else
      Type += C;
  }
  Types.push_back(Type);
  return Types;
}

static bool dropEnd(std::string_view &Text, std::string_view End) {
  if (!Text.ends_with(End))
    return false;
  Text.remove_suffix(End.size());
  return true;
}

/// Of a type such as "float4 const*".
static std::optional<Pointee> pointee(std::string_view Text) {
  Text.remove_prefix(std::min(Text.find_first_not_of(' '), Text.size()));
  dropEnd(Text, " __restrict");
  if (!dropEnd(Text, "*"))
    return std::nullopt;
  bool Const = dropEnd(Text, " const");
  // Vectors of CUDA are numbers side by side.
  if (Text.starts_with("float") || Text.starts_with("double"))
    Text = Text.substr(0, Text.find_last_not_of("1234") + 1);
  if (Text == "__half2" || Text == "__nv_bfloat162")
    Text.remove_suffix(1);
  std::optional<runner::NumberKind> Kind = runner::numberKindOfType(Text);
  if (!Kind)
    return std::nullopt;
  return Pointee{*Kind, Const};
}

std::vector<std::optional<Pointee>> pointeesOf(const std::string &Symbol) {
  std::vector<std::optional<Pointee>> Result;
  for (const std::string &Type : parameterTypes(demangled(Symbol)))
    Result.push_back(pointee(Type));
  return Result;
}

} // namespace cupilot::capture
