//===- CaptureCommand.cpp - cupilot capture -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("capture",
                          "Run a program and record its launches as workloads");
static cl::opt<std::string>
    Output("o", cl::sub(Sub), cl::value_desc("W.mlir"),
           cl::init("workloads.mlir"),
           cl::desc("Where to write the workloads; their data goes to "
                    "W.data beside it (default workloads.mlir)"));

static const char Examples[] =
    "  cupilot capture -o heat.workloads.mlir -- ./heat 512 20\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --store .cupilot "
    "-- -O2\n\n"
    "The program must have been built by cupilot-cpucc. Weights are modelled "
    "times on an\n"
    "H200, not measured ones.\n";

static uint64_t number(const json::Object &O, StringRef Key) {
  return static_cast<uint64_t>(O.getInteger(Key).value_or(0));
}

static std::array<uint64_t, 3> dims(const json::Object &O, StringRef Key) {
  std::array<uint64_t, 3> Result{1, 1, 1};
  if (const json::Array *List = O.getArray(Key))
    for (size_t I = 0; I < 3 && I < List->size(); ++I)
      Result[I] = static_cast<uint64_t>((*List)[I].getAsInteger().value_or(1));
  return Result;
}

static Workload toWorkload(const json::Object &L, StringRef DataName) {
  Workload W;
  W.Symbol = L.getString("kernel").value_or("").str();
  W.Shape = {dims(L, "grid"), dims(L, "block"), number(L, "shared")};
  for (const json::Value &Arg : *L.getArray("args")) {
    std::string Bytes = fromHex(Arg.getAsString().value_or(""));
    W.Args.emplace_back(Bytes.begin(), Bytes.end());
  }
  for (const json::Value &P : *L.getArray("pointers")) {
    const json::Object &O = *P.getAsObject();
    W.Pointers.push_back({unsigned(number(O, "param")),
                          unsigned(number(O, "offset")),
                          unsigned(number(O, "buffer")), number(O, "at")});
  }
  auto Content = [&](const json::Object &O) {
    std::string Digest = O.getString("digest").value_or("").str();
    return WorkloadBuffer{
        number(O, "size"), std::max<uint64_t>(number(O, "align"), 16), Digest,
        (DataName + "/" + shortDigest(Digest, 32) + ".bin").str()};
  };
  for (const json::Value &B : *L.getArray("buffers"))
    W.Buffers.push_back(Content(*B.getAsObject()));
  for (const json::Value &G : *L.getArray("globals"))
    W.Globals.push_back(
        {G.getAsObject()->getString("symbol").value_or("").str(),
         Content(*G.getAsObject())});
  W.Count = number(L, "count");
  W.WeightBasis = "modelled";
  return W;
}

/// Merges the workloads that were kept with the time of those that were not.
static std::vector<Workload> gather(const json::Array &Launches,
                                    StringRef DataName) {
  double Total = 0;
  std::map<std::string, double> KernelTime, KeptTime;
  for (const json::Value &V : Launches) {
    const json::Object &L = *V.getAsObject();
    double Cost = L.getNumber("cost").value_or(0);
    std::string Kernel = L.getString("kernel").value_or("").str();
    Total += Cost;
    KernelTime[Kernel] += Cost;
    if (L.getBoolean("kept").value_or(false))
      KeptTime[Kernel] += Cost;
  }
  std::vector<Workload> Workloads;
  for (const json::Value &V : Launches) {
    const json::Object &L = *V.getAsObject();
    if (!L.getBoolean("kept").value_or(false))
      continue;
    Workload W = toWorkload(L, DataName);
    double Kept = KeptTime[W.Symbol];
    double Share = Kept > 0 ? L.getNumber("cost").value_or(0) / Kept : 0;
    W.Weight =
        Total > 0 ? std::min(1.0, Share * KernelTime[W.Symbol] / Total) : 0;
    W.Name = "w" + std::to_string(Workloads.size());
    Workloads.push_back(std::move(W));
  }
  return Workloads;
}

static void printTable(const std::vector<Workload> &Workloads) {
  std::map<std::string, std::pair<uint64_t, double>> Kernels;
  for (const Workload &W : Workloads) {
    Kernels[W.Symbol].first += W.Count;
    Kernels[W.Symbol].second += W.Weight;
  }
  std::vector<std::pair<double, std::string>> Order;
  for (auto &[Name, Numbers] : Kernels)
    Order.push_back({-Numbers.second, Name});
  llvm::sort(Order);
  errs() << "cupilot capture: share of the modelled kernel time, launches, "
            "kernel\n";
  for (auto &[Share, Name] : Order)
    errs() << format("  %5.1f %% %8llu  ", -Share * 100,
                     static_cast<unsigned long long>(Kernels[Name].first))
           << demangle(Name) << "\n";
}

static Error run(const TrailingArgs &Program) {
  if (!Program.Given || Program.Args.empty())
    return usageError("no program was given",
                      "cupilot capture -o W.mlir -- ./program ARGS");
  SmallString<256> DataFolder(Output);
  sys::path::replace_extension(DataFolder, "data");
  SmallString<256> Absolute(DataFolder);
  sys::fs::make_absolute(Absolute);
  if (Error E = ensureDirectory(Absolute))
    return E;
  std::string Record = (Absolute + "/launches.json").str();
  sys::fs::remove(Record);
  Expected<ProcessResult> Result =
      runProcess(Program.Args, 0, {("CUPILOT_CAPTURE=" + Absolute).str()});
  if (!Result)
    return Result.takeError();
  outs() << Result->Out;
  outs().flush();
  errs() << Result->Err;
  if (!sys::fs::exists(Record))
    return findingError("'" + Program.Args.front() + "' recorded no launches" +
                            (Result->Status ? " and ended with status " +
                                                  std::to_string(Result->Status)
                                            : std::string()),
                        "was it built by cupilot-cpucc, and did it end by "
                        "returning from main?");
  Expected<std::string> Text = readFile(Record);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> Json = json::parse(*Text);
  if (!Json)
    return usageError("'" + Record +
                      "' is broken: " + toString(Json.takeError()));
  std::vector<Workload> Workloads =
      gather(*Json->getAsObject()->getArray("launches"),
             sys::path::filename(DataFolder));
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (const Workload &W : Workloads)
    addWorkload(B, W);
  if (Error E = writeFileAtomic(Output, printModule(*M)))
    return E;
  sys::fs::remove(Record);
  printTable(Workloads);
  errs() << "cupilot capture: " << Workloads.size() << " workload(s) in "
         << Output << "\n";
  if (Result->Status != 0)
    return findingError("'" + Program.Args.front() + "' ended with status " +
                            std::to_string(Result->Status),
                        "what it had launched until then is recorded");
  return Error::success();
}

static Command Registered(Sub, Examples, run);
