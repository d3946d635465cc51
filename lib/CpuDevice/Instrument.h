//===- Instrument.h - Checks and counters in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_INSTRUMENT_H
#define CUPILOT_LIB_CPUDEVICE_INSTRUMENT_H

#include "Lowering.h"
#include "ShadowWords.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace cupilot {

/// One access that an instruction makes.
struct CheckedAccess {
  llvm::Instruction *I;
  llvm::Value *Pointer;
  llvm::Value *Length = nullptr; ///< For memory intrinsics; else null.
  uint64_t Size = 0;
  llvm::Align Alignment;
  bool IsStore = false, IsAtomic = false, IsVolatile = false;
};

class Instrumenter {
public:
  Instrumenter(llvm::Function &Entry, LoweredModule &Tables, LoweredKernel &K,
               const CpuDeviceOptions &Options)
      : Entry(Entry), Tables(Tables), K(K), Options(Options),
        DL(Entry.getParent()->getDataLayout()),
        IsEntry(Entry.getName() == K.Entry) {}
  void run();

private:
  void collect();
  void guard(const CheckedAccess &A);
  unsigned addSite(const CheckedAccess &A, AccessSpace Space);
  AccessSpace spaceOf(llvm::Value *Pointer, llvm::Value *&Base);
  void markCalls();
  void addCounters();
  void addBudget();
  llvm::FunctionCallee runtime(llvm::StringRef Name,
                               llvm::ArrayRef<llvm::Type *> Params) {
    return Entry.getParent()->getOrInsertFunction(
        Name, llvm::FunctionType::get(llvm::Type::getVoidTy(Entry.getContext()),
                                      Params, false));
  }
  llvm::Value *branchUnlessOk(llvm::IRBuilder<> &B, llvm::Value *Ok);

  // In InstrumentShadow.cpp.
  bool shadows() const {
    return Options.CheckRaces || Options.CheckWritten || Options.Coverage;
  }
  bool usesShadow(const CheckedAccess &A, AccessSpace Space,
                  llvm::Value *Base) const;
  void guardShadow(const CheckedAccess &A, unsigned Site);
  void guardStore(const CheckedAccess &A, unsigned Site, llvm::Value *Generic);
  void guardFences();
  void findCarriers();
  bool onlyCopied(llvm::Value *V,
                  llvm::SmallPtrSetImpl<llvm::Value *> &Seen) const;
  void carryUnwritten();
  llvm::Value *unwrittenBytes(llvm::Value *V);

  // In InstrumentMasked.cpp.
  static bool isMasked(const llvm::Instruction &Compare);
  static bool isMaskedExtreme(const llvm::Instruction &I);
  llvm::Value *unwrittenBit(llvm::Value *V);
  void guardMasked();

  llvm::Function &Entry;
  LoweredModule &Tables;
  LoweredKernel &K;
  const CpuDeviceOptions &Options;
  const llvm::DataLayout &DL;
  const bool IsEntry; ///< Else a function that it calls.
  std::vector<CheckedAccess> Accesses;
  /// Loads whose value is only copied, and, once it is made, the mask of those
  /// of its bytes that hold nothing.
  llvm::SmallPtrSet<llvm::Instruction *, 16> Carriers;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Unwritten, UnwrittenBits;
  llvm::DenseMap<llvm::Instruction *, unsigned>
      CarrySites; ///< Stores of such values.
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_INSTRUMENT_H
