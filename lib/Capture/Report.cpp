//===- Report.cpp - What a recording shows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Report.h"
#include "AddOnce.h"
#include "cupilot/Portable/UnitName.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

namespace cupilot::capture {

static std::string format(const char *Format, ...) {
  char Buffer[512];
  va_list Args;
  va_start(Args, Format);
  vsnprintf(Buffer, sizeof(Buffer), Format, Args);
  va_end(Args);
  return Buffer;
}

std::string demangled(const std::string &Symbol) {
  int Status = 0;
  const std::string Name(withoutUnitName(Symbol));
  std::unique_ptr<char, decltype(&std::free)> Text(
      abi::__cxa_demangle(Name.c_str(), nullptr, nullptr, &Status), std::free);
  return Status == 0 && Text ? Text.get() : Name;
}

std::string progressLine(uint64_t Seconds, uint64_t Kernels, uint64_t Launches,
                         uint64_t Kept, const std::string &Doing) {
  return "cupilot capture: " + std::to_string(Seconds) +
         " s: " + std::to_string(Kernels) + " kernels, " +
         std::to_string(Launches) + " launches, " + std::to_string(Kept) +
         " of them kept" + (Doing.empty() ? "" : "; " + Doing) + "\n";
}

/// Bytes that the launch is known to have changed.
static uint64_t changedBytes(const Launch &L) {
  uint64_t Bytes = 0;
  for (const Content &B : L.Buffers)
    Bytes += B.Changed;
  return Bytes;
}

static void sortByTime(std::vector<KernelRow> &Rows) {
  std::sort(Rows.begin(), Rows.end(),
            [](const KernelRow &A, const KernelRow &B) {
              return std::tuple(-A.Time, A.Kernel, A.Module) <
                     std::tuple(-B.Time, B.Kernel, B.Module);
            });
}

std::pair<std::string, std::string> kernelKey(const Record &R,
                                              const Launch &L) {
  return {L.Kernel, R.Measured ? "" : L.Module};
}

std::vector<KernelRow> makeRows(const Record &R) {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, KernelRow> Rows;
  std::map<Key, double> Floors; // In microseconds.
  double Total = 0;
  for (const Launch &L : R.Launches)
    Total += L.Cost;
  for (const Launch &L : R.Launches) {
    KernelRow &Row = Rows[kernelKey(R, L)];
    std::tie(Row.Kernel, Row.Module) = kernelKey(R, L);
    Row.Library = L.Library;
    Row.Calls += L.Count;
    Row.Time += L.Cost;
    Row.Kept += L.Kept;
    Row.Inferred += L.Kept && L.Inferred;
    for (const std::string &Text : L.Obstacles)
      addOnce(Row.Why, Text);
    if (L.Replay && !L.Replay->repeats())
      addOnce(Row.Why, "a replay " + L.Replay->text());
    if (L.InGraph && !L.Kept)
      addOnce(Row.Why, "launched in graphs: counted and timed, not kept "
                       "(--graphs keeps those that can run on copies)");
    if (!L.Kept || L.Device >= R.Devices.size())
      continue;
    double Bandwidth = R.Devices[L.Device].Bandwidth;
    if (!(Bandwidth > 0) || !R.Measured)
      continue;
    Row.KnowsBytes = true;
    Floors[kernelKey(R, L)] += static_cast<double>(L.Count) *
                               static_cast<double>(changedBytes(L)) /
                               Bandwidth * 1e6;
  }
  std::vector<KernelRow> Result;
  for (auto &[Name, Row] : Rows) {
    Row.Share = Total > 0 ? Row.Time / Total : 0;
    auto Gain = [&](double Rest) {
      double Left = Total - Row.Time + Rest;
      return Left > 0 ? Total / Left : 0;
    };
    Row.Amdahl = Gain(0);
    Row.Roofline = Gain(std::min(Floors[Name], Row.Time));
    Result.push_back(std::move(Row));
  }
  sortByTime(Result);
  return Result;
}

/// One row for the kernels of each library, where the largest of them was.
static std::vector<KernelRow> withLibrariesAsOne(std::vector<KernelRow> Rows,
                                                 double Total) {
  std::vector<KernelRow> Result;
  std::map<std::string, size_t> Numbers; // How many kernels.
  for (KernelRow &Row : Rows) {
    if (!Row.Library.empty() && Numbers[Row.Library]++) {
      KernelRow &All =
          *std::ranges::find(Result, Row.Library, &KernelRow::Library);
      All.Calls += Row.Calls;
      All.Time += Row.Time;
      All.Share += Row.Share;
      All.Kept += Row.Kept;
      All.Inferred += Row.Inferred;
      for (const std::string &Why : Row.Why)
        addOnce(All.Why, Why);
    } else {
      Result.push_back(std::move(Row));
    }
  }
  for (KernelRow &Row : Result) {
    if (Row.Library.empty())
      continue;
    size_t Number = Numbers[Row.Library];
    Row.Kernel = Row.Library + " (" + std::to_string(Number) +
                 (Number == 1 ? " kernel)" : " kernels)");
    Row.KnowsBytes = false;
    Row.Amdahl = Total > Row.Time ? Total / (Total - Row.Time) : 0;
    if (!Row.Kept)
      Row.Why = {"a library's: counted and timed, not kept (--libraries keeps "
                 "its launches)"};
  }
  sortByTime(Result);
  return Result;
}

static std::string times(double Factor, bool Known) {
  if (!Known)
    return "      -";
  if (Factor <= 0 || Factor > 9999)
    return "    any";
  return format("%6.2fx", Factor);
}

/// Characters of a digest that tell modules of one program apart.
static constexpr size_t ShownDigest = 11;

std::string printTable(const Record &R, size_t Most) {
  std::vector<KernelRow> Rows = makeRows(R);
  uint64_t Calls = 0;
  double Time = 0;
  for (const KernelRow &Row : Rows) {
    Calls += Row.Calls;
    Time += Row.Time;
  }
  std::string Text = format(
      "%zu kernels, %llu launches, %.3f ms of %s kernel time\n", Rows.size(),
      static_cast<unsigned long long>(Calls), Time / 1e3, R.basis());
  Rows = withLibrariesAsOne(std::move(Rows), Time);
  Text += "  share      calls    mean us  amdahl roofline  kept  kernel\n";
  for (size_t I = 0; I < Rows.size(); ++I) {
    const KernelRow &Row = Rows[I];
    if (I == Most) {
      Text += format("  and %zu more\n", Rows.size() - Most);
      break;
    }
    Text += format("%6.1f %% %10llu %10.2f %s  %s %5zu  ", Row.Share * 100,
                   static_cast<unsigned long long>(Row.Calls),
                   Row.Calls ? Row.Time / static_cast<double>(Row.Calls) : 0.0,
                   times(Row.Amdahl, true).c_str(),
                   times(Row.Roofline, Row.KnowsBytes).c_str(), Row.Kept);
    Text += Row.Library.empty() ? demangled(Row.Kernel) : Row.Kernel;
    if (std::ranges::count(Rows, Row.Kernel, &KernelRow::Kernel) > 1)
      Text += " in module " + Row.Module.substr(0, ShownDigest);
    Text += "\n";
    if (Row.Inferred)
      Text += format("           ranges inferred by replays with noise: %zu of "
                     "the kept launches\n",
                     Row.Inferred);
    for (const std::string &Why : Row.Why)
      Text += "           " + Why + "\n";
  }
  Text += "amdahl, roofline: the largest speed-up of all kernels together, if "
          "this one took no\ntime, or only the time to write the bytes that it "
          "changed.\n";
  for (const std::string &Note : R.Notes)
    Text += "note: " + Note + "\n";
  return Text;
}

nlohmann::json tableJson(const Record &R) {
  nlohmann::json Kernels = nlohmann::json::array();
  for (const KernelRow &Row : makeRows(R)) {
    nlohmann::json K{{"kernel", demangled(Row.Kernel)},
                     {"symbol", Row.Kernel},
                     {"launches", Row.Calls},
                     {"us", Row.Time},
                     {"share", Row.Share},
                     {"kept", Row.Kept},
                     {"inferred", Row.Inferred},
                     {"why", Row.Why}};
    if (!Row.Module.empty())
      K["module"] = Row.Module;
    if (Row.Amdahl > 0)
      K["amdahl"] = Row.Amdahl;
    if (Row.KnowsBytes && Row.Roofline > 0)
      K["roofline"] = Row.Roofline;
    Kernels.push_back(std::move(K));
  }
  nlohmann::json Devices = nlohmann::json::array();
  for (const DeviceFacts &D : R.Devices)
    Devices.push_back({{"name", D.Name}, {"arch", D.Arch}});
  return {{"version", 1},
          {"basis", R.basis()},
          {"devices", std::move(Devices)},
          {"kernels", std::move(Kernels)},
          {"notes", R.Notes}};
}

} // namespace cupilot::capture
