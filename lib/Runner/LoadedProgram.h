//===- LoadedProgram.h - A program on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_LOADEDPROGRAM_H
#define CUPILOT_LIB_RUNNER_LOADEDPROGRAM_H

#include "DeviceCase.h"
#include <map>

namespace cupilot::runner {

/// The images of a batch: digest to the path of a file that was checked.
using ImageFiles = std::map<std::string, std::string>;

/// The arguments of a program's launches for one set of buffers.
struct BoundProgram {
  struct Arguments {
    std::vector<std::vector<uint64_t>> Words; ///< 8-byte aligned, or 64 below.
    std::vector<EncodedTensorMap> Maps;
    std::vector<void *> Pointers;
  };
  std::vector<Arguments> Launches;
};

/// The kernels of a program in modules of its own, its scratch memory, and the
/// device variables that it has in common with the case.
class LoadedProgram {
public:
  /// Failures: wrong-arch, invalid-image, unsupported-ptx, missing-symbol,
  /// arguments-mismatch, out-of-memory ...
  LoadedProgram(const Gpu &G, const Program &P, const Case &C,
                const ImageFiles &Images,
                const std::vector<std::string> &VariableFiles,
                bool Bare = false);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;

  BoundProgram bind(const DeviceCase &On) const;
  /// Device variables and scratch memory as they are before a run, on the
  /// stream.
  void restore() const;
  void restoreVariables() const;
  /// Puts the launches on the stream. Failure: launch-failed and others.
  void launch(const BoundProgram &Bound) const;
  /// The bytes of variable \p I of the case; nothing when no module has it.
  std::optional<std::string> variable(size_t I) const;
  /// Bytes of scratch memory's guard bands that were overwritten.
  uint64_t strayBytes() const;

private:
  void loadModules(const ImageFiles &Images);
  void findFunction(const KernelLaunch &L, bool Bare);
  void findVariables(const std::vector<std::string> &Files);

  struct FoundVariable {
    DeviceAddress At = 0; ///< 0: not there.
    std::unique_ptr<BandedMemory> Pristine;
  };
  const Gpu &G;
  const Program &P;
  const Case &C;
  std::map<std::string, Handle> Modules;
  std::vector<Handle> Functions; ///< One for each launch.
  std::vector<FoundVariable> Variables;
  std::vector<std::unique_ptr<BandedMemory>> Scratch;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_LOADEDPROGRAM_H
