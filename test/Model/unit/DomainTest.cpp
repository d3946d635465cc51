//===- DomainTest.cpp - Domains as text and JSON --------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace cupilot;
using namespace llvm;
using K = Expr::Kind;

/// saxpy(int n, float alpha, const float *x, float *y, struct { int64_t rows;
/// uint8_t flag; } p, double beta), and an int that is called as a dimension.
static LaunchNames names() {
  return {{{"n", 4},
           {"alpha", 4},
           {"x", 8},
           {"y", 8},
           {"p", 16},
           {"beta", 8},
           {"gx", 4}},
          {{0, 0, 32, true},
           {4, 0, 64, true},
           {4, 8, 8, false},
           {6, 0, 32, false}}};
}

static Expr s(unsigned I) { return Expr::symbol(I); }
static Expr c(int64_t V) { return Expr::constant(V); }
static Expr mul(Expr A, Expr B) {
  return Expr::binary(K::Mul, std::move(A), std::move(B));
}
static Expr add(Expr A, Expr B) {
  return Expr::binary(K::Add, std::move(A), std::move(B));
}

TEST(DomainText, Expressions) {
  auto Text = [](const Expr &E) { return exprText(E, names()); };
  EXPECT_EQ(Text(mul(s(0), c(4))), "n * 4");
  EXPECT_EQ(Text(s(1)), "p.0");
  EXPECT_EQ(Text(s(3)), "argument6");
  EXPECT_EQ(Text(add(mul(mul(Expr::dim(GridX), Expr::dim(BlockX)), c(-1)),
                     add(s(0), c(-3)))),
            "gx * bx * -1 + n - 3");
  EXPECT_EQ(Text(mul(add(s(0), c(1)), s(1))), "(n + 1) * p.0");
  EXPECT_EQ(Text(Expr::binary(K::CeilDiv, mul(Expr::dim(GridX), s(0)), c(4))),
            "(gx * n) ceildiv 4");
  EXPECT_EQ(Text(add(s(0), c(INT64_MIN))), "n - 9223372036854775808");
}

static std::string range(Expr E, std::vector<Interval> In) {
  DomainBox Box;
  Box.Ranges.push_back({std::move(E), std::move(In)});
  return clauseText(Box, 0, names());
}

TEST(DomainText, Ranges) {
  EXPECT_EQ(range(s(0), {{1, 70000}}), "1 <= n <= 70000");
  EXPECT_EQ(range(s(0), {{INT32_MIN, 5}}), "n <= 5");
  EXPECT_EQ(range(s(0), {{5, INT64_MAX}}), "n >= 5");
  EXPECT_EQ(range(s(0), {{INT64_MIN, INT64_MAX}}), "n is any integer");
  EXPECT_EQ(range(s(0), {{7, 7}}), "n == 7");
  EXPECT_EQ(range(s(0), {{0, 0}, {3, 3}, {8, 16}}), "n in {0, 3, 8..16}");
  EXPECT_EQ(range(s(0), {{0, 0}, {1, 1}, {2, 9}}), "0 <= n <= 9");
  EXPECT_EQ(range(s(0), {{INT32_MIN, -1}, {1, INT32_MAX}}), "n != 0");
  EXPECT_EQ(range(s(0), {{INT32_MIN, -5}, {1, INT32_MAX}}), "n in {..-5, 1..}");
  // What a type has anyway is not said.
  EXPECT_EQ(range(s(2), {{0, 3}}), "p.8 <= 3");
  EXPECT_EQ(range(s(2), {{1, 255}}), "p.8 >= 1");
  EXPECT_EQ(range(Expr::dim(GridX), {{1, 256}}), "gx <= 256");
  EXPECT_EQ(range(Expr::dim(SharedBytes), {{0, 256}}), "shared <= 256");
}

static std::string floats(FloatRef F, std::vector<Interval> In) {
  DomainBox Box;
  Box.Floats.push_back({F, std::move(In)});
  return clauseText(Box, 0, names());
}

static int64_t key(float F) { return floatKey(std::bit_cast<uint32_t>(F), 32); }

