//===- LimitedProcess.h - Work in processes with limits ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiler does with hostile input must not be the end of who asked for
// it. cupilot-compile has one thread, loads what is the same for many requests
// once, and makes a copy of itself for each. The copy has limits and dies with
// its request.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_LIMITEDPROCESS_H
#define CUPILOT_SUPPORT_LIMITEDPROCESS_H

#include "cupilot/Support/Parcel.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace cupilot {

/// What the work on one request may take.
struct ProcessLimits {
  unsigned CpuSeconds = 60;
  uint64_t AddressBytes = uint64_t(4) << 30;
  /// Of wall time; 0: ten times the processor time and a minute, since a
  /// machine may have little of it.
  unsigned WallSeconds = 0;
};

void addLimits(Parcel &P, const ProcessLimits &Limits);
ProcessLimits limitsFrom(ParcelReader &P);

/// What became of the work.
enum class CopyFate {
  Answers,
  Crashes,
  BeyondLimits ///< Message says which.
};

struct CopyResult {
  CopyFate Fate = CopyFate::Answers;
  Parcel Answer{};
  std::string Message{};
};

/// In a process with one thread: does \p Work in a copy of it with \p Limits,
/// which writes no file. \p IsAnswer says whether a parcel is whole. A copy
/// that the machine kept from its work is made once more; then that is a
/// resource error.
llvm::Expected<CopyResult>
runInCopy(const ProcessLimits &Limits, llvm::function_ref<Parcel()> Work,
          llvm::function_ref<bool(const Parcel &)> IsAnswer);

/// Answers requests from standard input on standard output until the input
/// ends, and returns the exit status. An error of \p Answer is one of whoever
/// asks; without an answer, the request cannot be read.
int serveRequests(
    llvm::function_ref<llvm::Expected<std::optional<Parcel>>(const Parcel &)>
        Answer);

/// Running processes "cupilot-compile FLAG".
class RequestServers {
public:
  explicit RequestServers(std::string Flag);
  ~RequestServers();
  RequestServers(const RequestServers &) = delete;

  /// May be called by several threads. That no process can be started or that
  /// it is lost is a resource error, and says nothing of the request.
  llvm::Expected<Parcel> ask(const Parcel &Request);

private:
  struct Pool;
  std::unique_ptr<Pool> Servers;
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_LIMITEDPROCESS_H
