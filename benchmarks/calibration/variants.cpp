//===- variants.cpp - Variants of a kernel, counted and compiled --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// calibration-variants F.cu --kernel K --workload TEXT --out DIR/NAME
//     [--genomes 'G; G; ...'] [--limit N] -- FLAGS
// translates each genome by rules, counts what it does on the cpu device, and
// writes DIR/NAME.json and a cubin for each device code beside it; of genomes
// that apply, the first N.
// calibration-variants --remodel FILE.json: the model's times, anew.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evaluation/Count.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Assemble.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using namespace llvm;
using namespace cupilot;

static cl::opt<std::string> Input(cl::Positional);
static cl::opt<std::string> KernelName("kernel");
static cl::opt<std::string> WorkloadText("workload");
static cl::opt<std::string> Out("out");
static cl::opt<std::string> Genomes("genomes");
static cl::opt<std::string> Remodel("remodel");
static cl::opt<std::string> Class("class");
static cl::opt<unsigned> Limit("limit", cl::init(~0u));

namespace {
/// Device code and what was made of it.
struct Compiled {
  std::string Bitcode, Ptx, Cubin;
  std::map<std::string, KernelResources> Resources;
};

class Maker {
public:
  Error run(ArrayRef<std::string> Flags);

private:
  Expected<const Compiled *> compile(StringRef Source);
  Error add(StringRef Genome, StringRef Source, const LaunchPlan &Plan,
            const Guard &When);

  std::vector<std::string> Flags;
  GpuDescription Gpu;
  Kernel K;
  std::unique_ptr<LaunchCounter> Counter;
  std::map<std::string, Compiled> Done;
  std::set<std::string> Seen;
  json::Array Variants;
};
} // namespace

Expected<const Compiled *> Maker::compile(StringRef Source) {
  std::string Key = digest(Source);
  if (auto At = Done.find(Key); At != Done.end())
    return &At->second;
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("calibration");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("v.cu"), Source))
    return std::move(E);
  Compiled C;
  Expected<std::string> Bitcode =
      compileDeviceBitcode(Dir->file("v.cu"), Gpu.Arch, variantFlags(Flags));
  if (!Bitcode)
    return Bitcode.takeError();
  C.Bitcode = std::move(*Bitcode);
  Expected<std::string> Ptx = generatePtx(C.Bitcode, Gpu.Arch);
  if (!Ptx)
    return Ptx.takeError();
  C.Ptx = std::move(*Ptx);
  Expected<std::optional<AssembledPtx>> Made =
      assemblePtx(C.Ptx, Gpu.Arch, Flags);
  if (!Made)
    return Made.takeError();
  if (!*Made)
    return resourceError("no ptxas was found");
  C.Cubin = Out + "-" + shortDigest(digest(C.Ptx), 8) + ".cubin";
  if (Error E = writeFileAtomic(C.Cubin, (*Made)->Cubin))
    return std::move(E);
  return &Done.emplace(Key, std::move(C)).first->second;
}

Error Maker::add(StringRef Genome, StringRef Source, const LaunchPlan &Plan,
                 const Guard &When) {
  Expected<const Compiled *> Code = compile(Source);
  if (!Code)
    return Code.takeError();
  auto &C = const_cast<Compiled &>(**Code);
  Expected<std::optional<std::vector<CountedLaunch>>> Launches =
      Counter->count(C.Bitcode, Plan, When, 0);
  if (!Launches)
    return Launches.takeError();
  if (!*Launches) {
    errs() << "  " << Genome << ": the guard keeps the workload out\n";
    return Error::success();
  }
  json::Array List;
  std::string Key = deviceCodeDigest(C.Ptx);
  double Total = 0;
  for (const CountedLaunch &L : **Launches) {
    auto At = C.Resources.find(L.Symbol);
    if (At == C.Resources.end()) {
      Expected<KernelResources> R =
          kernelResources(C.Ptx, L.Symbol, Gpu.Arch, Flags);
      if (!R)
        return R.takeError();
      At = C.Resources.emplace(L.Symbol, *R).first;
    }
    ModelledTime T = modelTime(Gpu, L.Counts, At->second, L.Shape);
    Total += T.Microseconds;
    Key += formatv("{0}", json::Value(toJSON(L.Shape))).str();
    List.push_back(json::Object{{"symbol", L.Symbol},
                                {"shape", toJSON(L.Shape)},
                                {"counts", toJSON(L.Counts)},
                                {"resources", toJSON(At->second)},
                                {"model", toJSON(T)}});
  }
  if (!Seen.insert(Key).second) {
    errs() << "  " << Genome << ": the same as another\n";
    return Error::success();
  }
  errs() << "  " << Genome << formatv(": {0:f2} us modelled\n", Total);
  Variants.push_back(json::Object{{"genome", Genome},
                                  {"cubin", sys::path::filename(C.Cubin)},
                                  {"modelled", Total},
                                  {"launches", std::move(List)}});
  return Error::success();
}