TEST(DomainText, Floats) {
  const FloatRef Alpha{1, 0, FloatRef::Format::Float};
  const int64_t Inf = key(std::numeric_limits<float>::infinity()),
                Top = INT32_MAX;
  auto Text = [&](std::vector<Interval> In) { return floats(Alpha, In); };
  auto Mirrored = [&](int64_t A, int64_t B) {
    return Text({{-B - 1, -A - 1}, {A, B}});
  };
  EXPECT_EQ(Text({{-1, 0}}), "alpha == 0");
  EXPECT_EQ(Text({{-1, -1}, {0, 0}}), "alpha == 0");
  EXPECT_EQ(Text({{0, 0}}), "alpha == +0");
  EXPECT_EQ(Text({{-1, -1}}), "alpha == -0");
  EXPECT_EQ(Text({{key(1), key(1)}}), "alpha == 1");
  EXPECT_EQ(Text({{key(-1), key(-1)}, {key(1), key(1)}}), "|alpha| == 1");
  EXPECT_EQ(Text({{key(0.1f), key(2.5e10f)}}), "0.1 <= alpha <= 2.5e10");
  EXPECT_EQ(Text({{key(-2), key(3)}}), "-2 <= alpha <= 3");
  EXPECT_EQ(Text({{key(0.0f), key(3)}}), "+0 <= alpha <= 3");
  EXPECT_EQ(Text({{-1, key(3)}}), "0 <= alpha <= 3");
  EXPECT_EQ(Text({{key(-3), -1}}), "-3 <= alpha <= -0");
  EXPECT_EQ(Text({{1, key(3)}}), "0 < alpha <= 3");
  EXPECT_EQ(Mirrored(1, key(3.4e38f)), "0 < |alpha| <= 3.4e38");
  EXPECT_EQ(Mirrored(1, Inf - 1), "0 < |alpha| < inf");
  EXPECT_EQ(Text({{-Inf, Inf - 1}}), "alpha is finite");
  EXPECT_EQ(Text({{-Inf - 1, Inf}}), "alpha is not nan");
  EXPECT_EQ(Text({{-Top - 1, Top}}), "alpha is any number");
  EXPECT_EQ(Mirrored(Inf, Inf), "|alpha| == inf");
  EXPECT_EQ(Mirrored(Inf + 1, Top), "alpha is nan");
  EXPECT_EQ(Text({{-1, 0}, {key(1), key(1)}, {Inf, Inf}}),
            "alpha in {0, 1, inf}");
  EXPECT_EQ(Text({{key(-1), key(-1)}, {-1, 0}, {key(1), key(1)}}),
            "|alpha| in {0, 1}");
  EXPECT_EQ(Text({{0, Top}}), "alpha in {+0..inf, +nan}");
  EXPECT_EQ(Text({{Inf + 1, Inf + 1}}), "alpha is nan(0x7f800001..0x7f800001)");
  const FloatRef Beta{5, 0, FloatRef::Format::Double};
  EXPECT_EQ(floats(Beta, {{floatKey(std::bit_cast<uint64_t>(0.1), 64),
                           floatKey(std::bit_cast<uint64_t>(0.1), 64)}}),
            "beta == 0.1");
  EXPECT_EQ(floats({4, 2, FloatRef::Format::BFloat}, {{0x3f80, 0x3f80}}),
            "p.2 == 1");
  EXPECT_EQ(floats({4, 2, FloatRef::Format::Half}, {{0x3c00, 0x7bff}}),
            "1 <= p.2 < inf");
}

/// Every text of a number reads as that number, and no shorter one does.
TEST(DomainText, NumbersReadBack) {
  for (uint32_t Raw = 0; Raw < 0x7f800000; Raw += 0x51357) {
    std::string Text = floatText(FloatRef::Format::Float, Raw);
    ASSERT_EQ(std::bit_cast<uint32_t>(std::strtof(Text.c_str(), nullptr)), Raw)
        << std::string(Text);
  }
  EXPECT_EQ(floatText(FloatRef::Format::Half, 0x7bff), "65504");
  EXPECT_EQ(floatText(FloatRef::Format::Half, 1), "6e-8");
  EXPECT_EQ(floatText(FloatRef::Format::BFloat, 0x4049), "3.14");
}

