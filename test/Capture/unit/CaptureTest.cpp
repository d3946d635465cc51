//===- CaptureTest.cpp - Picking, pointers, and formats -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Cubin.h"
#include "cupilot/Capture/Infer.h"
#include "cupilot/Capture/LaunchQuota.h"
#include "cupilot/Capture/LaunchTable.h"
#include "cupilot/Capture/Options.h"
#include "cupilot/Capture/Pointers.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Capture/Run.h"
#include "cupilot/Capture/TimeBudget.h"
#include "cupilot/Capture/Touched.h"
#include "cupilot/Portable/Digest.h"
#include "gtest/gtest.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cupilot;
using namespace cupilot::capture;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each test.
class CaptureTest : public testing::Test {
protected:
  void SetUp() override {
    Folder = (fs::temp_directory_path() /
              ("cupilot-capture-test-" + std::to_string(getpid())))
                 .string();
    fs::remove_all(Folder);
    fs::create_directories(Folder);
  }
  void TearDown() override { fs::remove_all(Folder); }
  void write(const std::string &Name, const std::string &Text) {
    std::ofstream(Folder + "/" + Name, std::ios::binary) << Text;
  }
  std::string Folder;
};

Shape shape(uint64_t Grid) {
  Shape S;
  S.Grid[0] = Grid;
  return S;
}

std::string word(uint64_t Value) {
  return std::string(reinterpret_cast<char *>(&Value), 8);
}

TEST_F(CaptureTest, HalfOfTheTimeIsForFirstLaunches) {
  using std::chrono::milliseconds;
  TimeBudget B(10), None(0);
  B.add(milliseconds(4999));
  EXPECT_FALSE(B.refuses(/*First=*/false));
  B.add(milliseconds(1));
  EXPECT_TRUE(B.refuses(/*First=*/false));
  EXPECT_FALSE(B.refuses(/*First=*/true));
  B.add(milliseconds(5000));
  EXPECT_TRUE(B.refuses(/*First=*/true));
  None.add(milliseconds(1 << 30));
  EXPECT_FALSE(None.refuses(/*First=*/false));
}

TEST_F(CaptureTest, NoiseShowsWhatIsRead) {
  const std::vector<Range> All = {{1 << 20, 1 << 20}, {3 << 20, 8192}};
  const std::vector<Pointer> Pointers = {
      {0, 0, 0, 100}, {1, 0, 0, 40000}, {2, 0, 0, 600000}, {3, 0, 1, 0}};
  // What the launch reads; the third pointer is one to results.
  std::vector<std::pair<size_t, Range>> Reads = {{0, {100, 9000}},
                                                 {0, {40000, 4}}};
  size_t Trials = 0;
  auto Same = [&](const Ranges &Kept) -> std::optional<bool> {
    ++Trials;
    for (auto [I, R] : Reads)
      if (std::ranges::none_of(Kept[I], [&](const Range &K) {
            return K.Base <= R.Base && R.Base + R.Size <= K.Base + K.Size;
          }))
        return false;
    return true;
  };
  std::optional<Ranges> Found = inferReads(All, Pointers, Same);
  ASSERT_TRUE(Found);
  const Ranges Expected = {{{100, 12188}, {40000, 960}}, {}};
  EXPECT_EQ(*Found, Expected);
  EXPECT_LT(Trials, 20u);
  // Below the first pointer.
  Reads.push_back({0, {0, 50}});
  Found = inferReads(All, Pointers, Same);
  ASSERT_TRUE(Found);
  EXPECT_EQ((*Found)[0].size(), 3u);
  EXPECT_EQ((*Found)[0].front(), (Range{0, 100}));
  // Where time runs out, more than is read is left.
  size_t Most = 3;
  Reads.pop_back();
  Found =
      inferReads(All, Pointers, [&](const Ranges &Kept) -> std::optional<bool> {
        if (Most-- == 0)
          return std::nullopt;
        return Same(Kept);
      });
  ASSERT_TRUE(Found);
  EXPECT_TRUE(*Same(*Found));
  EXPECT_FALSE(inferReads(All, Pointers, [](const Ranges &) { return false; }));
}

