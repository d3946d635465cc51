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
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/Option/Arg.h"

using namespace llvm;

namespace cupilot {

/// What \p Flags hand to ptxas.
static Expected<std::vector<std::string>>
ptxasArguments(ArrayRef<std::string> Flags) {
  std::vector<std::string> Own;
  auto Take = [&](const opt::Arg &A, size_t, size_t) {
    if (A.getOption().matches(clang::options::OPT_Xcuda_ptxas))
      Own.push_back(valueOf(A).str());
    return Error::success();
  };
  if (Error E = readClangFlags(Flags, Take))
    return std::move(E);
  return Own;
}

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
  Expected<std::vector<std::string>> Own = ptxasArguments(Flags);
  if (!Own)
    return Own.takeError();
  std::vector<std::string> Command = {Tools->Ptxas, "-v",
                                      "-arch=" + Arch.str()};
  if (none_of(*Own, [](StringRef Arg) { return Arg.starts_with("-O"); }))
    Command.push_back("-O3");
  append_range(Command, *Own);
  Command.insert(Command.end(),
                 {"-o", Dir->file("k.cubin"), Dir->file("k.ptx")});
  Expected<ProcessResult> Result = runProcess(Command, 300);
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
