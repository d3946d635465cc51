//===- LoadedIntegersTest.cpp - What integers in memory decide ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/LoadedIntegers.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// Kernels that get "const int *list, const float *x, float *y, int n".
class Loaded : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    Dir.emplace(cantFail(TemporaryDirectory::create("loaded")));
  }

  std::string compile(StringRef Body) {
    std::string Source = (Variables +
                          "extern \"C\" __global__ void k(const int *list, "
                          "const float *x, float *y, int n) {\n"
                          "int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                          Body + "}")
                             .str();
    cantFail(writeFileAtomic(Dir->file("k.cu"), Source));
    return cantFail(compileDeviceBitcode(Dir->file("k.cu"), "sm_90",
                                         {"-O2", "-gline-tables-only"}));
  }

  /// What \p Body does with the list: "turns begins decides addresses".
  std::string factsOf(StringRef Body) {
    std::string Text;
    for (const LoadedIntegers &L :
         cantFail(loadedIntegersOf(compile(Body), std::string("k")))) {
      if (L.From.Pointer.Param != 0 || !L.From.Variable.empty())
        continue;
      for (auto [Is, Word] : {std::pair(L.Turns, "turns "),
                              {L.Begins, "begins "},
                              {L.Decides, "decides "},
                              {L.Addresses, "addresses "}})
        Text += Is ? Word : "";
    }
    return StringRef(Text).rtrim().str();
  }

  /// The bounds of \p Variant that \p Original lacks.
  std::vector<std::string> boundsOf(StringRef Original, StringRef Variant) {
    std::vector<std::string> Texts;
    for (const LoadedBound &B : cantFail(boundsOnLoaded(
             compile(Original), "k", compile(Variant), std::string("k"))))
      Texts.push_back(B.str());
    return Texts;
  }

  /// What \p Body does with device variables, one after the other: "count.0:
  /// turns"; "list.0+4" for all elements.
  std::vector<std::string> variablesOf(StringRef Body) {
    std::vector<std::string> Texts;
    for (const LoadedIntegers &L :
         cantFail(loadedIntegersOf(compile(Body), std::string("k")))) {
      if (L.From.Variable.empty())
        continue;
      std::string Text =
          L.From.Variable + "." + std::to_string(L.From.First) +
          (L.From.Step ? "+" + std::to_string(L.From.Step) : "") + ":";
      for (auto [Is, Word] : {std::pair(L.Turns, " turns"),
                              {L.Begins, " begins"},
                              {L.Decides, " decides"},
                              {L.Addresses, " addresses"},
                              {L.Boolean, " boolean"},
                              {L.Changed, " changed"}})
        Text += Is ? Word : "";
      for (int64_t C : L.Constants)
        Text += " " + std::to_string(C);
      Texts.push_back(std::move(Text));
    }
    return Texts;
  }

  std::string Variables; ///< Of the device, before the kernel.
  std::optional<TemporaryDirectory> Dir;
};

using Strings = std::vector<std::string>;
} // namespace

TEST_F(Loaded, KnowsWhatTheyDecide) {
  EXPECT_EQ(factsOf("float s = 0; for (int j = list[i]; j < list[i + 1]; ++j) "
                    "s += x[j]; y[i] = s;"),
            "turns begins addresses");
  EXPECT_EQ(factsOf("int m = list[i + 1] - list[i]; float s = 0;"
                    "for (int j = 0; j < m; ++j) s += x[list[i] + j];"
                    "y[i] = s;"),
            "turns begins addresses");
  EXPECT_EQ(factsOf("float s = 0; for (int j = 0; j < list[i]; ++j) "
                    "s += x[i * n + j]; y[i] = s;"),
            "turns");
  EXPECT_EQ(factsOf("if (i < n) y[i] = x[list[i]];"), "addresses");
  EXPECT_EQ(factsOf("if (list[i] > 3) y[i] = x[i];"), "decides");
  // Numbers to compute with.
  EXPECT_EQ(factsOf("if (i < n) y[i] = x[i] + float(list[i] * 3);"), "");
}