TEST_F(CaptureTest, DigestIsBlake3) {
  // The digest of nothing, from BLAKE3's own test vectors.
  EXPECT_EQ(digest(""), "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc1"
                        "12b7cc9a93cae41f3262");
}

TEST_F(CaptureTest, ContentsAreSharedCompressedAndBounded) {
  ContentStore Store(Folder, 3000);
  std::string Digest, Again, Other, Read;
  ASSERT_FALSE(Store.put(std::string(100000, 'x'), Digest));
  EXPECT_LT(Store.stored(), 1000u);
  uint64_t Once = Store.stored();
  ASSERT_FALSE(Store.put(std::string(100000, 'x'), Again));
  EXPECT_EQ(Again, Digest);
  EXPECT_EQ(Store.stored(), Once);
  ASSERT_FALSE(readContent(Folder, Digest, 100000, Read));
  EXPECT_EQ(Read, std::string(100000, 'x'));
  // What does not compress stays as it is, and may be too much.
  std::string Random;
  for (uint64_t I = 0, V = 1; I < 500; ++I, V = V * 6364136223846793005u + 1)
    Random += word(V);
  ASSERT_FALSE(Store.put(Random, Other));
  EXPECT_TRUE(Other.empty());
  ASSERT_FALSE(Store.put(Random.substr(0, 2000), Other));
  EXPECT_EQ(Store.stored(), Once + 2000);
  // The file goes with its last user.
  Store.drop(Digest);
  EXPECT_FALSE(readContent(Folder, Digest, 100000, Read));
  Store.drop(Digest);
  EXPECT_TRUE(readContent(Folder, Digest, 100000, Read));
  EXPECT_EQ(Store.stored(), 2000u);
}

TEST_F(CaptureTest, DamagedContentsAreNamed) {
  ContentStore Store(Folder, 1 << 20);
  std::string Digest, Read;
  ASSERT_FALSE(Store.put("four", Digest));
  std::string Name = Digest.substr(3, 32) + ".bin";
  write(Name, "five");
  auto F = readContent(Folder, Digest, 4, Read);
  ASSERT_TRUE(F);
  EXPECT_NE(std::string(F->what()).find("is damaged"), std::string::npos);
  EXPECT_TRUE(readContent(Folder, Digest, 5, Read));
}

TEST_F(CaptureTest, WordsInAllocationsArePointers) {
  std::vector<Range> Live = {{0x7f0000000000, 0x1000}, {0x7f0000001000, 16}};
  RangeFinder Find = [&](uint64_t A, Range &R) {
    for (const Range &L : Live)
      if (A >= L.Base && A < L.Base + L.Size) {
        R = L;
        return true;
      }
    return false;
  };
  auto NoHost = [](uint64_t) { return false; };
  std::vector<std::string> Args = {word(0x7f0000000010),
                                   word(42) + word(0x7f0000001008) + word(0),
                                   std::string(4, 'x')};
  MatchedPointers M =
      matchPointers({{0, 8}, {8, 24}, {32, 4}}, Args, Find, NoHost);
  ASSERT_EQ(M.Pointers.size(), 2u);
  EXPECT_EQ(M.Pointers[0].At, 0x10u);
  EXPECT_EQ(M.Pointers[1].Param, 1u);
  EXPECT_EQ(M.Pointers[1].Offset, 8u);
  EXPECT_EQ(M.Pointers[1].Buffer, 1u);
  EXPECT_EQ(M.Pointers[1].At, 8u);
  EXPECT_TRUE(M.InStructs);
  EXPECT_EQ(Args[1], word(42) + word(0) + word(0));
  // An end belongs to the buffer before it, where it is no start.
  Args = {word(0x7f0000001000), word(0x7f0000001010)};
  M = matchPointers({{0, 8}, {8, 8}}, Args, Find, NoHost);
  ASSERT_EQ(M.Pointers.size(), 2u);
  EXPECT_EQ(M.Pointers[0].At, 0u);
  EXPECT_EQ(M.Pointers[1].Buffer, M.Pointers[0].Buffer);
  EXPECT_EQ(M.Pointers[1].At, 16u);
  // Neither words that are not aligned nor small numbers are.
  Args = {word(0x7f0000000000), word(12)};
  M = matchPointers({{4, 8}, {12, 8}}, Args, Find,
                    [](uint64_t) { return true; });
  EXPECT_TRUE(M.Pointers.empty());
  Args = {word(0x7fff00000000)};
  M = matchPointers({{0, 8}}, Args, Find, [](uint64_t) { return true; });
  ASSERT_EQ(M.HostWords.size(), 1u);
}

