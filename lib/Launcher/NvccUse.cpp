//===- NvccUse.cpp - nvcc as the compiler of a build ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccUse.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace cupilot {

Expected<std::string> NvccUse::name() const {
  Expected<std::string> Name = nvccVersion(Nvcc);
  if (!Name)
    return Name;
  for (const std::string &Flag : Device.Flags)
    if (!StringRef(Flag).ltrim('-').starts_with("std="))
      *Name += " " + Flag;
  for (const std::string &Flag : Device.Ptxas)
    if (!is_contained(Device.Flags, Flag))
      *Name += " -Xptxas=" + Flag;
  return Name;
}

bool NvccUse::approximates() const {
  return any_of(Device.Flags, [](StringRef Flag) {
    Flag = Flag.ltrim('-');
    return Flag == "use_fast_math" || Flag == "prec-div=false" ||
           Flag == "prec-sqrt=false";
  });
}

std::vector<std::string> NvccUse::ptxasFlags() const {
  std::vector<std::string> Flags;
  for (const std::string &Flag : Device.Ptxas) {
    Flags.push_back("-Xcuda-ptxas");
    Flags.push_back(Flag);
  }
  return Flags;
}

/// The words of \p A, with a path for headers made absolute from \p Folder.
static std::vector<std::string>
wordsFrom(const opt::Arg &A, ArrayRef<std::string> Words, StringRef Folder) {
  static const unsigned Paths[] = {
      nvcc::OPT_include_path, nvcc::OPT_system_include, nvcc::OPT_pre_include};
  if (Folder.empty() || !is_contained(Paths, A.getOption().getID()))
    return Words;
  std::vector<std::string> From;
  SmallVector<StringRef> Parts;
  valueOf(A).split(Parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    SmallString<256> Path(Part);
    sys::path::make_absolute(Folder, Path);
    // A header may be looked up in the folders instead.
    const bool IsThere =
        sys::fs::exists(Path) || !A.getOption().matches(nvcc::OPT_pre_include);
    // Long names stand behind two dashes.
    From.push_back(("--" + A.getOption().getName()).str());
    From.push_back(IsThere ? Path.str().str() : Part.str());
  }
  return From;
}

Expected<NvccUse> readNvccUse(ArrayRef<std::string> Words, StringRef Folder) {
  Expected<NvccCommand> C = parseNvccCommand(Words.drop_front(), "", "");
  if (!C)
    return C.takeError();
  // Without a source, nvcc would compile nothing; flags say enough.
  const bool KeepsOriginals =
      C->Unchanged &&
      is_contained({BuildReason::DeviceLinkTime, BuildReason::DeviceDebug},
                   C->Unchanged->Reason);
  if (C->UnchangedRemark || KeepsOriginals)
    return usageError("'" + join(Words, " ") + "': " + C->Unchanged->text());
  NvccUse Use;
  Use.Nvcc = Words.front();
  Use.Device = C->Device;
  Use.Named = true;
  // The architecture and what is made are said here.
  auto Keep = [&](const opt::Arg &A, size_t First, size_t Last) {
    if (!is_contained<unsigned>({nvcc::OPT_gpu_architecture, nvcc::OPT_gpu_code,
                                 nvcc::OPT_generate_code, nvcc::OPT_output_file,
                                 nvcc::OPT_compile, nvcc::OPT_device_c,
                                 nvcc::OPT_device_w,
                                 nvcc::OPT_relocatable_device_code},
                                A.getOption().getID()))
      append_range(
          Use.UnitFlags,
          wordsFrom(A, ArrayRef(C->Args).slice(First, Last - First), Folder));
    return Error::success();
  };
  if (Error E = readOptions(nvccOptions(), C->Args, Keep))
    return std::move(E);
  // -dc says both, and of it this stays.
  if (C->Relocatable)
    Use.UnitFlags.emplace_back("-rdc=true");
  return std::move(Use);
}

Expected<std::optional<NvccUse>> readCompiler(StringRef Command) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  cl::TokenizeGNUCommandLine(Command, Saver, Words);
  if (Words.empty())
    return usageError("--compiler does not name a compiler");
  StringRef Name = sys::path::filename(Words.front());
  if (Name.starts_with("clang"))
    return std::nullopt;
  if (!isNvcc(Name))
    return usageError("'" + Command + "' is neither clang nor nvcc",
                      "--compiler='nvcc FLAGS'");
  ErrorOr<std::string> Program = sys::findProgramByName(Words.front());
  if (!Program || !sys::fs::can_execute(*Program)) // A path is taken as it is.
    return resourceError("cannot run '" + Twine(Words.front()) + "'");
  return readNvccUse(std::vector<std::string>(Words.begin(), Words.end()));
}

/// Families of options that change device code.
static bool changesDeviceCode(StringRef Name) {
  return any_of(ArrayRef<StringRef>({"Xclang", "mllvm", "Xarch_", "fgpu-",
                                     "ffp-", "ffast-math", "funsafe-math"}),
                [&](StringRef Family) { return Name.starts_with(Family); });
}

Expected<NvccUse> nvccUseFor(StringRef Nvcc, ArrayRef<std::string> Flags) {
  NvccUse Use;
  Use.Nvcc = Nvcc.str();
  auto Both = [&](const std::string &Flag) {
    for (std::vector<std::string> *Each : {&Use.UnitFlags, &Use.Device.Flags})
      if (!is_contained(*Each, Flag))
        Each->push_back(Flag);
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
    } else if (O.matches(o::OPT_ffast_math) ||
               O.matches(o::OPT_fgpu_approx_transcendentals)) {
      Both("--use_fast_math");
    } else if (O.matches(o::OPT_Xcuda_ptxas)) {
      if (Value.starts_with("-maxrregcount=")) // nvcc's own option.
        Both(Value.str());
      Use.Device.Ptxas.push_back(Value.str());
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

} // namespace cupilot
