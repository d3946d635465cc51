//===- Image.cpp - The device code that a program holds ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Image.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Ptx/Link.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/FatBinary.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <dlfcn.h>
#include <link.h>

using namespace llvm;

namespace cupilot {

/// What nvcc's host code passes (fatbinary_section.h): a fat binary, or with
/// relocatable device code what nvlink made, and the fat binaries of the units.
struct FatBinaryWrapper {
  uint32_t Magic, Version;
  const void *Data;
  const void *const *Units;
};
static constexpr uint32_t WrapperMagic = 0x466243B1, LinkedVersion = 2;

/// Bitcode is a sequence of blocks, each with its length in words (LLVM Bitcode
/// File Format, "ENTER_SUBBLOCK"). What follows it in the section is not ours.
static size_t bitcodeSize(const void *Start) {
  const auto *Bytes = static_cast<const unsigned char *>(Start);
  if (std::memcmp(Bytes, "BC\xC0\xDE", 4) != 0)
    return 0;
  size_t At = 4;
  for (;;) {
    uint32_t Head, Words;
    std::memcpy(&Head, Bytes + At, 4);
    std::memcpy(&Words, Bytes + At + 4, 4);
    uint32_t Abbrev = Head & 3, Block = Head >> 2 & 0xff;
    // IDENTIFICATION 13, MODULE 8, STRTAB 23, SYMTAB 25, summaries 20 and 24.
    bool Known = Block == 13 || Block == 8 || Block == 23 || Block == 25 ||
                 Block == 20 || Block == 24;
    if (Abbrev != 1 || !Known)
      return At;
    At += 8 + size_t(Words) * 4;
  }
}

std::string fileOf(const void *Address) {
  Dl_info Info;
  if (::dladdr(Address, &Info) && Info.dli_fname && *Info.dli_fname)
    return Info.dli_fname;
  return "the program";
}

/// Bytes from \p Start to the end of the part of a file that it is mapped from;
/// without bound in other memory.
static uint64_t mappedFrom(const void *Start) {
  struct Search {
    uint64_t Start, Left;
  } S = {reinterpret_cast<uint64_t>(Start), UINT64_MAX};
  ::dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *Data) {
        auto &S = *static_cast<Search *>(Data);
        for (unsigned I = 0; I < Info->dlpi_phnum; ++I) {
          const auto &Header = Info->dlpi_phdr[I];
          uint64_t Begin = Info->dlpi_addr + Header.p_vaddr;
          if (Header.p_type == PT_LOAD && S.Start >= Begin &&
              S.Start - Begin < Header.p_memsz)
            S.Left = Header.p_memsz - (S.Start - Begin);
        }
        return 0;
      },
      &S);
  return S.Left;
}

std::optional<DeviceImage> imageAt(const void *Start) {
  DeviceImage Image;
  FatBinaryWrapper Wrapper;
  std::memcpy(&Wrapper, Start, 8);
  const void *Data = Start;
  std::vector<const void *> All;
  if (Wrapper.Magic == WrapperMagic) {
    std::memcpy(&Wrapper, Start, sizeof(Wrapper));
    Data = Wrapper.Data;
    if (Wrapper.Version == LinkedVersion)
      for (const void *const *Unit = Wrapper.Units; Unit && *Unit; ++Unit)
        All.push_back(*Unit);
  }
  Image.Origin = fileOf(Data);
  if (size_t Size = bitcodeSize(Data)) {
    Image.Parts = {StringRef(static_cast<const char *>(Data), Size)};
    return Image;
  }
  if (All.empty())
    All.push_back(Data);
  Image.Form = ImageForm::FatBinary;
  for (const void *Each : All) {
    uint64_t Size = fatBinarySize(Each);
    // A broken one is told of when it is needed.
    if (Size == 0 && Wrapper.Magic != WrapperMagic)
      return std::nullopt;
    Size = std::min(std::max<uint64_t>(Size, 16), mappedFrom(Each));
    Image.Parts.push_back(StringRef(static_cast<const char *>(Each), Size));
  }
  return Image;
}

