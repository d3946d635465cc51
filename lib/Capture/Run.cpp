//===- Run.cpp - Running a program that is recorded -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Run.h"
#include "AddOnce.h"
#include "cupilot/Capture/Describe.h"
#include "cupilot/Portable/Digest.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

namespace fs = std::filesystem;

extern char **environ;

namespace cupilot::capture {

/// Files that a recording makes: the record and contents by digest.
static bool isOurs(const std::string &Name) {
  auto Starts = [&](const char *Text) { return Name.rfind(Text, 0) == 0; };
  return Starts("launches.json") || Starts("journal.") || Starts("counters.") ||
         (Name.find(".bin") == 32 &&
          Name.find_first_not_of("0123456789abcdef") == 32);
}

std::optional<Failure> prepareFolder(const std::string &Folder) {
  std::error_code Error;
  fs::create_directories(Folder, Error);
  if (Error || !fs::is_directory(Folder, Error))
    return Failure(FailureKind::Disk,
                   "cannot create the folder '" + Folder + "'" +
                       (Error ? ": " + Error.message() : std::string()),
                   "name another folder with -o");
  if (access(Folder.c_str(), W_OK | X_OK) != 0)
    return Failure(FailureKind::Disk,
                   "cannot write to '" + Folder + "': " + std::strerror(errno),
                   "name another folder with -o");
  for (const fs::directory_entry &Entry : fs::directory_iterator(Folder, Error))
    if (isOurs(Entry.path().filename().string()))
      fs::remove(Entry.path(), Error);
  return std::nullopt;
}

static volatile sig_atomic_t Child = 0;
static volatile sig_atomic_t PassedOn = 0;

static void passOn(int Signal) {
  PassedOn = 1;
  if (Child > 0)
    kill(static_cast<pid_t>(Child), Signal);
}

static unsigned Relays = 0;

SignalRelay::SignalRelay() {
  if (Relays++ == 0)
    PassedOn = 0;
  struct sigaction New = {};
  New.sa_handler = passOn;
  sigaction(SIGINT, &New, &OldInt);
  sigaction(SIGTERM, &New, &OldTerm);
}

SignalRelay::~SignalRelay() {
  sigaction(SIGINT, &OldInt, nullptr);
  sigaction(SIGTERM, &OldTerm, nullptr);
  --Relays;
}

bool SignalRelay::interrupted() { return PassedOn != 0; }

/// Starts \p Program and waits for it. \p Output, where given, gets what it
/// prints.
static std::optional<Failure> runChild(const std::vector<std::string> &Program,
                                       const std::vector<std::string> &Settings,
                                       const Streams &Files, Ending &End,
                                       std::string *Output = nullptr) {
  std::vector<std::string> Texts;
  for (char **E = environ; *E; ++E) {
    std::string Text = *E;
    std::string Name = Text.substr(0, Text.find('=') + 1);
    if (std::ranges::none_of(Settings, [&](const std::string &S) {
          return S.rfind(Name, 0) == 0;
        }))
      Texts.push_back(std::move(Text));
  }
  Texts.insert(Texts.end(), Settings.begin(), Settings.end());
  std::vector<char *> Environment, Args;
  for (std::string &Text : Texts)
    Environment.push_back(Text.data());
  Environment.push_back(nullptr);
  std::vector<std::string> Copies = Program;
  for (std::string &Arg : Copies)
    Args.push_back(Arg.data());
  Args.push_back(nullptr);
  int Pipe[2] = {-1, -1};
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  if (Output && pipe(Pipe) == 0) {
    posix_spawn_file_actions_adddup2(&Actions, Pipe[1], 1);
    posix_spawn_file_actions_addclose(&Actions, Pipe[0]);
    posix_spawn_file_actions_addclose(&Actions, Pipe[1]);
  }
  auto Open = [&](int Stream, const std::string &File, int Flags) {
    if (!File.empty())
      posix_spawn_file_actions_addopen(&Actions, Stream, File.c_str(), Flags,
                                       0600);
  };
  Open(0, Files.In, O_RDONLY);
  Open(1, Files.Out, O_WRONLY | O_CREAT | O_TRUNC);
  Open(2, Files.Err, O_WRONLY | O_CREAT | O_TRUNC);
  SignalRelay Relay;
  pid_t Pid = 0;
  auto Start = std::chrono::steady_clock::now();
  int Error = posix_spawnp(&Pid, Args[0], &Actions, nullptr, Args.data(),
                           Environment.data());
  posix_spawn_file_actions_destroy(&Actions);
  if (Pipe[1] >= 0)
    close(Pipe[1]);
  int Status = 0;
  if (!Error) {
    Child = Pid;
    char Buffer[4096];
    while (Pipe[0] >= 0) {
      ssize_t Got = ::read(Pipe[0], Buffer, sizeof(Buffer));
      if (Got > 0)
        Output->append(Buffer, static_cast<size_t>(Got));
      else if (Got == 0 || errno != EINTR)
        break;
    }
    while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR) {
    }
    Child = 0;
  }
  End.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  if (Pipe[0] >= 0)
    close(Pipe[0]);
  if (Error)
    return Failure(FailureKind::CannotRun,
                   "cannot run '" + Program.front() +
                       "': " + std::strerror(Error),
                   "give the program's path, as in -- ./app");
  End.Signal = WIFSIGNALED(Status) ? WTERMSIG(Status) : 0;
  End.Status = End.Signal ? 128 + End.Signal : WEXITSTATUS(Status);
  return std::nullopt;
}

