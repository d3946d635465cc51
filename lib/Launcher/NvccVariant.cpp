//===- NvccVariant.cpp - Variants compiled by nvcc -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

/// nvcc reads these behind our back; what they said is in the flags already.
static const std::string NoVariables[] = {"NVCC_PREPEND_FLAGS=",
                                          "NVCC_APPEND_FLAGS="};

Expected<std::string> nvccVersion(StringRef Nvcc) {
  Expected<ProcessResult> R =
      runProcess({Nvcc.str(), "--version"}, 0, NoVariables);
  if (!R)
    return R.takeError();
  SmallVector<StringRef> Parts;
  if (R->Status != 0 ||
      !Regex("release ([0-9]+\\.[0-9]+)").match(R->Out, &Parts))
    return resourceError("'" + Nvcc + " --version' does not tell its version");
  return "nvcc-" + Parts[1].str();
}

/// "compute_90a" for "sm_90a".
static std::string virtualArch(StringRef Arch) {
  Arch.consume_front("sm_");
  return ("compute_" + Arch).str();
}

static Error runNvcc(const std::vector<std::string> &Command) {
  Expected<ProcessResult> R = runProcess(Command, 0, NoVariables);
  if (!R)
    return R.takeError();
  if (R->Status != 0)
    return findingError(textOf(BuildReason::DoesNotCompile,
                               {StringRef(R->Err + R->Out).trim()}));
  return Error::success();
}

/// The files in a depfile, without its target.
static std::vector<std::string> filesOf(StringRef DepFile) {
  std::vector<std::string> Files;
  StringRef Rest = DepFile.split(" :").second;
  while (!Rest.empty()) {
    std::string File;
    Rest = Rest.ltrim(" \n\r\t\\");
    while (!Rest.empty() && !isSpace(Rest.front())) {
      if (Rest.size() > 1 && Rest[0] == '\\' && Rest[1] == ' ')
        Rest = Rest.drop_front();
      File += Rest.front();
      Rest = Rest.drop_front();
    }
    if (!File.empty())
      Files.push_back(std::move(File));
  }
  return Files;
}

Expected<NvccPtx> compileNvccPtx(StringRef Nvcc, StringRef Source,
                                 StringRef Arch, ArrayRef<std::string> Flags,
                                 std::vector<std::string> *Files) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-ptx");
  if (!Dir)
    return Dir.takeError();
  std::vector<std::string> Command = {Nvcc.str(), "-ptx",
                                      "-arch=" + virtualArch(Arch)};
  Command.insert(Command.end(), Flags.begin(), Flags.end());
  // clang gives every CUDA source these types; nvcc does not.
  Command.insert(Command.end(), {"-include", "cstdint"});
  for (const std::string &Arg :
       {std::string("-x"), std::string("cu"), Source.str(), std::string("-o"),
        Dir->file("variant.ptx"), std::string("-MD"), std::string("-MF"),
        Dir->file("variant.d")})
    Command.push_back(Arg);
  if (Error E = runNvcc(Command))
    return std::move(E);
  if (Files) {
    Expected<std::string> Text = readFile(Dir->file("variant.d"));
    if (!Text)
      return Text.takeError();
    *Files = filesOf(*Text);
  }
  Expected<std::string> Ptx = readFile(Dir->file("variant.ptx"));
  if (!Ptx)
    return Ptx.takeError();
  return NvccPtx::parse(std::move(*Ptx));
}

