//===- GpuBinary.cpp - What a GPU binary holds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::support;

namespace cupilot {

/// Layout of NVIDIA's fat binaries, as far as it is needed: a header, then
/// entries with headers of their own. Little-endian.
namespace fatbin {
constexpr uint32_t Magic = 0xBA55ED50;
constexpr size_t HeaderSize = 16, EntryHeaderSize = 16;
constexpr uint16_t KindElf = 2;
// Fields of an entry's header, by offset.
constexpr size_t Kind = 0, HeaderBytes = 4, PayloadBytes = 8,
                 CompressedBytes = 16, Flags = 40, PlainBytes = 56,
                 FullHeader = 64;
constexpr uint64_t CompressedLz4 = 0x2000, CompressedZstd = 0x8000;
/// What a header says of the plain size is allocated before it is checked: no
/// more than a page and what the best compression of a cubin would give.
constexpr uint64_t MostRatio = 1024;
} // namespace fatbin

/// A cubin has a section ".text.KERNEL" for each kernel: their names, from the
/// table of section names, wherever it lies.
static std::vector<std::string> kernelsOfCubin(StringRef Elf) {
  static constexpr StringRef Prefix = ".text.";
  std::vector<std::string> Names;
  for (size_t At = Elf.find(Prefix); At != StringRef::npos;
       At = Elf.find(Prefix, At)) {
    // Also as the end of ".rela.text.KERNEL": tables share tails.
    At += Prefix.size();
    size_t End = Elf.find('\0', At);
    if (End != StringRef::npos)
      Names.push_back(Elf.slice(At, End).str());
  }
  sort(Names);
  return Names;
}

/// LLVM's reader allocates as many types as a record says there are. Each takes
/// a record of its own: no more than there are bytes.
static Error checkTypeCount(StringRef Bytes) {
  BitstreamCursor Cursor(Bytes);
  std::optional<BitstreamBlockInfo> Info;
  unsigned Depth = 0;
  bool Modules = false;
  if (Expected<SimpleBitstreamCursor::word_t> Magic = Cursor.Read(32); !Magic)
    return Magic.takeError();
  while (!Cursor.AtEndOfStream()) {
    Expected<BitstreamEntry> Entry =
        Cursor.advance(BitstreamCursor::AF_DontAutoprocessAbbrevs);
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::Error) {
      // What follows the last block, as padding, is not read by anybody.
      if (!Depth && Modules)
        break;
      return usageError("damaged block");
    }
    if (Entry->Kind == BitstreamEntry::EndBlock) {
      // advance() has left it; one that ends outside of all is an error there.
      --Depth;
      continue;
    }
    if (Entry->Kind == BitstreamEntry::SubBlock) {
      if (Entry->ID == bitc::BLOCKINFO_BLOCK_ID) {
        auto New = Cursor.ReadBlockInfoBlock();
        if (!New)
          return New.takeError();
        Info = std::move(*New);
        Cursor.setBlockInfo(Info ? &*Info : nullptr);
        continue;
      }
      bool Enter = Entry->ID == bitc::MODULE_BLOCK_ID ||
                   Entry->ID == bitc::TYPE_BLOCK_ID_NEW;
      if (Error E =
              Enter ? Cursor.EnterSubBlock(Entry->ID) : Cursor.SkipBlock())
        return E;
      Depth += Enter;
      Modules |= Entry->ID == bitc::MODULE_BLOCK_ID;
      continue;
    }
    if (Entry->ID == bitc::DEFINE_ABBREV) {
      if (Error E = Cursor.ReadAbbrevRecord())
        return E;
      continue;
    }
    SmallVector<uint64_t, 64> Record;
    Expected<unsigned> Code = Cursor.readRecord(Entry->ID, Record);
    if (!Code)
      return Code.takeError();
    // The same number means other things elsewhere, and bounds those too.
    if (*Code == bitc::TYPE_CODE_NUMENTRY && Record.size() == 1 &&
        Record[0] > Bytes.size())
      return usageError("more types than bytes");
  }
  return Error::success();
}

