//===- DescribeCommand.cpp - cupilot describe -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/MlirUnit.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace describe_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{
      cl::Positional, cl::Required, In, cl::value_desc("F.cu|F.ptx|M.mlir"),
      cl::desc("The source of the kernels, or their PTX")};
  cl::opt<std::string> From{"from", In, cl::value_desc("FILE"),
                            cl::desc("File of descriptions, one per line; "
                                     "lines that begin with # are ignored")};
  cl::list<std::string> Texts{
      "workload", In, cl::value_desc("KERNEL: TEXT"),
      cl::desc("Description of a launch; may be repeated")};
  cl::opt<std::string> Output{
      "o", In, cl::init("-"), cl::value_desc("W.mlir"),
      cl::desc("Output file (default: standard output)")};
};
} // namespace

static const char Examples[] =
    "  cupilot describe rows.cu -o rows.mlir --workload 'rows: grid=16, "
    "block=256,\n"
    "      args=[buffer f32 n=4096 uniform seed=1, buffer f32 n=4096 output, "
    "4096]' -- -O2\n"
    "  cupilot describe gemm.cu --from gemm.txt -o gemm.mlir -- -O2\n\n"
    "docs/Gate.md, \"Described workloads\", has the grammar.\n";

/// All descriptions: of the file, then of the command line.
static Expected<std::vector<std::string>> descriptions(const Options &O) {
  std::vector<std::string> All;
  if (!O.From.empty()) {
    Expected<std::string> Text = readFile(O.From);
    if (!Text)
      return Text.takeError();
    SmallVector<StringRef> Lines;
    StringRef(*Text).split(Lines, '\n');
    for (StringRef Line : Lines)
      if (Line = Line.trim(); !Line.empty() && !Line.starts_with("#"))
        All.push_back(Line.str());
  }
  append_range(All, O.Texts);
  if (All.empty())
    return usageError("no workload was given",
                      "--workload='KERNEL: TEXT', or --from=FILE");
  return All;
}

/// The kernels that \p All, the descriptions, are of.
static Expected<UnitToJudge> unitOf(const Options &O,
                                    const TrailingArgs &Trailing,
                                    ArrayRef<std::string> All) {
  if (isPtxFile(O.Input) || isMlirFile(O.Input)) {
    if (Trailing.Given)
      return usageError("'" + O.Input +
                            "' is no CUDA, and takes no flags of a compiler",
                        "leave out what follows --");
    if (isMlirFile(O.Input))
      return describeMlirUnit(O.Input);
    std::vector<std::string> Named;
    for (StringRef Text : All)
      Named.push_back(Text.split(": ").first.trim().str());
    return UnitToJudge::loadPtx(O.Input, Named);
  }
  Expected<std::vector<std::string>> Flags =
      clangFlagsFor(O.Input, Trailing.Args, "");
  if (!Flags)
    return Flags.takeError();
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(O.Input, *Flags, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  return UnitToJudge{O.Input, "", std::move(*Kernels)};
}

static Error run(const Options &O, const TrailingArgs &Trailing) {
  Expected<std::vector<std::string>> All = descriptions(O);
  if (!All)
    return All.takeError();
  Expected<UnitToJudge> Unit = unitOf(O, Trailing, *All);
  if (!Unit)
    return Unit.takeError();
  std::vector<Workload> Made;
  StringSet<> Names;
  double Timed = 0;
  for (const std::string &Text : *All) {
    auto [Name, Rest] = StringRef(Text).split(": ");
    if (Rest.empty())
      return usageError("'" + Text +
                            "' does not begin with the name of a kernel",
                        "'KERNEL: grid=..., block=..., args=[...]'");
    Expected<const Kernel *> K = Unit->find(Name.trim());
    if (!K)
      return K.takeError();
    if ((*K)->Lowered && (*K)->Refusal)
      return usageError("launches of '" + (*K)->Name +
                        "' cannot be described: " + *(*K)->Refusal);
    Expected<Workload> W =
        parseWorkload(Rest.trim(), **K, "w" + utostr(Made.size()));
    if (!W)
      return W.takeError();
    if (!Names.insert(W->Name).second)
      return usageError("two workloads are called '" + W->Name + "'",
                        "give one of them another name with name=");
    Timed += W->isTimed();
    Made.push_back(std::move(*W));
  }
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(Context);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (Workload &W : Made) {
    W.Weight = W.isTimed() ? 1 / Timed : 0;
    addWorkload(B, W);
  }
  if (O.Output == "-") {
    outs() << printModule(*M);
    return Error::success();
  }
  return writeFileAtomic(O.Output, printModule(*M));
}

static const Command Registered("describe",
                                "Write workloads from descriptions of launches",
                                "FLAGS", Examples, run);

} // namespace describe_command
