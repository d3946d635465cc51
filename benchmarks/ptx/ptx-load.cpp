//===- ptx-load.cpp - What loading PTX costs the cpu device -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-load [--compile] F.ptx...
//
// Run by ptx-load.sh. A line of JSON for each file: seconds of processor time
// to load the module, and to load it again with what the machine cache has of
// it; kernels that cannot run, with the reason. --compile: also the seconds to
// compile all of its kernels, and to take them from the cache.
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static double now() {
  TimeRecord T = TimeRecord::getCurrentTime();
  return T.getUserTime() + T.getSystemTime();
}

namespace {
struct Times {
  double Load = 0, Kernels = 0;
  unsigned Refused = 0;
};
} // namespace

/// Loads \p Ptx and, with \p Compile, has all of its kernels compiled.
static Expected<Times> measure(StringRef Ptx, bool Compile) {
  CpuDeviceOptions O;
  O.Cache = true;
  Times T;
  double Start = now();
  Expected<std::unique_ptr<CpuModule>> M = loadPtx(Ptx, O);
  if (!M)
    return M.takeError();
  T.Load = now() - Start;
  Start = now();
  for (const std::string &Kernel :
       Compile ? (*M)->kernels() : std::vector<std::string>())
    if (Expected<uint64_t> Bytes = (*M)->localBytes(Kernel); !Bytes) {
      consumeError(Bytes.takeError());
      ++T.Refused;
    }
  T.Kernels = now() - Start;
  return T;
}

static json::Object examine(StringRef File, bool Compile) {
  json::Object Row{{"file", File}};
  auto Fail = [&Row](Error E) {
    Row["error"] = toString(std::move(E));
    return std::move(Row);
  };
  Expected<std::string> Ptx = readFile(File);
  if (!Ptx)
    return Fail(Ptx.takeError());
  Row["bytes"] = int64_t(Ptx->size());
  Expected<Times> First = measure(*Ptx, Compile);
  if (!First)
    return Fail(First.takeError());
  Expected<Times> Second = measure(*Ptx, Compile);
  if (!Second)
    return Fail(Second.takeError());
  Row["load"] = First->Load;
  Row["load_again"] = Second->Load;
  if (Compile) {
    Row["compile"] = First->Kernels;
    Row["compile_again"] = Second->Kernels;
  }
  return Row;
}

/// What keeps kernels from running.
static void addLacks(json::Object &Row, StringRef File) {
  Expected<std::string> Ptx = readFile(File);
  if (!Ptx)
    return consumeError(Ptx.takeError());
  Expected<std::vector<PtxKernel>> Kernels = kernelsOfPtx(*Ptx);
  if (!Kernels) {
    Row["error"] = toString(Kernels.takeError());
    return;
  }
  json::Array Lacks;
  for (const PtxKernel &K : *Kernels)
    if (!K.Missing.empty())
      Lacks.push_back(json::Object{{"kernel", K.Name},
                                   {"what", K.Missing.front().What},
                                   {"line", K.Missing.front().Line}});
  Row["kernels"] = int64_t(Kernels->size());
  Row["lacks"] = std::move(Lacks);
}

int main(int Argc, char **Argv) {
  std::vector<StringRef> Files(Argv + 1, Argv + Argc);
  bool Compile = !Files.empty() && Files.front() == "--compile";
  if (Compile)
    Files.erase(Files.begin());
  if (Files.empty()) {
    errs() << "usage: ptx-load [--compile] F.ptx...\n";
    return 2;
  }
  // What is done once in a process is no file's.
  if (Expected<Times> Nothing =
          measure(".version 8.0\n.target sm_90\n.address_size 64\n", Compile);
      !Nothing)
    return reportError(Nothing.takeError(), "ptx-load");
  for (StringRef File : Files) {
    json::Object Row = examine(File, Compile);
    addLacks(Row, File);
    outs() << json::Value(std::move(Row)) << "\n";
    outs().flush();
  }
  return 0;
}
