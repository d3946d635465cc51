//===- device-answers-fit.cpp - Coefficients of the special unit ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   device-answers-fit RESULTS > lib/CpuDevice/Execute/SpecialUnit.inc
//
// RESULTS are those of device-answers.sh, with the planes unpacked (gunzip).
// For each interval of each function: the whole numbers constant, slope and
// curvature with which constant + slope * x + curvature * square(x), cut off,
// is the answer to all arguments. It fails if there are none.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static std::vector<uint32_t> answers(const std::string &File) {
  std::FILE *F = std::fopen(File.c_str(), "rb");
  std::vector<uint8_t> Planes;
  if (F) {
    std::fseek(F, 0, SEEK_END);
    Planes.resize(static_cast<size_t>(std::ftell(F)));
    std::rewind(F);
    if (std::fread(Planes.data(), 1, Planes.size(), F) != Planes.size())
      Planes.clear();
    std::fclose(F);
  }
  if (Planes.empty()) {
    std::fprintf(stderr, "device-answers-fit: cannot read %s\n", File.c_str());
    std::exit(1);
  }
  std::vector<uint32_t> Out(Planes.size() / 4);
  uint32_t Last = 0;
  for (size_t At = 0; At < Out.size(); ++At) {
    uint32_t D = 0;
    for (size_t B = 0; B < 4; ++B)
      D |= uint32_t(Planes[B * Out.size() + At]) << (8 * B);
    Out[At] = Last += D >> 1 ^ (D & 1 ? ~0u : 0);
  }
  return Out;
}

/// x * x / 2^19, each part cut off (SpecialUnit.cpp).
static int64_t square(uint32_t X) {
  uint32_t Sum = 0;
  for (unsigned Bit = 2; Bit < 17; ++Bit)
    Sum += X >> Bit & 1 ? X >> (18 - Bit) : 0;
  return Sum >> 1;
}

namespace {
/// One argument: Low <= constant + slope * X + curvature * Square <= High.
struct Sample {
  int64_t X, Square, Low, High;
};
using Interval = std::vector<Sample>;
struct Coefficients {
  int64_t Low, High; ///< Of the constant.
  int64_t Slope, Curvature;
};
} // namespace

/// \p X with an answer that was cut off from a number of \p Places + \p Rest
/// places; the last \p Rest of them never show.
static void add(Interval &To, uint32_t X, int64_t Square, uint32_t Answer,
                int Places, int Rest = 0) {
  if (Answer == 0)
    return;
  int64_t Mantissa = (Answer & 0x7fffff) | 0x800000;
  int Shift = static_cast<int>(Answer >> 23) - 150 + Places;
  int64_t Low = Shift >= 0 ? Mantissa << Shift : Mantissa >> -Shift;
  int64_t End = Shift >= 0 ? (Mantissa + 1) << Shift : Low + 1;
  To.push_back({X, Square, Low << Rest, (End << Rest) - 1});
}

static Coefficients solve(const Interval &I) {
  const size_t N = I.size(), Edge = N / 8,
               Step = std::max<size_t>(1, Edge / 64);
  // Near the parabola through three points.
  int64_t Guess = std::llround(
      2 * (double(I[N - 1].Low) + double(I[0].Low) - 2 * double(I[N / 2].Low)) /
      double(I[N - 1].Square));
  std::vector<Coefficients> Found;
  for (int64_t Off = 0; Off <= 200 && Found.empty(); ++Off)
    for (int64_t Curvature : {Guess - Off, Guess + Off}) {
      // Between which slopes, from some pairs of the first and the last.
      double Least = -1e18, Most = 1e18;
      for (size_t A = 0; A < Edge; A += Step)
        for (size_t B = N - Edge; B < N; B += Step) {
          auto Rise = [&](int64_t Of, int64_t From) {
            return double((Of - Curvature * I[B].Square) -
                          (From - Curvature * I[A].Square)) /
                   double(I[B].X - I[A].X);
          };
          Least = std::max(Least, Rise(I[B].Low, I[A].High));
          Most = std::min(Most, Rise(I[B].High, I[A].Low));
        }
      auto First = static_cast<int64_t>(std::ceil(Least)),
           Last = static_cast<int64_t>(std::floor(Most));
      for (int64_t Slope = First; Slope <= Last; ++Slope) {
        int64_t Low = INT64_MIN / 2, High = INT64_MAX / 2;
        for (const Sample &S : I) {
          int64_t Rest = Slope * S.X + Curvature * S.Square;
          Low = std::max(Low, S.Low - Rest);
          High = std::min(High, S.High - Rest);
          if (Low > High)
            break;
        }
        if (Low <= High)
          Found.push_back({Low, High, Slope, Curvature});
      }
      if (Off == 0)
        break;
    }
  if (Found.empty()) {
    std::fprintf(stderr, "device-answers-fit: no coefficients\n");
    std::exit(1);
  }
  return Found[0];
}

