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
#include <csignal>

namespace cupilot::capture {

/// How a program ended.
struct Ending {
  int Status = 0; ///< Exit status, or 128 and the signal.
  int Signal = 0;
  double Seconds = 0; ///< From its start to its end.

  bool endsLike(const Ending &Other) const {
    return Status == Other.Status && Signal == Other.Signal;
  }
};

/// While one lives, SIGINT and SIGTERM do not end this process: a program that
/// it runs gets them. They may lie in each other, as runs in what makes
/// several.
class SignalRelay {
public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay &) = delete;
  SignalRelay &operator=(const SignalRelay &) = delete;
  /// One came while the outermost lived.
  static bool interrupted();

private:
  struct sigaction OldInt, OldTerm;
};

/// Files that stand for a program's streams; "" for those of this process.
/// Those of output are made anew.
struct Streams {
  std::string In, Out, Err;
};

/// Runs \p Program, with \p Settings (NAME=VALUE) added to the environment of
/// this process, and waits for it; not for processes that it leaves behind.
/// Does not end by SIGINT or SIGTERM: the program gets them.
std::optional<Failure> runProgram(const std::vector<std::string> &Program,
                                  const std::vector<std::string> &Settings,
                                  const Streams &Files, Ending &End);

/// What a program needs to find the cpu device in CUDA's place: \p CudaFolder
/// comes first on the loader's path; "" needs nothing.
std::vector<std::string> cudaSettings(const std::string &CudaFolder);

/// What a program needs to record its launches into \p Folder. \p Library is
/// libcupilot-capture.so; programs for the cpu device need none.
std::vector<std::string> recordingSettings(const std::string &Folder,
                                           const std::string &Library,
                                           const Options &Opts);

/// Empties \p Folder of what an earlier recording left and makes it if needed.
std::optional<Failure> prepareFolder(const std::string &Folder);

/// runProgram with the streams of this process, recordingSettings and
/// cudaSettings.
std::optional<Failure> runRecorded(const std::vector<std::string> &Program,
                                   const std::string &Folder,
                                   const std::string &Library,
                                   const Options &Opts, Ending &End,
                                   const std::string &CudaFolder = "");

/// Reads what the run left in \p Folder and writes it as one launches.json.
std::optional<Failure> gatherRecord(const std::string &Folder, Record &R);

/// Removes contents from \p Folder that no launch of \p R needs. Those that are
/// described count with \p Described alone.
void removeUnused(const std::string &Folder, const Record &R, bool Described);

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