std::optional<Failure> runProgram(const std::vector<std::string> &Program,
                                  const std::vector<std::string> &Settings,
                                  const Streams &Files, Ending &End) {
  return runChild(Program, Settings, Files, End);
}

std::vector<std::string> cudaSettings(const std::string &CudaFolder) {
  if (CudaFolder.empty())
    return {};
  const char *Old = std::getenv("LD_LIBRARY_PATH");
  return {"LD_LIBRARY_PATH=" + CudaFolder +
          (Old && *Old ? ":" + std::string(Old) : "")};
}

std::vector<std::string> recordingSettings(const std::string &Folder,
                                           const std::string &Library,
                                           const Options &Opts) {
  std::vector<std::string> Settings = {
      std::string(FolderVariable) + "=" + fs::absolute(Folder).string(),
      std::string(OptionsVariable) + "=" + Opts.print()};
  if (!Library.empty())
    Settings.push_back("CUDA_INJECTION64_PATH=" +
                       fs::absolute(Library).string());
  return Settings;
}

std::optional<Failure> runRecorded(const std::vector<std::string> &Program,
                                   const std::string &Folder,
                                   const std::string &Library,
                                   const Options &Opts, Ending &End,
                                   const std::string &CudaFolder) {
  std::vector<std::string> Settings = recordingSettings(Folder, Library, Opts);
  for (std::string &Each : cudaSettings(CudaFolder))
    Settings.push_back(std::move(Each));
  return runChild(Program, Settings, {}, End);
}

void removeUnused(const std::string &Folder, const Record &R, bool Described) {
  std::set<std::string> Used;
  auto Use = [&](const std::string &Digest) {
    if (!Digest.empty())
      Used.insert(dataFileName(Digest));
  };
  for (const Launch &L : R.Launches) {
    Use(L.Module);
    for (const Content &B : L.Buffers) {
      if (Described || !B.isDescribed())
        Use(B.Digest);
      if (B.HasAfter)
        Use(B.After);
    }
    for (const Global &G : L.Globals) {
      Use(G.Value.Digest);
      Use(G.Value.After);
    }
  }
  std::error_code Error;
  for (const fs::directory_entry &Entry :
       fs::directory_iterator(Folder, Error)) {
    std::string Name = Entry.path().filename().string();
    size_t End = Name.find(".bin");
    if (End == 32 && isOurs(Name) && !Used.count(Name.substr(0, End + 4)))
      fs::remove(Entry.path(), Error);
  }
}

