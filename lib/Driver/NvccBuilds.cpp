//===- NvccBuilds.cpp - What builds by nvcc need of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/NvccBuilds.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

/// Families of options that change device code.
static bool changesDeviceCode(StringRef Name) {
  return any_of(
      ArrayRef<StringRef>({"Xclang", "mllvm", "Xarch_", "Xcuda-ptxas", "fgpu-",
                           "ffp-", "ffast-math", "funsafe-math"}),
      [&](StringRef Family) { return Name.starts_with(Family); });
}

/// What nvcc is told for clang's \p Flags. Flags that change device code and
/// have no counterpart are a finding.
static Expected<NvccUse> translate(StringRef Nvcc,
                                   ArrayRef<std::string> Flags) {
  NvccUse Use;
  Use.Nvcc = Nvcc.str();
  auto Both = [&](const std::string &Flag) {
    Use.UnitFlags.push_back(Flag);
    Use.Device.Flags.push_back(Flag);
  };
  auto Take = [&](const opt::Arg &A, size_t First, size_t Last) -> Error {
    namespace o = clang::options;
    const opt::Option &O = A.getOption();
    StringRef Value = valueOf(A);
    if (Flags[First] == NvccMacroFlag) // It knows.
      return Error::success();
    if (is_contained<unsigned>(
            {o::OPT_D, o::OPT_U, o::OPT_I, o::OPT_isystem, o::OPT_include},
            O.getID())) {
      Use.UnitFlags.push_back(O.getPrefixedName().str());
      Use.UnitFlags.push_back(Value.str());
    } else if (O.matches(o::OPT_std_EQ)) {
      if (!Value.consume_front("gnu"))
        Value.consume_front("c");
      Both("-std=c" + Value.str());
    } else if (O.matches(o::OPT_ffp_contract) && Value == "off") {
      Both("-fmad=false");
    } else if (O.matches(o::OPT_fgpu_flush_denormals_to_zero)) {
      Both("-ftz=true");
    } else if (O.matches(o::OPT_ffp_contract)
                   ? Value != "fast" && Value != "on"
                   : O.matches(o::OPT_O0) || changesDeviceCode(O.getName())) {
      return findingError(
          "'" + Flags[First] +
          "' has no equivalent in nvcc; name the command with --compiler");
    }
    return Error::success();
  };
  if (Error E = readClangFlags(Flags, Take))
    return std::move(E);
  return Use;
}

/// A command that the user named; nothing for clang's.
static Expected<std::optional<NvccUse>> readCommand(StringRef Text) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  cl::TokenizeGNUCommandLine(Text, Saver, Words);
  if (Words.empty())
    return usageError("--compiler does not name a compiler");
  StringRef Name = sys::path::filename(Words.front());
  if (Name.starts_with("clang"))
    return std::nullopt;
  if (!isNvcc(Name))
    return usageError("'" + Text + "' is neither clang nor nvcc",
                      "--compiler='nvcc FLAGS'");
  if (!sys::findProgramByName(Words.front()))
    return resourceError("cannot run '" + Twine(Words.front()) + "'");
  std::vector<std::string> Args(Words.begin() + 1, Words.end());
  Expected<NvccCommand> C = parseNvccCommand(Args, "", "");
  if (!C)
    return C.takeError();
  if (C->UnchangedRemark)
    return usageError("'" + Text + "': " + C->Unchanged->text());
  NvccUse Use;
  Use.Nvcc = Words.front();
  Use.Device = C->Device;
  Use.Named = true;
  // The architecture and what is made are said here.
  auto Keep = [&](const opt::Arg &A, size_t First, size_t Last) {
    if (!is_contained<unsigned>({nvcc::OPT_gpu_architecture, nvcc::OPT_gpu_code,
                                 nvcc::OPT_generate_code, nvcc::OPT_output_file,
                                 nvcc::OPT_compile, nvcc::OPT_device_c},
                                A.getOption().getID()))
      append_range(Use.UnitFlags, ArrayRef(C->Args).slice(First, Last - First));
    return Error::success();
  };
  if (Error E = readOptions(nvccOptions(), C->Args, Keep))
    return std::move(E);
  return std::move(Use);
}

