//===- PtxImages.h - The PTX in a program's files ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_PTXIMAGES_H
#define CUPILOT_CAPTURE_PTXIMAGES_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::capture {

/// The PTX that executables and shared libraries hold beside machine code, in
/// their fat binaries, by the kernels in it.
class PtxImages {
public:
  /// Reads the file at \p Path, once; damaged ones hold nothing.
  void add(const std::string &Path);

  /// The module that defines \p Kernel, for the newest architecture that a GPU
  /// of \p Capability (90) compiles. Nothing, with the reason in \p Why, where
  /// there is none, or several different ones.
  std::optional<std::string> find(const std::string &Kernel,
                                  unsigned Capability, std::string &Why) const;

private:
  struct Image {
    std::string Path;
    uint64_t Offset = 0; ///< Of its fat binary in the file.
    size_t Number = 0;   ///< Among its images.
    unsigned Arch = 0;
    uint64_t Hash = 0; ///< Of the text.
  };
  void addFatBinaries(const std::string &Path, std::string_view File,
                      std::string_view Section);
  std::set<std::string> Files;
  std::vector<Image> Images;
  std::map<std::string, std::vector<uint32_t>, std::less<>> Kernels;
};

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_PTXIMAGES_H
