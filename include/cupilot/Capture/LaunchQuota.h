//===- LaunchQuota.h - Which launches of a program run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_LAUNCHQUOTA_H
#define CUPILOT_CAPTURE_LAUNCHQUOTA_H

#include "cupilot/Capture/Options.h"
#include <map>

namespace cupilot::capture {

/// Decides before each launch of a recorded program on the cpu device whether
/// it runs. The first Options::Launches of each kernel do. Then says what
/// happens to others; with Then::Stop they run, too, until so many in a row
/// brought nothing new that the rest of the program hardly will: a loop over
/// many kernels reaches the last of them before that.
class LaunchQuota {
public:
  enum class Verdict { Run, Skip, Stop };
  explicit LaunchQuota(const Options &O) : Most(O.Launches), What(O.After) {}

  /// The next launch is of \p Kernel.
  Verdict next(const std::string &Kernel);
  /// It brought something to record, which no launch before it did.
  void foundNew() { InVain = 0; }

private:
  uint64_t Most; ///< 0: no limit.
  Then What;
  std::map<std::string, uint64_t> Count; ///< Launches by kernel.
  uint64_t InVain = 0;                   ///< In a row.
};

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_LAUNCHQUOTA_H
