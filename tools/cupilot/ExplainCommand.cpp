//===- ExplainCommand.cpp - cupilot explain -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("explain",
                          "Say why each kernel did or did not get a variant");
static cl::opt<std::string> Input(cl::Positional, cl::Required, cl::sub(Sub),
                                  cl::value_desc("F.cu"),
                                  cl::desc("The CUDA source"));
static cl::opt<std::string>
    StoreDir("store", cl::sub(Sub), cl::init(".cupilot"), cl::value_desc("DIR"),
             cl::desc("The project store (default .cupilot)"));

static const char Examples[] = "  cupilot explain heat.cu --store .cupilot -- "
                               "clang++-22 -O2 --cuda-gpu-arch=sm_90\n"
                               "  cupilot explain heat.cu --store .cupilot -- "
                               "nvcc -arch=sm_90\n\n"
                               "Runs that compilation with the plugin, writes "
                               "no object, and prints what the plugin\n"
                               "decided for the device and the host half.\n";

static Error run(const TrailingArgs &Command) {
  if (!Command.Given || Command.Args.empty())
    return usageError("no compiler was given",
                      "cupilot explain F.cu --store DIR -- clang++-22 FLAGS");
  Expected<BuildStore> Store = BuildStore::open(StoreDir);
  if (!Store)
    return Store.takeError();
  std::string Self =
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&run));
  SmallString<256> Plugin(sys::path::parent_path(sys::path::parent_path(Self)));
  sys::path::append(Plugin, "lib", "cupilot.so");
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-explain");
  if (!Dir)
    return Dir.takeError();
  std::vector<std::string> Args = Command.Args;
  bool Nvcc = sys::path::filename(Args.front()).starts_with("nvcc");
  if (Nvcc) {
    SmallString<256> Launcher(sys::path::parent_path(Self));
    sys::path::append(Launcher, "cupilot-launch");
    Args.insert(Args.begin(), Launcher.str().str());
  }
  for (const std::string &Arg :
       {"-fplugin=" + Plugin.str().str(),
        "-fplugin-arg-cupilot-store=" + Store->root().str(),
        std::string("-fplugin-arg-cupilot-report=") + Dir->file("report"),
        std::string("-c"), std::string("-o"), Dir->file("object.o"),
        std::string(Input)})
    Args.push_back(Arg);
  Expected<ProcessResult> Result = runProcess(Args);
  if (!Result)
    return Result.takeError();
  if (Result->Status != 0)
    return usageError(
        "the compilation failed:\n" + StringRef(Result->Err).rtrim(),
        "is '" + Command.Args.front() +
            "' clang 22 or nvcc, and does the command compile without "
            "cupilot?");
  if (!sys::fs::exists(Dir->file("report")))
    return findingError(
        "the plugin had nothing to say",
        "is the compiler clang 22 or nvcc, the file CUDA, and CUPILOT_DISABLE "
        "unset?");
  Expected<std::string> Report = readFile(Dir->file("report"));
  if (!Report)
    return Report.takeError();
  outs() << *Report;
  return Error::success();
}

static Command Registered(Sub, Examples, run);
