//===- Outputs.cpp - What runs of a program printed -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Outputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// Lines that differ whose texts are kept.
static constexpr size_t KeptTexts = 100;

bool LineRules::ignores(StringRef Line) const {
  return any_of(Ignore, [&](const Regex &R) { return R.match(Line); });
}

bool LineRules::agree(StringRef A, StringRef B, double &Largest) const {
  return A == B || (Tolerance && numbersAgree(A, B, *Tolerance, Largest));
}

std::vector<OutputComparison::Line>
OutputComparison::linesOf(StringRef Text, size_t &LeftOut) const {
  std::vector<Line> Result;
  for (size_t Number = 1; !Text.empty(); ++Number) {
    size_t End = std::min(Text.find('\n'), Text.size() - 1) + 1;
    StringRef Each = Text.take_front(End);
    Text = Text.drop_front(End);
    if (Rules->ignores(Each.rtrim("\r\n")))
      ++LeftOut;
    else
      Result.push_back({Each, Number});
  }
  return Result;
}

void OutputComparison::addOriginals(std::optional<std::string> Text) {
  if (!Begun) {
    Begun = true;
    if (!Text)
      return;
    Reference = std::make_unique<std::string>(std::move(*Text));
    Binary = StringRef(*Reference).contains('\0');
    if (!Binary)
      Lines = linesOf(*Reference, Ignored);
    Varies.resize(Lines.size());
    Differs.resize(Lines.size());
    return;
  }
  if (!Text || !Reference) {
    AllVaries |= Text.has_value() != (Reference != nullptr);
    return;
  }
  if (*Text == *Reference)
    return;
  if (Binary) {
    AllVaries = true;
    return;
  }
  size_t LeftOut = 0;
  std::vector<Line> Theirs = linesOf(*Text, LeftOut);
  double Unused = 0; // The originals' own differences are no result.
  auto Agree = [&](size_t Ours, size_t Other) {
    return Varies[Ours] ||
           Rules->agree(Lines[Ours].Text, Theirs[Other].Text, Unused);
  };
  if (Theirs.size() == Lines.size() && !Ends) {
    for (size_t I = 0; I < Lines.size(); ++I)
      if (!Agree(I, I))
        Varies.set(I);
    return;
  }
  size_t Most = std::min(Lines.size(), Theirs.size()), Front = 0, Back = 0;
  if (Ends)
    Most = std::min(Most, Ends->first + Ends->second);
  size_t MostFront = Ends ? std::min(Most, Ends->first) : Most;
  while (Front < MostFront && Agree(Front, Front))
    ++Front;
  size_t MostBack = Most - Front;
  if (Ends)
    MostBack = std::min(MostBack, Ends->second);
  while (Back < MostBack &&
         Agree(Lines.size() - 1 - Back, Theirs.size() - 1 - Back))
    ++Back;
  Ends = {Front, Back};
}

bool OutputComparison::isCompared(size_t Index) const {
  return !AllVaries && !Varies[Index] &&
         (!Ends || Index < Ends->first || Lines.size() - Index <= Ends->second);
}

size_t OutputComparison::compared() const {
  if (!Reference || AllVaries)
    return 0;
  if (Binary)
    return Reference->size();
  return static_cast<size_t>(
      count_if(seq<size_t>(0, Lines.size()),
               [&](size_t Index) { return isCompared(Index); }));
}

void OutputComparison::note(size_t Index, StringRef Theirs) {
  Differs.set(Index);
  if (Texts.size() < KeptTexts)
    Texts.try_emplace(Index,
                      LineDifference{Lines[Index].Number,
                                     Lines[Index].Text.str(), Theirs.str()});
}

