//===- StoreTest.cpp - What a store keeps, and what a kill leaves ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <map>

using namespace llvm;
using namespace cupilot;

namespace {

std::string identity(char Digit) { return "b3:" + std::string(64, Digit); }

/// A kernel with one variant, "v_0", of the text \p Source.
StoredKernel sample(StringRef Source, double Ratio) {
  StoredKernel S;
  S.K.Name = "k(float *, int)";
  S.K.Symbol = "_Z1kPfi";
  S.K.Digest = identity('1');
  S.K.Slice = "original\n";
  S.K.Params.push_back({"p", "float *", 8, true, false, false, "float", 4});
  S.K.Params.push_back({"n", "int", 4, false, false, false, "", 0});
  S.K.Scalars.push_back({1, 0, 32, true});
  S.K.Pointers.push_back({0, 0});
  S.Builds.push_back({"clang-22", "sm_90", identity('2')});
  Variant V;
  V.Name = "v_0";
  V.Source = "v_0.cu";
  V.Digest = digest(Source);
  V.Plan = LaunchPlan();
  V.Plan->Launches.emplace_back();
  V.Plan->Launches.front().Symbol = S.K.Symbol;
  V.When = Guard();
  V.When->Arch = "sm_90";
  Measurement M;
  M.Device = "NVIDIA H200";
  M.Basis = Basis::Modelled;
  M.Ratio = M.Low = M.High = Ratio;
  M.Gate = 4;
  M.Checks = 10;
  M.Compiler = "clang-22";
  M.Arch = "sm_90";
  M.Digest = identity('3');
  M.Cases = {"w_0"};
  V.Evidence.push_back(std::move(M));
  S.Variants.push_back(std::move(V));
  S.Sources.push_back(Source.str());
  Workload W;
  W.Name = "w0";
  W.Symbol = S.K.Symbol;
  W.Shape.Grid = W.Shape.Block = {1, 1, 1};
  W.Args = {std::vector<uint8_t>(8), std::vector<uint8_t>(4)};
  W.Count = 3;
  S.Workloads.push_back(std::move(W));
  return S;
}

using Files = std::map<std::string, std::string>;

Files filesOf(StringRef Root) {
  Files All;
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator It(Root, EC), End;
       !EC && It != End; It.increment(EC))
    if (!sys::fs::is_directory(It->path()) &&
        !StringRef(It->path()).contains("journal.sqlite"))
      All[It->path().substr(Root.size())] = cantFail(readFile(It->path()));
  return All;
}

class StoreTest : public testing::Test {
protected:
  TemporaryDirectory Dir =
      cantFail(TemporaryDirectory::create("cupilot-store-test"));
  std::string Root = Dir.file("store");
  ProjectStore open() { return cantFail(ProjectStore::openOrCreate(Root)); }
  std::vector<std::string> variantTexts() {
    std::vector<std::string> Texts;
    for (StoredKernel &S : cantFail(open().kernels())) {
      cantFail(open().readTexts(S));
      Texts.insert(Texts.end(), S.Sources.begin(), S.Sources.end());
    }
    return Texts;
  }
};

using Texts = std::vector<std::string>;

TEST_F(StoreTest, WhatIsWrittenIsRead) {
  cantFail(open().put(sample("fast\n", 2)));
  std::vector<StoredKernel> All = cantFail(open().kernels());
  ASSERT_EQ(All.size(), 1u);
  const StoredKernel &S = All.front();
  EXPECT_EQ(S.K.Name, "k(float *, int)");
  ASSERT_EQ(S.Builds.size(), 1u);
  EXPECT_EQ(S.Builds.front().Digest, identity('2'));
  ASSERT_EQ(S.Variants.size(), 1u);
  const Measurement &M = S.Variants.front().Evidence.front();
  EXPECT_EQ(M.Original, identity('2'));
  EXPECT_EQ(M.Contract, "same");
  EXPECT_EQ(M.Cases, Texts{"w_0"});
  ASSERT_EQ(S.Workloads.size(), 1u);
  EXPECT_EQ(S.Workloads.front().Count, 3u);
  EXPECT_EQ(S.Workloads.front().Name, caseName(sample("", 1).Workloads[0]));
  EXPECT_EQ(cantFail(open().check()), Texts());
}

