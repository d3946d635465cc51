//===- Cubin.cpp - Names in a GPU binary -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Cubin.h"
#include <cstdint>
#include <cstring>
#include <elf.h>

namespace cupilot::capture {

namespace {
class Reader {
public:
  explicit Reader(std::string_view Image) : Image(Image) {}

  template <typename T> bool at(uint64_t Offset, T &Out) const {
    if (Offset > Image.size() || Image.size() - Offset < sizeof(T))
      return false;
    std::memcpy(&Out, Image.data() + Offset, sizeof(T));
    return true;
  }
  std::string_view bytes(const Elf64_Shdr &S) const {
    if (S.sh_offset > Image.size() || Image.size() - S.sh_offset < S.sh_size)
      return {};
    return Image.substr(S.sh_offset, S.sh_size);
  }
  static std::string text(std::string_view Strings, uint64_t Offset) {
    if (Offset >= Strings.size())
      return {};
    std::string_view Rest = Strings.substr(Offset);
    return std::string(Rest.substr(0, Rest.find('\0')));
  }

private:
  std::string_view Image;
};
} // namespace

static bool startsWith(const std::string &Text, std::string_view Prefix) {
  return Text.compare(0, Prefix.size(), Prefix) == 0;
}

std::optional<CubinNames> readCubinNames(std::string_view Image) {
  Reader In(Image);
  Elf64_Ehdr Head;
  if (!In.at(0, Head) || std::memcmp(Head.e_ident, ELFMAG, SELFMAG) != 0 ||
      Head.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  std::vector<Elf64_Shdr> Sections(Head.e_shnum);
  for (size_t I = 0; I < Sections.size(); ++I)
    if (!In.at(Head.e_shoff + I * sizeof(Elf64_Shdr), Sections[I]))
      return std::nullopt;
  if (Head.e_shstrndx >= Sections.size())
    return std::nullopt;
  std::string_view Strings = In.bytes(Sections[Head.e_shstrndx]);
  auto Name = [&](const Elf64_Shdr &S) {
    return Reader::text(Strings, S.sh_name);
  };
  CubinNames Names;
  for (const Elf64_Shdr &S : Sections) {
    std::string Section = Name(S);
    if (startsWith(Section, ".text."))
      Names.Kernels.push_back(Section.substr(6));
    if (S.sh_type != SHT_SYMTAB || S.sh_link >= Sections.size())
      continue;
    std::string_view SymbolNames = In.bytes(Sections[S.sh_link]);
    for (uint64_t At = 0; At + sizeof(Elf64_Sym) <= S.sh_size;
         At += sizeof(Elf64_Sym)) {
      Elf64_Sym Symbol;
      if (!In.at(S.sh_offset + At, Symbol))
        return std::nullopt;
      if (ELF64_ST_TYPE(Symbol.st_info) != STT_OBJECT || !Symbol.st_size ||
          Symbol.st_shndx >= Sections.size())
        continue;
      std::string Where = Name(Sections[Symbol.st_shndx]);
      if (startsWith(Where, ".nv.global") || startsWith(Where, ".nv.constant"))
        Names.Variables.push_back(Reader::text(SymbolNames, Symbol.st_name));
    }
  }
  return Names;
}

} // namespace cupilot::capture
