//===- SlurmWork.cpp - Pieces of work that are scripts --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// slurm-work FOLDER PIECES OPTIONS PROGRAM: runs "PROGRAM FOLDER PIECE" for the
// pieces 0 to PIECES - 1 on a cluster. PROGRAM renames the result of a piece
// into FOLDER/results/PIECE.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmWork.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <thread>

using namespace llvm;
using namespace cupilot;

static Error run(const std::string &Folder, unsigned Pieces, StringRef Options,
                 const std::string &Program) {
  SlurmOptions O;
  if (Error E = O.add(Options))
    return E;
  auto Work =
      SlurmWork::create(std::move(O), Folder + "/slurm",
                        shellQuoted({Program, Folder}) + " \"$piece\"",
                        [](unsigned P) { return "piece " + utostr(P); });
  if (!Work)
    return Work.takeError();
  std::chrono::milliseconds Pause(100);
  for (;;) {
    std::vector<unsigned> Open;
    for (unsigned P = 0; P < Pieces; ++P)
      if (!sys::fs::exists(Folder + "/results/" + utostr(P)))
        Open.push_back(P);
    if (Open.empty())
      break;
    if (Error E = (*Work)->step(
            Open, [](const Twine &Text) { errs() << Text << "\n"; },
            [](unsigned) {}))
      return E;
    std::this_thread::sleep_for(Pause);
    Pause = std::min(Pause * 3 / 2, std::chrono::milliseconds(5000));
  }
  (*Work)->finish();
  return Error::success();
}

int main(int argc, char **argv) {
  unsigned Pieces;
  if (argc != 5 || StringRef(argv[2]).getAsInteger(10, Pieces)) {
    errs() << "usage: slurm-work FOLDER PIECES OPTIONS PROGRAM\n";
    return 2;
  }
  return reportError(run(argv[1], Pieces, argv[3], argv[4]), "slurm-work");
}
