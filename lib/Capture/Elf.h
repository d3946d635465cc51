//===- Elf.h - Sections of an ELF file --------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CAPTURE_ELF_H
#define CUPILOT_LIB_CAPTURE_ELF_H

#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::capture {

/// A 64-bit ELF file in memory, as far as its sections say.
class ElfFile {
public:
  struct Section {
    std::string Name;
    Elf64_Shdr Header;
  };
  /// Nothing for other files and damaged ones.
  static std::optional<ElfFile> read(std::string_view Image);

  std::vector<Section> Sections;

  template <typename T> bool at(uint64_t Offset, T &Out) const {
    if (Offset > Image.size() || Image.size() - Offset < sizeof(T))
      return false;
    std::memcpy(&Out, Image.data() + Offset, sizeof(T));
    return true;
  }
  /// Empty where they are not in the file.
  std::string_view bytes(const Elf64_Shdr &S) const {
    if (S.sh_type == SHT_NOBITS || S.sh_offset > Image.size() ||
        Image.size() - S.sh_offset < S.sh_size)
      return {};
    return Image.substr(S.sh_offset, S.sh_size);
  }
  /// The string at \p Offset of a string table.
  static std::string text(std::string_view Strings, uint64_t Offset) {
    if (Offset >= Strings.size())
      return {};
    std::string_view Rest = Strings.substr(Offset);
    return std::string(Rest.substr(0, Rest.find('\0')));
  }

private:
  std::string_view Image;
};

inline std::optional<ElfFile> ElfFile::read(std::string_view Image) {
  ElfFile File;
  File.Image = Image;
  Elf64_Ehdr Head;
  if (!File.at(0, Head) || std::memcmp(Head.e_ident, ELFMAG, SELFMAG) != 0 ||
      Head.e_ident[EI_CLASS] != ELFCLASS64 || Head.e_shstrndx >= Head.e_shnum)
    return std::nullopt;
  for (size_t I = 0; I < Head.e_shnum; ++I)
    if (!File.at(Head.e_shoff + I * sizeof(Elf64_Shdr),
                 File.Sections.emplace_back().Header))
      return std::nullopt;
  std::string_view Strings = File.bytes(File.Sections[Head.e_shstrndx].Header);
  for (Section &S : File.Sections)
    S.Name = text(Strings, S.Header.sh_name);
  return File;
}

} // namespace cupilot::capture

#endif // CUPILOT_LIB_CAPTURE_ELF_H