/// What was recorded and is described, too, is kept as the gate had it.
TEST_F(StoreTest, DescriptionsStandForWhatWasRecorded) {
  StoredKernel S = sample("fast\n", 2);
  WorkloadBuffer Described{4096, 256, "", "", "f32 rand seed=7"},
      Both = Described;
  Both.Digest = identity('5');
  Both.File = "w.data/none.bin";
  Workload Of = S.Workloads[0], Alone = Of;
  Of.Buffers = {Both};
  Alone.Buffers = {Described};
  EXPECT_EQ(caseName(Of), caseName(Alone));
  cantFail(open().keepWorkloads(S, {Of}, Root));
  EXPECT_EQ(S.Workloads[0].Buffers[0].File, "");
  EXPECT_EQ(S.Workloads[0].Buffers[0].Digest, "");
  EXPECT_EQ(S.Workloads[0].Buffers[0].Generator, Described.Generator);
}

/// Where a variant was proved is part of what is proved: two searches keep a
/// file each, and builds take the boxes of both.
TEST_F(StoreTest, DomainsStandBesideEachOther) {
  StoredKernel A = sample("fast\n", 2), B = A;
  DomainBox Small, Large;
  Small.Ranges = {{Expr::symbol(0), {{1, 100}}}};
  Large.Ranges = {{Expr::symbol(0), {{1, 5000}}}};
  A.Variants[0].Where = Domain{{Small}};
  B.Variants[0].Where = Domain{{Large}};
  cantFail(open().commit({A, false, {}, {}}));
  cantFail(open().commit({B, false, {}, {}}));
  EXPECT_EQ(cantFail(open().check()), Texts());
  StoredKernel Both = std::move(cantFail(open().kernels()).front());
  EXPECT_EQ(Both.Variants.size(), 2u);
  auto Built = [&] {
    return cantFail(
        cantFail(BuildStore::open(Root)).lookup(identity('2'), A.K.Symbol));
  };
  ASSERT_EQ(Built()->Variants.size(), 1u);
  EXPECT_EQ(Built()->Variants[0].Where, unite({{Small}}, {{Large}}));
  EXPECT_EQ(Built()->names().scalar(0), "n");
  // The same once more changes nothing.
  Files Before = filesOf(Root);
  cantFail(open().commit({A, false, {}, {}}));
  EXPECT_EQ(filesOf(Root), Before);
}

/// A variant of before domains, and the same judged again.
TEST_F(StoreTest, DomainsTakeThePlaceOfNone) {
  StoredKernel Old = sample("fast\n", 2), New = Old;
  cantFail(open().commit({Old, false, {}, {}}));
  auto Built = [&] {
    return cantFail(
        cantFail(BuildStore::open(Root)).lookup(identity('2'), Old.K.Symbol));
  };
  EXPECT_FALSE(Built()->Variants.front().Where);
  New.Variants[0].Where = Domain::everything();
  cantFail(open().commit({New, false, {}, {}}));
  EXPECT_EQ(cantFail(open().kernels()).front().Variants.size(), 1u);
  EXPECT_EQ(Built()->Variants.front().Where, Domain::everything());
  EXPECT_EQ(cantFail(open().check()), Texts());
}

TEST_F(StoreTest, UpdatesStandBesideEachOther) {
  // Two people, each with a store of their own from the same beginning.
  std::string Other = Dir.file("other");
  cantFail(
      open().commit({sample("fast\n", 2), false, {}, {{"gate/a.txt", ""}}}));
  cantFail(
      cantFail(ProjectStore::openOrCreate(Other))
          .commit({sample("faster\n", 3), false, {}, {{"gate/b.txt", ""}}}));
  Files Mine = filesOf(Root), Its = filesOf(Other);
  for (const auto &[Path, Text] : Its) {
    if (auto Same = Mine.find(Path); Same != Mine.end()) {
      EXPECT_EQ(Same->second, Text) << Path;
    }
    cantFail(updateFile(Root + Path, Text));
  }
  EXPECT_EQ(cantFail(open().check()), Texts());
  EXPECT_EQ(variantTexts(), (Texts{"faster\n", "fast\n"}));
  // What the merge holds is what one store would hold.
  Files Merged = filesOf(Root);
  cantFail(open().commit({sample("faster\n", 3), false, {}, {}}));
  EXPECT_EQ(filesOf(Root), Merged);
  BuildRecord R = *cantFail(
      cantFail(BuildStore::open(Root)).lookup(identity('2'), "_Z1kPfi"));
  ASSERT_EQ(R.Variants.size(), 2u);
  EXPECT_EQ(R.Variants.front().SourceDigest, digest("faster\n"));
}