/// Those of nvcc's \p Flags that change what arithmetic means.
static std::vector<std::string> arithmetic(ArrayRef<std::string> Flags) {
  std::vector<std::string> Found;
  for (StringRef Flag : Flags) {
    Flag = Flag.ltrim('-');
    if (is_contained({"ftz=true", "prec-div=false", "prec-sqrt=false",
                      "fmad=false", "use_fast_math"},
                     Flag))
      Found.push_back(Flag.str());
  }
  llvm::sort(Found);
  return Found;
}

/// The gate judged what clang made with \p Flags: an nvcc that computes
/// otherwise would run what nobody judged.
static Error checkArithmetic(const NvccUse &Use, StringRef Text,
                             ArrayRef<std::string> Flags) {
  Expected<NvccUse> Judged = translate(Use.Nvcc, Flags);
  if (!Judged)
    return Judged.takeError();
  if (arithmetic(Use.Device.Flags) == arithmetic(Judged->Device.Flags))
    return Error::success();
  return usageError(
      "'" + Text +
          "' changes arithmetic in a way that the flags of the search do not, "
          "and the gate ran code compiled with those flags",
      "use equivalent flags for both: -ffp-contract=off is -fmad=false, "
      "-fgpu-flush-denormals-to-zero is -ftz=true");
}

static Expected<std::string> identityIn(StringRef Source,
                                        ArrayRef<std::string> Symbols,
                                        const std::string &Arch,
                                        const NvccUse &Use,
                                        ArrayRef<std::string> Flags) {
  Expected<NvccPtx> Ptx = compileNvccPtx(Use.Nvcc, Source, Arch, Flags);
  if (!Ptx)
    return Ptx.takeError();
  std::vector<KernelIdentity> Kernels;
  for (const std::string &Name : Symbols) {
    std::string Symbol = Ptx->find(Name);
    if (Symbol.empty())
      return findingError("nvcc emits no code for it");
    Kernels.push_back(Ptx->identify(Symbol, Use.Device.context()));
    if (Kernels.back().Digest.empty())
      return make_error<BuildError>(*Kernels.back().Refusal);
  }
  return digestOfPlan(Kernels);
}

/// The identity of a text that stands alone.
static Expected<std::string> identityOf(StringRef Text,
                                        ArrayRef<std::string> Symbols,
                                        const std::string &Arch,
                                        const NvccUse &Use) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-nvcc");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("text.cu"), Text))
    return std::move(E);
  return identityIn(Dir->file("text.cu"), Symbols, Arch, Use, Use.Device.Flags);
}

/// A template argument of \p K is a lambda.
static bool hasLambda(const Kernel &K) {
  return StringRef(K.Name).contains("(lambda ");
}

/// One compiler's records; a finding says why there are none.
static Error record(StoredKernel &S, StringRef Unit, const std::string &Arch,
                    const NvccUse &Use, raw_ostream &Log) {
  Expected<std::string> Version = nvccVersion(Use.Nvcc);
  if (!Version)
    return Version.takeError();
  Expected<std::string> Own = identityOf(S.K.Slice, S.K.Symbol, Arch, Use);
  if (!Own)
    return Own.takeError();
  if (!Unit.empty()) {
    Expected<std::string> Whole =
        identityIn(Unit, S.K.Symbol, Arch, Use, Use.UnitFlags);
    if (!Whole)
      return Whole.takeError();
    if (*Whole != *Own)
      return findingError(Twine("the device code of its slice differs from "
                                "that of the whole unit") +
                          (hasLambda(S.K)
                               ? ": nvcc wraps a '__host__ __device__' lambda "
                                 "in another type; make it '__device__'"
                               : ""));
  }
  if (any_of(S.Builds, [&](const BuildEntry &B) { return B.Digest == *Own; }))
    return Error::success(); // Of two commands that mean the same.
  // Evidence is for one command: two of one version must not be confused.
  std::string Compiler = *Version;
  for (const std::string &Flag : Use.Device.Flags)
    if (!StringRef(Flag).ltrim('-').starts_with("std="))
      Compiler += " " + Flag;
  for (const std::string &Flag : Use.Device.Ptxas)
    Compiler += " " + Flag;
  bool Any = false;
  for (auto [V, Source] : zip(S.Variants, S.Sources)) {
    const Measurement *Proof = nullptr;
    for (const Measurement &M : V.Evidence)
      if (M.Arch == Arch && !isMadeByNvcc(M.Compiler))
        Proof = &M;
    if (!Proof)
      continue;
    Expected<std::string> Digest = identityOf(
        Source,
        V.Plan ? V.Plan->symbols() : std::vector<std::string>{S.K.Symbol}, Arch,
        Use);
    if (!Digest) {
      Log << "  " << *Version << ": " << V.Name
          << " left out: " << toString(Digest.takeError()) << "\n";
      continue;
    }
    Measurement M = *Proof;
    M.Compiler = Compiler;
    M.Digest = *Digest;
    V.Evidence.push_back(std::move(M));
    Any = true;
  }
  if (Any)
    S.Builds.push_back({Compiler, Arch, *Own});
  return Error::success();
}

