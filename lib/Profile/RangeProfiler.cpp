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
#include "CuptiApi.h"

namespace cupilot {

RangeProfiler::~RangeProfiler() = default;

#ifndef CUPILOT_HAVE_CUPTI

std::unique_ptr<RangeProfiler> RangeProfiler::open(const std::string &,
                                                   std::string &Reason) {
  Reason = "no CUPTI: cuPilot was built without the headers of CUPTI 13";
  return nullptr;
}

#else

namespace {
class Profiler : public RangeProfiler {
public:
  std::vector<std::string>
  unknownMetrics(const std::string &Chip,
                 const std::vector<std::string> &Names) override;
  ProfileResult collect(int Device, const std::vector<std::string> &Names,
                        const std::function<bool()> &Prepare,
                        const std::function<bool()> &Launch) override;

  CuptiApi Cupti;

private:
  class Host;
  class Target;
};

/// The host half: names, configurations, values.
class Profiler::Host {
public:
  Host(const CuptiApi &P, const std::string &Chip, const uint8_t *Availability)
      : P(P) {
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    Q.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    Q.pChipName = Chip.c_str();
    Q.pCounterAvailabilityImage = Availability;
    P.check(P.cuptiProfilerHostInitialize(&Q), "the chip's metrics");
    Object = Q.pHostObject;
  }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;
  ~Host() {
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    Q.pHostObject = Object;
    P.cuptiProfilerHostDeinitialize(&Q);
  }

  /// "NAME.ROLLUP.SUBMETRIC": CUPTI tells whether the chip has NAME, and which
  /// rest may follow.
  bool knows(const std::string &Metric) const {
    size_t Dot = Metric.find('.');
    std::string Base = Metric.substr(0, Dot);
    auto Q = CUPILOT_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    Q.pHostObject = Object;
    Q.pMetricName = Base.c_str();
    if (P.cuptiProfilerHostGetMetricProperties(&Q) != CUPTI_SUCCESS)
      return false;
    if (Dot == std::string::npos)
      return true;
    auto S = CUPILOT_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params);
    S.pHostObject = Object;
    S.metricType = Q.metricType;
    S.pMetricName = Base.c_str();
    if (P.cuptiProfilerHostGetSubMetrics(&S) != CUPTI_SUCCESS)
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
    P.check(P.cuptiProfilerHostConfigAddMetrics(&Q), "the metrics");
    auto Size = CUPILOT_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    Size.pHostObject = Object;
    P.check(P.cuptiProfilerHostGetConfigImageSize(&Size),
            "the size of the configuration");
    std::vector<uint8_t> Image(Size.configImageSize);
    auto Get = CUPILOT_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    Get.pHostObject = Object;
    Get.configImageSize = Image.size();
    Get.pConfigImage = Image.data();
    P.check(P.cuptiProfilerHostGetConfigImage(&Get), "the configuration");
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
    P.check(P.cuptiProfilerHostEvaluateToGpuValues(&Q), "the values");
    return Result;
  }

private:
  const CuptiApi &P;
  CUpti_Profiler_Host_Object *Object = nullptr;
};

/// The target half: counters in the current context.
class Profiler::Target {
public:
  Target(const CuptiApi &P, CUcontext Context) : P(P) {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_Enable_Params);
    Q.ctx = Context;
    P.check(P.cuptiRangeProfilerEnable(&Q), "the range profiler");
    Object = Q.pRangeProfilerObject;
  }
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;
  ~Target() {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_Disable_Params);
    Q.pRangeProfilerObject = Object;
    P.cuptiRangeProfilerDisable(&Q);
  }

  std::vector<uint8_t> counterImage(std::vector<const char *> &Names) const {
    auto Size = CUPILOT_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    Size.pRangeProfilerObject = Object;
    Size.pMetricNames = Names.data();
    Size.numMetrics = Names.size();
    Size.maxNumOfRanges = 1;
    Size.maxNumRangeTreeNodes = 1;
    P.check(P.cuptiRangeProfilerGetCounterDataSize(&Size),
            "the size of the counters");
    std::vector<uint8_t> Image(Size.counterDataSize);
    auto Init =
        CUPILOT_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    Init.pRangeProfilerObject = Object;
    Init.counterDataSize = Image.size();
    Init.pCounterData = Image.data();
    P.check(P.cuptiRangeProfilerCounterDataImageInitialize(&Init),
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
    P.check(P.cuptiRangeProfilerSetConfig(&Q), "the configuration's use");
  }

  /// One replay. True: it was the last one.
  bool pass(const std::function<bool()> &Launch) const {
    auto Start = CUPILOT_PARAMS(CUpti_RangeProfiler_Start_Params);
    Start.pRangeProfilerObject = Object;
    P.check(P.cuptiRangeProfilerStart(&Start), "the start of a pass");
    auto Push = CUPILOT_PARAMS(CUpti_RangeProfiler_PushRange_Params);
    Push.pRangeProfilerObject = Object;
    Push.pRangeName = "launch";
    P.check(P.cuptiRangeProfilerPushRange(&Push), "a range");
    bool Launched = Launch();
    auto Pop = CUPILOT_PARAMS(CUpti_RangeProfiler_PopRange_Params);
    Pop.pRangeProfilerObject = Object;
    CUptiResult Popped = P.cuptiRangeProfilerPopRange(&Pop);
    auto Stop = CUPILOT_PARAMS(CUpti_RangeProfiler_Stop_Params);
    Stop.pRangeProfilerObject = Object;
    CUptiResult Stopped = P.cuptiRangeProfilerStop(&Stop);
    if (!Launched || P.CtxSynchronize() != CUDA_SUCCESS)
      throw ProfilerFailure{"the launch failed under the profiler"};
    P.check(Popped, "the end of a range");
    P.check(Stopped, "the end of a pass");
    return Stop.isAllPassSubmitted;
  }

  void decode() const {
    auto Q = CUPILOT_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    Q.pRangeProfilerObject = Object;
    P.check(P.cuptiRangeProfilerDecodeData(&Q), "the counters' data");
  }

private:
  const CuptiApi &P;
  CUpti_RangeProfiler_Object *Object = nullptr;
};
} // namespace