TEST_F(Loaded, SeesThroughFunctionsAndSharedMemory) {
  EXPECT_EQ(factsOf("struct S { __device__ static int get(const int *l, int i)"
                    " { return l[i] * 2; } };"
                    "float s = 0; for (int j = 0; j < S::get(list, i); ++j) "
                    "s += x[j]; y[i] = s;"),
            "turns");
  EXPECT_EQ(factsOf("__shared__ int m; if (threadIdx.x == 0) m = list[0];"
                    "__syncthreads(); y[i] = x[m + i];"),
            "addresses");
}

TEST_F(Loaded, ArraysOfFixedSize) {
  StringRef Original = "atomicAdd(&y[list[i]], 1.0f);";
  EXPECT_EQ(boundsOf(Original, "__shared__ float own[64];"
                               "atomicAdd(&own[list[i]], 1.0f);"
                               "__syncthreads(); y[i] = own[threadIdx.x];"),
            Strings{"an array of 64 elements is indexed by integers in memory "
                    "at k.cu:3:37"});
  // The code itself sees to it.
  EXPECT_EQ(boundsOf(Original, "__shared__ float own[64];"
                               "atomicAdd(&own[list[i] & 63], 1.0f);"),
            Strings{});
  EXPECT_EQ(boundsOf(Original, "__shared__ float own[64]; unsigned v = list[i];"
                               "if (v < 64) atomicAdd(&own[v], 1.0f);"),
            Strings{});
  // An argument bounds them, and of arguments launches say how large they are.
  EXPECT_EQ(boundsOf(Original, "__shared__ float own[64]; int v = list[i];"
                               "if (v < n) atomicAdd(&own[v], 1.0f);"),
            Strings{});
  // So has the original.
  StringRef Local = "float row[32]; for (int j = 0; j < list[i]; ++j) "
                    "row[j] = x[j]; y[i] = row[n];";
  EXPECT_EQ(boundsOf(Local, Local), Strings{});
  EXPECT_EQ(boundsOf("float s = 0; for (int j = 0; j < list[i]; ++j) "
                     "s += x[j]; y[i] = s;",
                     Local)
                .size(),
            1u);
}

TEST_F(Loaded, FixedTurnsAndNarrowTypes) {
  StringRef Original = "float s = 0; for (int j = 0; j < list[i]; ++j) "
                       "s += x[j]; y[i] = s;";
  EXPECT_EQ(boundsOf(Original, "float s = 0; for (int j = 0; j < 128; ++j) "
                               "s += j < list[i] ? x[j] : 0; y[i] = s;"),
            Strings{"a loop over integers in memory ends after 128 turns at "
                    "k.cu:3:32"});
  EXPECT_EQ(boundsOf(Original,
                     "float s = 0; for (int j = 0; j < list[i] && j < 64; ++j) "
                     "s += x[j]; y[i] = s;")
                .size(),
            1u);
  EXPECT_EQ(boundsOf(Original,
                     "float s = 0; unsigned char m = list[i];"
                     "for (int j = 0; j < m; ++j) s += x[j]; y[i] = s;"),
            Strings{"integers in memory are cut to 8 bits at k.cu:3:32"});
  EXPECT_EQ(boundsOf(Original, Original), Strings{});
  // A type that holds whatever was loaded bounds nothing.
  EXPECT_EQ(boundsOf(Original,
                     "const signed char *c = (const signed char *)list;"
                     "signed char m = i < n ? c[i] : 0; float s = 0;"
                     "for (int j = 0; j < m; ++j) s += x[j]; y[i] = s;"),
            Strings{});
}