TEST_F(CaptureTest, AddressesInBuffersAreCounted) {
  std::vector<Range> Live = {{0x7f0000000000, 0x1000}};
  RangeFinder Find = [&](uint64_t A, Range &) {
    return A >= 0x7f0000000000 && A < 0x7f0000001000;
  };
  std::string Bytes =
      word(0x7f0000000008) + word(1) + word(0x7f0000000010) + word(~0ull);
  EXPECT_EQ(countPointers(Bytes, Live, Find), 2u);
  EXPECT_EQ(countPointers(Bytes.substr(4), Live, Find), 0u);
}

TEST_F(CaptureTest, ClassesAreBounded) {
  Counters Counts;
  ASSERT_FALSE(Counts.create(Folder + "/counters.1"));
  LaunchTable Table({2, 4}, Counts);
  std::vector<uint32_t> Seen;
  for (uint64_t Args = 0; Args < 100; ++Args)
    Seen.push_back(Table.find("k", shape(1), Args).Index);
  EXPECT_EQ(Table.size(), 5u); // Four, and the rest of that shape.
  EXPECT_EQ(Seen[4], Seen[99]);
  EXPECT_TRUE(Table[Seen[99]].Rest);
  for (uint64_t Grid = 2; Grid < 100; ++Grid)
    Table.find("k", shape(Grid), 0);
  EXPECT_EQ(Table.size(), 9u); // Three more shapes, and the rest.
  for (int Kernel = 0; Kernel < 20000; ++Kernel)
    Table.find("k" + std::to_string(Kernel), shape(1), 0);
  EXPECT_EQ(Table.size(), Counters::Capacity);
  // A time finds the class that its launch was counted in.
  EXPECT_EQ(Table.findByShape("k", shape(1)).Index, Seen[0]);
}

TEST_F(CaptureTest, MoreTimeTakesThePlaceOfLess) {
  Counters Counts;
  ASSERT_FALSE(Counts.create(Folder + "/counters.1"));
  LaunchTable Table({2, 64}, Counts);
  uint32_t Index[3];
  for (uint64_t I = 0; I < 3; ++I) {
    Index[I] = Table.find("k", shape(I + 1), 0).Index;
    Counts[Index[I]].Count = 1;
  }
  for (int I = 0; I < 2; ++I) {
    EXPECT_TRUE(Table.wants(Index[I]));
    Table[Index[I]].Kept = true;
    Table[Index[I]].Bytes = 100;
    EXPECT_FALSE(Table.wants(Index[I]));
  }
  Counts[Index[0]].Nanoseconds = 1000;
  Counts[Index[1]].Nanoseconds = 10;
  EXPECT_FALSE(Table.wants(Index[2])); // Two are kept, and it took no time.
  Counts[Index[2]].Count = 3;
  Counts[Index[2]].Nanoseconds = 100;
  EXPECT_FALSE(Table.wants(Index[2])); // Not at every launch.
  Counts[Index[2]].Count = 4;
  ASSERT_TRUE(Table.wants(Index[2]));
  EXPECT_EQ(Table.victims(Index[2], 0), std::vector<uint32_t>{Index[1]});
  EXPECT_EQ(Table.victims(Index[2], 100), std::vector<uint32_t>{Index[1]});
  // The other kept one took more time: it is not given up for room either.
  EXPECT_EQ(Table.victims(Index[2], 200), std::vector<uint32_t>{Index[1]});
  Table[Index[2]].Never = true;
  EXPECT_FALSE(Table.wants(Index[2]));
}

