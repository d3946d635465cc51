//===- Judge.h - The gate on kernels written by hand -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_JUDGE_H
#define CUPILOT_DRIVER_JUDGE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/GpuJudge/JudgeOnGpu.h"
#include "cupilot/Model/LaunchNames.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace cupilot {

/// An original, its variants, and what they are judged on.
struct JudgeRequest {
  std::string Input; ///< The original's source.
  /// What is in Input, where that is no CUDA.
  std::optional<UnitToJudge> Unit = std::nullopt;
  /// Loads one of VariantFiles that is no CUDA; null for those that are.
  std::function<llvm::Expected<std::optional<TextToJudge>>(llvm::StringRef)>
      LoadOther = nullptr;
  std::string Original; ///< Name of its kernel, for UnitToJudge::find.
  std::vector<std::string> Variants; ///< Names of kernels.
  /// Where they are; empty: in Input. Without Variants, the kernels there of
  /// the original's name.
  std::vector<std::string> VariantFiles;
  std::string Workloads;                     ///< A module; "": none.
  std::vector<std::string> Descriptions;     ///< Of workloads, in words.
  std::string Plan, Guard;                   ///< Of all variants, in words.
  std::optional<PrecisionContract> Contract; ///< None: the kernel's own.
  std::string Arch;          ///< "sm_90"; "": that of the flags.
  uint64_t Seed = 1;         ///< Of the inputs.
  ProcessLimits Compilation; ///< Of each of VariantFiles.
  bool Deep = false;  ///< Large launches too, as for variants that are kept.
  std::string Store;  ///< Where variants that pass are kept; "": nowhere.
  std::string Device; ///< A GPU, for judgeOnGpu; "": none.
  /// Bytes of a launch that is too large for the gate; 0: none is compared.
  uint64_t LargeBytes = UsualLargeBytes;
  UnitCommand Command; ///< Whose code is judged.
  /// For buildCompilers: whose code is judged, too, for the store.
  std::vector<std::string> Compilers;
};

struct JudgedVariant {
  std::string Name; ///< Of the kernel, or its file.
  GateVerdict Verdict;
  LaunchPlan Plan = {};
  std::string Ptx = {};               ///< Of its kernels, where a GPU gets it.
  std::vector<GpuOutcome> OnGpu = {}; ///< By workload.
  /// Launches beyond the gate's, on the GPU ...
  std::vector<ComparedLaunch> Large = {};
  std::optional<Domain> Compared = {}; ///< ... and the domain with them.
  LaunchNames Names = {};              ///< For the text of its domain.
  /// By the gate, or by the GPU.
  bool isRejected() const;
};

struct Judgement {
  std::string Kernel, Arch;   ///< Of the original.
  std::string NoFloat64 = {}; ///< GateSetup::NoFloat64.
  std::vector<JudgedVariant> Variants;
  size_t rejected() const;
};

/// Judges all variants of \p R. \p Tell is called with each when the gate has
/// judged it. What was put into the store is said to \p Log.
llvm::Expected<Judgement>
judgeVariants(JudgeRequest R,
              llvm::function_ref<void(const JudgedVariant &)> Tell,
              llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_JUDGE_H
