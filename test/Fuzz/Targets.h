//===- Targets.h - Readers under arbitrary input -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each target hands its bytes to one reader and uses what it gives back as the
// tools do. Broken input is an error; a crash, a hang, or an answer that
// contradicts itself is a fault. libFuzzer runs them (LibFuzzer.cpp), and every
// run of the tests runs them over the inputs that are kept (Replay.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_FUZZ_TARGETS_H
#define CUPILOT_TEST_FUZZ_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace cupilot::fuzz {

struct Target {
  llvm::StringRef Name;
  void (*Run)(llvm::StringRef Bytes);
};

/// Text of the store: records, modules, counts.
void runRecord(llvm::StringRef Bytes);
void runModule(llvm::StringRef Bytes);
void runCounts(llvm::StringRef Bytes);
/// Compiler commands, a word a line. For nvcc the first two lines are
/// NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, and what follows an empty line is
/// the options file that the words "OPTIONS" name.
void runNvcc(llvm::StringRef Bytes);
void runClang(llvm::StringRef Bytes);
/// What compilers make.
void runGpuBinary(llvm::StringRef Bytes);
void runObject(llvm::StringRef Bytes);
void runPtx(llvm::StringRef Bytes);
/// PTX on its way to the cpu device: what is read becomes a valid module.
void runLowering(llvm::StringRef Bytes);

/// All of them, by name.
llvm::ArrayRef<Target> targets();
/// The target \p Name; null when there is none.
const Target *findTarget(llvm::StringRef Name);

/// Ends the program, as a failed check of the sanitizers does, unless \p Holds.
void require(bool Holds, const char *What);

} // namespace cupilot::fuzz

#endif // CUPILOT_TEST_FUZZ_TARGETS_H