TEST_F(CaptureTest, OneOfAShapeIsKeptInGraphs) {
  Counters Counts;
  ASSERT_FALSE(Counts.create(Folder + "/counters.1"));
  LaunchTable Table({2, 64}, Counts);
  uint32_t Plain = Table.find("k", shape(1), 0).Index;
  uint32_t Index[4];
  for (uint64_t I = 0; I < 4; ++I)
    Index[I] = Table.find("k", shape(1 + I / 2), I, /*InGraph=*/true).Index;
  // Those of one shape are counted together, in the first.
  EXPECT_EQ(Table.findByShape("k", shape(1), true).Index, Index[0]);
  EXPECT_TRUE(Table.wantsInGraph(Index[0]));
  EXPECT_FALSE(Table.wantsInGraph(Index[1]));
  EXPECT_TRUE(Table.wantsInGraph(Index[2]));
  EXPECT_FALSE(Table.wantsInGraph(Plain));
  Table[Index[0]].Kept = true;
  EXPECT_FALSE(Table.wantsInGraph(Index[0]));
  EXPECT_TRUE(Table.wantsInGraph(Index[2]));
  Table[Plain].Kept = true;
  EXPECT_FALSE(Table.wantsInGraph(Index[2])); // The kernel has its share.
}

Launch example() {
  Launch L;
  L.Kernel = "_Z1kPf4View";
  L.Dims.Grid = {1, 2, 3};
  L.Dims.Cluster = {2, 1, 1};
  L.Dims.Shared = 7;
  L.Args = {std::string(8, '\0'), std::string("\x01\xff", 2) + word(0)};
  L.Args[1].resize(16);
  L.Pointers = {{0, 0, 0, 4}, {1, 8, 0, 64}};
  L.Buffers = {{64, 256, digest("a"), digest("b"), 3}};
  L.Globals = {{"Scale", {4, 256, digest("c"), {}, 0}}};
  L.Count = 5;
  L.Timed = 4;
  L.Cost = 1.5;
  L.Kept = true;
  L.Device = 1;
  L.Remarks = {"remark"};
  return L;
}

TEST_F(CaptureTest, RecordsComeBackAsTheyWere) {
  Record R;
  R.Launches = {example()};
  R.Devices = {{"A GPU", "sm_90", 1e12}};
  R.Notes = {"note"};
  ASSERT_FALSE(writeRecord(Folder, R));
  Record Back;
  ASSERT_FALSE(readRecord(Folder, Back));
  EXPECT_EQ(print(Back), print(R));
  EXPECT_EQ(Back.Launches[0].Args, R.Launches[0].Args);
  EXPECT_EQ(Back.Launches[0].Dims, R.Launches[0].Dims);
}

