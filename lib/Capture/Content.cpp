//===- Content.cpp - Contents of buffers by digest -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Content.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Files.h"
#include <unistd.h>
#include <zstd.h>

namespace cupilot::capture {

std::optional<Failure> writeWhole(const std::string &Path,
                                  std::string_view Bytes) {
  if (std::error_code Error = replaceFile(Path, Bytes))
    return Failure(FailureKind::Disk,
                   "cannot write '" + Path + "': " + Error.message(),
                   "free some space, or name another folder with -o");
  return std::nullopt;
}

/// Compressed \p Bytes, or nothing where that saves less than an eighth. A
/// sample decides first: floating-point data rarely compresses.
static std::string compressed(std::string_view Bytes) {
  constexpr size_t Sample = 1 << 16;
  auto Compress = [](std::string_view In) {
    std::string Out(ZSTD_compressBound(In.size()), '\0');
    size_t Size =
        ZSTD_compress(Out.data(), Out.size(), In.data(), In.size(), 1);
    Out.resize(ZSTD_isError(Size) ? 0 : Size);
    return Out;
  };
  auto Saves = [](size_t Out, size_t In) { return Out && Out < In - In / 8; };
  if (Bytes.size() < 512)
    return {};
  if (Bytes.size() > 4 * Sample) {
    std::string Parts(Bytes.substr(0, Sample));
    Parts += Bytes.substr(Bytes.size() / 2, Sample);
    Parts += Bytes.substr(Bytes.size() - Sample);
    if (!Saves(Compress(Parts).size(), Parts.size()))
      return {};
  }
  std::string Out = Compress(Bytes);
  if (!Saves(Out.size(), Bytes.size()))
    return {};
  return Out;
}

static std::string pathOf(const std::string &Folder,
                          const std::string &Digest) {
  return Folder + "/" + dataFileName(Digest);
}

std::optional<Failure> ContentStore::put(std::string_view Bytes,
                                         std::string &Digest) {
  Digest = digest(Bytes);
  Entry &E = Entries[Digest];
  if (E.Uses++)
    return std::nullopt;
  std::string Packed = compressed(Bytes);
  std::string_view Out = Packed.empty() ? Bytes : Packed;
  std::optional<Failure> Result;
  if (Stored + Out.size() > Limit) {
    Entries.erase(Digest);
    Digest.clear();
    return std::nullopt;
  }
  E.File = pathOf(Folder, Digest) + (Packed.empty() ? "" : ".zst");
  E.Bytes = Out.size();
  if ((Result = writeWhole(E.File, Out))) {
    Entries.erase(Digest);
    Digest.clear();
    return Result;
  }
  Stored += Out.size();
  return std::nullopt;
}

void ContentStore::drop(const std::string &Digest) {
  auto It = Entries.find(Digest);
  if (It == Entries.end() || --It->second.Uses)
    return;
  unlink(It->second.File.c_str());
  Stored -= It->second.Bytes;
  Entries.erase(It);
}

bool hasContent(const std::string &Folder, const std::string &Digest) {
  const std::string Path = pathOf(Folder, Digest);
  return access(Path.c_str(), R_OK) == 0 ||
         access((Path + ".zst").c_str(), R_OK) == 0;
}

std::optional<Failure> readContent(const std::string &Folder,
                                   const std::string &Digest, uint64_t Size,
                                   std::string &Bytes) {
  std::string Path = pathOf(Folder, Digest);
  const char *Again = "copy the folder again, or record again";
  if (loadFile(Path, Bytes)) {
    std::string Packed;
    if (loadFile(Path + ".zst", Packed))
      return Failure(FailureKind::BadRecording,
                     "the content '" + Path + "' is missing", Again);
    // The size is written down twice; do not believe one of them alone.
    if (ZSTD_getFrameContentSize(Packed.data(), Packed.size()) != Size)
      return Failure(FailureKind::BadRecording,
                     "the content '" + Path + ".zst' is damaged", Again);
    Bytes.resize(Size);
    size_t Got =
        ZSTD_decompress(Bytes.data(), Size, Packed.data(), Packed.size());
    if (ZSTD_isError(Got) || Got != Size)
      return Failure(FailureKind::BadRecording,
                     "the content '" + Path + ".zst' is damaged", Again);
  }
  if (Bytes.size() != Size || digest(Bytes) != Digest)
    return Failure(FailureKind::BadRecording,
                   "the content '" + Path + "' is damaged", Again);
  return std::nullopt;
}

} // namespace cupilot::capture