std::vector<std::string>
Profiler::unknownMetrics(const std::string &Chip,
                         const std::vector<std::string> &Names) {
  try {
    Host H(Cupti, Chip, nullptr);
    std::vector<std::string> Unknown;
    for (const std::string &Name : Names)
      if (!H.knows(Name))
        Unknown.push_back(Name);
    return Unknown;
  } catch (const ProfilerFailure &) {
    return Names;
  }
}

ProfileResult Profiler::collect(int Device,
                                const std::vector<std::string> &Names,
                                const std::function<bool()> &Prepare,
                                const std::function<bool()> &Launch) {
  ProfileResult Result;
  CUcontext Context = nullptr;
  if (!Cupti.CtxGetCurrent || !Cupti.CtxSynchronize ||
      Cupti.CtxGetCurrent(&Context) != CUDA_SUCCESS || !Context) {
    Result.Reason = "no driver, or no current context";
    return Result;
  }
  try {
    auto Init = CUPILOT_PARAMS(CUpti_Profiler_Initialize_Params);
    Cupti.check(Cupti.cuptiProfilerInitialize(&Init), "the profiler");
    auto Supported = CUPILOT_PARAMS(CUpti_Profiler_DeviceSupported_Params);
    Supported.cuDevice = Device;
    Supported.api = CUPTI_PROFILER_RANGE_PROFILING;
    Cupti.check(Cupti.cuptiProfilerDeviceSupported(&Supported), "the device");
    if (Supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      throw ProfilerFailure{"not supported: this device or its configuration"};
    auto Chip = CUPILOT_PARAMS(CUpti_Device_GetChipName_Params);
    Chip.deviceIndex = static_cast<size_t>(Device);
    Cupti.check(Cupti.cuptiDeviceGetChipName(&Chip), "the chip's name");
    auto Available =
        CUPILOT_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    Available.ctx = Context;
    Cupti.check(Cupti.cuptiProfilerGetCounterAvailability(&Available),
                "which counters there are");
    std::vector<uint8_t> Image(Available.counterAvailabilityImageSize);
    Available.pCounterAvailabilityImage = Image.data();
    Cupti.check(Cupti.cuptiProfilerGetCounterAvailability(&Available),
                "which counters there are");
    Host H(Cupti, Chip.pChipName, Image.data());
    std::vector<const char *> Known;
    for (const std::string &Name : Names)
      if (H.knows(Name))
        Known.push_back(Name.c_str());
      else
        Result.Unknown.push_back(Name);
    if (Known.empty())
      throw ProfilerFailure{"none of the metrics is available on this chip"};
    std::vector<uint8_t> Configuration = H.configuration(Known);
    Target T(Cupti, Context);
    std::vector<uint8_t> Counters = T.counterImage(Known);
    T.configure(Configuration, Counters);
    // Far more than any set of metrics needs: a driver that never ends would
    // hold up the caller.
    constexpr unsigned MostPasses = 500;
    bool Last = false;
    while (!Last && Result.Passes < MostPasses) {
      if (!Prepare() || Cupti.CtxSynchronize() != CUDA_SUCCESS)
        throw ProfilerFailure{"the launch could not be prepared"};
      Last = T.pass(Launch);
      ++Result.Passes;
    }
    if (!Last)
      throw ProfilerFailure{"the passes did not complete"};
    T.decode();
    std::vector<double> Values = H.values(Counters, Known);
    for (size_t I = 0; I < Known.size(); ++I)
      Result.Values[Known[I]] = Values[I];
  } catch (const ProfilerFailure &F) {
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
  if (!P->Cupti.load(Library, Reason))
    return nullptr;
  return P;
}

#endif // CUPILOT_HAVE_CUPTI

} // namespace cupilot
