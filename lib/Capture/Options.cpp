//===- Options.cpp - How to record -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Options.h"
#include <charconv>

namespace cupilot::capture {

std::string Options::print() const {
  return "timing=" + std::to_string(Timing) +
         ",per-kernel=" + std::to_string(PerKernel) +
         ",max-bytes=" + std::to_string(MaxBytes) +
         ",max-launch-bytes=" + std::to_string(MaxLaunchBytes) +
         ",wait-ms=" + std::to_string(WaitMs) +
         ",graphs=" + std::to_string(Graphs) + ",cupti=" + Cupti;
}

std::optional<Failure> Options::parse(std::string_view Text, Options &Result) {
  while (!Text.empty()) {
    // The path is last: it may hold commas.
    size_t End = Text.compare(0, 6, "cupti=") == 0
                     ? Text.size()
                     : std::min(Text.find(','), Text.size());
    std::string_view Word = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    size_t Equal = std::min(Word.find('='), Word.size());
    std::string_view Name = Word.substr(0, Equal);
    std::string_view Value = Word.substr(std::min(Equal + 1, Word.size()));
    uint64_t Number = 0;
    auto [Stop, Error] =
        std::from_chars(Value.data(), Value.data() + Value.size(), Number);
    bool IsNumber = Error == std::errc() && !Value.empty() &&
                    Stop == Value.data() + Value.size();
    if (Name == "cupti")
      Result.Cupti = Value;
    else if (Name == "timing" && IsNumber)
      Result.Timing = Number != 0;
    else if (Name == "graphs" && IsNumber)
      Result.Graphs = Number != 0;
    else if (Name == "per-kernel" && IsNumber)
      Result.PerKernel = Number;
    else if (Name == "max-bytes" && IsNumber)
      Result.MaxBytes = Number;
    else if (Name == "max-launch-bytes" && IsNumber)
      Result.MaxLaunchBytes = Number;
    else if (Name == "wait-ms" && IsNumber)
      Result.WaitMs = Number;
    else
      return Failure(FailureKind::WrongUse,
                     "invalid option '" + std::string(Word) + "' in " +
                         OptionsVariable,
                     "start the program with cupilot-capture");
  }
  return std::nullopt;
}

} // namespace cupilot::capture
