//===- CpuProgram.cpp - Programs of nvcc on the cpu device ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/CpuProgram.h"
#include "cupilot/Support/CudaLibraries.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>

using namespace llvm;

namespace cupilot {

bool hasGpu() {
  void *Library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    return false;
  auto Find = [&](const char *Name) { return ::dlsym(Library, Name); };
  auto *Init = reinterpret_cast<int (*)(unsigned)>(Find("cuInit"));
  auto *Count = reinterpret_cast<int (*)(int *)>(Find("cuDeviceGetCount"));
  int Number = 0;
  return Init && Count && Init(0) == 0 && Count(&Number) == 0 && Number > 0;
}

std::string cudaLibraryFolder() {
  std::string Folder = installedPath("lib/cupilot-cuda");
  return sys::fs::is_directory(Folder) ? Folder : "";
}

/// What the file's dynamic section needs; nothing where there is none.
static std::vector<std::string> neededBy(StringRef Program) {
  ErrorOr<std::string> Path = sys::findProgramByName(Program);
  if (!Path)
    return {};
  Expected<object::OwningBinary<object::Binary>> File =
      object::createBinary(*Path);
  if (!File) {
    consumeError(File.takeError());
    return {};
  }
  const auto *Elf = dyn_cast<object::ELF64LEObjectFile>(File->getBinary());
  if (!Elf)
    return {};
  const auto &Header = Elf->getELFFile();
  auto Entries = Header.dynamicEntries();
  if (!Entries) {
    consumeError(Entries.takeError());
    return {};
  }
  StringRef Names;
  for (const auto &Entry : *Entries) {
    if (Entry.getTag() != ELF::DT_STRTAB)
      continue;
    auto At = Header.toMappedAddr(Entry.getPtr());
    if (!At) {
      consumeError(At.takeError());
      return {};
    }
    StringRef All = Elf->getData();
    Names = All.drop_front(
        static_cast<size_t>(reinterpret_cast<const char *>(*At) - All.data()));
  }
  std::vector<std::string> Needed;
  for (const auto &Entry : *Entries)
    if (Entry.getTag() == ELF::DT_NEEDED && Entry.getVal() < Names.size())
      Needed.push_back(Names.drop_front(Entry.getVal())
                           .take_until([](char C) { return C == '\0'; })
                           .str());
  return Needed;
}

std::vector<std::string> cudaLibrariesOf(StringRef Program) {
  std::vector<std::string> Libraries = neededBy(Program);
  erase_if(Libraries, [](StringRef Name) { return !isCudaLibrary(Name); });
  return Libraries;
}

Error checkRuntimeOf(StringRef Program) {
  std::string Folder = cudaLibraryFolder();
  for (StringRef Name : neededBy(Program)) {
    StringRef Version = Name;
    if (!Version.consume_front("libcudart.so.") ||
        sys::fs::exists(Folder + "/" + Name))
      continue;
    return resourceError(
        "'" + Program + "' needs " + Name +
            ", which this cuPilot has no version of for the cpu device",
        "build the program with another CUDA toolkit, or cuPilot with the "
        "headers of CUDA " +
            Version + " (-DCUPILOT_CUDART_HEADERS=FOLDER)");
  }
  return Error::success();
}

Expected<std::string> cudaFolderFor(StringRef Program) {
  // Without a GPU, programs of nvcc find the cpu device in CUDA's place.
  if (hasGpu())
    return "";
  if (Error E = checkRuntimeOf(Program))
    return E;
  return cudaLibraryFolder();
}

Error checkLibrariesOf(StringRef Program, StringRef WayOut) {
  std::vector<std::string> Libraries = cudaLibrariesOf(Program);
  if (Libraries.empty())
    return Error::success();
  return resourceError("'" + Program + "' cannot be loaded; it needs " +
                           join(Libraries, ", ") +
                           ", whose code is for GPUs alone",
                       WayOut);
}

} // namespace cupilot
