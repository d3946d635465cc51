//===- NvccVariant.cpp - Variants compiled by nvcc -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/MachineCache.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
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
    return resourceError("'" + Nvcc + " --version' does not print a version");
  return "nvcc-" + Parts[1].str();
}

/// "compute_90a" for "sm_90a".
static std::string virtualArch(StringRef Arch) {
  std::optional<Architecture> A = Architecture::parse(Arch);
  return A ? A->virtualName() : Arch.str();
}

static Error runNvcc(const std::vector<std::string> &Command,
                     std::optional<ProcessLimits> Limits = std::nullopt) {
  Expected<ProcessResult> R =
      Limits ? runProcess(Command, Limits->CpuSeconds, NoVariables,
                          static_cast<unsigned>(Limits->AddressBytes >> 20))
             : runProcess(Command, 0, NoVariables);
  if (!R)
    return R.takeError();
  if (R->TimedOut)
    return findingError("nvcc takes more than " + Twine(Limits->CpuSeconds) +
                        " s to compile it");
  if (R->Status != 0)
    return buildError(BuildReason::DoesNotCompile,
                      {StringRef(R->Err + R->Out).trim()});
  return Error::success();
}

/// The files whose text is in what a preprocessor wrote.
static std::vector<std::string> filesOf(StringRef Preprocessed) {
  std::vector<std::string> Files;
  StringSet<> Seen;
  for (StringRef Line : split(Preprocessed, '\n')) {
    // # 12 "/usr/include/stdlib.h" 1 3 4
    if (!Line.consume_front("# "))
      continue;
    unsigned Number = 0;
    if (Line.consumeInteger(10, Number) || !Line.consume_front(" \""))
      continue;
    std::string File;
    for (; !Line.empty() && Line.front() != '"'; Line = Line.drop_front()) {
      if (Line.front() == '\\' && Line.size() > 1)
        Line = Line.drop_front();
      File += Line.front();
    }
    if (Seen.insert(File).second)
      Files.push_back(std::move(File));
  }
  return Files;
}

Expected<NvccPtx> compileNvccPtx(StringRef Nvcc, StringRef Source,
                                 StringRef Arch, ArrayRef<std::string> Flags,
                                 std::vector<std::string> *Files,
                                 std::optional<ProcessLimits> Limits) {
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
        Dir->file("variant.ptx"), std::string("--keep"),
        std::string("--keep-dir"), Dir->path().str()})
    Command.push_back(Arg);
  if (Error E = runNvcc(Command, Limits))
    return std::move(E);
  if (Files) {
    // -MD would preprocess once more, for the host.
    Expected<std::string> Text =
        readFile(Dir->file((sys::path::stem(Source) + ".cpp1.ii").str()));
    if (Text)
      *Files = filesOf(*Text);
    else
      consumeError(Text.takeError());
  }
  Expected<std::string> Ptx = readFile(Dir->file("variant.ptx"));
  if (!Ptx)
    return Ptx.takeError();
  return NvccPtx::parse(std::move(*Ptx));
}

/// Before the names of constants, in the machine cache: no name of C++.
static constexpr const char *WaitsNote = "waits first";

