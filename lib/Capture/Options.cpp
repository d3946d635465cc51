//===- Options.cpp - How to record -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Options.h"
#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace cupilot::capture {

static constexpr const char *ThenWords[] = {"stop", "skip", "run"};

const char *wordOf(Then T) { return ThenWords[static_cast<size_t>(T)]; }

std::optional<Then> thenOf(std::string_view Word) {
  for (size_t I = 0; I < std::size(ThenWords); ++I)
    if (Word == ThenWords[I])
      return static_cast<Then>(I);
  return std::nullopt;
}

/// The options that are numbers; true and false are 1 and 0 beside them.
static constexpr std::pair<const char *, uint64_t Options::*> Numbers[] = {
    {"per-kernel", &Options::PerKernel},
    {"max-bytes", &Options::MaxBytes},
    {"max-launch-bytes", &Options::MaxLaunchBytes},
    {"whole-bytes", &Options::WholeBytes},
    {"wait-ms", &Options::WaitMs},
    {"max-seconds", &Options::MaxSeconds},
    {"launches", &Options::Launches},
    {"launch-steps", &Options::LaunchSteps},
    {"progress-ms", &Options::ProgressMs}};

std::string Options::print() const {
  std::string Text =
      "timing=" + std::to_string(Timing) + ",graphs=" + std::to_string(Graphs) +
      ",contents=" + std::to_string(Contents) +
      ",libraries=" + std::to_string(Libraries) + ",then=" + wordOf(After);
  for (auto [Name, Field] : Numbers)
    Text += "," + std::string(Name) + "=" + std::to_string(this->*Field);
  return Text + ",cupti=" + Cupti;
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
    auto Known = std::ranges::find_if(
        Numbers, [&](const auto &Each) { return Name == Each.first; });
    if (Name == "cupti")
      Result.Cupti = Value;
    else if (Name == "timing" && IsNumber)
      Result.Timing = Number != 0;
    else if (Name == "graphs" && IsNumber)
      Result.Graphs = Number != 0;
    else if (Name == "libraries" && IsNumber)
      Result.Libraries = Number != 0;
    else if (Name == "contents" && IsNumber)
      Result.Contents = Number != 0;
    else if (Known != std::end(Numbers) && IsNumber)
      Result.*Known->second = Number;
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