/// Constants are multiples of 2^\p Shift, plus one number for all of them.
static void print(const char *Name, const std::vector<Interval> &Intervals,
                  int Shift) {
  std::vector<Coefficients> All;
  for (const Interval &I : Intervals)
    All.push_back(solve(I));
  const int64_t Unit = int64_t(1) << Shift;
  auto ConstantOf = [&](const Coefficients &C, int64_t Offset) {
    int64_t Low = C.Low - Offset;
    return (Low + Unit - 1) >> Shift;
  };
  std::vector<int64_t> Offsets;
  for (int64_t Offset = 0; Offset < Unit; ++Offset)
    if (std::all_of(All.begin(), All.end(), [&](const Coefficients &C) {
          return ConstantOf(C, Offset) * Unit + Offset <= C.High;
        }))
      Offsets.push_back(Offset);
  if (Offsets.empty()) {
    std::fprintf(stderr, "device-answers-fit: %s has no common offset\n", Name);
    std::exit(1);
  }
  std::printf("\nconstexpr int64_t %sOffset = %lld;\n", Name,
              static_cast<long long>(Offsets[0]));
  std::printf("constexpr UnitRow %sRows[%zu] = {\n", Name, All.size());
  std::string Line;
  for (const Coefficients &C : All) {
    std::string Row = "{" + std::to_string(ConstantOf(C, Offsets[0])) + ", " +
                      std::to_string(C.Slope) + ", " +
                      std::to_string(C.Curvature) + "},";
    if (!Line.empty() && 4 + Line.size() + 1 + Row.size() > 80) {
      std::printf("    %s\n", Line.c_str());
      Line.clear();
    }
    Line += (Line.empty() ? "" : " ") + Row;
  }
  std::printf("    %s\n};\n", Line.c_str());
}

namespace {
/// A function whose answers to one or two binades were recorded.
struct Function {
  const char *File, *Name;
  int Bits;   ///< Of x.
  int Factor; ///< Of the square.
  int Places, Rest;
  int Shift;  ///< Of the constants.
  bool First; ///< Its first argument is answered like the others.
};
} // namespace

static const Function Functions[] = {
    {"ex2", "Ex2", 17, 1, 37, 0, 13, true},
    {"rcp", "Rcp", 16, 1, 39, 0, 13, true},
    {"rsqrt", "Rsqrt", 17, 4, 40, 0, 14, false},
    {"sqrt", "Sqrt", 17, 2, 40, 0, 13, true},
    {"lg2", "Lg2", 17, 2, 36, 2, 12, false}};

int main(int Argc, char **Argv) {
  if (Argc != 2) {
    std::fprintf(stderr, "usage: device-answers-fit RESULTS\n");
    return 2;
  }
  const std::string Folder = std::string(Argv[1]) + "/";
  std::printf(
      "// Written by benchmarks/device-answers-fit.cpp from the answers "
      "of an H200.\n");
  for (const Function &F : Functions) {
    std::vector<uint32_t> Out = answers(Folder + F.File + ".planes");
    const size_t Each = size_t(1) << F.Bits;
    std::vector<Interval> All(Out.size() / Each);
    for (size_t At = F.First ? 0 : 1; At < Out.size(); ++At) {
      auto X = static_cast<uint32_t>(At % Each);
      add(All[At / Each], X, F.Factor * square(X << (17 - F.Bits)), Out[At],
          F.Places, F.Rest);
    }
    print(F.Name, All, F.Shift);
  }
  // The argument times 1 / (2 * pi), cut off, is taken to 25 places.
  std::vector<uint32_t> Out = answers(Folder + "sin.planes");
  std::vector<Interval> Quarter(64);
  for (uint32_t K = 0; K < Out.size(); ++K) {
    auto Argument =
        static_cast<float>((K + 0.5) * 0x1p-25 * 6.283185307179586476925);
    double Turns = double(Argument) * double(std::bit_cast<float>(0x3e22f983u));
    auto Near = static_cast<float>(Turns);
    if (double(Near) > Turns)
      Near = std::nextafter(Near, 0.0f);
    auto Part = static_cast<uint32_t>(double(Near) * 0x1p25);
    uint32_t X = Part & 0x1ffff;
    if (Part >> 17 < Quarter.size())
      add(Quarter[Part >> 17], X, square(X), Out[K], 37);
  }
  print("Sin", Quarter, 11);
  // Every eighth argument of the binades from 2^-8 to 2^2; how many intervals
  // there are in each, and with how many places.
  static const struct {
    unsigned Intervals;
    int Places;
  } Binades[] = {{1, 43}, {1, 42}, {1, 41}, {2, 40},  {2, 39}, {4, 38},
                 {4, 37}, {4, 36}, {8, 37}, {16, 39}, {8, 37}};
  Out = answers(Folder + "tanh.planes");
  std::vector<Interval> All;
  size_t At = 0;
  for (const auto &B : Binades)
    for (unsigned I = 0; I < B.Intervals; ++I) {
      Interval &Own = All.emplace_back();
      const size_t Each = (size_t(1) << 20) / B.Intervals;
      for (size_t K = 0; K < Each; ++K, ++At) {
        auto X = static_cast<uint32_t>(K * (size_t(1) << 17) / Each);
        add(Own, X, square(X), Out[At], B.Places);
      }
    }
  print("Tanh", All, 15);
  return 0;
}
