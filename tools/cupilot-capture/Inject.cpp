//===- Inject.cpp - The library that the CUDA driver loads -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>

using namespace cupilot::capture;

static Recorder *Active = nullptr;

template <typename Params> static LaunchCall plain(const Params &P) {
  LaunchCall Call;
  Call.Function = P.f;
  Call.Dims.Grid = {P.gridDimX, P.gridDimY, P.gridDimZ};
  Call.Dims.Block = {P.blockDimX, P.blockDimY, P.blockDimZ};
  Call.Dims.Shared = P.sharedMemBytes;
  Call.Stream = P.hStream;
  Call.Params = P.kernelParams;
  return Call;
}

static LaunchCall extended(const cuLaunchKernelEx_params &P) {
  const CUlaunchConfig &C = *P.config;
  LaunchCall Call;
  Call.Function = P.f;
  Call.Dims.Grid = {C.gridDimX, C.gridDimY, C.gridDimZ};
  Call.Dims.Block = {C.blockDimX, C.blockDimY, C.blockDimZ};
  Call.Dims.Shared = C.sharedMemBytes;
  Call.Stream = C.hStream;
  Call.Params = P.kernelParams;
  Call.Extra = P.extra;
  for (unsigned I = 0; I < C.numAttrs; ++I) {
    const CUlaunchAttribute &A = C.attrs[I];
    if (A.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      Call.Dims.Cluster = {A.value.clusterDim.x, A.value.clusterDim.y,
                           A.value.clusterDim.z};
    else if (A.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      Call.Dims.Cooperative = A.value.cooperative != 0;
  }
  return Call;
}

/// The launch that a callback is about, if it is about one.
static bool launchOf(CUpti_CallbackId Id, const void *Params,
                     LaunchCall &Call) {
  bool PerThread = false;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    PerThread = true;
    [[fallthrough]];
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel: {
    auto &P = *static_cast<const cuLaunchKernel_params *>(Params);
    Call = plain(P);
    Call.Extra = P.extra;
    break;
  }
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
    PerThread = true;
    [[fallthrough]];
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    Call = extended(*static_cast<const cuLaunchKernelEx_params *>(Params));
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
    PerThread = true;
    [[fallthrough]];
  case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    Call =
        plain(*static_cast<const cuLaunchCooperativeKernel_params *>(Params));
    Call.Dims.Cooperative = true;
    break;
  default:
    return false;
  }
  // There, no stream means another one.
  if (PerThread && !Call.Stream)
    Call.Stream = CU_STREAM_PER_THREAD;
  return true;
}

/// Functions that change an executable graph.
static constexpr CUpti_CallbackId GraphChanges[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
};

static void onDriver(CUpti_CallbackId Id, const CUpti_CallbackData &Data) {
  bool Before = Data.callbackSite == CUPTI_API_ENTER;
  bool Good =
      !Before && Data.functionReturnValue &&
      *static_cast<CUresult *>(Data.functionReturnValue) == CUDA_SUCCESS;
  LaunchCall Call;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
    if (Before)
      Active->capturing(true);
    else if (!Good)
      Active->capturing(false);
    return;
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
    // An invalidated capture has ended too.
    if (!Before)
      Active->capturing(false);
    return;
  case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate:
  case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2:
  case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
  case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
  case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz:
    // The graph is the second argument of each.
    if (Good) {
      OwnCalls Guard(Active->Cuda);
      const auto &P =
          *static_cast<const cuGraphInstantiate_params *>(Data.functionParams);
      walkGraph(*Active, P.hGraph);
      if (Active->Opts.Graphs)
        Active->graphMade(*P.phGraphExec, P.hGraph);
    }
    return;
  case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
  case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
    if (Before) {
      const auto &P =
          *static_cast<const cuGraphLaunch_params *>(Data.functionParams);
      bool PerThread = Id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
      Active->beforeGraph(
          P.hGraph, PerThread && !P.hStream ? CU_STREAM_PER_THREAD : P.hStream);
    }
    return;
  case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
    if (Before) {
      OwnCalls Guard(Active->Cuda);
      Active->graphGone(
          static_cast<const cuGraphExecDestroy_params *>(Data.functionParams)
              ->hGraphExec);
    }
    return;
  default:
    break;
  }
  if (std::ranges::find(GraphChanges, Id) != std::end(GraphChanges)) {
    // The executable graph is the first argument of each.
    if (Before)
      Active->graphChanged(
          *static_cast<const CUgraphExec *>(Data.functionParams));
    return;
  }
  if (!launchOf(Id, Data.functionParams, Call))
    return;
  Call.Name = Data.symbolName;
  if (Before)
    Active->beforeLaunch(Call, Data.correlationId);
  else
    Active->afterLaunch(Good);
}