TEST_F(StoreTest, EvidenceIsAddedInAFileOfItsOwn) {
  StoredKernel S = sample("fast\n", 2);
  cantFail(open().put(S));
  Files Before = filesOf(Root);
  Measurement M = S.Variants.front().Evidence.front();
  M.Compiler = "nvcc-13.0";
  M.Digest = identity('5');
  S.Builds.push_back({"nvcc-13.0", "sm_90", identity('4')});
  S.Variants.front().Evidence.push_back(M);
  cantFail(open().put(S));
  Files After = filesOf(Root);
  EXPECT_EQ(After.size(), Before.size() + 2); // The evidence and its record.
  for (const auto &[Path, Text] : Before)
    EXPECT_EQ(After[Path], Text) << Path;
  std::vector<StoredKernel> All = cantFail(open().kernels());
  ASSERT_EQ(All.front().Variants.size(), 1u);
  EXPECT_EQ(All.front().Variants.front().Evidence.size(), 2u);
  EXPECT_EQ(All.front().Builds.size(), 2u);
  EXPECT_EQ(cantFail(open().check()), Texts());
}

TEST_F(StoreTest, WhatIsTakenOutLeavesAnEmptyRecord) {
  StoredKernel S = sample("fast\n", 2);
  cantFail(open().put(S));
  S.Variants.clear();
  S.Sources.clear();
  cantFail(open().put(S));
  EXPECT_EQ(variantTexts(), Texts());
  auto R = cantFail(
      cantFail(BuildStore::open(Root)).lookup(identity('2'), "_Z1kPfi"));
  ASSERT_TRUE(R.has_value());
  EXPECT_TRUE(R->Variants.empty());
  EXPECT_EQ(cantFail(open().check()), Texts());
}

TEST_F(StoreTest, ANewerGateDisplacesAnOlder) {
  StoredKernel Old = sample("fast\n", 2), New = sample("other\n", 1.5);
  cantFail(open().commit({Old, false, {}, {}}));
  New.Variants.front().Evidence.front().Gate = 5;
  cantFail(open().commit({New, false, {}, {}}));
  EXPECT_EQ(variantTexts(), Texts{"other\n"});
  EXPECT_EQ(cantFail(open().check()), Texts());
}

TEST_F(StoreTest, TwoContractsAreNamed) {
  StoredKernel A = sample("fast\n", 2), B = sample("loose\n", 4);
  B.K.Digest = identity('6');
  B.K.Contract.K = PrecisionContract::Kind::Relaxed;
  B.K.Contract.RelativeTolerance = 0.01;
  cantFail(open().commit({A, false, {}, {}}));
  cantFail(open().commit({B, false, {}, {}}));
  std::vector<std::string> Problems = cantFail(open().check());
  ASSERT_EQ(Problems.size(), 1u);
  EXPECT_NE(Problems.front().find("under 'relaxed(0.01)'"), std::string::npos);
  BuildRecord R = *cantFail(
      cantFail(BuildStore::open(Root)).lookup(identity('2'), "_Z1kPfi"));
  ASSERT_EQ(R.Variants.size(), 1u);
  EXPECT_EQ(R.Variants.front().SourceDigest, digest("fast\n"));
  // Whoever grants one takes the other out.
  std::vector<StoredKernel> Rivals = cantFail(open().rivals(B));
  ASSERT_EQ(Rivals.size(), 1u);
  cantFail(open().commit({B, false, Rivals, {}}));
  EXPECT_EQ(cantFail(open().check()), Texts());
  EXPECT_EQ(variantTexts(), Texts{"loose\n"});
}

