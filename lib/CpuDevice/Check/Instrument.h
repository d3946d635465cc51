//===- Instrument.h - Checks and counters in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H

#include "Lower/Lowering.h"
#include "Abi/ShadowWords.h"
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

/// Accesses of one basic block at constant distances: one check of bounds.
struct AccessGroup {
  llvm::Value *Leader; ///< The pointer of the first.
  int64_t Low, High;   ///< The bytes that all touch, from there.
  /// What the leader's address leaves when it is divided by the alignment.
  uint64_t Alignment, Residue;
  bool IsStore;
  llvm::Value *Shadow = nullptr; ///< See groupShadow().
  /// Takes \p A, which lies \p Distance bytes behind the leader, if the
  /// alignments agree.
  bool add(int64_t Distance, const CheckedAccess &A);
};

/// A kind of access whose check has common cases.
struct FastKind {
  unsigned Size; ///< Bytes: a power of two up to 16.
  bool IsStore;
  bool Unwritten; ///< A read of unwritten bytes is none of the common cases.
};
/// bool (ThreadContext *, shadow, address, location bits): does the whole check
/// of an access behind its bounds, or returns false without having noted
/// anything that would be wrong. \p shadow is that of groupShadow().
llvm::Function *fastCheck(llvm::Module &M, const FastKind &Kind,
                          const CpuDeviceOptions &Options);

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
  void addCounters();
  void measureLoops();
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
  void findGroups();
  llvm::Value *groupShadow(const CheckedAccess &A, llvm::IRBuilder<> &B);

  // In InstrumentOrder.cpp.
  void guardFences();
  void markCalls();

  // In InstrumentCarry.cpp.
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
  /// Where steps are counted, and how many.
  llvm::SmallVector<std::pair<llvm::BasicBlock *, unsigned>> Headers;
  std::vector<AccessGroup> Groups;
  llvm::DenseMap<llvm::Instruction *, size_t> GroupOf;
  /// Loads whose value is only copied, and, once it is made, the mask of those
  /// of its bytes that hold nothing.
  llvm::SmallPtrSet<llvm::Instruction *, 16> Carriers;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Unwritten, UnwrittenBits;
  llvm::DenseMap<llvm::Instruction *, unsigned>
      CarrySites; ///< Stores of such values.
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H
