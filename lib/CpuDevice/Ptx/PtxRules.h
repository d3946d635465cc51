//===- PtxRules.h - What the rows of the PTX table emit ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_PTXRULES_H
#define CUPILOT_LIB_CPUDEVICE_PTX_PTXRULES_H

#include "BodyLowering.h"

namespace cupilot {

#define CUPILOT_PTX_RULE(NAME) bool NAME(BodyLowering &L, const PtxStatement &S)

// PtxInteger.cpp: PTX ISA, "Integer Arithmetic Instructions",
// "Extended-Precision Integer Arithmetic", "Logic and Shift Instructions".
CUPILOT_PTX_RULE(ptxAddSub);
CUPILOT_PTX_RULE(ptxMultiply);
CUPILOT_PTX_RULE(ptxMultiply24);
CUPILOT_PTX_RULE(ptxDivide);
CUPILOT_PTX_RULE(ptxSad);
CUPILOT_PTX_RULE(ptxMinMax);
CUPILOT_PTX_RULE(ptxUnary);
CUPILOT_PTX_RULE(ptxLogic);
CUPILOT_PTX_RULE(ptxShift);
CUPILOT_PTX_RULE(ptxFunnelShift);
CUPILOT_PTX_RULE(ptxLop3);

// PtxBits.cpp: fields of bits and bytes, dot products.
CUPILOT_PTX_RULE(ptxFindBit);
CUPILOT_PTX_RULE(ptxFindNthSet);
CUPILOT_PTX_RULE(ptxExtractField);
CUPILOT_PTX_RULE(ptxInsertField);
CUPILOT_PTX_RULE(ptxBitMask);
CUPILOT_PTX_RULE(ptxExtend);
CUPILOT_PTX_RULE(ptxPermute);
CUPILOT_PTX_RULE(ptxDotProduct);

// PtxVideo.cpp: "Video Instructions", of one number and of several in a word.
CUPILOT_PTX_RULE(ptxVideo);
CUPILOT_PTX_RULE(ptxVideoMultiply);
CUPILOT_PTX_RULE(ptxVideoLanes);

// PtxFloat.cpp: "Floating Point Instructions", also in half precision.
CUPILOT_PTX_RULE(ptxFloatArithmetic);
CUPILOT_PTX_RULE(ptxFloatMinMax);
CUPILOT_PTX_RULE(ptxFloatUnary);
CUPILOT_PTX_RULE(ptxFloatApprox);
CUPILOT_PTX_RULE(ptxCopySign);
CUPILOT_PTX_RULE(ptxTestProperty);

// PtxCompare.cpp: "Comparison and Selection Instructions".
CUPILOT_PTX_RULE(ptxSet);
CUPILOT_PTX_RULE(ptxSetPredicate);
CUPILOT_PTX_RULE(ptxSelect);
CUPILOT_PTX_RULE(ptxSelectBySign);

// PtxConvert.cpp: "Data Movement and Conversion Instructions": mov, cvt.
CUPILOT_PTX_RULE(ptxMove);
CUPILOT_PTX_RULE(ptxConvertInteger);
CUPILOT_PTX_RULE(ptxConvertToInteger);
CUPILOT_PTX_RULE(ptxConvertToFloat);
CUPILOT_PTX_RULE(ptxConvertPair);
CUPILOT_PTX_RULE(ptxConvertToNarrow);
CUPILOT_PTX_RULE(ptxConvertFromNarrow);
CUPILOT_PTX_RULE(ptxConvertTf32);
CUPILOT_PTX_RULE(ptxConvertPack);

// PtxMemory.cpp: the same chapter: ld, st, cvta, isspacep, hints; atom, red.
CUPILOT_PTX_RULE(ptxLoad);
CUPILOT_PTX_RULE(ptxStore);
CUPILOT_PTX_RULE(ptxAtomic);
CUPILOT_PTX_RULE(ptxHint);
CUPILOT_PTX_RULE(ptxPolicy);
CUPILOT_PTX_RULE(ptxConvertAddress);
CUPILOT_PTX_RULE(ptxIsSpace);
CUPILOT_PTX_RULE(ptxMapAddress);
CUPILOT_PTX_RULE(ptxBlockRank);

// PtxThreads.cpp: "Parallel Synchronization and Communication Instructions",
// "Control Flow", "Miscellaneous".
CUPILOT_PTX_RULE(ptxShuffle);
CUPILOT_PTX_RULE(ptxVote);
CUPILOT_PTX_RULE(ptxMatch);
CUPILOT_PTX_RULE(ptxReduce);
CUPILOT_PTX_RULE(ptxActiveMask);
CUPILOT_PTX_RULE(ptxElect);
CUPILOT_PTX_RULE(ptxBarrier);
CUPILOT_PTX_RULE(ptxBarrierReduce);
CUPILOT_PTX_RULE(ptxWarpBarrier);
CUPILOT_PTX_RULE(ptxClusterBarrier);
CUPILOT_PTX_RULE(ptxFence);
CUPILOT_PTX_RULE(ptxSleep);
CUPILOT_PTX_RULE(ptxStop);

#undef CUPILOT_PTX_RULE

/// Of instructions that are written().
bool isCompare(const llvm::Instruction &I);

/// The fences' and atomics' order ("acq_rel"); relaxed for "".
llvm::AtomicOrdering ptxOrdering(const PtxStatement &S);

/// The \p Count operands from the second on, as the instruction's type, without
/// subnormal numbers for .ftz; empty on failure.
llvm::SmallVector<llvm::Value *, 4>
ptxSources(BodyLowering &L, const PtxStatement &S, unsigned Count);

/// \p V no further than the numbers of \p Bits: two decisions of the text.
llvm::Value *clampedTo(BodyLowering &L, llvm::Value *V, unsigned Bits,
                       bool Signed);

/// \p V with subnormal numbers made zeros of the same sign.
llvm::Value *flushed(llvm::IRBuilderBase &B, llvm::Value *V);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_PTXRULES_H
