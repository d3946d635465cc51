//===- Inferring.cpp - What a launch touches, without PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program's memory is read by processes of their own (Noise.h), which may
// fault, while the program waits.
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "Noise.h"
#include "Recorder.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Portable/Digest.h"
#include <dlfcn.h>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::capture {

/// cupilot-capture, beside this library or as installed; "" where it is not.
static std::string helperProgram() {
  Dl_info Info;
  if (!dladdr(reinterpret_cast<void *>(&helperProgram), &Info) ||
      !Info.dli_fname)
    return "";
  std::string Path = Info.dli_fname;
  std::string Folder = Path.substr(0, Path.rfind('/') + 1);
  for (const char *Place : {"../bin/cupilot-capture", "cupilot-capture"})
    if (access((Folder + Place).c_str(), X_OK) == 0)
      return Folder + Place;
  return "";
}

/// Asks a process for the ranges; the contents that it needs are in the store.
Obstacle Recorder::askForRanges(const NoiseRequest &Request, json &Answer) {
  const std::string Helper = helperProgram();
  if (Helper.empty())
    return "the program cupilot-capture is not beside its library";
  const std::string Path =
      Folder + "/journal.noise." + std::to_string(getpid()) + ".part";
  if (auto F = writeWhole(Path, toJson(Request).dump()))
    return F->what();
  Child Process;
  std::optional<std::string> Line;
  // Initialising a device takes seconds where there are many.
  constexpr uint64_t StartMs = 30000;
  if (Process.start({Helper, "--noise", Path}))
    Line = Process.hear(Request.MostMs + 3 * Request.WaitMs + StartMs);
  Process.end();
  unlink(Path.c_str());
  Answer = Line ? json::parse(*Line, nullptr, false) : json();
  if (!Answer.is_object())
    return "the process that makes them gave no answer";
  if (std::string Why = Answer.value("why", ""); !Why.empty())
    return Why;
  return std::nullopt;
}

Obstacle Recorder::inferred(Launch &L, const std::vector<Range> &Allocations,
                            const std::vector<Range> &Globals,
                            OwnBuffers &Made) {
  constexpr unsigned Tries = 2; // It takes seconds.
  auto &[Failed, Last] = NotInferred[L.Kernel];
  if (Failed >= Tries)
    return Last;
  Obstacle Why = inferRanges(L, Allocations, Globals, Made);
  if (Why) {
    ++Failed;
    Last = *Why;
  }
  return Why;
}

Obstacle Recorder::inferRanges(Launch &L, const std::vector<Range> &Allocations,
                               const std::vector<Range> &Globals,
                               OwnBuffers &Made) {
  if (!Cuda.cuIpcGetMemHandle)
    return "the driver has no functions for that";
  if (L.Module.empty())
    return "the GPU binary of the kernel was not recorded";
  NoiseRequest Request;
  Request.What = L;
  Request.Folder = Folder;
  Request.WaitMs = Request.MostMs = Opts.WaitMs;
  for (const Range &A : Allocations) {
    CUipcMemHandle Handle;
    if (CUresult Result = Cuda.cuIpcGetMemHandle(&Handle, A.Base);
        Result != CUDA_SUCCESS)
      return "another process cannot read its memory: " +
             Cuda.errorName(Result);
    Request.Handles.push_back(
        hexOf({reinterpret_cast<const char *>(&Handle), sizeof(Handle)}));
    Request.What.Buffers.push_back({A.Size, 256, {}, {}});
  }
  setDoing("replaying with noise a launch of " + demangled(L.Kernel));
  Obstacle Why;
  std::vector<std::string> Stored;
  for (size_t I = 0; I < Globals.size() && !Why; ++I) {
    Why = snapshot(Globals[I], Request.What.Globals[I].Value.Digest);
    if (!Why)
      Stored.push_back(Request.What.Globals[I].Value.Digest);
  }
  json Answer;
  if (!Why)
    Why = askForRanges(Request, Answer);
  for (const std::string &Digest : Stored)
    Store.drop(Digest);
  if (Why)
    return Why;
  std::optional<Ranges> Reads = rangesOf(Answer.value("reads", json())),
                        Writes = rangesOf(Answer.value("writes", json()));
  if (!Reads || !Writes || Reads->size() != Allocations.size() ||
      Writes->size() != Allocations.size())
    return "the process that makes them gave no answer";
  std::vector<Touched> Marks(Allocations.size());
  for (size_t I = 0; I < Marks.size(); ++I) {
    markRanges((*Reads)[I], Allocations[I].Size, Marks[I].Reads);
    markRanges((*Writes)[I], Allocations[I].Size, Marks[I].Writes);
  }
  TouchedParts Split = splitTouched(Allocations, Marks, L.Pointers,
                                    Answer.value("together", false));
  Made.Parts = std::move(Split.Parts);
  Made.Pointers = std::move(Split.Pointers);
  // A page that is written keeps what nobody writes of it.
  std::vector<uint64_t> Here;
  for (Part &P : Made.Parts) {
    P.Fresh.clear();
    Here.push_back(P.All.Base);
  }
  // Whoever asks says so where it is too much.
  if (Made.bytes() <= Opts.MaxLaunchBytes)
    if (Obstacle None = readParts(Made.Parts, Here, Made.Before))
      return None;
  L.Inferred = true;
  L.Remarks.push_back("its ranges are inferred by " +
                      std::to_string(Answer.value("runs", uint64_t(0))) +
                      " replays with noise, to " +
                      std::to_string(InferredPage) + " bytes");
  return std::nullopt;
}

} // namespace cupilot::capture
