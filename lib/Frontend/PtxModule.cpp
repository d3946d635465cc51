//===- PtxModule.cpp - The definitions of a PTX module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Ptx/Print.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <vector>

using namespace llvm;

namespace cupilot {

Expected<PtxModule> PtxModule::parse(std::string Text) {
  Expected<ptx::Module> M = readPtx(std::move(Text));
  if (!M)
    return M.takeError();
  PtxModule Result;
  Result.M = std::move(*M);
  return std::move(Result);
}

static bool isPrivate(const ptx::Item &I) {
  if (const auto *F = I.as<ptx::Function>())
    return F->Link == ptx::Linkage::Internal;
  const auto *D = I.as<ptx::Declaration>();
  return D && D->Variables.front().Link == ptx::Linkage::Internal;
}

/// "$L__BB12_3", "__local_depot12", "prototype_4" count within the module.
static std::string withoutModuleNumbers(StringRef Name) {
  for (StringRef Counted : {"__local_depot", "prototype_"})
    if (Name.starts_with(Counted) &&
        all_of(Name.drop_front(Counted.size()), llvm::isDigit))
      return Counted.str();
  size_t Block = Name.find("L__BB");
  if (Block == StringRef::npos)
    return Name.str();
  StringRef Number = Name.drop_front(Block + 5);
  return (Name.take_front(Block + 5) + Number.drop_while(llvm::isDigit)).str();
}

std::string PtxModule::closureOf(StringRef Symbol) const {
  std::string_view First(Symbol);
  if (!M.find(First))
    return "";
  std::vector<std::string_view> Order = {First};
  std::map<std::string_view, size_t> Numbers = {{First, 0}};
  ptx::PrintOptions Options;
  Options.DebugData = false;
  Options.Rename = [&](std::string_view Name) {
    const ptx::Item *Named = M.find(Name);
    if (!Named)
      return withoutModuleNumbers(Name);
    auto [Known, New] = Numbers.try_emplace(Name, Order.size());
    if (New)
      Order.push_back(Name);
    return isPrivate(*Named) ? "private" + std::to_string(Known->second)
                             : std::string(Name);
  };
  std::string Text;
  for (size_t I = 0; I < Order.size(); ++I)
    Text += ptx::print(*M.find(Order[I]), Options);
  return Text;
}

Expected<std::string> compileToPtx(StringRef File, StringRef Arch,
                                   ArrayRef<std::string> Flags) {
  std::vector<std::string> Neutral = Flags.vec();
  append_range(Neutral, ArrayRef<StringRef>(
                            {"-w", "-g0", "-D__LINE__=0", "-D__FILE__=\"\""}));
  Expected<std::string> Bitcode = compileDeviceBitcode(File, Arch, Neutral);
  return Bitcode ? generatePtx(*Bitcode, Arch) : Bitcode.takeError();
}

} // namespace cupilot
