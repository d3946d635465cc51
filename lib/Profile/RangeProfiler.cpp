//===- RangeProfiler.cpp - Counters around a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUPTI documentation, "CUPTI Range Profiling API" and "CUPTI Profiler Host
// API": a configuration and a counter image are made for the chip; each pass is
// one replay of the launch by the caller; then the image is decoded.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Profile/RangeProfiler.h"
#include <cstdint>
#include <dlfcn.h>
#include <link.h>

#ifdef CUPILOT_HAVE_CUPTI
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#endif

namespace cupilot {

RangeProfiler::~RangeProfiler() = default;

#ifndef CUPILOT_HAVE_CUPTI

std::unique_ptr<RangeProfiler> RangeProfiler::open(const std::string &,
                                                   std::string &Reason) {
  Reason = "no CUPTI: cuPilot was built without the headers of CUPTI 13";
  return nullptr;
}

#else

#define CUPILOT_CUPTI_FUNCTIONS(F)                                             \
  F(cuptiGetResultString)                                                      \
  F(cuptiDeviceGetChipName)                                                    \
  F(cuptiProfilerInitialize)                                                   \
  F(cuptiProfilerDeInitialize)                                                 \
  F(cuptiProfilerDeviceSupported)                                              \
  F(cuptiProfilerGetCounterAvailability)                                       \
  F(cuptiProfilerHostInitialize)                                               \
  F(cuptiProfilerHostDeinitialize)                                             \
  F(cuptiProfilerHostGetMetricProperties)                                      \
  F(cuptiProfilerHostGetSubMetrics)                                            \
  F(cuptiProfilerHostConfigAddMetrics)                                         \
  F(cuptiProfilerHostGetConfigImageSize)                                       \
  F(cuptiProfilerHostGetConfigImage)                                           \
  F(cuptiProfilerHostGetNumOfPasses)                                           \
  F(cuptiProfilerHostEvaluateToGpuValues)                                      \
  F(cuptiRangeProfilerEnable)                                                  \
  F(cuptiRangeProfilerDisable)                                                 \
  F(cuptiRangeProfilerSetConfig)                                               \
  F(cuptiRangeProfilerStart)                                                   \
  F(cuptiRangeProfilerStop)                                                    \
  F(cuptiRangeProfilerPushRange)                                               \
  F(cuptiRangeProfilerPopRange)                                                \
  F(cuptiRangeProfilerDecodeData)                                              \
  F(cuptiRangeProfilerGetCounterDataSize)                                      \
  F(cuptiRangeProfilerCounterDataImageInitialize)

namespace {
struct CuptiFunctions {
#define F(NAME) decltype(&::NAME) NAME = nullptr;
  CUPILOT_CUPTI_FUNCTIONS(F)
#undef F
};

/// A step that failed: the rest is skipped.
struct Failure {
  std::string Reason;
};

class Profiler : public RangeProfiler {
public:
  bool load(const std::string &Library, std::string &Reason);
  std::vector<std::string>
  unknownMetrics(const std::string &Chip,
                 const std::vector<std::string> &Names) override;
  ProfileResult collect(int Device, const std::vector<std::string> &Names,
                        const std::function<bool()> &Prepare,
                        const std::function<bool()> &Launch) override;

private:
  class Host;
  class Target;
  void check(CUptiResult Code, const char *What) const;

  CuptiFunctions Cupti;
  CUresult (*CtxGetCurrent)(CUcontext *) = nullptr;
  CUresult (*CtxSynchronize)() = nullptr;
};

/// Parameters with their size filled in.
template <typename T> T sized(size_t Size) {
  T P = {};
  P.structSize = Size;
  return P;
}
#define CUPILOT_PARAMS(TYPE) sized<TYPE>(TYPE##_STRUCT_SIZE)

/// The host half: names, configurations, values.
class Profiler::Host {
public:
  Host(Profiler &P, const std::string &Chip, const uint8_t *Availability)
      : P(P) {
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    Q.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    Q.pChipName = Chip.c_str();
    Q.pCounterAvailabilityImage = Availability;
    P.check(P.Cupti.cuptiProfilerHostInitialize(&Q), "the chip's metrics");
    Object = Q.pHostObject;
  }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;
  ~Host() {
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    Q.pHostObject = Object;
    P.Cupti.cuptiProfilerHostDeinitialize(&Q);
  }