std::optional<Failure> gatherRecord(const std::string &Folder, Record &R) {
  std::error_code Error;
  if (fs::exists(Folder + "/launches.json", Error))
    if (auto F = readRecord(Folder, R))
      return F;
  if (auto F = readJournals(Folder, R))
    return F;
  // Numbers are looked at before names, so that the order is always the same.
  auto Order = [](const Launch &L) {
    return std::tuple(-L.Cost, L.Kernel, L.Dims.Grid, L.Dims.Block, L.Args);
  };
  std::sort(
      R.Launches.begin(), R.Launches.end(),
      [&](const Launch &A, const Launch &B) { return Order(A) < Order(B); });
  if (R.Launches.empty() && R.Failures.empty())
    return std::nullopt;
  // A process that ended while it kept a launch leaves contents behind.
  removeUnused(Folder, R, /*Described=*/true);
  return writeRecord(Folder, R);
}

std::optional<Failure> confirmRecord(const std::string &Folder,
                                     const std::string &Tool, Record &R) {
  size_t Next = 0;
  SignalRelay Relay;
  while (Next < R.Launches.size()) {
    Ending End;
    std::string Output;
    if (auto F =
            runChild({Tool, "--replay", std::to_string(Next), "-o", Folder},
                     {"CUDA_INJECTION64_PATH="}, {}, End, &Output))
      return F;
    // Lines: index, tabulator, result.
    size_t Done = Next;
    for (size_t Begin = 0, Stop;
         (Stop = Output.find('\n', Begin)) != Output.npos; Begin = Stop + 1) {
      std::string Line = Output.substr(Begin, Stop - Begin);
      size_t Tab = Line.find('\t');
      if (Tab == Line.npos)
        continue;
      size_t Index = std::strtoull(Line.c_str(), nullptr, 10);
      if (Index < Next || Index >= R.Launches.size())
        continue;
      R.Launches[Index].Replay = ReplayResult::parse(Line.substr(Tab + 1));
      Done = Index + 1;
    }
    if (SignalRelay::interrupted()) {
      addOnce(R.Notes, "the replays were interrupted: the launches after the "
                       "first " +
                           std::to_string(Done) + " were not replayed");
      break;
    }
    if (End.Status == 3)
      return Failure(FailureKind::NoDevice, "cannot replay the launches here",
                     "see the messages above");
    if (End.Status == 0)
      break;
    // A fault of the device ends the process, but was reported.
    if (End.Status == ReplayFault && Done > Next) {
      Next = Done;
      continue;
    }
    // It died in the first launch that it did not report.
    while (Done < R.Launches.size() &&
           !(R.Launches[Done].Kept && hasContents(Folder, R.Launches[Done])))
      ++Done;
    if (Done < R.Launches.size())
      R.Launches[Done].Replay = {
          ReplayResult::Failed,
          End.Signal ? "ended by signal " + std::to_string(End.Signal)
                     : "ended with status " + std::to_string(End.Status)};
    Next = Done + 1;
  }
  return writeRecord(Folder, R);
}

Failure nothingRecorded(const std::string &Program, const Ending &End) {
  std::string How = "'" + Program + "' recorded no launches";
  if (End.Signal)
    How += " and was ended by signal " + std::to_string(End.Signal);
  else if (End.Status)
    How += " and ended with status " + std::to_string(End.Status);
  if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
    How += "; there is no CUDA driver here (libcuda.so.1)";
  return Failure(FailureKind::ProgramFailed, How,
                 "check that it launches kernels on a GPU of this machine, or, "
                 "without one, that cupilot-cpucc or nvcc -cudart shared built "
                 "it");
}

} // namespace cupilot::capture
