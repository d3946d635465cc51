//===- GpuBinary.cpp - What a GPU binary holds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/FatBinary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace cupilot {

/// llvm::object::OffloadBinary's.
static constexpr StringLiteral OffloadMagic = "\x10\xFF\x10\xAD";

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

/// Calls \p Take with each image for CUDA that clang's new driver packed for
/// its linker: the format of llvm::object::OffloadBinary, whose reader trusts
/// the offsets of the strings, which are of no interest here.
static Error forEachPackedImage(StringRef Bytes,
                                function_ref<Error(StringRef)> Take) {
  using namespace support::endian;
  constexpr size_t HeaderSize = 32, EntrySize = 40;
  auto Broken = [] { return usageError("the offloading binary is broken"); };
  while (!Bytes.empty()) {
    if (!Bytes.starts_with(OffloadMagic) || Bytes.size() < HeaderSize)
      return Broken();
    const char *Header = Bytes.data();
    uint64_t Size = read64le(Header + 8), At = read64le(Header + 16);
    if (Size > Bytes.size() || Size < HeaderSize + EntrySize ||
        At > Size - EntrySize)
      return Broken();
    const char *Entry = Header + At;
    uint64_t Image = read64le(Entry + 24), Length = read64le(Entry + 32);
    if (Image > Size || Length > Size - Image)
      return Broken();
    if (read16le(Entry + 2) == object::OFK_Cuda)
      if (Error E = Take(Bytes.substr(Image, Length)))
        return E;
    Bytes = Bytes.drop_front(Size);
  }
  return Error::success();
}

Expected<GpuBinary> GpuBinary::parse(StringRef Bytes) {
  GpuBinary Result;
  if (Bytes.starts_with(OffloadMagic)) {
    auto Take = [&](StringRef Image) -> Error {
      if (Image.starts_with("\x7f"
                            "ELF")) {
        Result.Images.push_back(kernelsOfCubin(Image));
        return Error::success();
      }
      if (Image.starts_with(OffloadMagic))
        return usageError("the embedded GPU binary has an unknown format");
      Expected<GpuBinary> Inner = parse(Image);
      if (!Inner)
        return Inner.takeError();
      append_range(Result.Images, Inner->Images);
      return Error::success();
    };
    if (Error E = forEachPackedImage(Bytes, Take))
      return std::move(E);
    return std::move(Result);
  }
  if (Bytes.starts_with("BC\xC0\xDE")) {
    Expected<Image> Names = kernelsOfBitcode(Bytes);
    if (!Names)
      return Names.takeError();
    Result.Images.push_back(std::move(*Names));
    return std::move(Result);
  }
  if (!isFatBinary(Bytes))
    return usageError("the embedded GPU binary has an unknown format");
  Expected<std::vector<FatBinaryEntry>> Entries = readFatBinary(Bytes);
  if (!Entries)
    return Entries.takeError();
  for (const FatBinaryEntry &E : *Entries) {
    // PTX is made from the same module as the machine code of its architecture.
    if (E.Kind != FatBinaryKind::Cubin)
      continue;
    Expected<std::string> Elf = contentsOf(E);
    if (!Elf)
      return Elf.takeError();
    Result.Images.push_back(kernelsOfCubin(*Elf));
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