Error Maker::run(ArrayRef<std::string> Given) {
  Flags = Given.vec();
  Expected<GpuDescription> G = describeGpu("H200");
  if (!G)
    return G.takeError();
  Gpu = *G;
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(Input, Flags, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  for (Kernel &Each : *Kernels)
    if (StringRef(Each.Name).split('(').first == KernelName)
      K = Each;
  if (K.Slice.empty())
    return usageError("no kernel '" + KernelName +
                      "': " + K.Refusal.value_or(""));
  Expected<Workload> W = parseWorkload(WorkloadText, K, "w0");
  if (!W)
    return W.takeError();
  Expected<const Compiled *> Original = compile(K.Slice);
  if (!Original)
    return Original.takeError();
  Expected<std::unique_ptr<LaunchCounter>> C =
      LaunchCounter::create({&K, (*Original)->Bitcode, {*W}, ".", Gpu.Arch, 1});
  if (!C)
    return C.takeError();
  Counter = std::move(*C);
  if (Error E = add("original", K.Slice, originalPlan(K), {}))
    return E;
  SmallVector<StringRef> Texts;
  StringRef(Genomes).split(Texts, ';', -1, false);
  for (StringRef Text : Texts) {
    if (Variants.size() > Limit)
      break;
    std::optional<Genome> Genes = parseGenome(Text.trim());
    if (!Genes)
      return usageError("'" + Text + "' is no genome");
    Expected<Translation> T = translateByRules(K, *Genes, Flags);
    Error E = T ? add(Text.trim(), T->Source, T->Plan, T->When) : T.takeError();
    if (Error Other = absorbFinding(std::move(E), [&](StringRef Why) {
          errs() << "  " << Text.trim() << ": " << Why << "\n";
        }))
      return Other;
  }
  json::Array Args, Buffers;
  for (const std::vector<uint8_t> &Arg : W->Args)
    Args.push_back(toHex(Arg, true));
  for (const WorkloadPointer &P : W->Pointers)
    Buffers.push_back(
        json::Object{{"param", P.Param},
                     {"size", W->Buffers[P.Buffer].Size},
                     {"content", W->Buffers[P.Buffer].Generator}});
  json::Object O{{"name", sys::path::filename(Out)},
                 {"kernel", K.Name},
                 {"workload", WorkloadText.getValue()},
                 {"class", Class.getValue()},
                 {"args", std::move(Args)},
                 {"buffers", std::move(Buffers)},
                 {"variants", std::move(Variants)}};
  return writeFileAtomic(Out + ".json",
                         formatv("{0:2}\n", json::Value(std::move(O))).str());
}

/// The times of the model as it is now, for counts that were taken before.
static Error remodel() {
  Expected<std::string> Text = readFile(Remodel);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = json::parse(*Text);
  if (!V)
    return V.takeError();
  Expected<GpuDescription> Gpu = describeGpu("H200");
  if (!Gpu)
    return Gpu.takeError();
  json::Path::Root Root;
  for (json::Value &Each : *V->getAsObject()->getArray("variants")) {
    double Total = 0;
    for (json::Value &L : *Each.getAsObject()->getArray("launches")) {
      json::Object &O = *L.getAsObject();
      ExecutionCounts Counts;
      KernelResources R;
      LaunchShape Shape;
      if (!fromJSON(*O.get("counts"), Counts, Root) ||
          !fromJSON(*O.get("resources"), R, Root) ||
          !fromJSON(*O.get("shape"), Shape, Root))
        return usageError("'" + Remodel +
                          "' is broken: " + toString(Root.getError()));
      ModelledTime T = modelTime(*Gpu, Counts, R, Shape);
      O["model"] = toJSON(T);
      Total += T.Microseconds;
    }
    (*Each.getAsObject())["modelled"] = Total;
  }
  return writeFileAtomic(Remodel, formatv("{0:2}\n", *V).str());
}

int main(int Argc, char **Argv) {
  std::vector<char *> Own(Argv, Argv + Argc);
  std::vector<std::string> Flags;
  auto Dashes = llvm::find_if(Own, [](StringRef A) { return A == "--"; });
  if (Dashes != Own.end())
    Flags.assign(std::next(Dashes), Own.end());
  Own.erase(Dashes, Own.end());
  cl::ParseCommandLineOptions(static_cast<int>(Own.size()), Own.data());
  return reportError(Remodel.empty() ? Maker().run(Flags) : remodel(),
                     "calibration-variants");
}
