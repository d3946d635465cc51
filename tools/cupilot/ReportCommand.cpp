//===- ReportCommand.cpp - cupilot report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOptions.h"
#include "SharedOptions.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/StoreReport.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace cupilot;

namespace report_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  StoreOption StoreDir{Sub};
  cl::opt<std::string> Output{"o", In, cl::init("report.html"),
                              cl::value_desc("R.html"),
                              cl::desc("Output file (default report.html)")};
  OnlyOption Only{Sub};
  GpuOptions Gpu{Sub};
};
} // namespace

static const char Examples[] =
    "  cupilot report --store .cupilot -o heat.html -- -O2\n\n"
    "Begins with a table: what each kernel takes, and what its best variant "
    "takes. Then come, for\n"
    "each kernel, the variants of the store and all candidates of the searches "
    "in its journal. FLAGS\n"
    "are those of cupilot evolve.\n";

static Error run(const Options &O, const TrailingArgs &Trailing) {
  if (!sys::fs::is_directory(O.StoreDir))
    return usageError("there is no store '" + O.StoreDir + "'",
                      "name one with --store, or make one with 'cupilot "
                      "evolve'");
  Expected<std::vector<std::string>> Flags =
      clangFlagsFor("", Trailing.Args, "");
  if (!Flags)
    return Flags.takeError();
  // What a search on a GPU left there.
  Expected<GpuFacts> Facts = GpuFacts::load(O.Gpu.request(), O.StoreDir);
  if (!Facts)
    return Facts.takeError();
  Expected<StoreReport> Page =
      reportOf({O.StoreDir, O.Only, std::move(*Flags), *Facts}, errs());
  if (!Page)
    return Page.takeError();
  if (Error E = writeFileAtomic(O.Output,
                                renderReport("cuPilot: " + O.StoreDir, Facts->C,
                                             Page->Kernels, Page->Program)))
    return E;
  size_t Rooflines = 0, Rows = 0, Searches = 0;
  for (const ReportKernel &K : Page->Kernels) {
    Rooflines += K.Rooflines.size();
    Searches += K.Stories.size();
    for (const ReportRoofline &R : K.Rooflines)
      Rows += R.Variants.size();
  }
  errs() << "cupilot report: " << Page->Kernels.size() << " kernel(s), "
         << Rooflines << " roofline(s) with " << Rows << " variant(s), "
         << Searches << " search(es), in " << O.Output << "\n";
  return Error::success();
}

static const Command
    Registered("report", "Show what a store's variants win, and the searches",
               "FLAGS", Examples, run);

} // namespace report_command