/// The key puts numbers in order: -0 before 0, and NaN beyond infinity.
TEST(Domain, KeysAreInOrder) {
  const float Inf = std::numeric_limits<float>::infinity();
  const float Order[] = {-Inf,   -3.4e38f, -1, -1e-45f, -0.0f, 0.0f,
                         1e-45f, 0.5f,     1,  3.4e38f, Inf};
  for (size_t I = 1; I < std::size(Order); ++I)
    EXPECT_LT(key(Order[I - 1]), key(Order[I])) << Order[I];
  EXPECT_EQ(key(-0.0f), -1);
  EXPECT_GT(floatKey(0x7fffffff, 32), key(Inf));
  EXPECT_LT(floatKey(0xffffffff, 32), key(-Inf));
}

static Domain sample() {
  DomainBox Box;
  Box.Ranges = {{s(0), {{1, 70000}}}};
  Box.Residues = {{s(0), 32, {0, 1}}};
  Box.Floats = {{{1, 0, FloatRef::Format::Float}, {{-1, 0}}}};
  Box.Nulls = {{{2, 0}, false}};
  Box.Alignments = {{{3, 0}, 16}};
  Box.Pairs = {{{2, 0},
                {3, 0},
                false,
                {c(0), mul(s(0), c(4))},
                {c(0), mul(s(0), c(4))}}};
  DomainBox Other = Box;
  Other.Nulls = {{{2, 0}, true}};
  Other.Pairs = {{{2, 0}, {3, 0}, true, {}, {}}};
  return {{Box, Other}};
}

TEST(DomainText, Boxes) {
  Domain D = sample();
  EXPECT_EQ(domainText({{D.Boxes[0]}}, names()),
            "1 <= n <= 70000; n mod 32 in {0, 1}; alpha == 0; x != null; "
            "y aligned to 16; x and y do not overlap (n * 4 bytes)");
  EXPECT_EQ(domainText(D, names(), "\n "),
            "1 <= n <= 70000; n mod 32 in {0, 1}; alpha == 0; "
            "y aligned to 16; and\n either: x != null; x and y do not overlap "
            "(n * 4 bytes);\n or: x == null; x == y");
  D.Boxes[1].Seen = DomainBox::By::Gpu;
  D.Boxes[1].Pairs[0] = {{2, 0}, {3, 0}, false, {c(-4), s(0)}, {c(0), c(64)}};
  EXPECT_TRUE(StringRef(domainText(D, names()))
                  .ends_with("(n * 4 bytes) (proved); or: x == null; x and y "
                             "do not overlap (x: bytes -4 to n, y: 64 bytes) "
                             "(compared on a GPU)"))
      << domainText(D, names());
  EXPECT_EQ(domainText(Domain::everything(), names()), "every launch");
}

TEST(DomainText, Guards) {
  Guard G;
  Expr Threads = mul(Expr::dim(GridX), Expr::dim(BlockX));
  G.Constraints = {{add(mul(Threads, c(-1)), c(2147475455)), false},
                   {add(s(0), c(-1)), false},
                   {Expr::binary(K::Mod, s(0), c(4)), true},
                   {add(Expr::dim(BlockX), c(-256)), true},
                   {add(s(0), mul(Threads, c(-4))), false}};
  G.Alignments = {{{2, 0}, 16}};
  G.Disjoints = {{{2, 0}, {3, 0}, mul(s(0), c(4)), mul(s(0), c(4))},
                 {{3, 0}, {2, 0}, mul(s(0), c(4)), mul(s(0), c(4))}};
  EXPECT_EQ(guardText(G, names()),
            "gx * bx <= 2147475455; n >= 1; n mod 4 == 0; bx == 256; "
            "n >= gx * bx * 4; x aligned to 16; x and y do not overlap (n * 4 "
            "bytes)");
  EXPECT_EQ(guardText(Guard(), names()), "");
}

static Expected<Domain> read(StringRef Text) {
  Expected<json::Value> V = parseJson(Text);
  if (!V)
    return V.takeError();
  Domain D;
  json::Path::Root Root("domain");
  if (!fromJSON(*V, D, Root))
    return Root.getError();
  return D;
}

TEST(DomainJson, RoundTrip) {
  Domain D = sample();
  D.Boxes[1].Seen = DomainBox::By::Gpu;
  D.Boxes[0].Ranges.push_back({Expr::dim(GridX), {{INT64_MIN, INT64_MAX}}});
  Expected<Domain> Again = read(formatv("{0}", toJSON(D)).str());
  ASSERT_TRUE(bool(Again)) << toString(Again.takeError());
  EXPECT_EQ(*Again, D);
}

