//===- GpuBatch.h - Workloads and variants as batches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From what evolution knows (workloads, launch plans, guards, device code) to
// what a GPU machine needs: concrete launches, digests, files (docs/Runner.md).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_GPUBATCH_H
#define CUPILOT_GPUJUDGE_GPUBATCH_H

#include "cupilot/Evaluation/Layout.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Runner/Batch.h"
#include "cupilot/Support/Toolchain.h"

namespace cupilot {

/// Device code as the driver takes it.
struct GpuImage {
  std::string Bytes;
  bool IsCubin = false; ///< Else PTX.
};

/// \p Ptx assembled for \p Arch by the toolkit's ptxas; as it is where there is
/// none, for the driver to compile. Usage error: ptxas refuses it.
llvm::Expected<GpuImage> assemble(llvm::StringRef Ptx, llvm::StringRef Arch,
                                  llvm::ArrayRef<std::string> Flags);

/// The arguments of \p W with addresses as the runner chooses them: far apart,
/// and no more aligned than what was recorded.
std::vector<std::vector<uint8_t>> recordedArguments(const Workload &W);

/// Another kind of numbers than \p W has, as generators name it: normal where
/// it has heavy-tailed ones, else heavy-tailed.
llvm::StringRef otherKind(const Workload &W);

/// Collects the requests of a batch and the files that they need.
class GpuBatch {
public:
  /// \p DataFolder: where the workloads' files lie.
  GpuBatch(const Kernel &K, KernelLayout Types, llvm::StringRef Arch,
           llvm::StringRef DataFolder)
      : K(K), Types(std::move(Types)), DataFolder(DataFolder) {
    B.Arch = computeCapability(Arch);
  }
  /// Returns its digest.
  std::string addImage(GpuImage Image);
  /// The case of \p W, by its index. Usage error: its data is not there.
  llvm::Expected<unsigned> addCase(const Workload &W);
  /// The same with all floating-point inputs times \p Factor; nothing where
  /// the workload has none.
  llvm::Expected<std::optional<unsigned>> addScaledCase(const Workload &W,
                                                        double Factor);
  /// The same with all floating-point inputs of otherKind(); nothing where the
  /// workload has none.
  llvm::Expected<std::optional<unsigned>> addOtherValuesCase(const Workload &W);
  /// The original's launch.
  runner::Program original(const Workload &W, llvm::StringRef Image) const;
  /// What \p Plan launches for \p W, all by kernels of \p Image; nothing where
  /// \p When keeps it out. A finding where the guard admits what is no launch.
  llvm::Expected<std::optional<runner::Program>>
  variant(const Workload &W, const LaunchPlan &Plan, const Guard &When,
          llvm::StringRef Image) const;
  void add(runner::Request R) { B.Requests.push_back(std::move(R)); }
  /// What the contract of the kernel allows a variant to be off on a GPU.
  runner::Tolerance tolerance() const;

  /// Names the batch by a digest of all that it holds: the same requests have
  /// the same id, and so the same folder.
  void finish();
  const runner::Batch &batch() const { return B; }
  /// Into \p Folder; leaves a batch of this id that lies there.
  llvm::Error write(llvm::StringRef Folder) const;

private:
  Layout heldIn(const Workload &W, size_t I) const;
  llvm::Expected<runner::Buffer> buffer(const WorkloadBuffer &From,
                                        const Layout &Holds, runner::Role Use);

  const Kernel &K;
  KernelLayout Types;
  std::string DataFolder;
  runner::Batch B;
  std::map<std::string, std::string> ImageBytes, DataFiles,
      DataBytes; ///< By digest.
};

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_GPUBATCH_H