TEST_F(Loaded, SumsInFewerBits) {
  StringRef Original = "y[i] = x[(long long)list[i] + n * 3ll];";
  Strings Narrow = {"integers in memory are added or multiplied in 32 bits at "
                    "k.cu:3:18, by the original in more"};
  EXPECT_EQ(boundsOf(Original, "y[i] = x[list[i] + n * 3];"), Narrow);
  EXPECT_EQ(boundsOf(Original, Original), Strings{});
  EXPECT_EQ(boundsOf("y[i] = (x + list[i])[list[n]];",
                     "y[i] = x[list[i] + list[n]];"),
            Narrow);
  // As products, by constants too.
  EXPECT_EQ(
      boundsOf("y[i] = x[(long long)list[i] * 4];", "y[i] = x[list[i] * 4];"),
      Narrow);
  // A result of 64 bits, but not of numbers with room to spare.
  StringRef Wide = "((long long *)y)[i] = (long long)list[i] + list[n];";
  EXPECT_EQ(boundsOf(Wide, "((long long *)y)[i] = list[i] + list[n];").size(),
            1u);
  EXPECT_EQ(boundsOf("const signed char *c = (const signed char *)list;"
                     "long long s = 0; for (int j = 0; j < n; ++j) s += c[j];"
                     "((long long *)y)[i] = s;",
                     "const signed char *c = (const signed char *)list;"
                     "int s = 0; for (int j = 0; j < n; ++j) s += c[j];"
                     "((long long *)y)[i] = s;"),
            Strings{});
  // The original does so itself, or adds nothing.
  EXPECT_EQ(boundsOf("y[i] = x[list[i] + n];", "y[i] = x[list[i] + n * 3];"),
            Strings{});
  EXPECT_EQ(boundsOf("y[i] = x[list[i]];", "y[i] = x[list[i] + n - n];"),
            Strings{});
  // An argument bounds what is added, or the high bits do not count.
  EXPECT_EQ(boundsOf(Original, "int k = list[i]; y[i] = 0;"
                               "if (k < n) y[i] = x[k + n * 3];"),
            Strings{});
  EXPECT_EQ(boundsOf(Original, "y[i] = x[(list[i] + n * 3) & 255];"),
            Strings{});
}

TEST_F(Loaded, FloatsThatBecomeIntegersAgain) {
  StringRef Original = "y[i] = x[list[i]];";
  std::vector<std::string> Bounds =
      boundsOf(Original, "y[i] = x[int(float(list[i]) + 0.25f)];");
  ASSERT_EQ(Bounds.size(), 1u);
  EXPECT_TRUE(StringRef(Bounds[0]).starts_with(
      "integers in memory go through a float that holds 24 bits"))
      << Bounds[0];
  // A double holds them, as a float holds short ones, and a number that is
  // computed with decides nothing.
  EXPECT_EQ(boundsOf(Original, "y[i] = x[int(double(list[i]))];"), Strings{});
  EXPECT_EQ(boundsOf(Original, "y[i] = x[int(float(list[i] & 0xffff))];"),
            Strings{});
  EXPECT_EQ(boundsOf(Original, "y[i] = x[list[i]] * float(list[i]);"),
            Strings{});
}

TEST_F(Loaded, DeviceVariables) {
  Variables = "__constant__ int count; __device__ int offsets[8];"
              "struct Sizes { int w, h; bool wraps; };"
              "__constant__ Sizes sizes; __device__ int ticket;"
              "__device__ const int table[2] = {3, 4};";
  EXPECT_EQ(
      variablesOf("float s = 0; for (int j = 0; j < count; ++j) s += x[j];"
                  "y[i] = s;"),
      Strings{"count.0: turns"});
  EXPECT_EQ(variablesOf("if (count == 7) y[i] = x[i];"),
            Strings{"count.0: decides 7"});
  EXPECT_EQ(variablesOf("float s = 0; for (int j = offsets[i]; "
                        "j < offsets[i + 1]; ++j) s += x[j]; y[i] = s;"),
            (Strings{"offsets.0+4: turns begins addresses"}));
  EXPECT_EQ(variablesOf("y[i] = x[offsets[3]];"),
            Strings{"offsets.12: addresses"});
  EXPECT_EQ(variablesOf("if (sizes.wraps) y[i] = x[i * sizes.h];"),
            (Strings{"sizes.8: decides boolean", "sizes.4: addresses"}));
  // What launches leave to each other, and what never changes.
  EXPECT_EQ(variablesOf("if (atomicAdd(&ticket, 1) == 9) y[i] = x[i];"),
            Strings{"ticket.0: decides changed 9"});
  EXPECT_EQ(variablesOf("y[i] = x[table[i & 1]];"), Strings{});
}

