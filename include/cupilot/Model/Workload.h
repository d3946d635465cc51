//===- Workload.h - Recorded launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_WORKLOAD_H
#define CUPILOT_MODEL_WORKLOAD_H

#include "cupilot/Model/Basis.h"
#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

/// A device buffer that a launch can reach. Content before the launch.
struct WorkloadBuffer {
  uint64_t Size = 0;        ///< Bytes.
  uint64_t Alignment = 256; ///< Of its address, in bytes (a power of two).
  std::string Digest;       ///< Of the content before the launch ("b3:..."); ""
                            ///< where it is generated and large.
  std::string File; ///< Where the content lies, relative to the workload
                    ///< file's folder.
  std::string Generator = {}; ///< What makes the content, where no file holds
                              ///< it; see Described.h.
};

/// A pointer inside the bytes of an argument.
struct WorkloadPointer {
  unsigned Param = 0;
  unsigned Offset = 0; ///< Byte offset in the parameter.
  unsigned Buffer = 0; ///< Index into Buffers.
  uint64_t BufferOffset = 0;
};

/// A module-level variable (__device__, __constant__) that the program had set.
struct WorkloadGlobal {
  std::string Symbol;
  WorkloadBuffer Content;
};

/// Who alone uses a workload.
enum class Audience {
  Gate, ///< It is run and compared everywhere, and its time does not count.
  Gpu,  ///< It is too large for the cpu device.
};

/// "gate".
inline llvm::StringRef wordOf(Audience A) {
  return A == Audience::Gate ? "gate" : "gpu";
}

/// One recorded launch and its weight.
struct Workload {
  std::string Name;   ///< "w0".
  std::string Symbol; ///< Mangled kernel name.
  LaunchShape Shape;
  std::vector<std::vector<uint8_t>> Args; ///< Raw bytes; pointer words are 0
                                          ///< and come from Pointers.
  std::vector<WorkloadPointer> Pointers;
  std::vector<WorkloadBuffer> Buffers;
  std::vector<WorkloadGlobal> Globals;
  /// Digests of the buffers' contents after the recorded launch, "" where that
  /// is not known; empty where none is.
  std::vector<std::string> After = {};
  uint64_t Count = 1; ///< Launches that it stands for.
  double Weight = 0;  ///< Its share of the program's kernel time, 0 to 1.
  Basis WeightBasis = Basis::Modelled; ///< Or Measured.
  std::optional<Audience> Only = {};   ///< Nothing: everybody.
  /// Found by the gate where there is a GPU: the cpu device judges a smaller
  /// launch instead, and the GPU runs this one. Not part of what is stored.
  bool IsLarge = false;
  /// Of all buffers together.
  uint64_t bytes() const {
    uint64_t Sum = 0;
    for (const WorkloadBuffer &B : Buffers)
      Sum += B.Size;
    return Sum;
  }
  bool isTimed() const { return Only != Audience::Gate; }
  bool isForGpuAlone() const { return Only == Audience::Gpu || IsLarge; }
  /// Whether the gate makes no launch from it at all.
  bool isNotForGate() const { return Only == Audience::Gpu; }
};

} // namespace cupilot

#endif // CUPILOT_MODEL_WORKLOAD_H