namespace {
/// One entry of the machine cache: a fat binary, and the files it was made of
/// with size and time.
class NvccCacheEntry {
public:
  NvccCacheEntry(StringRef Nvcc, const BuildVariant &V, StringRef Symbol,
                 StringRef Source, const NvccDeviceFlags &Flags) {
    std::string Root = machineCacheDirectory();
    ErrorOr<std::string> Program = sys::findProgramByName(Nvcc);
    if (Root.empty() || !Program)
      return;
    SmallString<256> Real;
    if (sys::fs::real_path(*Program, Real))
      return;
    DigestBuilder Key;
    Key.add(CUPILOT_VERSION)
        .add(uint64_t(AdmissionVersion))
        .add(V.SourceDigest)
        .add(V.Canonical)
        .add(V.When.Arch)
        .add(Symbol)
        .add(Flags.context());
    for (const std::string &Flag : Flags.Flags)
      Key.add(Flag);
    // nvcc makes names of the path; they must not come from another store.
    Key.add(Source);
    for (StringRef Tool : {"nvcc", "ptxas", "fatbinary", "../nvvm/bin/cicc"})
      Key.add(describe((sys::path::parent_path(Real) + "/" + Tool).str()));
    Path = Root + "/nvcc/" + shortDigest(Key.str(), 40);
  }

  /// Fills in what was compiled; false when nothing was, or of other files.
  bool load(CompiledVariant &C) const {
    if (Path.empty() || !sys::fs::exists(Path + ".files"))
      return false;
    Expected<std::string> Manifest = readFile(Path + ".files"),
                          Binary = readFile(Path + ".fatbin");
    if (!Manifest || !Binary) {
      consumeError(Manifest.takeError());
      consumeError(Binary.takeError());
      return false;
    }
    SmallVector<StringRef> Lines;
    StringRef(*Manifest).split(Lines, '\n', -1, false);
    if (Lines.empty() || Lines.pop_back_val() != "digest " + digest(*Binary))
      return false;
    std::vector<std::string> Copies;
    for (StringRef Line : Lines)
      if (Line.consume_front("copies "))
        Copies.push_back(Line.str());
      else if (Line != describe(Line.split(' ').second.split(' ').second))
        return false;
    C.Copies = std::move(Copies);
    C.Fatbin = std::move(*Binary);
    return true;
  }

  /// A cache that cannot be written is no reason to fail a build.
  void store(const std::vector<std::string> &Files,
             const CompiledVariant &C) const {
    if (Path.empty())
      return;
    std::string Manifest;
    for (const std::string &File : Files)
      Manifest += describe(File) + "\n";
    for (const std::string &Name : C.Copies)
      Manifest += "copies " + Name + "\n";
    Manifest += "digest " + digest(C.Fatbin) + "\n";
    if (Error E = writeFileAtomic(Path + ".fatbin", C.Fatbin))
      return consumeError(std::move(E));
    consumeError(writeFileAtomic(Path + ".files", Manifest));
  }

private:
  static std::string describe(StringRef File) {
    sys::fs::file_status Status;
    if (sys::fs::status(File, Status))
      return "";
    return formatv("{0} {1} {2}", Status.getSize(),
                   Status.getLastModificationTime().time_since_epoch().count(),
                   File)
        .str();
  }
  std::string Path;
};
} // namespace

/// What clang must know to parse what nvcc will compile.
static std::vector<std::string> admissionFlags(StringRef Nvcc, StringRef Arch,
                                               const NvccDeviceFlags &Flags) {
  std::vector<std::string> Args = {("--cuda-gpu-arch=" + Arch).str(),
                                   "-std=c++17"};
  for (StringRef Flag : Flags.Flags)
    if (Flag.ltrim('-').starts_with("std="))
      Args.back() = ("-" + Flag.ltrim('-')).str();
  SmallString<256> Real;
  if (ErrorOr<std::string> Program = sys::findProgramByName(Nvcc);
      Program && !sys::fs::real_path(*Program, Real)) {
    StringRef Root = sys::path::parent_path(sys::path::parent_path(Real));
    // Not Debian's, whose parts clang does not find under /usr.
    if (sys::fs::exists(Root + "/include/cuda_runtime.h") &&
        sys::fs::exists(Root + "/nvvm/libdevice"))
      Args.push_back(("--cuda-path=" + Root).str());
  }
  return Args;
}

