//===- Launches.cpp - Which launches took variants --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Compare.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace cupilot {

Expected<std::vector<LaunchCount>> readLaunchCounts(StringRef Text,
                                                    bool &Complete, bool &Any) {
  std::vector<LaunchCount> Counts;
  // Units that began and did not end: by a signal, _exit, or exec.
  int64_t Open = 0;
  Any = false;
  while (!Text.empty()) {
    auto [Line, Next] = Text.split('\n');
    Text = Next;
    Expected<LaunchCount> C = parseLaunchCount(Line);
    if (!C)
      return resourceError("the program's statistics cannot be read: " +
                           toString(C.takeError()));
    switch (C->Kind) {
    case LaunchCountKind::Begin:
      Any = true;
      ++Open;
      continue;
    case LaunchCountKind::End:
      --Open;
      continue;
    case LaunchCountKind::Variant:
    case LaunchCountKind::Outside:
    case LaunchCountKind::Original:
      break;
    }
    auto What = [](const LaunchCount &Each) {
      return std::tie(Each.Kind, Each.Symbol, Each.Variant, Each.Clause);
    };
    auto Same = find_if(Counts, [&](const LaunchCount &Each) {
      return What(Each) == What(*C);
    });
    if (Same == Counts.end()) {
      Counts.push_back(std::move(*C));
      continue;
    }
    Same->Launches += C->Launches;
    for (std::string &Symbol : C->VariantSymbols)
      if (!is_contained(Same->VariantSymbols, Symbol))
        Same->VariantSymbols.push_back(std::move(Symbol));
  }
  Complete = Open == 0;
  return Counts;
}

uint64_t CompareResult::launchesOf(LaunchCountKind Kind) const {
  uint64_t Sum = 0;
  for (const LaunchCount &C : Launches)
    if (C.Kind == Kind)
      Sum += C.Launches;
  return Sum;
}

} // namespace cupilot
