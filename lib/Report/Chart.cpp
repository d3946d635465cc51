//===- Chart.cpp - The drawing of a roofline -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chart.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

namespace {
/// A logarithmic axis.
struct Axis {
  double Low, High;  ///< Powers of ten.
  double Begin, End; ///< Pixels.
  double at(double Value) const {
    double Share = (std::log10(Value) - Low) / (High - Low);
    return Begin + std::clamp(Share, 0.0, 1.0) * (End - Begin);
  }
};

/// A limit of the GPU: a bandwidth (slanted) or a rate (level).
struct Roof {
  const char *Name;
  double Rate;
  bool IsBandwidth;
};
} // namespace

static constexpr double ChartWidth = 920, Height = 460, Left = 74, Right = 20,
                        Top = 18, Bottom = 52;

static std::string pixels(double Value) { return formatv("{0:f1}", Value); }

/// "0.01", "1", "1k": marks are powers of ten.
static std::string mark(int Power) {
  if (Power < 0)
    return "0." + std::string(size_t(-Power) - 1, '0') + "1";
  const char *Unit = Power >= 6 ? "M" : Power >= 3 ? "k" : "";
  return "1" + std::string(Power >= 6 ? Power - 6 : Power % 3, '0') + Unit;
}

/// Points that would hide each other move apart a little, downwards.
static double place(std::vector<std::pair<double, double>> &Taken, double X,
                    double Y) {
  for (bool Free = false; !Free;) {
    Free = true;
    for (auto [OtherX, OtherY] : Taken)
      if (std::hypot(X - OtherX, Y - OtherY) < 3.5) {
        Y += 3.6;
        Free = false;
      }
    if (Y > Height - Bottom)
      break;
  }
  Taken.push_back({X, Y});
  return Y;
}

/// The place of the text \p Text beside a point, where none that was written
/// before is; nothing where all is taken: then the point's title must do.
static std::optional<double>
besidePoint(std::vector<std::pair<double, double>> &Written, double X, double Y,
            StringRef Text) {
  constexpr double Column = 20, Row = 12;
  for (double At : {9., 9 + Column, 9 + 2 * Column, 9 + 3 * Column,
                    9 + 4 * Column, -8 - Column, -8 - 2 * Column}) {
    std::pair<double, double> Here(X + At, Y);
    if (Here.first + 8 * double(Text.size()) > ChartWidth - Right ||
        Here.first < Left ||
        any_of(
            Written,
            [&](auto Other) {
              return std::abs(Other.first - Here.first) < Column &&
                     std::abs(Other.second - Here.second) < Row;
            }))
      continue;
    Written.push_back(Here);
    return Here.first;
  }
  return std::nullopt;
}

