//===- Options.cpp - How to record -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Options.h"
#include <charconv>
#include <iterator>

namespace cupilot::capture {

static constexpr const char *ThenWords[] = {"stop", "skip", "run"};

const char *wordOf(Then T) { return ThenWords[static_cast<size_t>(T)]; }

std::optional<Then> thenOf(std::string_view Word) {
  for (size_t I = 0; I < std::size(ThenWords); ++I)
    if (Word == ThenWords[I])
      return static_cast<Then>(I);
  return std::nullopt;
}

std::string Options::print() const {
  return "timing=" + std::to_string(Timing) +
         ",per-kernel=" + std::to_string(PerKernel) +
         ",max-bytes=" + std::to_string(MaxBytes) +
         ",max-launch-bytes=" + std::to_string(MaxLaunchBytes) +
         ",wait-ms=" + std::to_string(WaitMs) +
         ",graphs=" + std::to_string(Graphs) +
         ",launches=" + std::to_string(Launches) + ",then=" + wordOf(After) +
         ",launch-steps=" + std::to_string(LaunchSteps) +
         ",progress-ms=" + std::to_string(ProgressMs) + ",cupti=" + Cupti;
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
    else if (Name == "launches" && IsNumber)
      Result.Launches = Number;
    else if (Name == "progress-ms" && IsNumber)
      Result.ProgressMs = Number;
    else if (Name == "launch-steps" && IsNumber)
      Result.LaunchSteps = Number;
    else if (std::optional<Then> T = thenOf(Value); Name == "then" && T)
      Result.After = *T;
    else
      return Failure(FailureKind::WrongUse,
                     "invalid option '" + std::string(Word) + "' in " +
                         OptionsVariable,
                     "start the program with cupilot-capture");
  }
  return std::nullopt;
}

} // namespace cupilot::capture
