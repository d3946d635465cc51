//===- classes.cpp - Kernels of known class, by each source -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// calibration-classes FOLDER TIMES.json KERNELS.cu -- FLAGS: for each kernel of
// known class that calibration-variants counted, the class from its code, from
// its counts, and (where TIMES.json is not "-") from what calibration-time
// measured, with and without counters.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Roofline/StaticFigures.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using namespace llvm;
using namespace cupilot;

static Expected<json::Value> readJson(StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  return json::parse(*Text);
}

static std::string wordOf(const Opinion &O) {
  return O.Class ? toString(*O.Class).str() : "unknown";
}

static Expected<std::map<std::string, MeasuredLaunch>>
measuredLaunches(StringRef Path) {
  std::map<std::string, MeasuredLaunch> Result;
  if (Path == "-")
    return Result;
  Expected<json::Value> V = readJson(Path);
  if (!V)
    return V.takeError();
  for (const json::Value &Each : *V->getAsArray()) {
    const json::Object &O = *Each.getAsObject();
    const json::Array *Variants = O.getArray("variants");
    if (!Variants)
      continue;
    MeasuredLaunch M;
    M.Microseconds =
        Variants->front().getAsObject()->getNumber("microseconds").value_or(0);
    if (const json::Object *Profile = O.getObject("profile"))
      if (const json::Object *Values = Profile->getObject("values"))
        for (const auto &[Key, Value] : *Values)
          M.Metrics[Key.str()] = Value.getAsNumber().value_or(0);
    Result[O.getString("name")->str()] = std::move(M);
  }
  return Result;
}

static Error run(StringRef Folder, StringRef Times, StringRef Source,
                 ArrayRef<std::string> Flags) {
  Expected<GpuDescription> Gpu = describeGpu("H200");
  if (!Gpu)
    return Gpu.takeError();
  Ceilings C = ceilingsOf(*Gpu);
  Expected<std::map<std::string, MeasuredLaunch>> Measured =
      measuredLaunches(Times);
  if (!Measured)
    return Measured.takeError();
  Expected<std::string> Bitcode =
      compileDeviceBitcode(Source, Gpu->Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  std::set<std::string> Files;
  std::error_code EC;
  for (sys::fs::directory_iterator At(Folder, EC), End; !EC && At != End;
       At.increment(EC))
    if (sys::path::extension(At->path()) == ".json")
      Files.insert(At->path());
  std::map<std::string, unsigned> Right;
  unsigned Known = 0;
  for (const std::string &File : Files) {
    Expected<json::Value> V = readJson(File);
    if (!V)
      return V.takeError();
    const json::Object &O = *V->getAsObject();
    StringRef Class = O.getString("class").value_or("");
    std::string Name = O.getString("name")->str();
    if (Class.empty())
      continue;
    const json::Object &L =
        *(*(*O.getArray("variants"))[0].getAsObject()->getArray("launches"))[0]
             .getAsObject();
    json::Path::Root Root;
    ExecutionCounts Counts;
    KernelResources R;
    LaunchShape Shape;
    if (!fromJSON(*L.get("counts"), Counts, Root) ||
        !fromJSON(*L.get("resources"), R, Root) ||
        !fromJSON(*L.get("shape"), Shape, Root))
      return usageError("'" + File + "' is broken");
    CeilingTimes T = timesAtCeilings(C, Counts);
    std::map<std::string, Opinion> Opinions;
    Expected<StaticFigures> Static =
        staticFigures(*Bitcode, *L.getString("symbol"));
    if (!Static)
      return Static.takeError();
    Opinions["1 code"] = opinionOfCode(*Static, *Gpu, C, nullptr);
    Opinions["2 code and shape"] = opinionOfCode(*Static, *Gpu, C, &Shape);
    Opinions["3 counts"] =
        opinionOfCounts(modelTime(*Gpu, Counts, R, Shape), T);
    if (auto At = Measured->find(Name); At != Measured->end()) {
      Opinions["5 counters"] = opinionOfMeasurement(At->second, T);
      MeasuredLaunch Plain{At->second.Microseconds, {}, "left out"};
      Opinions["4 measured time"] = opinionOfMeasurement(Plain, T);
      if (Error E = checkPossible(C, Counts, Plain.Microseconds, Name))
        errs() << toString(std::move(E)) << "\n";
    }
    ++Known;
    outs() << formatv("{0} is {1}\n", Name, Class);
    for (auto &[Way, Each] : Opinions) {
      bool Hit = wordOf(Each) == Class;
      Right[Way] += Hit;
      outs() << "    " << (Hit ? "right " : "WRONG ") << left_justify(Way, 17)
             << " " << left_justify(wordOf(Each), 8);
      for (const std::string &Ground : Each.Grounds)
        outs() << " | " << Ground;
      outs() << "\n";
    }
  }
  for (auto &[Way, Count] : Right)
    outs() << formatv("right by {0}: {1} of {2}\n", Way, Count, Known);
  return Error::success();
}

int main(int Argc, char **Argv) {
  if (Argc < 4) {
    errs() << "usage: calibration-classes FOLDER TIMES.json|- KERNELS.cu "
              "[-- FLAGS]\n";
    return 2;
  }
  std::vector<std::string> Flags(Argv + std::min(Argc, 5), Argv + Argc);
  return reportError(run(Argv[1], Argv[2], Argv[3], Flags),
                     "calibration-classes");
}
