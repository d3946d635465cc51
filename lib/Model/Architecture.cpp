//===- Architecture.cpp - GPU architectures -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Architecture.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

/// "90a"
static std::optional<Architecture> parseDigits(StringRef Text) {
  Architecture A;
  if (Text.ends_with("a") || Text.ends_with("f")) {
    A.Suffix = Text.back();
    Text = Text.drop_back();
  }
  if (Text.size() < 2 || Text.size() > 3 || Text.front() == '0' ||
      !all_of(Text, isDigit) || Text.getAsInteger(10, A.Number))
    return std::nullopt;
  return A;
}

std::optional<Architecture> Architecture::parse(StringRef Text) {
  if (!Text.consume_front("sm_"))
    return std::nullopt;
  return parseDigits(Text);
}

std::optional<Architecture> Architecture::parseNvcc(StringRef Text) {
  if (!Text.consume_front("compute_"))
    Text.consume_front("sm_");
  return parseDigits(Text);
}

static std::string named(StringRef Prefix, const Architecture &A) {
  std::string Text = (Prefix + Twine(A.Number)).str();
  if (A.Suffix)
    Text += A.Suffix;
  return Text;
}

std::string Architecture::str() const { return named("sm_", *this); }

std::string Architecture::virtualName() const {
  return named("compute_", *this);
}

std::string Architecture::capability() const { return "sm_" + utostr(Number); }

std::string computeCapability(StringRef Arch) {
  std::optional<Architecture> A = Architecture::parse(Arch);
  return A ? A->capability() : Arch.str();
}

unsigned capabilityNumber(StringRef Arch) {
  std::optional<Architecture> A = Architecture::parse(Arch);
  return A ? A->Number : 0;
}

unsigned residentThreads(StringRef Arch) {
  switch (capabilityNumber(Arch)) {
  case 75:
    return 1024;
  case 86:
  case 87:
  case 88:
  case 89:
  case 110:
  case 120:
  case 121:
    return 1536;
  default:
    return 2048;
  }
}

std::string architectureFor(StringRef Gpu, ArrayRef<std::string> Archs) {
  std::string Best = Gpu.str();
  for (StringRef Arch : Archs) {
    std::optional<Architecture> A = Architecture::parse(Arch);
    // "sm_90a" has all that "sm_90f" has.
    if (A && A->capability() == Gpu && (Best == Gpu || A->Suffix == 'a'))
      Best = Arch.str();
  }
  return Best;
}

} // namespace cupilot