static Expected<std::vector<std::string>> kernelsOfBitcode(StringRef Bytes) {
  if (Error E = checkTypeCount(Bytes))
    return usageError("the embedded bitcode is broken: " +
                      toString(std::move(E)));
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M =
      getLazyBitcodeModule(MemoryBufferRef(Bytes, "gpubinary"), Context);
  if (!M)
    return usageError("the embedded bitcode is broken: " +
                      toString(M.takeError()));
  std::vector<std::string> Names;
  for (const Function &F : **M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      Names.push_back(F.getName().str());
  sort(Names);
  return Names;
}

/// The names of the kernels of the cubin in \p Payload, which may be
/// compressed, as \p Header says.
static Expected<std::vector<std::string>> kernelsOfEntry(StringRef Header,
                                                         StringRef Payload) {
  if (Header.size() < fatbin::FullHeader)
    return kernelsOfCubin(Payload);
  uint64_t Flags = endian::read64le(Header.data() + fatbin::Flags);
  if (Flags & fatbin::CompressedLz4)
    return usageError("the embedded GPU binary is compressed with LZ4");
  if (!(Flags & fatbin::CompressedZstd))
    return kernelsOfCubin(Payload);
  uint64_t Packed = endian::read32le(Header.data() + fatbin::CompressedBytes),
           Plain = endian::read64le(Header.data() + fatbin::PlainBytes);
  if (Packed > Payload.size() || Plain / fatbin::MostRatio > Packed + 4)
    return usageError("the embedded fat binary is broken");
  if (!compression::zstd::isAvailable())
    return usageError("the embedded GPU binary is compressed with zstd, which "
                      "this LLVM does not support");
  SmallVector<uint8_t, 0> Elf;
  if (Error E = compression::zstd::decompress(
          arrayRefFromStringRef(Payload.take_front(Packed)), Elf, Plain))
    return usageError("the embedded fat binary is broken: " +
                      toString(std::move(E)));
  return kernelsOfCubin(toStringRef(Elf));
}

Expected<GpuBinary> GpuBinary::parse(StringRef Bytes) {
  GpuBinary Result;
  if (Bytes.starts_with("BC\xC0\xDE")) {
    Expected<Image> Names = kernelsOfBitcode(Bytes);
    if (!Names)
      return Names.takeError();
    Result.Images.push_back(std::move(*Names));
    return std::move(Result);
  }
  if (Bytes.size() < fatbin::HeaderSize ||
      endian::read32le(Bytes.data()) != fatbin::Magic)
    return usageError("the embedded GPU binary has an unknown format");
  uint64_t Size = endian::read64le(Bytes.data() + 8);
  uint16_t Header = endian::read16le(Bytes.data() + 6);
  StringRef Rest = Bytes.substr(Header, Size);
  while (Rest.size() >= fatbin::EntryHeaderSize) {
    uint16_t Kind = endian::read16le(Rest.data() + fatbin::Kind);
    uint32_t HeaderBytes = endian::read32le(Rest.data() + fatbin::HeaderBytes);
    uint64_t Payload = endian::read64le(Rest.data() + fatbin::PayloadBytes);
    if (HeaderBytes < fatbin::EntryHeaderSize || HeaderBytes > Rest.size() ||
        Payload > Rest.size() - HeaderBytes)
      return usageError("the embedded fat binary is broken");
    // PTX is made from the same module as the machine code of its architecture.
    if (Kind == fatbin::KindElf) {
      Expected<Image> Names = kernelsOfEntry(Rest.take_front(HeaderBytes),
                                             Rest.substr(HeaderBytes, Payload));
      if (!Names)
        return Names.takeError();
      Result.Images.push_back(std::move(*Names));
    }
    Rest = Rest.drop_front(HeaderBytes + Payload);
  }
  return std::move(Result);
}

bool GpuBinary::allHold(StringRef Symbol) const {
  return !Images.empty() && all_of(Images, [&](const Image &Names) {
    return binary_search(Names, Symbol);
  });
}

bool GpuBinary::anyHolds(StringRef Prefix) const {
  return any_of(Images, [&](const Image &Names) {
    auto It = lower_bound(Names, Prefix);
    return It != Names.end() && StringRef(*It).starts_with(Prefix);
  });
}

} // namespace cupilot
