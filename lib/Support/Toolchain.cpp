//===- Toolchain.cpp - The compiler and the CUDA toolkit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Toolchain.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

namespace cupilot {

static bool isToolkit(StringRef Path) {
  return !Path.empty() && sys::fs::exists(Path + "/include/cuda_runtime.h");
}

static std::string findToolkit(ArrayRef<std::string> Flags) {
  for (StringRef Flag : Flags)
    if (Flag.consume_front("--cuda-path="))
      return Flag.str();
  for (const char *Name : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *Value = std::getenv(Name); Value && isToolkit(Value))
      return Value;
  for (StringRef Path :
       {StringRef(CUPILOT_CUDA_PATH), StringRef("/usr/local/cuda")})
    if (isToolkit(Path))
      return Path.str();
  return "";
}

unsigned Toolchain::headerVersion() const {
  Expected<std::string> Text =
      readFile(CudaPath + "/include/cuda_runtime_api.h");
  if (!Text) {
    consumeError(Text.takeError());
    return 0;
  }
  StringRef Rest = StringRef(*Text).split("#define CUDART_VERSION").second;
  unsigned Version = 0;
  Rest.ltrim().consumeInteger(10, Version);
  return Version;
}

Expected<Toolchain> Toolchain::find(ArrayRef<std::string> Flags) {
  Toolchain Tools;
  ErrorOr<std::string> Clang =
      sys::findProgramByName("clang++", {CUPILOT_LLVM_BIN});
  if (!Clang)
    Clang =
        sys::findProgramByName("clang++-" + std::to_string(CUPILOT_LLVM_MAJOR));
  if (!Clang)
    return resourceError("clang++ 22 was not found",
                         "on Debian: apt-get install " CUPILOT_CLANG);
  Tools.Clang = *Clang;
  Tools.CudaPath = findToolkit(Flags);
  if (!Tools.CudaPath.empty())
    if (auto Ptxas = sys::findProgramByName("ptxas", {Tools.CudaPath + "/bin"}))
      Tools.Ptxas = *Ptxas;
  return Tools;
}

Expected<Toolchain> Toolchain::findCuda(ArrayRef<std::string> Flags) {
  Expected<Toolchain> Tools = find(Flags);
  if (Tools && Tools->CudaPath.empty())
    return resourceError("no CUDA toolkit was found",
                         "install one, or name it with --cuda-path=");
  return Tools;
}

/// Whether clang would find another toolkit's headers: it looks through the
/// system's folders before that of --cuda-path. Debian's toolkit lies there.
static bool isShadowed(StringRef CudaPath) {
  std::string Ours = (CudaPath + "/include/cuda_runtime.h").str();
  for (StringRef Folder : {"/usr/local/include", "/usr/include"}) {
    std::string Theirs = (Folder + "/cuda_runtime.h").str();
    if (sys::fs::exists(Theirs))
      return sys::fs::exists(Ours) && !sys::fs::equivalent(Ours, Theirs);
  }
  return false;
}

/// The folder of the library that this code is part of: cuPilot's plugins run
/// in programs of others. "" in a program.
static std::string folderOfLibrary() {
  Dl_info Self;
  if (!dladdr(reinterpret_cast<void *>(&folderOfLibrary), &Self) ||
      !StringRef(Self.dli_fname).ends_with(".so"))
    return "";
  SmallString<256> Real;
  if (sys::fs::real_path(Self.dli_fname, Real))
    return "";
  return sys::path::parent_path(Real).str();
}

const std::string &nvccHeader() {
  static const std::string Path = [] {
    std::string Plugins = folderOfLibrary();
    for (const std::string &Place :
         {Plugins.empty() ? "" : Plugins + "/cupilot-nvcc.h",
          installedPath("lib/cupilot-nvcc.h"),
          std::string(CUPILOT_SOURCE_DIR "/lib/Compile/cupilot-nvcc.h")}) {
      SmallString<256> Real;
      if (!Place.empty() && !sys::fs::real_path(Place, Real))
        return Real.str().str();
    }
    return std::string();
  }();
  return Path;
}

/// The folder of the newest gcc's own headers: omp.h is one of them. "" if
/// there is none.
static const std::string &gccHeaders() {
  static const std::string Newest = [] {
    std::string Found;
    unsigned Best = 0;
    std::error_code EC;
    for (sys::fs::directory_iterator Triple("/usr/lib/gcc", EC), End;
         !EC && Triple != End; Triple.increment(EC)) {
      std::error_code Inner;
      for (sys::fs::directory_iterator Version(Triple->path(), Inner);
           !Inner && Version != End; Version.increment(Inner)) {
        unsigned Major = 0;
        StringRef Name = sys::path::filename(Version->path());
        if (Name.consumeInteger(10, Major) || Major <= Best ||
            !sys::fs::exists(Version->path() + "/include/omp.h"))
          continue;
        Best = Major;
        Found = Version->path() + "/include";
      }
    }
    return Found;
  }();
  return Newest;
}

std::vector<std::string>
Toolchain::cudaCommand(ArrayRef<std::string> Flags) const {
  std::vector<std::string> Command = {Clang, "-Wno-unknown-cuda-version",
                                      "-Wno-register"};
  if (!CudaPath.empty()) {
    Command.push_back("--cuda-path=" + CudaPath);
    if (isShadowed(CudaPath)) {
      Command.push_back("-isystem");
      Command.push_back(CudaPath + "/include");
    }
    if (sys::fs::is_directory(CudaPath + "/include/cccl"))
      Command.push_back("-I" + CudaPath + "/include/cccl");
  }
  if (!nvccHeader().empty())
    Command.insert(Command.end(), {"-include", nvccHeader()});
  if (!gccHeaders().empty())
    Command.insert(Command.end(), {"-idirafter", gccHeaders()});
  for (const std::string &Flag : Flags)
    if (!StringRef(Flag).starts_with("--cuda-path=") && Flag != NvccMacroFlag)
      Command.push_back(Flag);
  return Command;
}

Expected<std::string> compileDevice(StringRef Source, StringRef Arch,
                                    ArrayRef<std::string> Flags,
                                    ArrayRef<StringRef> Output) {
  Expected<Toolchain> Tools = Toolchain::findCuda(Flags);
  if (!Tools)
    return Tools.takeError();
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-cc");
  if (!Dir)
    return Dir.takeError();
  std::string Out = Dir->file("device");
  std::vector<std::string> Command =
      Tools->cudaCommand(withoutArchitectures(Flags));
  for (StringRef Arg : Output)
    Command.push_back(Arg.str());
  for (const std::string &Arg :
       {std::string("-x"), std::string("cuda"),
        std::string("--cuda-device-only"), std::string("-o"), Out,
        ("--cuda-gpu-arch=" + Arch).str(), Source.str()})
    Command.push_back(Arg);
  Expected<ProcessResult> Result = runProcess(Command);
  if (!Result)
    return Result.takeError();
  if (Result->Status != 0)
    return usageError("'" + Source + "' does not compile for " + Arch + ":\n" +
                          Result->Err,
                      "the command was: " + shellQuoted(Command));
  return readFile(Out);
}

ArrayRef<StringRef> bitcodeOutput() {
  static const StringRef Args[] = {"-emit-llvm", "-c", "-Xclang",
                                   "-disable-llvm-passes"};
  return Args;
}

} // namespace cupilot
