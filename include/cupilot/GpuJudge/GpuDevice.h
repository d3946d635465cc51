//===- GpuDevice.h - Where batches are evaluated -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_GPUDEVICE_H
#define CUPILOT_GPUJUDGE_GPUDEVICE_H

#include "cupilot/GpuJudge/GpuBatch.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>

namespace cupilot {

/// The results of a batch, one for each request, in order (docs/Runner.md says
/// what is in them).
using GpuResults = std::vector<llvm::json::Object>;

/// A GPU, here or elsewhere.
class GpuDevice {
public:
  /// \p Spec: "cuda" (this machine's GPUs), "spool:DIR" (a folder that is
  /// carried to a GPU machine and back), "ssh:HOST", "slurm[:OPTIONS]" (a
  /// cluster; SlurmOptions). Usage error: another word.
  static llvm::Expected<std::unique_ptr<GpuDevice>>
  create(llvm::StringRef Spec);
  /// Whether \p Spec names one of these.
  static bool isOne(llvm::StringRef Spec);
  /// For people: what create() takes.
  static constexpr llvm::StringLiteral Known =
      "cuda, spool:DIR, ssh:HOST or slurm[:OPTIONS]";
  /// \p Spec with what a file beside \p Store adds: of a cluster the options
  /// of cupilot.slurm, and a folder for batches. "" is no store. Usage errors:
  /// options that are none.
  static llvm::Expected<std::string> besideStore(llvm::StringRef Spec,
                                                 llvm::StringRef Store);
  virtual ~GpuDevice();
  /// The results; nothing while some are not there yet, which waiting() then
  /// explains. May be asked again, by another process too: no request is
  /// evaluated twice.
  virtual llvm::Expected<std::optional<GpuResults>>
  evaluate(const GpuBatch &B) = 0;
  /// Where \p B lies on this machine.
  virtual std::string folder(const GpuBatch &B) const = 0;
  /// Whether evaluate() has the work done; otherwise people carry batches.
  virtual bool worksByItself() const = 0;
  /// What brings the results of \p B: a command for people.
  virtual std::string waiting(const GpuBatch &B) const = 0;
  /// Whom to tell of what happens on the way.
  virtual void setTeller(std::function<void(const llvm::Twine &)> Tell) {}
};

/// The results that lie in \p Folder; nothing when one lacks.
llvm::Expected<std::optional<GpuResults>> readResults(llvm::StringRef Folder,
                                                      const runner::Batch &B);

/// How far a batch is.
struct GpuProgress {
  size_t Ready = 0, All = 0;        ///< Results, requests.
  std::vector<std::string> Damaged; ///< Files of results that are none.
};
GpuProgress progressOf(llvm::StringRef Folder, const runner::Batch &B);

/// A resource error: results are not there yet. Nothing is wrong.
class ResultsAwaited : public llvm::ErrorInfo<ResultsAwaited, ToolError> {
public:
  static char ID;
  ResultsAwaited(const llvm::Twine &Message, const llvm::Twine &Hint)
      : ErrorInfo(ExitCode::Resource, Message, Hint) {}
};

/// How long to wait for results.
struct GpuPatience {
  bool Wait = true; ///< False: ResultsAwaited where some are not there.
  /// Seconds that a result may be no whole file, as while it is copied.
  unsigned DamagedSeconds = 30;
  /// Told where the batch is, what brings its results, and how far they are.
  std::function<void(const llvm::Twine &)> Tell;
};

/// The results of \p B, waited for: where they are brought by others, by
/// looking again and again. A resource error where one is damaged and stays so.
/// A process that is killed here has lost nothing.
llvm::Expected<GpuResults> awaitResults(GpuDevice &D, const GpuBatch &B,
                                        const GpuPatience &Patience);

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_GPUDEVICE_H
