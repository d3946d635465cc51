//===- GpuDescription.cpp - What is known of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/GpuDescription.h"
#include "cupilot/Portable/Failure.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot {

static constexpr int GpuFormatVersion = 1;

/// In the order of GpuFigureSource::Basis.
static constexpr const char *BasisWords[] = {"published", "driver", "measured",
                                             "derived"};

/// The texts of lib/Model/gpus.
static constexpr std::string_view KnownFiles[][2] = {
#include "KnownGpus.inc"
};

static std::string plain(std::string_view Name) {
  std::string Text;
  for (char C : Name)
    Text += char(std::tolower(static_cast<unsigned char>(C)));
  return Text.starts_with("nvidia ") ? Text.substr(7) : Text;
}

bool GpuDescription::isNamed(std::string_view Text) const {
  std::string Wanted = plain(Text);
  return plain(Name) == Wanted ||
         std::ranges::any_of(OtherNames, [&](const std::string &Other) {
           return plain(Other) == Wanted;
         });
}

unsigned GpuDescription::capability() const {
  unsigned Number = 0;
  std::from_chars(Arch.data() + 3, Arch.data() + Arch.size(), Number);
  return Number;
}

unsigned GpuDescription::derivedFigures() const {
  return unsigned(std::ranges::count_if(SourceOf, [&](const auto &Each) {
    return Sources.at(Each.second).From == GpuFigureSource::Basis::Derived;
  }));
}

[[noreturn]] static void bad(const std::string &File, const std::string &Why) {
  throw Failure(FailureKind::BadDescription, "'" + File + "' " + Why,
                "docs/CostModel.md describes the format; cupilot-runner "
                "--ceilings writes such a file for this machine's GPU");
}

namespace {
class Reader {
public:
  Reader(const json &J, const std::string &File) : J(J), File(File) {}
  GpuDescription read();

private:
  [[noreturn]] void fail(const std::string &Why) const { bad(File, Why); }
  const json &member(const json &Of, const char *Key,
                     json::value_t Type) const {
    auto It = Of.find(Key);
    if (It == Of.end() || It->type() != Type)
      fail("is not a GPU description: '" + std::string(Key) +
           "' is missing or has the wrong type");
    return *It;
  }
  void readSources(GpuDescription &G) const;
  template <typename T>
  void readFigure(GpuDescription &G, T &Value, const char *Key, double Most);
  void check(const GpuDescription &G) const;

  const json &J;
  const std::string &File;
  size_t Figures = 0;
};
} // namespace

void Reader::readSources(GpuDescription &G) const {
  for (const auto &[Word, Source] :
       member(J, "sources", json::value_t::object).items()) {
    auto Basis =
        member(Source, "basis", json::value_t::string).get<std::string>();
    auto At = std::ranges::find(BasisWords, Basis);
    if (At == std::end(BasisWords))
      fail("has an unknown basis of figures '" + Basis +
           "'; known: published, driver, measured, derived");
    G.Sources[Word] = {
        GpuFigureSource::Basis(At - BasisWords),
        member(Source, "text", json::value_t::string).get<std::string>()};
  }
}

template <typename T>
void Reader::readFigure(GpuDescription &G, T &Value, const char *Key,
                        double Most) {
  const json &All = J.at("figures");
  if (!All.contains(Key))
    fail("lacks the figure '" + std::string(Key) + "'");
  const json &Figure = All.at(Key);
  if (!Figure.is_object() || !Figure.contains("value") ||
      !Figure.at("value").is_number())
    fail("does not have a number for the figure '" + std::string(Key) + "'");
  const json &Number = Figure.at("value");
  auto Wide = Number.get<double>();
  if (!(Wide > 0) || !(Wide <= Most) ||
      (std::is_integral_v<T> && Wide != std::floor(Wide)))
    fail("has an impossible figure '" + std::string(Key) +
         "': " + Number.dump());
  Value = static_cast<T>(Wide);
  auto Source = Figure.value("source", "");
  if (!G.Sources.count(Source))
    fail("does not say where the figure '" + std::string(Key) +
         "' comes from: unknown source '" + Source + "'");
  G.SourceOf[Key] = Source;
  ++Figures;
}

