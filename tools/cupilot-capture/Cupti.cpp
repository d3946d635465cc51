//===- Cupti.cpp - CUPTI, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cupti.h"
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace cupilot::capture {

static std::vector<std::string> candidates() {
  std::vector<std::string> Folders = {""};
  for (const char *Variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *Value = std::getenv(Variable))
      for (const char *Below : {"/lib64/", "/extras/CUPTI/lib64/"})
        Folders.push_back(std::string(Value) + Below);
  for (const char *Folder :
       {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/",
        "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"})
    Folders.push_back(Folder);
  std::vector<std::string> Paths;
  for (const std::string &Folder : Folders)
    for (const char *Name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
      Paths.push_back(Folder + Name);
  return Paths;
}

Obstacle Cupti::load(const std::string &Path) {
  void *Library = nullptr;
  std::vector<std::string> Paths =
      Path.empty() ? candidates() : std::vector<std::string>{Path};
  Obstacle Why;
  for (const std::string &Candidate : Paths) {
    Library = dlopen(Candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (Library)
      break;
    if (const char *Text = dlerror(); Text && !Why)
      Why = Text;
  }
  if (!Library)
    return Why;
#define F(NAME)                                                                \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(Library, #NAME));              \
  if (!NAME)                                                                   \
    return "it has no function " #NAME;
  CUPILOT_CUPTI_FUNCTIONS(F)
#undef F
  // Clusters are in the records of kernels since then.
  constexpr uint32_t Oldest = 18; // CUDA 12.0
  uint32_t Version = 0;
  if (cuptiGetVersion(&Version) != CUPTI_SUCCESS || Version < Oldest)
    return "its version is " + std::to_string(Version) + ", older than " +
           std::to_string(Oldest) + " (CUDA 12.0)";
  return {};
}

std::string Cupti::errorText(CUptiResult Code) const {
  const char *Text = nullptr;
  if (cuptiGetResultString(Code, &Text) == CUPTI_SUCCESS && Text)
    return Text;
  return "error " + std::to_string(Code);
}

} // namespace cupilot::capture
