//===- UnitName.cpp - Names of one unit's own kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/UnitName.h"
#include <charconv>

namespace cupilot {

static std::string_view withoutPrefix(std::string_view Symbol) {
  constexpr std::string_view Mark = "__nv_static_";
  if (!Symbol.starts_with(Mark))
    return Symbol;
  std::string_view Rest = Symbol.substr(Mark.size());
  size_t Length = 0;
  auto [End, Failed] =
      std::from_chars(Rest.data(), Rest.data() + Rest.size(), Length);
  if (Failed != std::errc())
    return Symbol;
  Rest.remove_prefix(End - Rest.data());
  // What is left must be more than "_", the characters and "_".
  if (Length >= Rest.size() || Rest.size() - Length < 3 || Rest[0] != '_' ||
      Rest[Length + 1] != '_')
    return Symbol;
  return Rest.substr(Length + 2);
}

static std::string_view withoutSuffix(std::string_view Symbol) {
  for (std::string_view Mark : {"__intern__", "__static__"}) {
    size_t At = Symbol.rfind(Mark);
    if (At == 0 || At == std::string_view::npos)
      continue;
    std::string_view Unit = Symbol.substr(At + Mark.size());
    if (!Unit.empty() &&
        Unit.find_first_not_of("0123456789abcdef") == std::string_view::npos)
      return Symbol.substr(0, At);
  }
  return Symbol;
}

std::string_view withoutUnitName(std::string_view Symbol) {
  return withoutSuffix(withoutPrefix(Symbol));
}

} // namespace cupilot