  /// "NAME.ROLLUP.SUBMETRIC": CUPTI tells whether the chip has NAME, and which
  /// rest may follow.
  bool knows(const std::string &Metric) const {
    size_t Dot = Metric.find('.');
    std::string Base = Metric.substr(0, Dot);
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    Q.pHostObject = Object;
    Q.pMetricName = Base.c_str();
    if (P.Cupti.cuptiProfilerHostGetMetricProperties(&Q) != CUPTI_SUCCESS)
      return false;
    if (Dot == std::string::npos)
      return true;
    auto S = CUPILOT_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params);
    S.pHostObject = Object;
    S.metricType = Q.metricType;
    S.pMetricName = Base.c_str();
    if (P.Cupti.cuptiProfilerHostGetSubMetrics(&S) != CUPTI_SUCCESS)
      return false;
    for (size_t I = 0; I < S.numOfSubmetrics; ++I)
      if (Metric.substr(Dot) == S.ppSubMetrics[I] ||
          Metric.substr(Dot + 1) == S.ppSubMetrics[I])
        return true;
    return false;
  }

  std::vector<uint8_t> configuration(std::vector<const char *> &Names) const {
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    Q.pHostObject = Object;
    Q.ppMetricNames = Names.data();
    Q.numMetrics = Names.size();
    P.check(P.Cupti.cuptiProfilerHostConfigAddMetrics(&Q), "the metrics");
    auto Size = CUPILOT_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    Size.pHostObject = Object;
    P.check(P.Cupti.cuptiProfilerHostGetConfigImageSize(&Size),
            "the size of the configuration");
    std::vector<uint8_t> Image(Size.configImageSize);
    auto Get = CUPILOT_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    Get.pHostObject = Object;
    Get.configImageSize = Image.size();
    Get.pConfigImage = Image.data();
    P.check(P.Cupti.cuptiProfilerHostGetConfigImage(&Get), "the configuration");
    return Image;
  }

