//===- cupilot-cpucc.cpp - clang++ for the cpu device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the device half of each .cu to bitcode and embeds that where a GPU
// binary would be; links with the cpu device's CUDA run time.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccFlags.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static const char Help[] =
    "usage: cupilot-cpucc FILE... [-o OUTPUT] [FLAGS]\n\n"
    "clang++ for the cpu device: builds CUDA programs that run without a GPU. "
    "Takes\n"
    "clang's flags, and nvcc's that makefiles use (-arch=, -gencode, "
    "-Xcompiler,\n"
    "--use_fast_math, ...); -fplugin= and its arguments act on both "
    "halves.\n\n"
    "options:\n"
    "  -o FILE              The program, or with -c the object (default a.out, "
    "FILE.o)\n"
    "  -c                   Compile only\n"
    "  --cuda-gpu-arch=ARCH The architecture that the code is compiled for "
    "(sm_90)\n"
    "  --cuda-path=DIR      The CUDA toolkit whose headers are used\n"
    "  -###                 Print the commands, do nothing\n"
    "  --version, --help    Print the version, this text\n\n"
    "examples:\n"
    "  cupilot-cpucc -O2 heat.cu -o heat && ./heat\n"
    "  cupilot-cpucc -O2 -fplugin=cupilot heat.cu -o heat.new\n\n"
    "Exit status: that of the compiler; 2 wrong use, 3 an outside resource "
    "failed.\n";

namespace {
/// A file that clang compiles or links as it is; -x may name its language.
struct HostInput {
  std::string Path, Language;
};

struct Invocation {
  std::vector<std::string> Sources, Compile, Link;
  std::vector<std::string> Host; ///< Flags of the host half alone.
  std::vector<HostInput> Others;
  std::string Output;
  bool CompileOnly = false, Dry = false;
};
} // namespace

static Expected<Invocation> parse(ArrayRef<std::string> All) {
  Invocation I;
  Expected<TranslatedFlags> Flags =
      translateNvccFlags(All, NvccTarget::CpuDevice);
  if (!Flags)
    return Flags.takeError();
  ArrayRef<std::string> Args = Flags->Args;
  I.Host = Flags->Host;
  if (!Flags->Ignored.empty())
    WithColor::note(errs(), "cupilot-cpucc")
        << "ignored on the cpu device: " << join(Flags->Ignored, ", ") << "\n";
  std::string Language; // As -x names it for the files that follow.
  auto Take = [&](const opt::Arg &A, size_t First, size_t Last) -> Error {
    namespace o = clang::options;
    const opt::Option &O = A.getOption();
    std::string Value = valueOf(A).str();
    if (O.matches(o::OPT_o))
      I.Output = Value;
    else if (O.matches(o::OPT_x))
      Language = Value == "none" ? "" : Value;
    else if (O.matches(o::OPT_c))
      I.CompileOnly = true;
    else if (O.matches(o::OPT__HASH_HASH_HASH))
      I.Dry = true;
    else if (!O.matches(o::OPT_INPUT))
      append_range(O.matches(o::OPT_Link_Group) ? I.Link : I.Compile,
                   Args.slice(First, Last - First));
    else if (Language.empty() ? sys::path::extension(Value) == ".cu"
                              : Language == "cuda")
      I.Sources.push_back(Value);
    else
      I.Others.push_back({Value, Language});
    return Error::success();
  };
  if (Error E = readClangFlags(Args, Take))
    return std::move(E);
  if (I.Sources.empty() && I.Others.empty())
    return usageError("no input files", "cupilot-cpucc --help shows the use");
  if (I.CompileOnly && !I.Output.empty() &&
      I.Sources.size() + I.Others.size() > 1)
    return usageError("-o with -c takes one input file");
  return I;
}

