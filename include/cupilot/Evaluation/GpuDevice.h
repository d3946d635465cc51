//===- GpuDevice.h - Where batches are evaluated -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_GPUDEVICE_H
#define CUPILOT_EVALUATION_GPUDEVICE_H

#include "cupilot/Evaluation/GpuBatch.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// The results of a batch, one for each request, in order (docs/Runner.md says
/// what is in them).
using GpuResults = std::vector<llvm::json::Object>;

/// A GPU, here or elsewhere.
class GpuDevice {
public:
  /// \p Spec: "cuda" (this machine's GPUs), "spool:DIR" (a folder that is
  /// carried to a GPU machine and back), "ssh:HOST". Usage error: another word.
  static llvm::Expected<std::unique_ptr<GpuDevice>>
  create(llvm::StringRef Spec);
  /// Whether \p Spec names one of these.
  static bool isOne(llvm::StringRef Spec);
  virtual ~GpuDevice();
  /// The results; nothing while some are not there yet, which waiting() then
  /// explains. May be asked again, by another process too: no request is
  /// evaluated twice.
  virtual llvm::Expected<std::optional<GpuResults>>
  evaluate(const GpuBatch &B) = 0;
  /// What brings the results of \p B: a command for people.
  virtual std::string waiting(const GpuBatch &B) const = 0;
};

/// The results that lie in \p Folder; nothing when one lacks.
llvm::Expected<std::optional<GpuResults>> readResults(llvm::StringRef Folder,
                                                      const runner::Batch &B);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_GPUDEVICE_H
