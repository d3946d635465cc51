//===- CuptiApi.cpp - CUPTI, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CuptiApi.h"
#include <dlfcn.h>
#include <link.h>
#include <vector>

#ifdef CUPILOT_HAVE_CUPTI

namespace cupilot {

void CuptiApi::check(CUptiResult Code, const char *What) const {
  if (Code == CUPTI_SUCCESS)
    return;
  const char *Text = nullptr;
  cuptiGetResultString(Code, &Text);
  bool Rights = Code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
                Code == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
  throw ProfilerFailure{std::string(Rights ? "no rights: " : "CUPTI: ") + What +
                        ": " + (Text ? Text : "unknown error") +
                        (Rights
                             ? " (the driver option "
                               "NVreg_RestrictProfilingToAdminUsers=0, or root)"
                             : "")};
}

bool CuptiApi::load(const std::string &Library, std::string &Reason) {
  std::vector<std::string> Places = {Library};
  if (Library.empty())
    Places = {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
              "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
              "/usr/local/cuda-13.0/lib64/libcupti.so.13",
              "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13"};
  void *Handle = nullptr;
  for (const std::string &Place : Places) {
    Handle = dlopen(Place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (Handle)
      break;
    const char *Text = dlerror();
    if (Reason.empty())
      Reason = std::string("no CUPTI: ") + (Text ? Text : Place.c_str());
  }
  if (!Handle)
    return false;
  Reason.clear();
  // CUPTI loads its parts by name when they are needed: those that lie beside
  // it, and not what another CUDA has left on the loader's path.
  link_map *Map = nullptr;
  if (dlinfo(Handle, RTLD_DI_LINKMAP, &Map) == 0 && Map->l_name) {
    std::string Path = Map->l_name;
    if (size_t Slash = Path.rfind('/'); Slash != std::string::npos)
      for (const char *Part : {"libnvperf_target.so", "libnvperf_host.so"})
        dlopen((Path.substr(0, Slash + 1) + Part).c_str(),
               RTLD_NOW | RTLD_LOCAL);
  }
#define F(NAME)                                                                \
  this->NAME = reinterpret_cast<decltype(this->NAME)>(dlsym(Handle, #NAME));   \
  if (!this->NAME) {                                                           \
    Reason = "no CUPTI: the library has no " #NAME "; CUPTI 13 is needed";     \
    return false;                                                              \
  }
  CUPILOT_CUPTI_FUNCTIONS(F)
#undef F
  // The driver, which machines without a GPU lack.
  if (void *Driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    CtxGetCurrent = reinterpret_cast<decltype(CtxGetCurrent)>(
        dlsym(Driver, "cuCtxGetCurrent"));
    CtxSynchronize = reinterpret_cast<decltype(CtxSynchronize)>(
        dlsym(Driver, "cuCtxSynchronize"));
  }
  return true;
}

} // namespace cupilot

#endif // CUPILOT_HAVE_CUPTI
