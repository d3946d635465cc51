//===- Run.h - Running a program that is recorded -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_RUN_H
#define CUPILOT_CAPTURE_RUN_H

#include "cupilot/Capture/Options.h"
#include "cupilot/Capture/Record.h"

namespace cupilot::capture {

/// How a program ended.
struct Ending {
  int Status = 0; ///< Exit status, or 128 and the signal.
  int Signal = 0;
};

/// Empties \p Folder of what an earlier recording left and makes it if needed.
std::optional<Failure> prepareFolder(const std::string &Folder);

/// Runs \p Program with the streams of this process; its launches go to
/// \p Folder. \p Library is libcupilot-capture.so; programs for the cpu device
/// need none. \p CudaFolder, where it is not "", comes first on the loader's
/// path: the cpu device in CUDA's place. Does not end by SIGINT or SIGTERM: the
/// program gets them.
std::optional<Failure> runRecorded(const std::vector<std::string> &Program,
                                   const std::string &Folder,
                                   const std::string &Library,
                                   const Options &Opts, Ending &End,
                                   const std::string &CudaFolder = "");

/// Reads what the run left in \p Folder and writes it as one launches.json.
std::optional<Failure> gatherRecord(const std::string &Folder, Record &R);

/// Exit status of a process that replays, after a fault that it has reported
/// and that leaves the device of no use to it.
constexpr int ReplayFault = 4;

/// Replays the kept launches of \p Folder with \p Tool (cupilot-capture), each
/// process as far as it comes, and writes the results into launches.json.
std::optional<Failure> confirmRecord(const std::string &Folder,
                                     const std::string &Tool, Record &R);

/// Why a program that recorded nothing may have done so.
Failure nothingRecorded(const std::string &Program, const Ending &End);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_RUN_H
