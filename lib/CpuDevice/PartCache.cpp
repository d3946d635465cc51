//===- PartCache.cpp - Compiled device code in the machine cache ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartCache.h"
#include "TableArchive.h"
#include "cupilot/Support/Config.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <mutex>

using namespace llvm;

namespace cupilot {

/// Parts that the cache holds at most; a part has about 100 KiB.
static constexpr unsigned MostParts = 2000;

static constexpr char IndexKind[] = "device-modules",
                      PartKind[] = "device-code";

/// The program or library that this function is in: another build of it may
/// lower code otherwise. "" when that is not known.
static std::string ownFile() {
  Dl_info Info;
  if (dladdr(reinterpret_cast<const void *>(&ownFile), &Info) &&
      Info.dli_fname && sys::path::is_absolute(Info.dli_fname) &&
      sys::fs::exists(Info.dli_fname))
    return Info.dli_fname;
  return sys::fs::getMainExecutable(nullptr,
                                    reinterpret_cast<void *>(&ownFile));
}

/// All options that decide about the code. How threads take turns does not, but
/// for whether they do.
static void addOptions(DigestBuilder &Key, const CpuDeviceOptions &O) {
  for (bool Is :
       {O.CheckBounds, O.CheckRaces, O.CheckSameValueRaces, O.CheckWritten,
        O.CheckDivergence, O.Coverage, O.Count, O.AsCompiled, O.WidenFloats,
        O.CountSteps, O.Reverse, O.CanonicalNans, O.ScheduleSeed.has_value(),
        O.CheckLostUpdates, O.CheckVolatileOrder, O.RoundAtRandom})
    Key.add(uint64_t(Is));
  for (uint64_t Number :
       {uint64_t(O.ProductBits), O.MaxInstructions, O.MaxLaunchInstructions,
        O.SampleBlocks, O.LastBlocks})
    Key.add(Number);
  Key.add(O.Arch);
}

PartCache::PartCache(const ModuleSource &Source,
                     const CpuDeviceOptions &Options,
                     const std::string &Target) {
  // Nobody asks for decisions twice.
  if (!Options.Cache || Options.Decisions)
    return;
  Program = ownFile();
  if (Program.empty() || machineCacheDirectory().empty())
    return;
  DigestBuilder All;
  All.add(Source.text()).add(uint64_t(Source.isPtx()));
  All.add(CUPILOT_VERSION).add(LLVM_VERSION_STRING).add(Target).add(Program);
  addOptions(All, Options);
  Key = All.str();
}

MachineCacheEntry PartCache::entry(StringRef Kind, StringRef Part) const {
  return Key.empty() ? MachineCacheEntry()
                     : MachineCacheEntry(Kind, ".bin",
                                         DigestBuilder().add(Key).add(Part));
}

std::optional<ModuleIndex> PartCache::index() const {
  std::optional<CachedBytes> Known = entry(IndexKind, "").load();
  return Known ? moduleIndexOf(Known->Bytes) : std::nullopt;
}

void PartCache::keep(const ModuleIndex &Index) const {
  MachineCacheEntry Entry = entry(IndexKind, "");
  if (Entry.isWritable())
    Entry.store({archived(Index), {}}, Program);
}

std::optional<CompiledPart> PartCache::part(StringRef Part) const {
  std::optional<CachedBytes> Known = entry(PartKind, Part).load();
  uint64_t Size = 0;
  if (!Known || Known->Bytes.size() < sizeof(Size))
    return std::nullopt;
  std::memcpy(&Size, Known->Bytes.data(), sizeof(Size));
  StringRef Rest = StringRef(Known->Bytes).drop_front(sizeof(Size));
  if (Size > Rest.size())
    return std::nullopt;
  std::optional<LoweredModule> Tables = tablesOf(Rest.take_front(Size));
  if (!Tables)
    return std::nullopt;
  return CompiledPart{std::move(*Tables), Rest.drop_front(Size).str()};
}

void PartCache::keep(StringRef Part, const LoweredModule &Tables,
                     StringRef Object) const {
  MachineCacheEntry Entry = entry(PartKind, Part);
  if (!Entry.isWritable())
    return;
  std::string Bytes = archived(Tables);
  uint64_t Size = Bytes.size();
  Bytes.insert(0, reinterpret_cast<const char *>(&Size), sizeof(Size));
  Bytes += Object;
  if (!Entry.store({std::move(Bytes), {}}, Program))
    return;
  // Once in a process is often enough.
  static std::once_flag Once;
  std::call_once(Once, [&] {
    Entry.keepYoungest(MostParts);
    entry(IndexKind, "").keepYoungest(MostParts);
  });
}

} // namespace cupilot