TEST_F(CaptureTest, WrongFieldsAreNamed) {
  auto Wrong = [](const char *Pointer, nlohmann::json Value) {
    nlohmann::json J = toJson(example());
    J[nlohmann::json::json_pointer(Pointer)] = std::move(Value);
    Launch L;
    auto F = fromJson(J, L);
    return F ? F->what() : "";
  };
  EXPECT_EQ(Wrong("/count", 3u), "");
  for (const char *Name : {"grid", "count", "kernel", "args", "buffers", "kept",
                           "pointers", "stream"})
    EXPECT_EQ(Wrong((std::string("/") + Name).c_str(), {{"x", 1}}),
              "the field '" + std::string(Name) + "' of a launch is invalid");
  EXPECT_NE(Wrong("/count", -1), "");
  EXPECT_NE(Wrong("/grid", {1, 2}), "");
  EXPECT_NE(Wrong("/args/0", "0g"), "");
  EXPECT_NE(Wrong("/pointers/0/buffer", 1), "");
  EXPECT_NE(Wrong("/pointers/0/at", 65), "");
  EXPECT_NE(Wrong("/pointers/0/offset", 1), "");
  // Digests become file names.
  EXPECT_NE(Wrong("/buffers/0/digest", "b3:../../etc/passwd"), "");
  EXPECT_NE(Wrong("/module", "../x"), "");
}

TEST_F(CaptureTest, JournalsOfAKilledProcess) {
  {
    Counters Counts;
    ASSERT_FALSE(Counts.create(Folder + "/counters.7"));
    Counts[0].Count = 10;
    Counts[0].Timed = 5;
    Counts[0].Nanoseconds = 5000;
  }
  Launch L;
  L.Kernel = "k";
  nlohmann::json Line = {{"class", 0}, {"launch", toJson(L)}};
  write("journal.7", Line.dump() + "\n{\"class\": 1, \"launch\": {\"ker");
  Record R;
  ASSERT_FALSE(readRecord(Folder, R));
  ASSERT_EQ(R.Launches.size(), 1u);
  EXPECT_EQ(R.Launches[0].Count, 10u);
  EXPECT_DOUBLE_EQ(R.Launches[0].Cost, 10); // Those without a time as well.
  ASSERT_EQ(R.Notes.size(), 1u);
  // A broken line that is not the last one is damage.
  write("journal.7", "{\"class\": 1\n" + Line.dump() + "\n");
  Record Damaged;
  auto F = readRecord(Folder, Damaged);
  ASSERT_TRUE(F);
  EXPECT_NE(std::string(F->what()).find("journal.7' is damaged"),
            std::string::npos);
}

TEST_F(CaptureTest, BoundsOfTheTable) {
  Record R;
  R.Devices = {{"A GPU", "sm_90", 1e12}};
  Launch A;
  A.Kernel = "a";
  A.Count = 10;
  A.Cost = 75;
  A.Kept = true;
  A.Buffers = {{8 << 20, 256, digest("x"), digest("y"), 2000000}};
  Launch B;
  B.Kernel = "b";
  B.Count = 1;
  B.Cost = 25;
  R.Launches = {B, A};
  std::vector<KernelRow> Rows = makeRows(R);
  ASSERT_EQ(Rows.size(), 2u);
  EXPECT_EQ(Rows[0].Kernel, "a");
  EXPECT_DOUBLE_EQ(Rows[0].Share, 0.75);
  EXPECT_DOUBLE_EQ(Rows[0].Amdahl, 4);
  // Ten times 2 MB at 1 TB/s are 20 microseconds: 100 / (100 - 75 + 20).
  EXPECT_DOUBLE_EQ(Rows[0].Roofline, 100.0 / 45);
  EXPECT_FALSE(Rows[1].KnowsBytes);
}

TEST_F(CaptureTest, LaunchesOfALibraryAreOneLine) {
  Record R;
  for (auto [Name, Cost, Library] : {std::tuple("own", 50.0, ""),
                                     {"gemm_a", 20.0, "libcublas.so.13"},
                                     {"gemm_b", 30.0, "libcublas.so.13"}}) {
    Launch &L = R.Launches.emplace_back();
    L.Kernel = Name;
    L.Count = 2;
    L.Cost = Cost;
    L.Library = Library;
  }
  std::string Table = printTable(R);
  EXPECT_NE(Table.find("3 kernels, 6 launches"), std::string::npos) << Table;
  EXPECT_NE(Table.find("libcublas.so.13 (2 kernels)\n           a library's: "
                       "counted and timed, not kept"),
            std::string::npos)
      << Table;
  EXPECT_EQ(Table.find("gemm_a"), std::string::npos) << Table;
  // It comes back from the file.
  Launch Back;
  ASSERT_FALSE(fromJson(toJson(R.Launches[1]), Back));
  EXPECT_EQ(Back.Library, "libcublas.so.13");
}