TEST_F(StoreTest, WhatASearchHasSupersededGoes) {
  StoredKernel First = sample("fast\n", 2), Last = sample("faster\n", 2);
  Last.Variants.front().Name = "v_2";
  cantFail(open().commit({First, false, {}, {}}));
  std::string Digest = First.Variants.front().Digest;
  cantFail(open().commit({First, false, {}, {}, {Digest}}));
  EXPECT_EQ(variantTexts(), Texts{"fast\n"});
  cantFail(open().commit({Last, false, {}, {}, {Digest}}));
  EXPECT_EQ(variantTexts(), Texts{"faster\n"});
  EXPECT_EQ(cantFail(open().check()), Texts());
}

TEST_F(StoreTest, AKillWhileItIsMadeLeavesNoHalf) {
  // All but FORMAT, which is the last; the other line is the user's.
  cantFail(updateFile(Root + "/.gitignore", "mine"));
  open();
  std::string Ignored = cantFail(readFile(Root + "/.gitignore"));
  EXPECT_EQ(Ignored, "mine\njournal.sqlite*\n");
  EXPECT_TRUE(sys::fs::exists(Root + "/.gitattributes"));
  EXPECT_TRUE(sys::fs::exists(Root + "/FORMAT"));
}

TEST_F(StoreTest, AnUpgradeKeepsWhatItCannotRead) {
  cantFail(open().put(sample("fast\n", 2)));
  cantFail(errorCodeToError(sys::fs::remove(Root + "/.gitignore")));
  cantFail(updateFile(Root + "/.gitignore/file", ""));
  EXPECT_TRUE(errorToBool(ProjectStore::upgrade(Root).takeError()));
  EXPECT_FALSE(sys::fs::exists(Root + "/journal.sqlite.update"));
}

TEST_F(StoreTest, AnotherWriterIsNoBisection) {
  open();
  auto Other = cantFail(FileLock::tryLock(
      Root + "/journal.sqlite.lock", xxh3_64bits("the records of the store")));
  ASSERT_TRUE(Other);
  EXPECT_EQ(toString(lockForWriting(Root).takeError()).find("bisect"),
            std::string::npos);
}

TEST_F(StoreTest, BuildsRefuseWhatIsHalfUpgraded) {
  cantFail(open().put(sample("fast\n", 2)));
  auto Lookup = [&] {
    return cantFail(BuildStore::open(Root)).lookup(identity('2'), "_Z1kPfi");
  };
  std::string Old = buildRecordPath(Root, identity('7'), "_Z1kPfi");
  cantFail(updateFile(Old, "{}"));
  Expected<std::optional<BuildRecord>> R = Lookup();
  ASSERT_FALSE(R);
  EXPECT_NE(toString(R.takeError()).find("is only partly upgraded"),
            std::string::npos);
  EXPECT_EQ(cantFail(ProjectStore::upgrade(Root)), 0u);
  EXPECT_FALSE(sys::fs::exists(Old));
  EXPECT_TRUE(cantFail(Lookup()).has_value());
  // While an upgrade goes on, FORMAT decides what counts.
  cantFail(updateFile(Root + "/FORMAT", "cupilot-store 1\n"));
  EXPECT_FALSE(cantFail(Lookup()).has_value());
}

TEST_F(StoreTest, AKillLeavesAllOrNothing) {
  cantFail(open().commit({sample("fast\n", 2), false, {}, {}}));
  Files Before = filesOf(Root);
  std::string Staging = Root + "/journal.sqlite.update";
  // Killed before the list of steps was written.
  cantFail(writeFileAtomic(Staging + "/0", "half"));
  EXPECT_EQ(cantFail(open().check()), Texts());
  EXPECT_EQ(filesOf(Root), Before);
  // And after it: with the first step made, and with none.
  for (bool First : {false, true}) {
    std::string N = First ? "b" : "a";
    cantFail(writeFileAtomic(Staging + "/1", "second"));
    if (First)
      cantFail(writeFileAtomic(Root + "/gate/1" + N, "first"));
    else
      cantFail(writeFileAtomic(Staging + "/0", "first"));
    cantFail(writeFileAtomic(Staging + "/steps",
                             "0 gate/1" + N + "\n1 gate/2" + N + "\n"));
    cantFail(cantFail(ProjectStore::open(Root)).check());
    EXPECT_EQ(cantFail(readFile(Root + "/gate/1" + N)), "first");
    EXPECT_EQ(cantFail(readFile(Root + "/gate/2" + N)), "second");
    EXPECT_FALSE(sys::fs::exists(Staging));
  }
}

} // namespace