/// Names what of CUDA a failed link missed: what the cpu device does not have.
static void explainMissing(StringRef Messages) {
  static constexpr StringLiteral Before = "undefined reference to `";
  std::vector<std::string> Missing;
  while (true) {
    Messages = Messages.split(Before).second;
    if (Messages.empty())
      break;
    std::string Name =
        Messages.take_until([](char C) { return C == '\''; }).str();
    if (StringRef(Name).starts_with("cu") && !is_contained(Missing, Name))
      Missing.push_back(Name);
  }
  if (!Missing.empty())
    WithColor::note(errs(), "cupilot-cpucc")
        << "the cpu device does not provide " << join(Missing, ", ")
        << "; it supports kernels, memory, streams, events and graphs, but not "
           "CUDA libraries\n";
}

/// Says what clang's refusals mean where its own words do not.
static void explainRefusals(StringRef Messages) {
  if (Messages.contains("'__managed__'"))
    WithColor::note(errs(), "cupilot-cpucc")
        << "clang does not support __managed__ variables in CUDA; allocate "
           "with cudaMallocManaged and pass the pointer, or make it a "
           "__device__ variable and use cudaMemcpyToSymbol and "
           "cudaMemcpyFromSymbol\n";
}

/// Runs \p Command with this program's output; its status is ours.
static Expected<int> run(ArrayRef<std::string> Command, bool Dry) {
  if (Dry) {
    outs() << shellQuoted(Command) << "\n";
    return 0;
  }
  Expected<ProcessResult> Result = runProcess(Command);
  if (!Result)
    return Result.takeError();
  outs() << Result->Out;
  errs() << Result->Err;
  explainMissing(Result->Err);
  explainRefusals(Result->Err);
  return Result->Status < 0 ? 3 : Result->Status;
}

static Expected<int> build(const Invocation &I, const Toolchain &Tools,
                           StringRef LibDir) {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-cpucc");
  if (!Dir)
    return Dir.takeError();
  std::string Arch = gpuArchitectures(I.Compile).front();
  std::vector<std::string> Base =
      Tools.cudaCommand(withoutArchitectures(I.Compile));
  Base.insert(Base.end(), {"-include", (LibDir + "/cupilot-cpucc.h").str()});
  std::vector<std::string> Objects;
  unsigned Number = 0;
  for (const std::string &Source : I.Sources) {
    std::string Stem =
        std::to_string(Number++) + "-" + sys::path::stem(Source).str();
    std::string Bitcode = Dir->file(Stem + ".bc"),
                Object = Dir->file(Stem + ".o");
    if (I.CompileOnly)
      Object =
          I.Output.empty() ? sys::path::stem(Source).str() + ".o" : I.Output;
    // The device half. Lines are kept so that faults can name them.
    std::vector<std::string> Device = Base;
    for (const std::string &Arg :
         {std::string("-x"), std::string("cuda"), "--cuda-gpu-arch=" + Arch,
          std::string("--cuda-device-only"), std::string("-emit-llvm"),
          std::string("-c"), std::string("-gline-tables-only"),
          "-fpass-plugin=" + (LibDir + "/cupilot-cpu.so").str(),
          std::string("-o"), Bitcode, Source})
      Device.push_back(Arg);
    if (Expected<int> Status = run(Device, I.Dry); !Status || *Status != 0)
      return Status;
    std::vector<std::string> Host = Base;
    Host.insert(Host.end(), I.Host.begin(), I.Host.end());
    for (const std::string &Arg :
         {std::string("-x"), std::string("cuda"), "--cuda-gpu-arch=" + Arch,
          std::string("--cuda-host-only"),
          std::string("--no-offload-new-driver"), std::string("-Xclang"),
          std::string("-fcuda-include-gpubinary"), std::string("-Xclang"),
          Bitcode, std::string("-c"), std::string("-o"), Object, Source})
      Host.push_back(Arg);
    if (Expected<int> Status = run(Host, I.Dry); !Status || *Status != 0)
      return Status;
    Objects.push_back(Object);
  }
  std::vector<std::string> Link = {Tools.Clang};
  if (!Tools.CudaPath.empty())
    Link.push_back("-I" + Tools.CudaPath + "/include"); // For .cpp inputs.
  for (StringRef Flag : I.Compile)
    if (!Flag.starts_with("-fplugin") && !Flag.starts_with("--cuda") &&
        !Flag.starts_with("--offload") && !Flag.starts_with("-Rpass"))
      Link.push_back(Flag.str());
  Link.insert(Link.end(), I.Host.begin(), I.Host.end());
  for (const HostInput &Other : I.Others) {
    if (!Other.Language.empty())
      Link.insert(Link.end(), {"-x", Other.Language});
    Link.push_back(Other.Path);
    if (!Other.Language.empty())
      Link.insert(Link.end(), {"-x", "none"});
  }
  if (I.CompileOnly) {
    if (I.Others.empty())
      return 0;
    Link.push_back("-c");
    if (!I.Output.empty())
      Link.insert(Link.end(), {"-o", I.Output});
    return run(Link, I.Dry);
  }
  Link.insert(Link.end(), Objects.begin(), Objects.end());
  for (const std::string &Arg :
       {std::string("-o"), I.Output.empty() ? std::string("a.out") : I.Output,
        "-L" + LibDir.str(), std::string("-lcupilot-cudart"),
        std::string("-lcupilot-cuda"), "-Wl,-rpath," + LibDir.str()})
    Link.push_back(Arg);
  Link.insert(Link.end(), I.Link.begin(), I.Link.end());
  return run(Link, I.Dry);
}

