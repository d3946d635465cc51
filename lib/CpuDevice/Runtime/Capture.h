//===- Capture.h - Recording launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H

#include "cupilot/Capture/LaunchQuota.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

namespace cupilot {

/// Writes launches to a folder: launches.json and one file per content, named
/// by digest. Launches of one kernel with the same shape and the same bytes
/// outside of pointers are recorded once and counted. launches.json is written
/// again and again, so that a program that is killed leaves it behind.
class Capture {
public:
  using Verdict = capture::LaunchQuota::Verdict;

  Capture(std::string Folder, const capture::Options &Opts);

  /// Keeps the PTX that a program loads itself; returns its digest.
  std::string keepCode(llvm::StringRef Ptx) {
    return store(Ptx.data(), Ptx.size());
  }
  /// Called before a launch; says whether it runs. \p Code is what keepCode
  /// gave for the kernel's module, if that was called; kernels of one name in
  /// different code are different ones. \p Sizes are the parameters' sizes, \p
  /// Variables those of the module's that the program can see.
  Verdict before(const std::string &Kernel,
                 const std::pair<std::string, size_t> &Code,
                 const LaunchShape &Shape, const std::vector<uint64_t> &Sizes,
                 void *const *Args, const std::map<char *, size_t> &Allocations,
                 const CpuModule &Module,
                 const std::vector<std::string> &Variables);
  /// Called after it, if it ran: its modelled time in microseconds.
  void after(double Cost);
  /// Called instead where it ended for its number of instructions.
  void tooLong();
  /// Called once the program ends for \ref Verdict::Stop.
  void stopped();
  /// Instructions of a launch's threads together at most; 0: no limit.
  uint64_t maxSteps() const { return Opts.LaunchSteps; }
  /// Writes launches.json. False when that failed.
  bool finish();

private:
  /// Launches that ran.
  struct Runs {
    uint64_t Count = 0;
    double Cost = 0; ///< In microseconds.
    void add(double Each) {
      ++Count;
      Cost += Each;
    }
  };
  struct KernelTally {
    size_t Classes = 0; ///< Kept launches that are not alike.
    Runs Ran;
  };
  using KernelTallies =
      std::map<std::pair<std::string, std::string>, KernelTally>;
  /// What is known of launches that are alike, beside their JSON.
  struct Tally {
    KernelTallies::iterator Of;
    uint64_t Count = 0;
    Runs Ran;
  };

  std::string store(const void *Data, size_t Size);
  /// Writes launches.json, where it is old.
  void writeSometimes();
  void showProgress();
  std::string Folder;
  capture::Options Opts;
  capture::LaunchQuota Quota;
  KernelTallies Kernels;      ///< By name and code.
  std::vector<Tally> Tallies; ///< As Launches.
  std::vector<std::string> Notes;
  std::chrono::steady_clock::time_point Written;
  /// What a thread of its own reads, to say how far the program is.
  struct Progress;
  Progress *Shown = nullptr; ///< Lives as long as that thread, which is ever.
  nlohmann::json Launches = nlohmann::json::array();
  std::map<std::string, size_t> Known; ///< Key to index in Launches.
  size_t Current = 0;
  uint64_t Stored = 0; ///< Bytes written so far.
  bool Failed = false;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H
