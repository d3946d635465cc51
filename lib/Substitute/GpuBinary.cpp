//===- GpuBinary.cpp - What a GPU binary holds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Support/Error.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace cupilot {

/// Layout of NVIDIA's fat binaries, as far as it is needed: a header, then
/// entries with headers of their own.
namespace fatbin {
constexpr uint32_t Magic = 0xBA55ED50;
constexpr size_t HeaderSize = 16;
constexpr uint16_t KindElf = 2;
} // namespace fatbin

Expected<GpuBinary> GpuBinary::parse(StringRef Bytes) {
  GpuBinary Result;
  if (Bytes.starts_with("BC\xC0\xDE")) {
    LLVMContext Context;
    Expected<std::unique_ptr<Module>> M =
        getLazyBitcodeModule(MemoryBufferRef(Bytes, "gpubinary"), Context);
    if (!M)
      return usageError("the embedded bitcode is broken: " +
                        toString(M.takeError()));
    Image I{Bytes, true, {}};
    for (const Function &F : **M)
      if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
        I.Names.push_back(F.getName().str());
    Result.Images.push_back(std::move(I));
    return Result;
  }
  if (Bytes.size() < fatbin::HeaderSize ||
      support::endian::read32le(Bytes.data()) != fatbin::Magic)
    return usageError("the embedded GPU binary has an unknown format");
  uint64_t Size = support::endian::read64le(Bytes.data() + 8);
  uint16_t Header = support::endian::read16le(Bytes.data() + 6);
  StringRef Rest = Bytes.substr(Header, Size);
  while (Rest.size() >= 16) {
    uint16_t Kind = support::endian::read16le(Rest.data());
    uint32_t EntryHeader = support::endian::read32le(Rest.data() + 4);
    uint64_t EntrySize = support::endian::read64le(Rest.data() + 8);
    if (EntryHeader < 16 || EntryHeader > Rest.size() ||
        EntrySize > Rest.size() - EntryHeader)
      return usageError("the embedded fat binary is broken");
    StringRef Data = Rest.substr(EntryHeader, EntrySize);
    // PTX is made from the same module as the machine code of its architecture.
    if (Kind == fatbin::KindElf)
      Result.Images.push_back({Data, false, {}});
    Rest = Rest.drop_front(EntryHeader + EntrySize);
  }
  return Result;
}

bool GpuBinary::allHold(StringRef Symbol) const {
  if (Images.empty())
    return false;
  // A cubin has a section of its own for each kernel, with a readable name.
  std::string Section = ".text." + Symbol.str();
  Section.push_back('\0');
  for (const Image &I : Images) {
    bool Holds =
        I.IsBitcode ? is_contained(I.Names, Symbol) : I.Bytes.contains(Section);
    if (!Holds)
      return false;
  }
  return true;
}

} // namespace cupilot