void OutputComparison::addVariantBytes(StringRef Text) {
  StringRef Ours = *Reference;
  if (Text.size() != Ours.size())
    OtherSize = Text.size();
  size_t Different = 0;
  for (size_t I = 0, E = std::min(Ours.size(), Text.size()); I < E; ++I) {
    if (Ours[I] == Text[I])
      continue;
    ++Different;
    auto Shown = [](char C) {
      return formatv("{0:x2}", static_cast<unsigned>(static_cast<uint8_t>(C)))
          .str();
    };
    if (Texts.size() < KeptTexts)
      Texts.try_emplace(I,
                        LineDifference{I + 1, Shown(Ours[I]), Shown(Text[I])});
  }
  DifferentBytes = std::max(DifferentBytes, Different);
}

void OutputComparison::addVariantLines(StringRef Text) {
  size_t LeftOut = 0;
  std::vector<Line> Theirs = linesOf(Text, LeftOut);
  auto Hold = [&](size_t Ours, size_t Other) {
    if (isCompared(Ours) &&
        !Rules->agree(Lines[Ours].Text, Theirs[Other].Text, Largest))
      note(Ours, Theirs[Other].Text);
  };
  size_t Front = Ends ? Ends->first : Lines.size(),
         Back = Ends ? Ends->second : 0;
  if (Ends ? Theirs.size() < Front + Back : Theirs.size() != Lines.size())
    OtherSize = Theirs.size();
  for (size_t I = 0; I < std::min(Front, Theirs.size()); ++I)
    Hold(I, I);
  for (size_t I = 1; I <= Back && I <= Theirs.size(); ++I)
    Hold(Lines.size() - I, Theirs.size() - I);
}

void OutputComparison::addVariants(const std::optional<std::string> &Text) {
  if (Text.has_value() != (Reference != nullptr)) {
    OtherPresence = Text.has_value();
    return;
  }
  if (!Text || *Text == *Reference)
    return;
  if (Binary)
    addVariantBytes(*Text);
  else
    addVariantLines(*Text);
}

std::optional<LineDifference> OutputComparison::wholeDifference() const {
  if (AllVaries)
    return std::nullopt;
  if (OtherPresence) {
    std::string There = "the file", Gone = "no such file";
    return LineDifference{0, *OtherPresence ? Gone : There,
                          *OtherPresence ? There : Gone};
  }
  // Runs with originals that came later may have had other sizes, too.
  if (!OtherSize || (Ends && *OtherSize >= Ends->first + Ends->second))
    return std::nullopt;
  const char *Unit = Binary ? " bytes" : " lines";
  size_t Ours = Ends ? Ends->first + Ends->second : total();
  return LineDifference{
      0, (Twine(Ends ? "at least " : "") + Twine(Ours) + Unit).str(),
      (Twine(*OtherSize) + Unit).str()};
}

size_t OutputComparison::differing() const {
  if (AllVaries)
    return 0;
  size_t Count = Binary ? DifferentBytes : 0;
  for (unsigned Index : Differs.set_bits())
    Count += isCompared(Index);
  return Count + wholeDifference().has_value();
}

std::vector<LineDifference> OutputComparison::differences(size_t Most) const {
  std::vector<LineDifference> Result;
  if (std::optional<LineDifference> Whole = wholeDifference())
    Result.push_back(*Whole);
  if (AllVaries)
    return Result;
  for (const auto &[Index, Each] : Texts)
    if (Result.size() < Most && (Binary || isCompared(Index)))
      Result.push_back(Each);
  return Result;
}

std::string shownLine(StringRef Text, StringRef Other) {
  constexpr size_t Width = 120, Before = 40;
  Text = Text.rtrim("\r\n");
  size_t Same = 0;
  while (Same < Text.size() && Same < Other.size() && Text[Same] == Other[Same])
    ++Same;
  size_t Begin = Text.size() > Width && Same > Before ? Same - Before : 0;
  std::string Shown = Begin ? "..." : "";
  for (char C : Text.substr(Begin, Width)) {
    auto Byte = static_cast<uint8_t>(C);
    if ((Byte < 0x20 && C != '\t') || Byte == 0x7f)
      Shown += formatv("\\x{0:x-2}", static_cast<unsigned>(Byte)).str();
    else
      Shown += C;
  }
  if (Begin + Width < Text.size())
    Shown += "...";
  return Shown;
}

} // namespace cupilot