DeviceImage imageOf(std::string Bytes, std::string Origin) {
  DeviceImage Image;
  Image.Origin = std::move(Origin);
  Image.Owned = std::make_shared<const std::string>(std::move(Bytes));
  StringRef All = *Image.Owned;
  Image.Form = isFatBinary(All) ? ImageForm::FatBinary : ImageForm::Ptx;
  Image.Parts = {Image.Form == ImageForm::Ptx
                     ? All.take_until([](char C) { return C == '\0'; })
                     : All};
  return Image;
}

void own(DeviceImage &Image) {
  std::string Copy;
  for (StringRef Part : Image.Parts)
    Copy += Part;
  Image.Owned = std::make_shared<const std::string>(std::move(Copy));
  size_t At = 0;
  for (StringRef &Part : Image.Parts) {
    Part = StringRef(*Image.Owned).substr(At, Part.size());
    At += Part.size();
  }
}

/// The words of compute capability \p Arch in nvcc's flags.
static std::string embedding(unsigned Arch) {
  std::string Name = "compute_" + std::to_string(Arch);
  return "-gencode arch=" + Name + ",code=" + Name;
}

/// The PTX of the newest architecture that the described GPU could compile.
static Expected<std::string> ptxOf(StringRef FatBinary, const std::string &In,
                                   cudaError_t &Code) {
  unsigned Own = defaultGpu().capability();
  Code = cudaErrorInvalidKernelImage;
  Expected<std::vector<FatBinaryEntry>> Entries = readFatBinary(FatBinary);
  if (!Entries)
    return usageError("'" + In + "': " + toString(Entries.takeError()));
  const FatBinaryEntry *Best = nullptr;
  std::vector<std::string> Newer, Machine;
  for (const FatBinaryEntry &E : *Entries) {
    if (E.Kind == FatBinaryKind::Cubin)
      Machine.push_back("sm_" + std::to_string(E.Arch));
    if (E.Kind != FatBinaryKind::Ptx)
      continue;
    if (E.Arch > Own)
      Newer.push_back("compute_" + std::to_string(E.Arch));
    else if (!Best || E.Arch > Best->Arch)
      Best = &E;
  }
  Code = cudaErrorNoKernelImageForDevice;
  if (!Best && !Newer.empty())
    return usageError("'" + In + "' holds PTX for " + join(Newer, ", ") +
                          ", but the cpu device describes a GPU of compute "
                          "capability " +
                          Twine(Own / 10) + "." + Twine(Own % 10),
                      "add " + embedding(Own) + " to nvcc's flags");
  if (!Best)
    return usageError(
        "'" + In + "' holds " +
            (Machine.empty()
                 ? std::string("no device code")
                 : "machine code for " + join(Machine, ", ") + " alone") +
            "; the cpu device runs PTX",
        "add " + embedding(Own) + " to nvcc's flags; -arch=sm_" + Twine(Own) +
            " does so, too. What clang links with -fgpu-rdc never holds PTX; "
            "build it with nvcc -rdc=true, or use a GPU");
  Code = cudaErrorInvalidKernelImage;
  Expected<std::string> Text = contentsOf(*Best);
  if (!Text)
    return usageError("'" + In + "': " + toString(Text.takeError()));
  return Text;
}

/// The target of PTX, which may be of one architecture alone: "sm_100a".
static Error checkTarget(const ptx::Module &M, const std::string &In) {
  unsigned Own = defaultGpu().capability();
  for (StringRef Target : M.Target) {
    if (!Target.consume_front("sm_"))
      continue;
    unsigned Arch = 0;
    StringRef Suffix = Target.drop_while(isDigit);
    if (Target.drop_back(Suffix.size()).getAsInteger(10, Arch))
      continue;
    // "a" is that one alone, "f" its family, which shares the major number.
    bool Fits = Suffix == "a"   ? Arch == Own
                : Suffix == "f" ? Arch <= Own && Arch / 10 == Own / 10
                                : Arch <= Own;
    if (!Fits)
      return usageError("the PTX of '" + In + "' is for sm_" + Target +
                            ", but the cpu device describes a GPU of compute "
                            "capability " +
                            Twine(Own / 10) + "." + Twine(Own % 10),
                        "add " + embedding(Own) + " to nvcc's flags");
  }
  return Error::success();
}