json::Object drawRoofline(const Ceilings &C, const ReportRoofline &Of) {
  const Roof Roofs[] = {{"DRAM", C.DramGBs, true},
                        {"L2", C.L2GBs, true},
                        {"FP32", C.Fp32Gops, false},
                        {"FP64", C.Fp64Gops, false},
                        {"tensor f16", C.TensorGops / 2, false}};
  double LowX = -2, HighX = 3, LowY = 0, HighY = std::log10(C.Fp32Gops * 2);
  bool Fast = false;
  for (const ReportVariant &V : Of.Variants) {
    if (!V.Intensity || !(*V.Intensity > 0) || !(V.Operations > 0))
      continue;
    LowX = std::min(LowX, std::log10(*V.Intensity) - 0.2);
    HighX = std::max(HighX, std::log10(*V.Intensity) + 0.2);
    for (std::optional<double> Time : {V.Modelled, V.Measured})
      if (Time && *Time > 0 && std::isfinite(*Time)) {
        double Rate = V.Operations / *Time * 1e-3;
        LowY = std::min(LowY, std::log10(Rate) - 0.2);
        Fast |= Rate > C.Fp32Gops;
      }
  }
  if (Fast)
    HighY = std::log10(C.TensorGops);
  Axis X{std::floor(LowX), std::ceil(HighX), Left, ChartWidth - Right};
  Axis Y{std::floor(LowY), std::ceil(HighY), Height - Bottom, Top};

  json::Array Lines, Ticks, Points;
  double Most = std::pow(10.0, Y.High), Least = std::pow(10.0, Y.Low),
         First = std::pow(10.0, X.Low), Last = std::pow(10.0, X.High);
  // A slanted roof ends where the highest level one is.
  double Highest = Fast ? C.TensorGops / 2 : C.Fp32Gops;
  for (const Roof &R : Roofs) {
    if (!(R.Rate > 0) || (!R.IsBandwidth && R.Rate > Most))
      continue;
    double X1 = First, X2 = Last, Y1 = R.Rate, Y2 = R.Rate;
    if (R.IsBandwidth) {
      X1 = std::max(First, Least / R.Rate);
      X2 = std::min(Last, Highest / R.Rate);
      Y1 = X1 * R.Rate;
      Y2 = X2 * R.Rate;
    } else {
      X1 = std::max(First, R.Rate / std::max(C.L2GBs, C.DramGBs));
    }
    // The names of slanted ones stand on their free sides: of the steepest
    // above, of others below.
    bool Level = !R.IsBandwidth, Above = R.Rate >= std::max(C.L2GBs, C.DramGBs);
    double AtX = std::sqrt(X1 * X2), AtY = AtX * R.Rate;
    Lines.push_back(json::Object{
        {"x1", pixels(X.at(X1))},
        {"y1", pixels(Y.at(Y1))},
        {"x2", pixels(X.at(X2))},
        {"y2", pixels(Y.at(Y2))},
        {"name", R.Name},
        {"rate", Level ? formatv("{0:f1} Top/s", R.Rate * 1e-3).str()
                       : formatv("{0:f2} TB/s", R.Rate * 1e-3).str()},
        {"textX",
         pixels(Level ? X.at(Last) - 4 : X.at(AtX) + (Above ? -10 : 10))},
        {"textY",
         pixels(Level ? Y.at(R.Rate) - 5 : Y.at(AtY) + (Above ? -4 : 14))},
        {"anchor", Level || Above ? "end" : "start"},
        {"kind", Level ? "level" : "slant"}});
  }
  for (int P = int(X.Low); P <= int(X.High); ++P)
    Ticks.push_back(json::Object{{"x1", pixels(X.at(std::pow(10.0, P)))},
                                 {"x2", pixels(X.at(std::pow(10.0, P)))},
                                 {"y1", pixels(Top)},
                                 {"y2", pixels(Height - Bottom)},
                                 {"textX", pixels(X.at(std::pow(10.0, P)))},
                                 {"textY", pixels(Height - Bottom + 18)},
                                 {"anchor", "middle"},
                                 {"text", mark(P)}});
  for (int P = int(Y.Low); P <= int(Y.High); ++P)
    Ticks.push_back(json::Object{{"x1", pixels(Left)},
                                 {"x2", pixels(ChartWidth - Right)},
                                 {"y1", pixels(Y.at(std::pow(10.0, P)))},
                                 {"y2", pixels(Y.at(std::pow(10.0, P)))},
                                 {"textX", pixels(Left - 8)},
                                 {"textY", pixels(Y.at(std::pow(10.0, P)) + 4)},
                                 {"anchor", "end"},
                                 {"text", mark(P)}});
  std::vector<std::pair<double, double>> Taken, Written;
  for (auto [I, V] : enumerate(Of.Variants)) {
    if (!V.Intensity || !(*V.Intensity > 0) || !(V.Operations > 0))
      continue;
    for (bool Measured : {false, true}) {
      std::optional<double> Time = Measured ? V.Measured : V.Modelled;
      if (!Time || !(*Time > 0) || !std::isfinite(*Time))
        continue;
      double Rate = V.Operations / *Time * 1e-3;
      double PX = X.at(*V.Intensity);
      double PY = place(Taken, PX, Y.at(Rate));
      json::Object P{{"x", pixels(PX)},
                     {"y", pixels(PY)},
                     {"r", Measured ? "6" : "5"},
                     {"number", static_cast<int64_t>(I)},
                     {"verdict", V.Verdict},
                     {"name", V.Name},
                     {"genome", V.Genome},
                     {"how", Measured ? "measured" : "modelled"},
                     {"time", formatv("{0:f2}", *Time).str()},
                     {"rate", formatv("{0:f1}", Rate).str()},
                     {"intensity", formatv("{0:f3}", *V.Intensity).str()}};
      if (auto TextX = besidePoint(Written, PX, PY, std::to_string(I)))
        P["label"] = json::Object{{"textX", pixels(*TextX)},
                                  {"textY", pixels(PY + 4)},
                                  {"number", static_cast<int64_t>(I)}};
      Points.push_back(std::move(P));
    }
  }
  return json::Object{{"width", pixels(ChartWidth)},
                      {"height", pixels(Height)},
                      {"middleX", pixels((Left + ChartWidth - Right) / 2)},
                      {"middleY", pixels((Top + Height - Bottom) / 2)},
                      {"baseY", pixels(Height - 12)},
                      {"roofs", std::move(Lines)},
                      {"ticks", std::move(Ticks)},
                      {"points", std::move(Points)}};
}

} // namespace cupilot
