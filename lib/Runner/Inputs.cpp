//===- Inputs.cpp - The files that requests need -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"

namespace cupilot::runner {

/// Failure: data-damaged.
static void checkFile(const std::string &Path, const std::string &Digest) {
  MappedFile File(Path);
  if (digest(File.bytes()) != Digest)
    throw Failure(FailureKind::DataDamaged, "'" + Path +
                                                "' is not what the batch was "
                                                "written with: its digest "
                                                "differs");
}

std::string Inputs::imageFile(const std::string &Digest) {
  auto [At, New] = Known.try_emplace("image " + Digest);
  if (!New && !At->second.empty())
    return At->second;
  std::string Path =
      Folder + "/images/" + shortDigest(Digest, 64) + "." + B.Images.at(Digest);
  checkFile(Path, Digest);
  return At->second = Path;
}

std::map<std::string, std::string> Inputs::images(const Program &P) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::map<std::string, std::string> Files;
  for (const KernelLaunch &L : P.Launches)
    Files[L.Image] = imageFile(L.Image);
  return Files;
}

std::string Inputs::keep(const std::string &Key, std::string_view Bytes) {
  std::string Path = Scratch.fresh("content");
  writeWhole(Path, Bytes);
  return Known[Key] = Path;
}

std::string Inputs::dataFile(const std::string &Digest, uint64_t Size) {
  std::string Key = "data " + Digest;
  if (auto It = Known.find(Key); It != Known.end())
    return It->second;
  std::string Path = Folder + "/data/" + dataFileName(Digest, 64);
  if (exists(Path)) {
    checkFile(Path, Digest);
    return Known[Key] = Path;
  }
  MappedFile Packed(Path + ".z");
  std::string Bytes = inflated(Packed.bytes(), Size);
  if (digest(Bytes) != Digest)
    throw Failure(FailureKind::DataDamaged, "'" + Path +
                                                ".z' is not what the batch was "
                                                "written with: its digest "
                                                "differs");
  return keep(Key, Bytes);
}

std::string Inputs::file(const Content &C, uint64_t Size, uint64_t Variation) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (!C.Data.empty())
    return dataFile(C.Data, Size);
  if (C.Generator.empty())
    return "";
  std::string Key = "generator " + C.Generator + " " + std::to_string(Size) +
                    " " + std::to_string(Variation);
  if (auto It = Known.find(Key); It != Known.end())
    return It->second;
  std::string Path = Scratch.fresh("content");
  NewFile New(Path, Size);
  generateInto(C.Generator, New.bytes(), Size, Variation);
  return Known[Key] = Path;
}

std::vector<std::string> Inputs::buffers(const Case &C, uint64_t Variation) {
  std::vector<std::string> Files;
  Files.reserve(C.Buffers.size());
  for (const Buffer &Buf : C.Buffers)
    Files.push_back(file(Buf.Before, Buf.Size, Variation));
  return Files;
}

std::vector<std::string> Inputs::variables(const Case &C) {
  std::vector<std::string> Files;
  Files.reserve(C.Variables.size());
  for (const Variable &V : C.Variables)
    Files.push_back(file(V.Value.Before, V.Value.Size));
  return Files;
}

} // namespace cupilot::runner
