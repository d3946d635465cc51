//===- Assemble.cpp - PTX to machine code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Assemble.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"

using namespace llvm;

namespace cupilot {

Expected<std::optional<AssembledPtx>> assemblePtx(StringRef Ptx, StringRef Arch,
                                                  ArrayRef<std::string> Flags) {
  Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  if (Tools->Ptxas.empty())
    return std::nullopt;
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-ptxas");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("k.ptx"), Ptx))
    return std::move(E);
  Expected<ProcessResult> Result =
      runProcess({Tools->Ptxas, "-v", "-O3", "-arch=" + Arch.str(), "-o",
                  Dir->file("k.cubin"), Dir->file("k.ptx")},
                 300);
  if (!Result)
    return Result.takeError();
  if (Result->Status != 0)
    return usageError("ptxas refuses the code for " + Arch + ":\n" +
                      Result->Err);
  Expected<std::string> Cubin = readFile(Dir->file("k.cubin"));
  if (!Cubin)
    return Cubin.takeError();
  return AssembledPtx{std::move(*Cubin), std::move(Result->Err)};
}

} // namespace cupilot