TEST(DomainJson, WhatIsNotKnownIsAnError) {
  for (
      StringRef Text :
      {R"({})", R"([])", R"({"boxes": null})", R"({"boxes": [{}]})",
       R"({"boxes": [{"seen": "oracle"}]})",
       R"({"boxes": [{"seen": "gate"}], "spheres": []})",
       R"({"boxes": [{"seen": "gate", "primes": []}]})",
       R"({"boxes": [{"seen": "gate", "ranges": null}]})",
       R"({"boxes": [{"seen": "gate", "ranges": [{"of": "s0"}]}]})",
       R"({"boxes": [{"seen": "gate", "ranges": [{"of": "s0", "in": [[1]]}]}]})",
       R"({"boxes": [{"seen": "gate", "floats": [{"param": 0, "offset": 0, "type": "f8", "in": []}]}]})",
       R"({"boxes": [{"seen": "gate", "pairs": [{"a": [0, 0], "b": [1, 0], "equal": false}]}]})"}) {
    Expected<Domain> D = read(Text);
    EXPECT_FALSE(bool(D)) << std::string(Text);
    consumeError(D.takeError());
  }
}

static bool isSound(const Domain &D) {
  return !errorToBool(checkDomain(D, 4, 7));
}

TEST(Domain, Rules) {
  EXPECT_TRUE(isSound(sample()));
  EXPECT_TRUE(isSound(Domain::everything()));
  EXPECT_FALSE(isSound({}));
  auto With = [](function_ref<void(DomainBox &)> Change) {
    Domain D = sample();
    Change(D.Boxes[0]);
    return isSound(D);
  };
  EXPECT_FALSE(With([](DomainBox &B) { B.Ranges[0].In.clear(); }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Ranges[0].In = {{5, 4}}; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Ranges[0].In = {{5, 9}, {9, 10}}; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Ranges[0].E = s(4); }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Ranges[0].E = Expr::dim(7); }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Residues[0].In = {32}; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Residues[0].Modulus = 0; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Floats[0].Number.Param = 7; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Nulls[0].Pointer.Param = 7; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Alignments[0].Bytes = 3; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Pairs[0].B = B.Pairs[0].A; }));
  EXPECT_FALSE(With([](DomainBox &B) { B.Pairs[0].OfA.End = s(9); }));
}

TEST(Domain, UnionHasTheBoxesOfBoth) {
  Domain A{{sample().Boxes[0]}}, B{{sample().Boxes[1]}};
  EXPECT_EQ(unite(A, A), A);
  EXPECT_EQ(unite(A, B).Boxes.size(), 2u);
  EXPECT_EQ(unite(A, B), unite(B, A));
  // What the gate saw needs no GPU any more.
  Domain Compared = A;
  Compared.Boxes[0].Seen = DomainBox::By::Gpu;
  EXPECT_EQ(unite(Compared, A), A);
  EXPECT_EQ(provedPart(Compared), std::nullopt);
  EXPECT_EQ(provedPart(unite(Compared, B)), B);
}

/// Two searches that found one variant: builds may run it where either did.
TEST(Domain, RecordsOfOneVariantAreJoined) {
  BuildRecord R;
  R.Identity = "b3:1";
  R.Contract = "same";
  R.Params = 7;
  R.Scalars = names().Scalars;
  BuildVariant V;
  V.Name = "v";
  V.Where = Domain{{sample().Boxes[0]}};
  R.Variants = {V};
  R.Names = names().Params;
  BuildRecord Other = R, Older = R;
  Other.Variants[0].Where = Domain{{sample().Boxes[1]}};
  Older.Variants[0].Where.reset();
  Older.Names.clear();
  BuildRecord All = mergeRecords({Older, R, Other});
  ASSERT_EQ(All.Variants.size(), 1u);
  EXPECT_EQ(All.Variants[0].Where,
            unite(*R.Variants[0].Where, *Other.Variants[0].Where));
  EXPECT_EQ(All.Names, R.Names);
  // Another guard makes another variant.
  Other.Variants[0].When.Alignments = {{{2, 0}, 16}};
  EXPECT_EQ(mergeRecords({R, Other}).Variants.size(), 2u);
}