static void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Data) {
  auto *Module =
      static_cast<const CUpti_ModuleResourceData *>(Data.resourceDescriptor);
  if (!Module)
    return;
  if (Id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
    Active->Binaries.loaded(Module->moduleId, Module->pCubin,
                            Module->cubinSize);
  else if (Id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
    Active->Binaries.unloaded(Module->moduleId);
    // Handles may come back for other kernels.
    Active->forgetFunctions();
  }
}

static void CUPTIAPI onCallback(void *, CUpti_CallbackDomain Domain,
                                CUpti_CallbackId Id, const void *Data) {
  if (Active->disabled())
    return;
  // Our own calls may load modules: of these we want to know.
  if (OwnCalls::active() && Domain != CUPTI_CB_DOMAIN_RESOURCE) {
    if (Domain == CUPTI_CB_DOMAIN_DRIVER_API &&
        Id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx)
      Active->ownLaunch(
          static_cast<const CUpti_CallbackData *>(Data)->correlationId);
    return;
  }
  // An exception must not pass through the driver.
  try {
    if (Domain == CUPTI_CB_DOMAIN_DRIVER_API)
      onDriver(Id, *static_cast<const CUpti_CallbackData *>(Data));
    else if (Domain == CUPTI_CB_DOMAIN_RESOURCE)
      onResource(Id, *static_cast<const CUpti_ResourceData *>(Data));
  } catch (const std::exception &Error) {
    Active->Log.failure(std::string("recording a launch failed: ") +
                        Error.what());
  }
}

static Obstacle subscribe(Recorder &R) {
  CUpti_SubscriberHandle Subscriber;
  CUptiResult Result =
      R.Tracer.cuptiSubscribe(&Subscriber, onCallback, nullptr);
  if (Result != CUPTI_SUCCESS)
    return R.Tracer.errorText(Result) +
           " (is another profiler in the process?)";
  for (CUpti_CallbackId Id : {
           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
           CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
           CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
           CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
           CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate,
           CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2,
           CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
           CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
           CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz,
       })
    // An older CUPTI does not know the newest functions.
    (void)R.Tracer.cuptiEnableCallback(1, Subscriber,
                                       CUPTI_CB_DOMAIN_DRIVER_API, Id);
  if (R.Opts.Graphs) {
    for (CUpti_CallbackId Id : {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
                                CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy})
      (void)R.Tracer.cuptiEnableCallback(1, Subscriber,
                                         CUPTI_CB_DOMAIN_DRIVER_API, Id);
    for (CUpti_CallbackId Id : GraphChanges)
      (void)R.Tracer.cuptiEnableCallback(1, Subscriber,
                                         CUPTI_CB_DOMAIN_DRIVER_API, Id);
  }
  for (CUpti_CallbackId Id : {CUPTI_CBID_RESOURCE_MODULE_LOADED,
                              CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING}) {
    Result = R.Tracer.cuptiEnableCallback(1, Subscriber,
                                          CUPTI_CB_DOMAIN_RESOURCE, Id);
    if (Result != CUPTI_SUCCESS)
      return R.Tracer.errorText(Result);
  }
  return {};
}

/// Held while times are delivered. The program's end waits for that, and none
/// are delivered after it: by then CUPTI's own objects are destroyed.
static std::mutex FlushLock;
static bool Ended = false;

/// Delivers times while the program runs: a killed one loses little.
static void flushNowAndThen() {
  OwnCalls::always();
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::lock_guard<std::mutex> Guard(FlushLock);
    if (Ended || Active->disabled())
      return;
    Active->showProgress();
    flushActivity(*Active, false);
    Active->checkLog();
  }
}

static void endRecording() {
  // A child of fork() may have got the lock locked, without its holder.
  if (Active->disabled())
    return;
  OwnCalls::always();
  std::lock_guard<std::mutex> Guard(FlushLock);
  Ended = true;
  Active->finish();
}

static Obstacle start() {
  const char *Folder = std::getenv(FolderVariable);
  if (!Folder || !*Folder)
    return std::string(FolderVariable) + " does not name a folder";
  const char *Text = std::getenv(OptionsVariable);
  Options Opts;
  if (auto F = Options::parse(Text ? Text : "", Opts))
    return F->what();
  auto *R = new Recorder(Folder, Opts);
  if (Obstacle Why = R->Cuda.load())
    return "cannot load the CUDA driver: " + *Why;
  if (Obstacle Why = R->Tracer.load(Opts.Cupti))
    return "cannot load CUPTI: " + *Why + "; name its libcupti.so with --cupti";
  if (!R->open())
    return "nothing is recorded";
  Active = R;
  Obstacle Why = Opts.Timing ? std::nullopt : subscribe(*R);
  if (!Why)
    Why = startActivity(*R);
  if (Why) {
    R->disable();
    R->Log.failure("CUPTI: " + *Why);
    return {};
  }
  // A child of fork() has no device, and must not write into these files.
  pthread_atfork(nullptr, nullptr, [] { Active->disable(); });
  std::atexit(endRecording);
  sigset_t All, Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  std::thread(flushNowAndThen).detach();
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  return {};
}

/// Called by the CUDA driver when it is initialised.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (Active)
    return 1;
  try {
    if (Obstacle Why = start())
      std::fprintf(stderr, "cupilot: error: capture: %s\n", Why->c_str());
  } catch (const std::exception &Error) {
    std::fprintf(stderr, "cupilot: error: capture: %s\n", Error.what());
  }
  return 1;
}