/// Structures of the run time's interface (cudaDeviceProp) differ from one
/// major version to the next; a program with others would be overwritten.
static Error checkToolkit(const Invocation &I, const Toolchain &Tools) {
  unsigned Theirs = Tools.headerVersion();
  if (I.Sources.empty() || Theirs / 1000 == CUPILOT_CUDART_VERSION / 1000)
    return Error::success();
  auto Text = [](unsigned Version) {
    return std::to_string(Version / 1000) + "." +
           std::to_string(Version % 1000 / 10);
  };
  return resourceError(
      "the cpu device was built for CUDA " + Text(CUPILOT_CUDART_VERSION) +
          ", but the toolkit in '" + Tools.CudaPath + "' is " + Text(Theirs),
      "name the right toolkit with --cuda-path=, or build cuPilot with this "
      "one");
}

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  std::vector<std::string> Args(Argv + 1, Argv + Argc);
  if (is_contained(Args, "--help") || is_contained(Args, "-h")) {
    outs() << Help;
    return 0;
  }
  if (is_contained(Args, "--version")) {
    outs() << "cupilot-cpucc " CUPILOT_VERSION " (LLVM " CUPILOT_LLVM_VERSION
              ")\n";
    return 0;
  }
  Expected<Invocation> I = parse(Args);
  if (!I)
    return reportError(I.takeError(), "cupilot-cpucc");
  Expected<Toolchain> Tools = Toolchain::find(I->Compile);
  if (!Tools)
    return reportError(Tools.takeError(), "cupilot-cpucc");
  if (Tools->CudaPath.empty() && !I->Sources.empty())
    return reportError(
        resourceError("no CUDA toolkit was found",
                      "cupilot-cpucc needs its headers; name the toolkit with "
                      "--cuda-path="),
        "cupilot-cpucc");
  std::string LibDir = installedPath("lib");
  if (!sys::fs::exists(LibDir + "/libcupilot-cudart.so"))
    return reportError(
        resourceError("the cpu device's run time is not in '" + LibDir + "'",
                      "cuPilot was built without a CUDA toolkit; rebuild it "
                      "with a toolkit installed"),
        "cupilot-cpucc");
  if (Error E = checkToolkit(*I, *Tools))
    return reportError(std::move(E), "cupilot-cpucc");
  Expected<int> Status = build(*I, *Tools, LibDir);
  if (!Status)
    return reportError(Status.takeError(), "cupilot-cpucc");
  return *Status;
}