/// Compiles the text in the file \p Source for \p C, which knows its variant
/// and its names. \p Files gets the files that nvcc read.
static Error compileFatbin(StringRef Nvcc, CompiledVariant &C, StringRef Source,
                           const NvccDeviceFlags &Flags,
                           std::vector<std::string> &Files) {
  const BuildVariant &V = C.V;
  const std::string &Arch = V.When.Arch;
  Expected<std::string> Text = readFile(Source);
  if (!Text)
    return Text.takeError();
  if (digest(*Text) != V.SourceDigest)
    return findingError(describeDifference(
        Source, *Text, "is not the text that was proved",
        [&](StringRef Plain) { return digest(Plain) == V.SourceDigest; }));
  std::vector<std::string> Constants;
  Expected<std::vector<AdmissionFinding>> Findings =
      admit(*Text, admissionFlags(Nvcc, Arch, Flags), &Constants);
  if (!Findings)
    return Findings.takeError();
  if (!Findings->empty())
    return findingError(
        textOf(BuildReason::Inadmissible,
               {utostr(Findings->front().Line), Findings->front().Message}));
  Expected<NvccPtx> Ptx =
      compileNvccPtx(Nvcc, Source, Arch, Flags.Flags, &Files);
  if (!Ptx)
    return Ptx.takeError();
  std::vector<std::pair<std::string, std::string>> Renames;
  std::vector<KernelIdentity> Own;
  for (auto [Kernel, Symbol] : zip_equal(V.Plan.symbols(), C.Symbols)) {
    std::string Name = Ptx->find(Kernel);
    if (Name.empty())
      return findingError(textOf(BuildReason::NoKernel, {Kernel}));
    Own.push_back(Ptx->identify(Name, Flags.context()));
    if (Own.back().Digest.empty())
      return findingError(Own.back().Refusal);
    Expected<bool> Pointers = Ptx->usesFunctionPointers(Name);
    if (!Pointers)
      return Pointers.takeError();
    if (*Pointers)
      return findingError("it calls device functions by pointers, which with "
                          "nvcc only the unit's own image can hold");
    Expected<std::vector<std::string>> Variables = Ptx->variables(Name);
    if (!Variables)
      return Variables.takeError();
    for (const std::string &Variable : *Variables) {
      // A copy of a constant is as good as the unit's own.
      std::string Own = NvccPtx::sourceName(Variable);
      if (!is_contained(Constants, Own))
        return findingError(textOf(BuildReason::DeviceVariable, {Own}));
      if (!is_contained(C.Copies, Own))
        C.Copies.push_back(Own);
    }
    Renames.push_back({Name, Symbol});
  }
  if (digestOfPlan(Own) != V.Canonical)
    return findingError(textOf(BuildReason::OtherVariantCode));
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-fatbin");
  if (!Dir)
    return Dir.takeError();
  if (Error E =
          writeFileAtomic(Dir->file("variant.ptx"), Ptx->renamed(Renames)))
    return E;
  std::vector<std::string> Command = {Nvcc.str(), "-fatbin",
                                      "-gencode=arch=" + virtualArch(Arch) +
                                          ",code=" + Arch};
  for (StringRef Arg : Flags.Ptxas)
    if (Arg.starts_with("-maxrregcount"))
      Command.push_back(Arg.str());
    else
      Command.push_back(("-Xptxas=" + Arg).str());
  Command.insert(Command.end(),
                 {Dir->file("variant.ptx"), "-o", Dir->file("variant.fatbin")});
  if (Error E = runNvcc(Command))
    return E;
  return readFile(Dir->file("variant.fatbin")).moveInto(C.Fatbin);
}

Expected<CompiledVariant>
compileNvccVariant(StringRef Nvcc, const BuildVariant &V, StringRef Source,
                   StringRef Original, const NvccDeviceFlags &Flags) {
  if (V.Plan.Launches.empty())
    return findingError(textOf(BuildReason::NoLaunch));
  CompiledVariant C;
  C.V = V;
  C.Symbols = variantSymbols(Original, V);
  NvccCacheEntry Cache(Nvcc, V, C.Symbols.front(), Source, Flags);
  if (Cache.load(C))
    return C;
  std::vector<std::string> Files;
  if (Error E = compileFatbin(Nvcc, C, Source, Flags, Files))
    return std::move(E);
  Cache.store(Files, C);
  return C;
}

} // namespace cupilot