/// Bits for the granules that \p Numbers names.
TouchedBits bits(std::initializer_list<unsigned> Numbers) {
  TouchedBits Bits(4);
  for (unsigned I : Numbers)
    Bits[I / 32] |= 1u << (I % 32);
  return Bits;
}

TEST_F(CaptureTest, PointersGetWhatTheyTouch) {
  // 8000 bytes at 1 MiB: one pointer at 1000 (granule 15 begins at 960), one
  // at 4112 (granule 64 holds 4096 to 4160).
  constexpr uint64_t Base = 1 << 20;
  std::vector<Range> Allocations = {{Base, 8000}};
  std::vector<Pointer> Pointers = {{0, 0, 0, 4112}, {1, 0, 0, 1000}};
  std::vector<Touched> Marks = {
      {bits({3, 15, 16, 20, 64, 65}), bits({15, 64, 66, 124})}};
  TouchedParts P =
      splitTouched(Allocations, Marks, Pointers, /*Together=*/false);
  ASSERT_EQ(P.Parts.size(), 2u);
  // What lies before all pointers is the first one's, granule 64 the other's.
  const Part &A = P.Parts[0], &B = P.Parts[1];
  EXPECT_EQ(A.All, (Range{Base, 21 * 64}));
  EXPECT_EQ(A.Within, (std::vector<Range>{{Base + 3 * 64, 64},
                                          {Base + 15 * 64, 128},
                                          {Base + 20 * 64, 64}}));
  EXPECT_EQ(A.touched(), 256u);
  EXPECT_EQ(B.All, (Range{Base + 4096, 8000 - 4096}));
  EXPECT_EQ(B.Within, (std::vector<Range>{{Base + 4112, 48 + 128},
                                          {Base + 124 * 64, 64}}));
  EXPECT_EQ(B.Fresh,
            (std::vector<Range>{{Base + 66 * 64, 64}, {Base + 124 * 64, 64}}));
  EXPECT_EQ(B.Least, Base + 4112);
  EXPECT_EQ(P.Pointers[0].Buffer, 1u);
  EXPECT_EQ(P.Pointers[0].At, 16u);
  EXPECT_EQ(P.Pointers[1].Buffer, 0u);
  EXPECT_EQ(P.Pointers[1].At, 1000u);
  // Contents: only what was touched, and without what is only written.
  std::string Bytes(B.All.Size, 'x');
  keepTouched(B, Bytes.data());
  EXPECT_EQ(std::count(Bytes.begin(), Bytes.end(), 'x'), 48 + 128 + 64);
  std::string Full = Bytes;
  clearFresh(B, Bytes.data());
  EXPECT_EQ(std::count(Bytes.begin(), Bytes.end(), 'x'), 48 + 64);
  // One byte of granule 124 is not written: it stays what it was.
  std::string With(B.All.Size, 'y'), Without = With;
  With[124 * 64 - 4096 + 5] = 'x';
  Part Kept = B;
  EXPECT_TRUE(keepUnwritten(Kept, With, Without));
  EXPECT_EQ(Kept.Fresh, (std::vector<Range>{{Base + 66 * 64, 64}}));
  EXPECT_FALSE(keepUnwritten(Kept, With, Without));
  // Together they are one buffer. One that nothing is touched by still points.
  P = splitTouched(Allocations, Marks, Pointers, /*Together=*/true);
  ASSERT_EQ(P.Parts.size(), 1u);
  EXPECT_EQ(P.Parts[0].All, (Range{Base, 8000}));
  EXPECT_EQ(P.Pointers[0].At, 4112u);
  Marks = {{bits({}), bits({})}};
  P = splitTouched(Allocations, Marks, Pointers, /*Together=*/false);
  ASSERT_EQ(P.Parts.size(), 2u);
  EXPECT_EQ(P.Parts[1].All, (Range{Base + 4096, 64}));
  EXPECT_TRUE(P.Parts[1].Within.empty());
}

