//===- Architecture.h - GPU architectures -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_ARCHITECTURE_H
#define CUPILOT_MODEL_ARCHITECTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace cupilot {

/// A GPU architecture that code is compiled for (PTX ISA, ".target").
struct Architecture {
  unsigned Number = 0; ///< 90: of compute capability 9.0.
  /// 'a': for GPUs of this compute capability alone; 'f': for its family; 0:
  /// for every newer one too.
  char Suffix = 0;

  /// "sm_90", "sm_90a"; nothing for other texts.
  static std::optional<Architecture> parse(llvm::StringRef Text);
  /// As nvcc's options have it: "compute_90a" and "90" too.
  static std::optional<Architecture> parseNvcc(llvm::StringRef Text);

  std::string str() const;         ///< "sm_90a"
  std::string virtualName() const; ///< "compute_90a", for nvcc.
  /// "sm_90": the compute capability, which is what a GPU tells of itself.
  std::string capability() const;
  bool operator==(const Architecture &) const = default;
};

/// The compute capability of \p Arch: "sm_90" for "sm_90a". What is no
/// architecture stays as it is.
std::string computeCapability(llvm::StringRef Arch);
/// 90 for "sm_90" and "sm_90a": what a running program can ask an image for; 0
/// for what is no architecture.
unsigned capabilityNumber(llvm::StringRef Arch);
/// Threads that a multiprocessor of this architecture holds at most (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability"). Of
/// what is no architecture, or not in that table, the most that any holds.
unsigned residentThreads(llvm::StringRef Arch);

/// The one of \p Archs that a GPU of the compute capability \p Gpu runs, with
/// most instructions ("sm_90a" before "sm_90"); \p Gpu if there is none.
std::string architectureFor(llvm::StringRef Gpu,
                            llvm::ArrayRef<std::string> Archs);

} // namespace cupilot

#endif // CUPILOT_MODEL_ARCHITECTURE_H
