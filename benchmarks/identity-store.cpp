//===- identity-store.cpp - A store of variants that are the originals ----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To measure builds: for each kernel of a unit one variant, whose text is the
// kernel's slice, whose launches are the original's, and whose guard is empty.
// Builds admit, compile and compare it as any other. Its proof is that its code
// is the original's, so its digest is the original's own; a build finds out
// whether that is so. No gate has judged it, and evidence says so.
//
//   identity-store F.cu --store DIR [--ptx F.ptx --nvcc 'nvcc ARGS']
//                  [--texts DIR] -- FLAGS
//   identity-store F.cu --launches -- FLAGS
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Frontend/HostLaunches.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static cl::opt<std::string> Input(cl::Positional, cl::Required,
                                  cl::desc("F.cu"));
static cl::opt<std::string> StoreDir("store", cl::desc("The store to write"));
static cl::opt<std::string> Ptx("ptx", cl::desc("What nvcc made of the unit"));
static cl::opt<std::string> Nvcc("nvcc", cl::desc("The command that did"));
static cl::opt<std::string>
    Texts("texts", cl::desc("Where KERNEL.cu is, if it is there, the text of "
                            "that kernel's variant"));
static cl::opt<bool> Launches("launches",
                              cl::desc("Print the launches in the source"));

/// The compiler's, after "--".
static std::vector<std::string> Flags;

static const char Tool[] = "identity-store";

/// What the compilers at hand make of the unit's kernels.
namespace {
struct UnitCode {
  std::vector<KernelIdentity> Clang;
  std::optional<NvccPtx> Nvcc;
  std::string NvccName, NvccContext;
};
} // namespace

static Error readNvcc(UnitCode &U) {
  Expected<std::string> Text = readFile(Ptx);
  if (!Text)
    return Text.takeError();
  Expected<NvccPtx> Parsed = NvccPtx::parse(std::move(*Text));
  if (!Parsed)
    return Parsed.takeError();
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  cl::TokenizeGNUCommandLine(Nvcc, Saver, Words);
  if (Words.empty())
    return usageError("--ptx needs --nvcc");
  std::vector<std::string> Args(Words.begin() + 1, Words.end());
  Expected<NvccCommand> C = parseNvccCommand(Args, "", "");
  if (!C)
    return C.takeError();
  Expected<std::string> Version = nvccVersion(Words.front());
  if (!Version)
    return Version.takeError();
  U.NvccName = *Version;
  U.NvccContext = C->Device.context();
  U.Nvcc = std::move(*Parsed);
  return Error::success();
}

static Error putKernel(ProjectStore &Store, const Kernel &K, const UnitCode &U,
                       const std::string &Arch) {
  if (K.Refusal) {
    outs() << "no-slice\t" << K.Symbol << "\t" << *K.Refusal << "\n";
    return Error::success();
  }
  StoredKernel S;
  S.K = K;
  Variant V;
  V.Name = "identity";
  V.Plan = LaunchPlan();
  V.Plan->Launches.emplace_back();
  V.Plan->Launches.back().Symbol = K.Symbol;
  V.When = Guard();
  V.When->Arch = Arch;
  V.Where = Domain::everything(); // It is the kernel itself.
  V.Source = "identity.cu";
  std::string Text = K.Slice;
  std::string Given =
      (Texts + "/" + StringRef(K.Name).split('(').first + ".cu").str();
  if (!Texts.empty() && sys::fs::exists(Given))
    if (Error E = readFile(Given).moveInto(Text))
      return E;
  V.Digest = digest(Text);
  auto Add = [&](const std::string &Compiler, const std::string &Digest) {
    S.Builds.push_back({Compiler, Arch, Digest});
    Measurement M;
    M.Device = "none";
    M.Basis = Basis::Modelled;
    // Behind other variants of the kernel, if there are some.
    M.Ratio = M.Low = M.High = 0.5;
    M.Compiler = Compiler;
    M.Arch = Arch;
    M.Digest = Digest;
    V.Evidence.push_back(std::move(M));
  };
  Expected<std::string> Identity = digestOf(U.Clang, K.Symbol);
  if (Identity) {
    Add("clang-22", *Identity);
    outs() << "clang\t" << K.Symbol << "\t" << *Identity << "\n";
  } else {
    outs() << "no-clang\t" << K.Symbol << "\t" << toString(Identity.takeError())
           << "\n";
  }
  if (U.Nvcc) {
    std::string Symbol = U.Nvcc->find(K.Symbol);
    KernelIdentity Own;
    Own.Refusal = BuildNote(BuildReason::NotEmitted);
    if (!Symbol.empty())
      Own = U.Nvcc->identify(Symbol, U.NvccContext);
    if (Own.Digest.empty()) {
      outs() << "no-nvcc\t" << K.Symbol << "\t" << Own.Refusal->text() << "\n";
    } else {
      Add(U.NvccName, Own.Digest);
      outs() << "nvcc\t" << K.Symbol << "\t" << Own.Digest << "\n";
    }
  }
  if (S.Builds.empty())
    return Error::success();
  S.Variants.push_back(std::move(V));
  S.Sources.push_back(std::move(Text));
  return Store.put(S);
}

static Error makeStore() {
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(Input, Flags, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(StoreDir);
  if (!Store)
    return Store.takeError();
  if (Kernels->empty())
    return Error::success();
  std::string Arch = gpuArchitectures(Flags).front();
  Expected<std::string> Bitcode = compileDeviceBitcode(Input, Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  UnitCode U;
  Expected<std::vector<KernelIdentity>> All =
      identifyKernels(*Bitcode, buildContext(llvmArguments(Flags)));
  if (!All)
    return All.takeError();
  U.Clang = std::move(*All);
  if (!Ptx.empty())
    if (Error E = readNvcc(U))
      return E;
  for (const Kernel &K : *Kernels)
    if (Error E = putKernel(*Store, K, U, Arch))
      return E;
  return Error::success();
}

static Error printLaunches() {
  Expected<HostLaunches> All = hostLaunches(Input, Flags);
  if (!All)
    return All.takeError();
  for (const HostLaunch &L : All->Launches)
    outs() << (L.Dead ? "dead\t" : "launch\t") << L.File << ":" << L.Line
           << "\t" << L.Form << "\t" << L.Function << "\t"
           << (L.Kernel.empty() ? "-" : L.Kernel) << "\n";
  return Error::success();
}

int main(int argc, char **argv) {
  // What follows "--" is the compiler's, whatever it looks like.
  int Own = 1;
  while (Own < argc && StringRef(argv[Own]) != "--")
    ++Own;
  cl::ParseCommandLineOptions(Own, argv);
  Flags.clear();
  for (int I = Own + 1; I < argc; ++I)
    Flags.push_back(argv[I]);
  if (StoreDir.empty() && !Launches)
    return reportError(usageError("nothing to do", "--store DIR or --launches"),
                       Tool);
  if (!StoreDir.empty())
    if (Error E = makeStore())
      return reportError(std::move(E), Tool);
  if (Launches)
    if (Error E = printLaunches())
      return reportError(std::move(E), Tool);
  return 0;
}