Expected<std::string> nvccIdentity(const Kernel &K, StringRef Unit,
                                   const std::string &Arch,
                                   ArrayRef<std::string> Flags,
                                   const std::string &Compiler) {
  Expected<std::optional<NvccUse>> Use = readCommand(Compiler);
  if (!Use)
    return Use.takeError();
  if (!*Use)
    return usageError("'" + Compiler + "' is not nvcc");
  if (is_contained(arithmetic((*Use)->Device.Flags), "use_fast_math"))
    return findingError("cannot prove variants for '" + Compiler +
                        "': --use_fast_math changes division, and the gate ran "
                        "clang's code");
  if (Error E = checkArithmetic(**Use, Compiler, Flags))
    return std::move(E);
  return identityIn(Unit, K.Symbol, Arch, **Use, (*Use)->UnitFlags);
}

/// Passes on why an nvcc is left out, when that is a finding.
static Error leaveOut(Error E, raw_ostream &Log) {
  return absorbFinding(std::move(E), [&](StringRef Why) {
    Log << "  nvcc left out: " << Why << "\n";
  });
}

Expected<std::vector<NvccUse>> nvccUses(ArrayRef<std::string> Flags,
                                        ArrayRef<std::string> Compilers,
                                        raw_ostream &Log) {
  std::vector<NvccUse> Uses;
  for (const std::string &Text : Compilers) {
    Expected<std::optional<NvccUse>> Use = readCommand(Text);
    if (!Use)
      return Use.takeError();
    if (!*Use)
      continue;
    if (Error E = checkArithmetic(**Use, Text, Flags)) {
      if (Error Other = leaveOut(std::move(E), Log))
        return std::move(Other);
      continue;
    }
    Uses.push_back(std::move(**Use));
  }
  if (!Compilers.empty())
    return Uses;
  Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  std::string Nvcc = Tools->CudaPath + "/bin/nvcc";
  if (Tools->CudaPath.empty() || !sys::fs::can_execute(Nvcc))
    return Uses;
  Expected<NvccUse> Use = translate(Nvcc, Flags);
  if (Use)
    Uses.push_back(std::move(*Use));
  else if (Error E = leaveOut(Use.takeError(), Log))
    return std::move(E);
  return Uses;
}

Error recordNvcc(StoredKernel &S, StringRef Unit, const std::string &Arch,
                 ArrayRef<NvccUse> Uses, raw_ostream &Log) {
  for (NvccUse Use : Uses) {
    if (!Use.Named && hasLambda(S.K)) // No nvcc builds the unit without.
      for (std::vector<std::string> *Given :
           {&Use.UnitFlags, &Use.Device.Flags})
        Given->push_back("--extended-lambda");
    if (Error E = leaveOut(record(S, Unit, Arch, Use, Log), Log))
      return E;
  }
  return Error::success();
}

} // namespace cupilot