  std::vector<double> values(const std::vector<uint8_t> &Counters,
                             std::vector<const char *> &Names) const {
    std::vector<double> Result(Names.size());
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    Q.pHostObject = Object;
    Q.pCounterDataImage = Counters.data();
    Q.counterDataImageSize = Counters.size();
    Q.ppMetricNames = Names.data();
    Q.numMetrics = Names.size();
    Q.pMetricValues = Result.data();
    P.check(P.Cupti.cuptiProfilerHostEvaluateToGpuValues(&Q), "the values");
    return Result;
  }

private:
  Profiler &P;
  CUpti_Profiler_Host_Object *Object = nullptr;
};

/// The target half: counters in the current context.
class Profiler::Target {
public:
  Target(Profiler &P, CUcontext Context) : P(P) {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_Enable_Params);
    Q.ctx = Context;
    P.check(P.Cupti.cuptiRangeProfilerEnable(&Q), "the range profiler");
    Object = Q.pRangeProfilerObject;
  }
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;
  ~Target() {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_Disable_Params);
    Q.pRangeProfilerObject = Object;
    P.Cupti.cuptiRangeProfilerDisable(&Q);
  }

  std::vector<uint8_t> counterImage(std::vector<const char *> &Names) const {
    auto Size = CUPILOT_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    Size.pRangeProfilerObject = Object;
    Size.pMetricNames = Names.data();
    Size.numMetrics = Names.size();
    Size.maxNumOfRanges = 1;
    Size.maxNumRangeTreeNodes = 1;
    P.check(P.Cupti.cuptiRangeProfilerGetCounterDataSize(&Size),
            "the size of the counters");
    std::vector<uint8_t> Image(Size.counterDataSize);
    auto Init =
        CUPILOT_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    Init.pRangeProfilerObject = Object;
    Init.counterDataSize = Image.size();
    Init.pCounterData = Image.data();
    P.check(P.Cupti.cuptiRangeProfilerCounterDataImageInitialize(&Init),
            "the counters");
    return Image;
  }

  void configure(std::vector<uint8_t> &Configuration,
                 std::vector<uint8_t> &Counters) const {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    Q.pRangeProfilerObject = Object;
    Q.configSize = Configuration.size();
    Q.pConfig = Configuration.data();
    Q.counterDataImageSize = Counters.size();
    Q.pCounterDataImage = Counters.data();
    Q.range = CUPTI_UserRange;
    Q.replayMode = CUPTI_UserReplay;
    Q.maxRangesPerPass = 1;
    Q.numNestingLevels = 1;
    Q.minNestingLevel = 1;
    Q.passIndex = 0;
    Q.targetNestingLevel = 1;
    P.check(P.Cupti.cuptiRangeProfilerSetConfig(&Q), "the configuration's use");
  }

  /// One replay. True: it was the last one.
  bool pass(const std::function<bool()> &Launch) const {
    auto Start = CUPILOT_PARAMS(CUpti_RangeProfiler_Start_Params);
    Start.pRangeProfilerObject = Object;
    P.check(P.Cupti.cuptiRangeProfilerStart(&Start), "the start of a pass");
    auto Push = CUPILOT_PARAMS(CUpti_RangeProfiler_PushRange_Params);
    Push.pRangeProfilerObject = Object;
    Push.pRangeName = "launch";
    P.check(P.Cupti.cuptiRangeProfilerPushRange(&Push), "a range");
    bool Launched = Launch();
    auto Pop = CUPILOT_PARAMS(CUpti_RangeProfiler_PopRange_Params);
    Pop.pRangeProfilerObject = Object;
    CUptiResult Popped = P.Cupti.cuptiRangeProfilerPopRange(&Pop);
    auto Stop = CUPILOT_PARAMS(CUpti_RangeProfiler_Stop_Params);
    Stop.pRangeProfilerObject = Object;
    CUptiResult Stopped = P.Cupti.cuptiRangeProfilerStop(&Stop);
    if (!Launched || P.CtxSynchronize() != CUDA_SUCCESS)
      throw Failure{"the launch failed under the profiler"};
    P.check(Popped, "the end of a range");
    P.check(Stopped, "the end of a pass");
    return Stop.isAllPassSubmitted;
  }

  void decode() const {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    Q.pRangeProfilerObject = Object;
    P.check(P.Cupti.cuptiRangeProfilerDecodeData(&Q), "the counters' data");
  }

private:
  Profiler &P;
  CUpti_RangeProfiler_Object *Object = nullptr;
};
} // namespace

void Profiler::check(CUptiResult Code, const char *What) const {
  if (Code == CUPTI_SUCCESS)
    return;
  const char *Text = nullptr;
  Cupti.cuptiGetResultString(Code, &Text);
  bool Rights = Code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
                Code == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
  throw Failure{std::string(Rights ? "no rights: " : "CUPTI: ") + What + ": " +
                (Text ? Text : "unknown error") +
                (Rights ? " (the driver option "
                          "NVreg_RestrictProfilingToAdminUsers=0, or root)"
                        : "")};
}

