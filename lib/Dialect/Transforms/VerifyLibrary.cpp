//===- VerifyLibrary.cpp - The strategy library as a whole -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace cupilot {
#define GEN_PASS_DEF_VERIFYLIBRARYPASS
#include "cupilot/Dialect/Transforms/Passes.h.inc"
} // namespace cupilot

using namespace mlir;
using namespace cupilot;
using llvm::StringRef;

namespace {
struct VerifyLibrary : cupilot::impl::VerifyLibraryPassBase<VerifyLibrary> {
  void runOnOperation() override {
    llvm::StringMap<StrategyOp> All;
    for (StrategyOp S : getOperation().getOps<StrategyOp>())
      All[S.getSymName()] = S;
    bool Ok = true;
    for (StrategyOp S : getOperation().getOps<StrategyOp>()) {
      for (ArrayAttr List : {S.getRequired(), S.getConflicts()})
        for (FlatSymbolRefAttr Name : List.getAsRange<FlatSymbolRefAttr>())
          if (!All.contains(Name.getValue())) {
            S.emitOpError() << "names @" << Name.getValue()
                            << ", which the library does not hold";
            Ok = false;
          }
      llvm::StringSet<> Path;
      if (hasCycle(All, S.getSymName(), Path)) {
        S.emitOpError("requires itself, by a cycle of 'requires'");
        Ok = false;
        continue;
      }
      Ok &= canBeUsed(All, S);
    }
    if (!Ok)
      signalPassFailure();
  }

private:
  static bool hasCycle(llvm::StringMap<StrategyOp> &All, StringRef Name,
                       llvm::StringSet<> &Path) {
    auto It = All.find(Name);
    if (It == All.end())
      return false;
    if (!Path.insert(Name).second)
      return true;
    for (FlatSymbolRefAttr Next :
         It->second.getRequired().getAsRange<FlatSymbolRefAttr>())
      if (hasCycle(All, Next.getValue(), Path))
        return true;
    Path.erase(Name);
    return false;
  }

  /// All that \p S needs, taken together, must be free of conflicts.
  static bool canBeUsed(llvm::StringMap<StrategyOp> &All, StrategyOp S) {
    llvm::SmallVector<StrategyOp> Closure = {S};
    for (size_t I = 0; I < Closure.size(); ++I)
      for (FlatSymbolRefAttr Name :
           Closure[I].getRequired().getAsRange<FlatSymbolRefAttr>())
        if (auto It = All.find(Name.getValue());
            It != All.end() && !llvm::is_contained(Closure, It->second))
          Closure.push_back(It->second);
    for (StrategyOp A : Closure)
      for (FlatSymbolRefAttr Name :
           A.getConflicts().getAsRange<FlatSymbolRefAttr>())
        for (StrategyOp B : Closure)
          if (B.getSymName() == Name.getValue()) {
            S.emitOpError()
                << "can never be used: it needs @" << A.getSymName() << " and @"
                << B.getSymName() << ", which are in conflict";
            return false;
          }
    return true;
  }
};
} // namespace