/// Whether \p FatBinary is CUDA's library for device code, cudadevrt: its code
/// has names made of its file's.
static bool isDeviceRuntime(StringRef FatBinary) {
  Expected<std::vector<FatBinaryEntry>> Entries = readFatBinary(FatBinary);
  if (!Entries) {
    consumeError(Entries.takeError());
    return false;
  }
  return any_of(*Entries, [](const FatBinaryEntry &E) {
    Expected<std::string> Code = contentsOf(E);
    if (!Code) {
      consumeError(Code.takeError());
      return false;
    }
    return StringRef(*Code).contains("cuda_device_runtime_cu");
  });
}

static Expected<LoadedImage> loadPtxImage(const DeviceImage &Image,
                                          const CpuDeviceOptions &Options,
                                          cudaError_t &Code) {
  std::vector<ptx::Module> Units;
  for (StringRef Part : Image.Parts) {
    std::string Text;
    if (Image.Form == ImageForm::Ptx)
      Text = Part.str();
    else if (Error E = ptxOf(Part, Image.Origin, Code).moveInto(Text)) {
      // Kernels that call it are refused by name when they are launched.
      if (Image.Parts.size() > 1 && isDeviceRuntime(Part)) {
        consumeError(std::move(E));
        continue;
      }
      return std::move(E);
    }
    Code = cudaErrorInvalidPtx;
    Expected<ptx::Module> M = readPtx(std::move(Text));
    if (!M)
      return usageError("'" + Image.Origin + "': " + toString(M.takeError()));
    Code = cudaErrorNoKernelImageForDevice;
    if (Error E = checkTarget(*M, Image.Origin))
      return std::move(E);
    Units.push_back(std::move(*M));
  }
  Code = cudaErrorNoKernelImageForDevice;
  if (Units.empty())
    return usageError("'" + Image.Origin + "' holds no device code of its own");
  Code = cudaErrorInvalidPtx;
  std::optional<ptx::Module> Linked;
  if (Units.size() > 1) {
    Expected<ptx::Module> M = readPtx(ptx::link(Units));
    if (!M)
      return usageError("'" + Image.Origin +
                        "': the units' PTX cannot be "
                        "linked: " +
                        toString(M.takeError()));
    Linked = std::move(*M);
  }
  const ptx::Module &Source = Linked ? *Linked : Units.front();
  Expected<std::unique_ptr<CpuModule>> Module =
      loadPtx(StringRef(Source.text()), Options);
  if (!Module)
    return usageError("'" + Image.Origin +
                      "': " + toString(Module.takeError()));
  LoadedImage Result;
  Result.Module = std::move(*Module);
  Result.Facts = kernelFacts(Source);
  for (const ptx::Item &I : Source.Items)
    if (const auto *D = I.as<ptx::Declaration>())
      for (const ptx::Variable &V : D->Variables)
        if (V.Link != ptx::Linkage::Internal &&
            (V.In == ptx::Space::Global || V.In == ptx::Space::Const))
          Result.Variables.emplace_back(V.Name);
  return Result;
}

Expected<LoadedImage> loadImage(const DeviceImage &Image,
                                const CpuDeviceOptions &Options,
                                cudaError_t &Code) {
  if (Image.Form != ImageForm::Bitcode)
    return loadPtxImage(Image, Options, Code);
  Code = cudaErrorNoKernelImageForDevice;
  StringRef Bitcode = Image.Parts.front();
  Expected<std::unique_ptr<CpuModule>> Module =
      CpuModule::load(Bitcode, Options);
  if (!Module)
    return Module.takeError();
  LoadedImage Result;
  Result.Module = std::move(*Module);
  Result.Facts = kernelFacts(Bitcode);
  Result.Variables = Result.Module->globals();
  return Result;
}

} // namespace cupilot
