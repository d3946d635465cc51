//===- PartCache.h - Compiled device code in the machine cache --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PARTCACHE_H
#define CUPILOT_LIB_CPUDEVICE_PARTCACHE_H

#include "ModuleSource.h"
#include "cupilot/Support/MachineCache.h"

namespace cupilot {

/// A compiled part of a module.
struct CompiledPart {
  LoweredModule Tables;
  std::string Object; ///< An object file of the host.
};

/// The parts of one module, as CpuDeviceOptions::Cache asks for them. What is
/// kept holds for this program file, this machine's processor and these options
/// only.
class PartCache {
public:
  /// Keeps nothing.
  PartCache() = default;
  /// \p Target is the processor and what it can do.
  PartCache(const ModuleSource &Source, const CpuDeviceOptions &Options,
            const std::string &Target);
  std::optional<ModuleIndex> index() const;
  void keep(const ModuleIndex &Index) const;
  /// \p Part is a kernel's name, or one of the names of CpuModule's own parts.
  std::optional<CompiledPart> part(llvm::StringRef Part) const;
  void keep(llvm::StringRef Part, const LoweredModule &Tables,
            llvm::StringRef Object) const;

private:
  MachineCacheEntry entry(llvm::StringRef Kind, llvm::StringRef Part) const;

  std::string Key;     ///< Empty: nothing is kept.
  std::string Program; ///< The file that this code is in.
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PARTCACHE_H