void Reader::check(const GpuDescription &G) const {
  for (const auto &[Key, Figure] : J.at("figures").items())
    if (!G.SourceOf.count(Key))
      fail("has an unknown figure '" + Key + "'");
  if (G.SharedPerBlock > G.SharedPerSM)
    fail("has an impossible figure 'sharedPerBlock': it is more than "
         "'sharedPerMultiprocessor'");
  if (G.DramGBs > G.PeakDramGBs)
    fail("has an impossible figure 'dramGBs': it is more than 'peakDramGBs'");
  if (std::fabs(G.fp32Peak() / G.PeakFp32Tflops - 1) > 0.05)
    fail("has an impossible figure 'peakFp32Tflops': multiprocessors, clock "
         "and 'fp32PerCycle' make " +
         json(G.fp32Peak()).dump());
  if (G.Fp32Tflops >= G.fp32Peak())
    fail("has an impossible figure 'fp32Tflops': it is not less than the peak");
}

GpuDescription Reader::read() {
  if (!J.is_object() || J.value("format", "") != "cupilot-gpu")
    fail("is not a GPU description");
  if (J.value("version", 0) != GpuFormatVersion)
    fail("has version " + J.value("version", json()).dump() +
         " of the format; this program supports version " +
         std::to_string(GpuFormatVersion));
  GpuDescription G;
  for (const json &Name : member(J, "names", json::value_t::array))
    if (!Name.is_string() || Name.get<std::string>().empty())
      fail("has a name that is not a string");
    else if (G.Name.empty())
      G.Name = Name.get<std::string>();
    else
      G.OtherNames.push_back(Name.get<std::string>());
  if (G.Name.empty())
    fail("has no name");
  G.Arch = member(J, "arch", json::value_t::string).get<std::string>();
  if (!G.Arch.starts_with("sm_") || G.Arch.size() < 5 || G.Arch.size() > 6 ||
      G.Arch.find_first_not_of("0123456789", 3) != std::string::npos)
    fail("has an impossible architecture '" + G.Arch + "'");
  readSources(G);
  member(J, "figures", json::value_t::object);
#define CUPILOT_GPU_FIGURE(Type, Member, Key, Most, Meaning)                   \
  readFigure(G, G.Member, Key, double(Most));
#include "cupilot/Portable/GpuFigure.def"
  check(G);
  return G;
}

GpuDescription readGpuDescription(std::string_view Text,
                                  const std::string &File) {
  json J = json::parse(Text, nullptr, /*allow_exceptions=*/false);
  try {
    return Reader(J, File).read();
  } catch (const json::exception &) {
    bad(File, "is not a GPU description");
  }
}

json toJson(const GpuDescription &G) {
  json Names = {G.Name}, Sources = json::object(), Figures = json::object();
  for (const std::string &Name : G.OtherNames)
    Names.push_back(Name);
  for (const auto &[Word, Source] : G.Sources)
    Sources[Word] = {{"basis", BasisWords[size_t(Source.From)]},
                     {"text", Source.Text}};
#define CUPILOT_GPU_FIGURE(Type, Member, Key, Most, Meaning)                   \
  Figures[Key] = {{"value", G.Member}, {"source", G.SourceOf.at(Key)}};
#include "cupilot/Portable/GpuFigure.def"
  return {{"format", "cupilot-gpu"},   {"version", GpuFormatVersion},
          {"names", std::move(Names)}, {"arch", G.Arch},
          {"sources", Sources},        {"figures", std::move(Figures)}};
}

const std::vector<GpuDescription> &knownGpus() {
  static const std::vector<GpuDescription> Known = [] {
    std::vector<GpuDescription> All;
    for (const auto &[File, Text] : KnownFiles)
      All.push_back(readGpuDescription(Text, std::string(File)));
    return All;
  }();
  return Known;
}

const GpuDescription *findGpu(std::string_view Name) {
  for (const GpuDescription &G : knownGpus())
    if (G.isNamed(Name))
      return &G;
  return nullptr;
}

} // namespace cupilot