TEST_F(CaptureTest, OptionsComeThroughTheEnvironment) {
  Options O, Back;
  O.Timing = true;
  O.PerKernel = 3;
  O.Graphs = true;
  O.Launches = 5;
  O.After = Then::Skip;
  O.LaunchSteps = 77;
  O.WholeBytes = 12345;
  O.Libraries = true;
  O.Cupti = "/a,b/libcupti.so";
  ASSERT_FALSE(Options::parse(O.print(), Back));
  EXPECT_EQ(Back.print(), O.print());
  EXPECT_EQ(Back.After, Then::Skip);
  for (const char *Text : {"then=", "then=often", "timing", "timing=x",
                           "other=1", "per-kernel=1x"})
    EXPECT_TRUE(Options::parse(Text, Back)) << Text;
}

/// How many launches of a loop over kernels run until one does not.
static uint64_t runsOf(LaunchQuota &Quota, const std::vector<std::string> &Loop,
                       LaunchQuota::Verdict &Last, uint64_t Most = 1000) {
  for (uint64_t I = 0; I < Most; ++I)
    if ((Last = Quota.next(Loop[I % Loop.size()])) != LaunchQuota::Verdict::Run)
      return I;
  return Most;
}

TEST_F(CaptureTest, ProgramsStopWhenLaunchesBringNothingNew) {
  using Verdict = LaunchQuota::Verdict;
  Verdict Last;
  Options O;
  LaunchQuota All(O);
  EXPECT_EQ(runsOf(All, {"a"}, Last), 1000u);
  O.Launches = 4;
  LaunchQuota One(O);
  EXPECT_EQ(runsOf(One, {"a"}, Last), 4u + 8);
  EXPECT_EQ(Last, Verdict::Stop);
  // Ten layers of three kernels, and what comes behind the last of them.
  LaunchQuota Layers(O);
  std::vector<std::string> Step;
  for (int I = 0; I < 10; ++I)
    Step.insert(Step.end(), {"a", "b", "c"});
  Step.insert(Step.end(), {"last", "back"});
  EXPECT_GT(runsOf(Layers, Step, Last), 32u);
  EXPECT_EQ(Last, Verdict::Stop);
  // A launch that differs from all others is something new.
  LaunchQuota Growing(O);
  for (int I = 0; I < 100; ++I) {
    ASSERT_EQ(Growing.next("a"), Verdict::Run);
    if (I % 8 == 7)
      Growing.foundNew();
  }
  O.After = Then::Skip;
  LaunchQuota Skips(O);
  EXPECT_EQ(runsOf(Skips, {"a", "b"}, Last), 8u);
  EXPECT_EQ(Last, Verdict::Skip);
  EXPECT_EQ(Skips.next("new"), Verdict::Run);
  O.After = Then::Run;
  LaunchQuota Runs(O);
  EXPECT_EQ(runsOf(Runs, {"a"}, Last), 1000u);
}

TEST_F(CaptureTest, NoGpuBinaryIsNone) {
  EXPECT_FALSE(readCubinNames(""));
  EXPECT_FALSE(readCubinNames("\x7f"
                              "ELF\x02"));
  // This program is an ELF file without kernels; every part of it is not one.
  std::ifstream In("/proc/self/exe", std::ios::binary);
  std::string Image(1 << 16, '\0');
  In.read(Image.data(), static_cast<long>(Image.size()));
  EXPECT_FALSE(readCubinNames(Image));
}

} // namespace
