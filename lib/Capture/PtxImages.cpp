//===- PtxImages.cpp - The PTX in a program's files -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/PtxImages.h"
#include "Elf.h"
#include "cupilot/Portable/FatBinary.h"
#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cupilot::capture {

namespace {
/// A file that is mapped as long as this lives.
class Mapped {
public:
  explicit Mapped(const std::string &Path) {
    int File = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat Status;
    if (File >= 0 && ::fstat(File, &Status) == 0 && Status.st_size > 0) {
      void *At = ::mmap(nullptr, static_cast<size_t>(Status.st_size), PROT_READ,
                        MAP_PRIVATE, File, 0);
      if (At != MAP_FAILED)
        Bytes = {static_cast<const char *>(At),
                 static_cast<size_t>(Status.st_size)};
    }
    if (File >= 0)
      ::close(File);
  }
  ~Mapped() {
    if (!Bytes.empty())
      ::munmap(const_cast<char *>(Bytes.data()), Bytes.size());
  }
  Mapped(const Mapped &) = delete;
  Mapped &operator=(const Mapped &) = delete;
  std::string_view Bytes;
};
} // namespace

/// What stands behind each ".entry" of a text. It is not parsed: a program can
/// hold hundreds of megabytes.
static std::vector<std::string_view> entriesOf(std::string_view Text) {
  constexpr std::string_view Word = ".entry";
  std::vector<std::string_view> Names;
  for (size_t At = Text.find(Word); At != std::string_view::npos;
       At = Text.find(Word, At + 1)) {
    size_t Begin = Text.find_first_not_of(" \t\r\n", At + Word.size());
    size_t End = Text.find_first_of(" \t\r\n(", Begin);
    if (Begin > At + Word.size() && End != std::string_view::npos)
      Names.push_back(Text.substr(Begin, End - Begin));
  }
  return Names;
}

void PtxImages::addFatBinaries(const std::string &Path, std::string_view File,
                               std::string_view Section) {
  // One after the other, each at a multiple of 8 bytes.
  for (size_t At = 0; At + 16 <= Section.size();) {
    std::string_view Rest = Section.substr(At);
    uint64_t Size = fatBinarySize(Rest.data());
    std::vector<FatBinaryEntry> Entries;
    if (!Size || Size > Rest.size() ||
        readFatBinary(Rest.substr(0, Size), Entries)) {
      At += 8;
      continue;
    }
    for (size_t I = 0; I < Entries.size(); ++I) {
      std::string Text;
      if (Entries[I].Kind != FatBinaryKind::Ptx || Entries[I].unpack(Text))
        continue;
      auto Number = static_cast<uint32_t>(Images.size());
      for (std::string_view Name : entriesOf(Text))
        Kernels[std::string(Name)].push_back(Number);
      Images.push_back({Path, static_cast<uint64_t>(Rest.data() - File.data()),
                        I, Entries[I].Arch, std::hash<std::string>()(Text)});
    }
    At += (Size + 7) / 8 * 8;
  }
}

void PtxImages::add(const std::string &Path) {
  if (!Files.insert(Path).second)
    return;
  Mapped File(Path);
  std::optional<ElfFile> Elf = ElfFile::read(File.Bytes);
  if (!Elf)
    return;
  for (const auto &[Name, Header] : Elf->Sections)
    if (Name == ".nv_fatbin" || Name == "__nv_relfatbin")
      addFatBinaries(Path, File.Bytes, Elf->bytes(Header));
}

std::optional<std::string> PtxImages::find(const std::string &Kernel,
                                           unsigned Capability,
                                           std::string &Why) const {
  auto Known = Kernels.find(Kernel);
  const Image *Best = nullptr;
  bool Newer = false, Several = false;
  if (Known != Kernels.end())
    for (uint32_t Number : Known->second) {
      const Image &Each = Images[Number];
      if (Each.Arch > Capability) {
        Newer = true;
      } else if (!Best || Each.Arch > Best->Arch) {
        Best = &Each;
        Several = false;
      } else if (Each.Arch == Best->Arch) {
        Several |= Each.Hash != Best->Hash;
      }
    }
  if (!Best || Several) {
    Why = Several ? "several units of the program define a kernel of its name"
          : Newer ? "the program holds its PTX for newer GPUs alone"
                  : "the program holds no PTX of it";
    return std::nullopt;
  }
  Mapped File(Best->Path);
  std::string_view Rest =
      File.Bytes.substr(std::min<size_t>(Best->Offset, File.Bytes.size()));
  std::vector<FatBinaryEntry> Entries;
  std::string Text;
  if (readFatBinary(Rest, Entries) || Best->Number >= Entries.size() ||
      Entries[Best->Number].unpack(Text)) {
    Why = "'" + Best->Path + "' has changed";
    return std::nullopt;
  }
  return Text;
}

} // namespace cupilot::capture
