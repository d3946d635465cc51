//===- Cubin.cpp - Names in a GPU binary -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Cubin.h"
#include "Elf.h"
#include <cstdint>

namespace cupilot::capture {

static bool startsWith(const std::string &Text, std::string_view Prefix) {
  return Text.compare(0, Prefix.size(), Prefix) == 0;
}

std::optional<CubinNames> readCubinNames(std::string_view Image) {
  std::optional<ElfFile> File = ElfFile::read(Image);
  if (!File)
    return std::nullopt;
  CubinNames Names;
  for (const auto &[Section, Header] : File->Sections) {
    if (startsWith(Section, ".text."))
      Names.Kernels.push_back(Section.substr(6));
    if (Header.sh_type != SHT_SYMTAB || Header.sh_link >= File->Sections.size())
      continue;
    std::string_view SymbolNames =
        File->bytes(File->Sections[Header.sh_link].Header);
    for (uint64_t At = 0; At + sizeof(Elf64_Sym) <= Header.sh_size;
         At += sizeof(Elf64_Sym)) {
      Elf64_Sym Symbol;
      if (!File->at(Header.sh_offset + At, Symbol))
        return std::nullopt;
      if (ELF64_ST_TYPE(Symbol.st_info) != STT_OBJECT || !Symbol.st_size ||
          Symbol.st_shndx >= File->Sections.size())
        continue;
      const std::string &Where = File->Sections[Symbol.st_shndx].Name;
      if (startsWith(Where, ".nv.global") || startsWith(Where, ".nv.constant"))
        Names.Variables.push_back(ElfFile::text(SymbolNames, Symbol.st_name));
    }
  }
  return Names;
}

} // namespace cupilot::capture
