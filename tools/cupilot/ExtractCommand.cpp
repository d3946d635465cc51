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
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

using namespace llvm;
using namespace cupilot;

namespace extract_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption File{Sub, "F.cu|F.mlir", "The CUDA source, or an MLIR module"};
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
  cl::opt<std::string> Pipeline{
      "pipeline", In, cl::value_desc("P"),
      cl::desc("Of an MLIR module: the --pass-pipeline that makes PTX of its "
               "kernels, to name that code, too")};
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
    "heat.cu\n"
    "  cupilot extract kernels.mlir -o k.mlir --pipeline \"$PASSES\"\n\n"
    "FLAGS are the flags of clang++, or a whole command of clang or nvcc. "
    "Flags for outputs,\n"
    "dependency files and plugins are ignored. Device code is compiled for the "
    "first GPU\n"
    "architecture in FLAGS (default sm_90; of a command of nvcc: nvcc's "
    "default).\n";

/// "blur.0123456789abcdef.cu"; instances of one template differ in the digest.
static std::string sliceName(const Kernel &K, StringRef Extension) {
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
  return Plain + "." + shortDigest(K.Digest) + Extension.str();
}

/// What is written of the kernels of one file.
namespace {
struct Extracted {
  std::vector<Kernel> Kernels;
  /// In the module of kernels, as Kernels; empty where there are none.
  std::vector<std::vector<BuildEntry>> Builds;
  StringRef Extension; ///< Of slices.
  /// Adds to the JSON of a kernel what else is known of it.
  std::function<void(json::OStream &, size_t)> More;
};
} // namespace

/// One object a kernel, in source order.
static Error writeJson(StringRef File, const Extracted &E) {
  std::string Text;
  raw_string_ostream Stream(Text);
  json::OStream J(Stream, 2);
  J.array([&] {
    for (auto [Index, K] : enumerate(E.Kernels))
      J.object([&, Index = Index, &K = K] {
        J.attribute("name", json::fixUTF8(K.Name));
        J.attribute("symbol", K.Symbol);
        J.attribute("digest", K.Digest);
        J.attribute("file", json::fixUTF8(K.File));
        J.attribute("line", K.Line);
        E.More(J, Index);
        if (K.Slice.empty())
          J.attribute("refusal", json::fixUTF8(K.Refusal.value_or("")));
        else
          J.attribute("slice", sliceName(K, E.Extension));
      });
  });
  Stream << "\n";
  return writeFileAtomic(File, Text);
}

/// Writes what the options ask for.
static Error write(const Options &O, const Extracted &Found) {
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
  for (auto [Index, K] : enumerate(Found.Kernels)) {
    std::string Source;
    if (!K.Slice.empty() && !Folder.empty()) {
      std::string Name = sliceName(K, Found.Extension);
      Source = Relative + Name;
      if (Error E = updateFile(Folder + "/" + Name, K.Slice))
        return E;
    }
    Slices += !K.Slice.empty();
    addKernel(B, K, Source,
              Found.Builds.empty() ? ArrayRef<BuildEntry>()
                                   : ArrayRef(Found.Builds[Index]));
    if (K.Refusal)
      errs() << K.File << ":" << K.Line << ": remark: kernel '" << K.Name
             << "' has no slice: " << *K.Refusal << "\n";
  }
  if (!O.Json.empty())
    if (Error E = writeJson(O.Json, Found))
      return E;
  std::string Text = printModule(*M);
  if (ToStdout)
    outs() << Text;
  else if (Error E = writeFileAtomic(O.Output, Text))
    return E;
  errs() << "cupilot extract: " << Found.Kernels.size() << " kernel(s), "
         << Slices << " slice(s)";
  if (!Folder.empty())
    errs() << " in " << Folder;
  else if (Slices)
    errs() << ", written with -o K.mlir or --slices=DIR";
  errs() << "\n";
  return Error::success();
}

/// The kernels of an MLIR module.
static Error runMlir(const Options &O, const TrailingArgs &Trailing) {
  if (Trailing.Given || !O.BuildFolder.empty())
    return usageError("'" + O.File +
                          "' is MLIR, and takes no flags of a "
                          "compiler",
                      "give the passes that make PTX of it with --pipeline");
  Expected<MlirKernels> Found = extractMlirKernels(O.File, O.Pipeline);
  if (!Found)
    return Found.takeError();
  for (const std::string &Text : Found->Notes)
    errs() << "cupilot extract: note: " << Text << "\n";
  Extracted All;
  std::vector<std::string> Modules;
  All.Extension = ".mlir";
  for (auto [K, Builds, Module] :
       zip(Found->Kernels, Found->Builds, Found->Modules))
    if (StringRef(K.Name).contains(O.Only)) {
      All.Kernels.push_back(K);
      All.Builds.push_back(Builds);
      Modules.push_back(Module);
    }
  if (!O.Only.empty())
    if (Error E = checkChoice(Found->Kernels.size(), All.Kernels.size(), O.File,
                              O.Only))
      return E;
  All.More = [&](json::OStream &J, size_t Index) {
    for (const BuildEntry &Build : All.Builds[Index])
      J.attribute("identity", Build.Digest);
    if (!Modules[Index].empty())
      J.attribute("module", Modules[Index]);
  };
  return write(O, All);
}

static Error run(const Options &O, const TrailingArgs &Trailing) {
  if (isMlirFile(O.File))
    return runMlir(O, Trailing);
  if (!O.Pipeline.empty())
    return usageError("--pipeline is for MLIR modules, and '" + O.File +
                          "' is none",
                      "leave it out, or name a .mlir file");
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
  Extracted Found;
  Found.Kernels = std::move(*Kernels);
  Found.Extension = ".cu";
  Found.More = [&](json::OStream &J, size_t Index) {
    const KernelIdentity &Build = Builds[Index];
    if (!Build.Digest.empty())
      J.attribute("identity", Build.Digest);
    else if (Build.Refusal)
      J.attribute("no_identity", json::fixUTF8(Build.Refusal->text()));
  };
  return write(O, Found);
}

static const Command Registered("extract",
                                "Print the kernels of a translation unit or of "
                                "an MLIR module",
                                "FLAGS", Examples, run);

} // namespace extract_command
