//===- ExtractCommand.cpp - cupilot extract -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace extract_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption File{Sub};
  OnlyOption Only{Sub};
  cl::opt<std::string> Output{
      "o", In, cl::value_desc("K.mlir"),
      cl::desc("Write the kernels there, and their slices to K.slices "
               "beside it (default: the kernels to standard output)")};
  cl::opt<std::string> SliceFolder{"slices", In, cl::value_desc("DIR"),
                                   cl::desc("Write the slices to this folder")};
  cl::opt<std::string> Json{
      "json", In, cl::value_desc("FILE"),
      cl::desc("Print the kernels as JSON, with the reason for each kernel "
               "that has no slice")};
  cl::opt<std::string> BuildFolder{"p", In, cl::value_desc("DIR"),
                                   cl::desc("Take the source's command from "
                                            "DIR/compile_commands.json")};
  cl::opt<bool> NoVerify{
      "no-verify", In,
      cl::desc("Do not compile the slices to compare their device code "
               "with the unit's")};
};
} // namespace

static const char Examples[] =
    "  cupilot extract heat.cu -- -O2 --cuda-gpu-arch=sm_90\n"
    "  cupilot extract heat.cu -o heat.mlir -- -O2 -Iinclude\n"
    "  cupilot extract heat.cu -p build\n"
    "  cupilot extract heat.cu --only 'step<4' --no-verify -p build\n"
    "  cupilot extract heat.cu -- nvcc -arch=sm_90 --expt-relaxed-constexpr -c "
    "heat.cu\n\n"
    "FLAGS are the flags of clang++, or a whole command of clang or nvcc. "
    "Flags for outputs,\n"
    "dependency files and plugins are ignored. Device code is compiled for the "
    "first GPU\n"
    "architecture in FLAGS (default sm_90; of a command of nvcc: nvcc's "
    "default).\n";

/// "blur.0123456789abcdef.cu"; instances of one template differ in the digest.
static std::string sliceName(const Kernel &K) {
  StringRef Name = K.Name;
  std::string Plain;
  unsigned Angles = 0;
  while (!Name.empty()) {
    if (Name.consume_front("(anonymous namespace)"))
      continue;
    char C = Name.front();
    Name = Name.drop_front();
    if (C == '(' && Angles == 0)
      break;
    Angles += C == '<';
    Angles -= C == '>' && Angles > 0;
    if (C == ':' && Angles == 0)
      Plain.clear();
    else if (Angles == 0 && C != '>')
      Plain += isAlnum(C) ? C : '_';
  }
  return Plain + "." + shortDigest(K.Digest) + ".cu";
}

/// One object a kernel, in source order.
static Error writeJson(StringRef File, ArrayRef<Kernel> Kernels,
                       ArrayRef<KernelIdentity> Builds) {
  std::string Text;
  raw_string_ostream Stream(Text);
  json::OStream J(Stream, 2);
  J.array([&] {
    for (auto [K, Build] : zip(Kernels, Builds))
      J.object([&, &K = K, &Build = Build] {
        J.attribute("name", json::fixUTF8(K.Name));
        J.attribute("symbol", K.Symbol);
        J.attribute("digest", K.Digest);
        J.attribute("file", json::fixUTF8(K.File));
        J.attribute("line", K.Line);
        if (!Build.Digest.empty())
          J.attribute("identity", Build.Digest);
        else if (Build.Refusal)
          J.attribute("no_identity", json::fixUTF8(Build.Refusal->text()));
        if (K.Slice.empty())
          J.attribute("refusal", json::fixUTF8(K.Refusal.value_or("")));
        else
          J.attribute("slice", sliceName(K));
      });
  });
  Stream << "\n";
  return writeFileAtomic(File, Text);
}

static Error run(const Options &O, const TrailingArgs &Trailing) {
  Expected<std::vector<std::string>> Flags =
      clangFlagsFor(O.File, Trailing.Args, O.BuildFolder);
  if (!Flags)
    return Flags.takeError();
  std::vector<KernelIdentity> Builds;
  size_t All = 0;
  auto IsNamed = [&](const Kernel &K) {
    ++All;
    return StringRef(K.Name).contains(O.Only);
  };
  Expected<std::vector<Kernel>> Kernels = extractKernels(
      O.File, *Flags, {.VerifySlices = !O.NoVerify, .Wanted = IsNamed}, Builds);
  if (!Kernels)
    return Kernels.takeError();
  if (!O.Only.empty())
    if (Error E = checkChoice(All, Kernels->size(), O.File, O.Only))
      return E;
  bool ToStdout = O.Output.empty() || O.Output == "-";
  std::string Folder = O.SliceFolder, Relative;
  if (!ToStdout && Folder.empty()) {
    SmallString<256> Beside(O.Output);
    sys::path::replace_extension(Beside, "slices");
    Folder = Beside.str();
    Relative = sys::path::filename(Beside).str() + "/";
  } else if (!Folder.empty()) {
    Relative = Folder + "/";
  }

  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  unsigned Slices = 0;
  for (const Kernel &K : *Kernels) {
    std::string Source;
    if (!K.Slice.empty() && !Folder.empty()) {
      Source = Relative + sliceName(K);
      if (Error E = updateFile(Folder + "/" + sliceName(K), K.Slice))
        return E;
    }
    Slices += !K.Slice.empty();
    addKernel(B, K, Source);
    if (K.Refusal)
      errs() << K.File << ":" << K.Line << ": remark: kernel '" << K.Name
             << "' has no slice: " << *K.Refusal << "\n";
  }
  if (!O.Json.empty())
    if (Error E = writeJson(O.Json, *Kernels, Builds))
      return E;
  std::string Text = printModule(*M);
  if (ToStdout)
    outs() << Text;
  else if (Error E = writeFileAtomic(O.Output, Text))
    return E;
  errs() << "cupilot extract: " << Kernels->size() << " kernel(s), " << Slices
         << " slice(s)";
  if (!Folder.empty())
    errs() << " in " << Folder;
  else if (Slices)
    errs() << ", written with -o K.mlir or --slices=DIR";
  errs() << "\n";
  return Error::success();
}

static const Command Registered("extract",
                                "Print the kernels of a translation unit",
                                "FLAGS", Examples, run);

} // namespace extract_command
