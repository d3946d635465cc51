//===- NvccOptions.cpp - nvcc's options -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccOptions.h"

using namespace llvm;

namespace cupilot {

namespace {
using namespace nvcc;
using opt::DefaultVis;

#define OPTTABLE_STR_TABLE_CODE
#include "cupilot/Launcher/NvccOptions.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "cupilot/Launcher/NvccOptions.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr opt::OptTable::Info Rows[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "cupilot/Launcher/NvccOptions.inc"
#undef OPTION
};

class Table : public opt::GenericOptTable {
public:
  Table() : GenericOptTable(OptionStrTable, OptionPrefixesTable, Rows) {}
};
} // namespace

const opt::OptTable &nvccOptions() {
  static const Table Options;
  return Options;
}

} // namespace cupilot