/// Where the machine cache keeps what \p V becomes: its fat binary, and the
/// names that it has copies of.
static MachineCacheEntry cacheEntry(StringRef Nvcc, const BuildVariant &V,
                                    StringRef Symbol, StringRef Source,
                                    const OriginalCode &Original,
                                    const NvccDeviceFlags &Flags) {
  ErrorOr<std::string> Program = sys::findProgramByName(Nvcc);
  SmallString<256> Real;
  if (!Program || sys::fs::real_path(*Program, Real))
    return {};
  DigestBuilder Key;
  Key.add(CUPILOT_VERSION)
      .add(uint64_t(AdmissionVersion))
      .add("machine code, PTX and whether it waits")
      .add(V.SourceDigest)
      .add(V.Canonical)
      .add(V.When.Arch)
      .add(Symbol)
      .add(Flags.context())
      .add(uint64_t(Original.Prints));
  for (const std::string &Name : Original.Variables)
    Key.add(Name);
  for (const std::string &Flag : Flags.Flags)
    Key.add(Flag);
  // nvcc makes names of the path; they must not come from another store.
  Key.add(Source);
  for (StringRef Tool : {"nvcc", "ptxas", "fatbinary", "../nvvm/bin/cicc"})
    Key.add(MachineCacheEntry::describe(
        (sys::path::parent_path(Real) + "/" + Tool).str()));
  return {"nvcc", ".fatbin", Key};
}

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
/// and its names. \p Files, if given, gets the files that nvcc read.
static Error compileFatbin(StringRef Nvcc, CompiledVariant &C, StringRef Source,
                           const OriginalCode &Original,
                           const NvccDeviceFlags &Flags,
                           std::vector<std::string> *Files) {
  const BuildVariant &V = C.V;
  const std::string &Arch = V.When.Arch;
  Expected<std::string> Text = readVariant(V, Source);
  if (!Text)
    return Text.takeError();
  std::vector<std::string> Constants;
  Expected<std::vector<AdmissionFinding>> Findings =
      admit(*Text, admissionFlags(Nvcc, Arch, Flags), &Constants, &Original,
            sys::path::parent_path(Source));
  if (!Findings)
    return Findings.takeError();
  if (!Findings->empty())
    return buildError(
        BuildReason::Inadmissible,
        {utostr(Findings->front().Line), Findings->front().Message});
  Expected<NvccPtx> Ptx =
      compileNvccPtx(Nvcc, Source, Arch, Flags.Flags, Files);
  if (!Ptx)
    return Ptx.takeError();
  std::vector<std::pair<std::string, std::string>> Renames;
  std::vector<KernelIdentity> Own;
  for (auto [Kernel, Symbol] : zip_equal(V.Plan.symbols(), C.Symbols)) {
    std::string Name = Ptx->find(Kernel);
    if (Name.empty())
      return buildError(BuildReason::NoKernel, {Kernel});
    Expected<NvccPtx::Closure> Found = Ptx->closure(Name, Flags.context());
    if (!Found)
      return Found.takeError();
    Own.push_back({Name, digest(Found->Text), std::nullopt});
    C.WaitsFirst = V.Plan.Launches.size() == 1 && Ptx->waitsFirst(Name);
    if (Found->FunctionPointers)
      return buildError(BuildReason::FunctionPointers);
    for (const std::string &Variable : Found->Variables) {
      // A copy of a constant is as good as the unit's own.
      std::string Own = NvccPtx::sourceName(Variable);
      if (!is_contained(Constants, Own))
        return buildError(BuildReason::DeviceVariable, {Own});
      if (!is_contained(C.Copies, Own))
        C.Copies.push_back(Own);
    }
    Renames.push_back({Name, Symbol});
  }
  if (digestOfPlan(Own) != V.Canonical)
    return buildError(BuildReason::OtherVariantCode);
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-fatbin");
  if (!Dir)
    return Dir.takeError();
  if (Error E =
          writeFileAtomic(Dir->file("variant.ptx"), Ptx->renamed(Renames)))
    return E;
  // The PTX is for newer GPUs, as that of the original is, and for the cpu
  // device.
  std::vector<std::string> Command = {Nvcc.str(), "-fatbin",
                                      "-gencode=arch=" + virtualArch(Arch) +
                                          ",code=[" + Arch + "," +
                                          virtualArch(Arch) + "]"};
  for (const std::string &Arg : Flags.Ptxas)
    Command.push_back(is_contained(Flags.Flags, Arg) ? Arg : "-Xptxas=" + Arg);
  Command.insert(Command.end(),
                 {Dir->file("variant.ptx"), "-o", Dir->file("variant.fatbin")});
  if (Error E = runNvcc(Command))
    return E;
  return readFile(Dir->file("variant.fatbin")).moveInto(C.Fatbin);
}

Expected<CompiledVariant>
compileNvccVariant(StringRef Nvcc, const BuildVariant &V, StringRef Source,
                   StringRef Original, const OriginalCode &OriginalHas,
                   const NvccDeviceFlags &Flags) {
  if (V.Plan.Launches.empty())
    return buildError(BuildReason::NoLaunch);
  CompiledVariant C;
  C.V = V;
  C.Symbols = variantSymbols(Original, V);
  MachineCacheEntry Cache =
      cacheEntry(Nvcc, V, C.Symbols.front(), Source, OriginalHas, Flags);
  if (std::optional<CachedBytes> Known = Cache.load()) {
    C.Fatbin = std::move(Known->Bytes);
    // As they are stored below.
    C.WaitsFirst = !Known->Notes.empty() && Known->Notes.front() == WaitsNote;
    Known->Notes.erase(Known->Notes.begin(),
                       Known->Notes.begin() + C.WaitsFirst);
    C.Copies = std::move(Known->Notes);
    return C;
  }
  std::vector<std::string> Files;
  if (Error E = compileFatbin(Nvcc, C, Source, OriginalHas, Flags,
                              Cache ? &Files : nullptr))
    return std::move(E);
  if (!Files.empty()) {
    std::vector<std::string> Notes = C.Copies;
    if (C.WaitsFirst)
      Notes.insert(Notes.begin(), WaitsNote);
    Cache.store({C.Fatbin, std::move(Notes)}, Files);
  }
  return C;
}

std::vector<std::string> withLineInfo(ArrayRef<std::string> Flags) {
  std::vector<std::string> All = Flags.vec();
  if (!is_contained(All, "-lineinfo"))
    All.push_back("-lineinfo");
  return All;
}

} // namespace cupilot
