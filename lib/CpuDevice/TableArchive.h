//===- TableArchive.h - Tables of lowered modules as bytes ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_TABLEARCHIVE_H
#define CUPILOT_LIB_CPUDEVICE_TABLEARCHIVE_H

#include "ModuleSource.h"

namespace cupilot {

/// The tables of a module as bytes, for this program on this machine.
std::string archived(const LoweredModule &Tables);
std::string archived(const ModuleIndex &Index);
/// Without Apart.
std::string archived(const CpuDeviceOptions &Options);
/// Nothing for bytes that archived() did not make.
std::optional<LoweredModule> tablesOf(llvm::StringRef Bytes);
std::optional<ModuleIndex> moduleIndexOf(llvm::StringRef Bytes);
std::optional<CpuDeviceOptions> optionsOf(llvm::StringRef Bytes);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_TABLEARCHIVE_H