TEST_F(Loaded, BoundsOnDeviceVariables) {
  Variables = "__constant__ int count; __device__ int offsets[8];";
  StringRef Original = "float s = 0; for (int j = 0; j < count; ++j) s += x[j];"
                       "y[i] = s + x[offsets[i]];";
  EXPECT_EQ(boundsOf(Original, Original), Strings{});
  EXPECT_EQ(boundsOf(Original,
                     "float s = 0; unsigned char m = count;"
                     "for (int j = 0; j < m; ++j) s += x[j]; y[i] = s;"),
            Strings{"integers of the device variable 'count' are cut to 8 bits "
                    "at k.cu:3:32"});
  std::vector<std::string> Array = boundsOf(
      Original, "float row[32]; for (int j = 0; j < count; ++j) row[j] = x[j];"
                "y[i] = row[n];");
  ASSERT_EQ(Array.size(), 1u);
  EXPECT_TRUE(StringRef(Array[0]).starts_with(
      "an array of 32 elements is indexed by integers of the device variable "
      "'count'"))
      << Array[0];
  // All of a list hold each of it.
  EXPECT_EQ(
      boundsOf("y[i] = x[short(offsets[i])];", "y[i] = x[short(offsets[2])];"),
      Strings{});
  EXPECT_EQ(
      boundsOf("y[i] = x[short(offsets[2])];", "y[i] = x[short(offsets[i])];")
          .size(),
      1u);
}

TEST(LoadedBounds, ArePassedByWhatVariablesHold) {
  GateCase C;
  C.Globals = {{"sizes", Bytes{1, 0, 0, 0, 44, 1, 0, 0}}};
  LoadedBound Narrow{LoadedBound::Kind::NarrowType, {}, 8, ""};
  Narrow.From = {{}, "sizes", 0, 0, 4};
  EXPECT_FALSE(Narrow.isPassedIn(C));
  Narrow.From.First = 4;
  EXPECT_TRUE(Narrow.isPassedIn(C));
  Narrow.From = {{}, "sizes", 0, 4, 4};
  EXPECT_TRUE(Narrow.isPassedIn(C));
  Narrow.From.Variable = "other";
  EXPECT_FALSE(Narrow.isPassedIn(C));
}

TEST(LoadedBounds, ArePassedByWhatBuffersHold) {
  GateCase C;
  C.Pointers.assign({{0, 0, 1, 0}, {1, 0, 0, 0}});
  C.Buffers = {Bytes{255, 255, 255, 255}, Bytes{63, 0, 0, 0, 5, 0, 0, 0}};
  Layout Integers;
  Integers.Stride = 4;
  Integers.Fields = {{0, ElementKind::Int32}};
  C.Layouts = {Integers, Integers};
  LoadedBound Array{LoadedBound::Kind::FixedArray, {}, 64, ""};
  EXPECT_FALSE(Array.isPassedIn(C)); // Its last element is no element beyond.
  Array.Bound = 63;
  EXPECT_TRUE(Array.isPassedIn(C));
  Array.From.Pointer.Param = 1; // Below 0 is something else.
  EXPECT_FALSE(Array.isPassedIn(C));
  LoadedBound Narrow{LoadedBound::Kind::NarrowType, {}, 6, ""};
  EXPECT_FALSE(Narrow.isPassedIn(C));
  Narrow.Bound = 5;
  EXPECT_TRUE(Narrow.isPassedIn(C));
  LoadedBound InFloat{LoadedBound::Kind::NarrowFloat, {}, 6, ""};
  EXPECT_FALSE(InFloat.isPassedIn(C));
  InFloat.Bound = 5;
  EXPECT_TRUE(InFloat.isPassedIn(C));
  C.Layouts[1].Fields[0].Kind = ElementKind::Float;
  EXPECT_FALSE(Narrow.isPassedIn(C));
}