bool Profiler::load(const std::string &Library, std::string &Reason) {
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
  Cupti.NAME = reinterpret_cast<decltype(Cupti.NAME)>(dlsym(Handle, #NAME));   \
  if (!Cupti.NAME) {                                                           \
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

std::vector<std::string>
Profiler::unknownMetrics(const std::string &Chip,
                         const std::vector<std::string> &Names) {
  try {
    Host H(*this, Chip, nullptr);
    std::vector<std::string> Unknown;
    for (const std::string &Name : Names)
      if (!H.knows(Name))
        Unknown.push_back(Name);
    return Unknown;
  } catch (const Failure &) {
    return Names;
  }
}

ProfileResult Profiler::collect(int Device,
                                const std::vector<std::string> &Names,
                                const std::function<bool()> &Prepare,
                                const std::function<bool()> &Launch) {
  ProfileResult Result;
  CUcontext Context = nullptr;
  if (!CtxGetCurrent || !CtxSynchronize ||
      CtxGetCurrent(&Context) != CUDA_SUCCESS || !Context) {
    Result.Reason = "no driver, or no current context";
    return Result;
  }
  try {
    auto Init = CUPILOT_PARAMS(CUpti_Profiler_Initialize_Params);
    check(Cupti.cuptiProfilerInitialize(&Init), "the profiler");
    auto Supported = CUPILOT_PARAMS(CUpti_Profiler_DeviceSupported_Params);
    Supported.cuDevice = Device;
    Supported.api = CUPTI_PROFILER_RANGE_PROFILING;
    check(Cupti.cuptiProfilerDeviceSupported(&Supported), "the device");
    if (Supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      throw Failure{"not supported: this device or its configuration"};
    auto Chip = CUPILOT_PARAMS(CUpti_Device_GetChipName_Params);
    Chip.deviceIndex = static_cast<size_t>(Device);
    check(Cupti.cuptiDeviceGetChipName(&Chip), "the chip's name");
    auto Available =
        CUPILOT_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    Available.ctx = Context;
    check(Cupti.cuptiProfilerGetCounterAvailability(&Available),
          "which counters there are");
    std::vector<uint8_t> Image(Available.counterAvailabilityImageSize);
    Available.pCounterAvailabilityImage = Image.data();
    check(Cupti.cuptiProfilerGetCounterAvailability(&Available),
          "which counters there are");
    Host H(*this, Chip.pChipName, Image.data());
    std::vector<const char *> Known;
    for (const std::string &Name : Names)
      if (H.knows(Name))
        Known.push_back(Name.c_str());
      else
        Result.Unknown.push_back(Name);
    if (Known.empty())
      throw Failure{"none of the metrics is known for this chip"};
    std::vector<uint8_t> Configuration = H.configuration(Known);
    Target T(*this, Context);
    std::vector<uint8_t> Counters = T.counterImage(Known);
    T.configure(Configuration, Counters);
    // Far more than any set of metrics needs: a driver that never ends would
    // hold up the caller.
    constexpr unsigned MostPasses = 500;
    bool Last = false;
    while (!Last && Result.Passes < MostPasses) {
      if (!Prepare() || CtxSynchronize() != CUDA_SUCCESS)
        throw Failure{"the launch could not be prepared"};
      Last = T.pass(Launch);
      ++Result.Passes;
    }
    if (!Last)
      throw Failure{"the passes did not come to an end"};
    T.decode();
    std::vector<double> Values = H.values(Counters, Known);
    for (size_t I = 0; I < Known.size(); ++I)
      Result.Values[Known[I]] = Values[I];
  } catch (const Failure &F) {
    Result.Values.clear();
    Result.Reason = F.Reason;
  }
  auto End = CUPILOT_PARAMS(CUpti_Profiler_DeInitialize_Params);
  Cupti.cuptiProfilerDeInitialize(&End);
  return Result;
}

std::unique_ptr<RangeProfiler> RangeProfiler::open(const std::string &Library,
                                                   std::string &Reason) {
  auto P = std::make_unique<Profiler>();
  if (!P->load(Library, Reason))
    return nullptr;
  return P;
}

#endif // CUPILOT_HAVE_CUPTI

} // namespace cupilot
