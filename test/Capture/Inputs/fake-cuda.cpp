//===- fake-cuda.cpp - A CUDA driver and CUPTI for tests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One library that plays libcuda.so.1 and libcupti.so for the library that
// records: memory is the host's, kernels are host functions found by their
// mangled name, and every call of a launch function goes through the callbacks
// that CUPTI would make. What a GPU does at the same time, happens at once.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cupti.h>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
struct Allocation {
  size_t Size;
};
struct Kernel {
  std::vector<size_t> Sizes;
  void (*Run)(void **);
};
struct View {
  int N;
  float *Data;
  const float *In;
};
struct Node {
  Node *Next;
  float Value;
};
template <typename T> T &arg(void **Args, int I) {
  return *static_cast<T *>(Args[I]);
}
float Scale = 2; // The variable of the module.

// What marked code finds at cupilot_touch_table (Ptx/Touch.h), and what it does
// before each access.
alignas(16) uint64_t TouchTable[1024];
bool touch(void *At, bool Writes) {
  auto Address = reinterpret_cast<uint64_t>(At);
  for (uint64_t I = 1; I <= TouchTable[1]; ++I) {
    const uint64_t *Range = TouchTable + 4 * I; // Begin, end, two bitmaps.
    if (Address < Range[0] || Address + 4 > Range[1])
      continue;
    uint64_t Granule = (Address - Range[0] / 64 * 64) / 64;
    if (auto *Map = reinterpret_cast<uint32_t *>(Range[Writes ? 3 : 2]))
      Map[Granule / 32] |= 1u << (Granule % 32);
    return true;
  }
  TouchTable[Writes ? 3 : 2] = Address;
  return false;
}
} // namespace

static const std::map<std::string, Kernel> &kernels() {
  // Never destroyed: names are read when the program ends.
  static const auto &Table = *new std::map<std::string, Kernel>{
      {"_Z3addPfPKfif",
       {{8, 8, 4, 4},
        [](void **A) {
          for (int I = 0; I < arg<int>(A, 2); ++I)
            arg<float *>(A, 0)[I] += arg<float>(A, 3) * arg<float *>(A, 1)[I];
        }}},
      // The marked copy of it.
      {"cupilot_touch_kernel",
       {{8, 8, 4, 4},
        [](void **A) {
          for (int I = 0; I < arg<int>(A, 2); ++I) {
            float *To = arg<float *>(A, 0) + I, *From = arg<float *>(A, 1) + I;
            if (TouchTable[0] || !touch(From, false) || !touch(To, false) ||
                !touch(To, true))
              return;
            *To += arg<float>(A, 3) * *From;
          }
        }}},
      {"_Z6viewed4View",
       {{sizeof(View)},
        [](void **A) {
          View V = arg<View>(A, 0);
          for (int I = 0; I < V.N; ++I)
            V.Data[I] = V.In[I] * Scale;
        }}},
      {"_Z6linkedP4NodePf",
       {{8, 8},
        [](void **A) {
          float Sum = 0;
          for (Node *N = arg<Node *>(A, 0); N; N = N->Next)
            Sum += N->Value;
          *arg<float *>(A, 1) = Sum;
        }}},
      // Never the same twice.
      {"_Z5clockPl",
       {{8},
        [](void **A) {
          *arg<long *>(A, 0) =
              std::chrono::steady_clock::now().time_since_epoch().count();
        }}},
      {"_Z5emptyv", {{}, [](void **) {}}},
      // What replays with noise compare by (NoiseKernels.h).
      {"cupilot_changed",
       {{8, 8, 4, 8, 8},
        [](void **A) {
          auto *Now = arg<unsigned *>(A, 0), *Before = arg<unsigned *>(A, 1),
               *Bits = arg<unsigned *>(A, 4);
          for (uint64_t I = 0; I < 4 * arg<uint64_t>(A, 3); ++I)
            if (Now[I] != (Before ? Before[I] : arg<unsigned>(A, 2)))
              Bits[I / 16 / 32] |= 1u << (I / 16 % 32);
        }}},
      {"cupilot_spread", {{8, 8, 8, 8}, [](void **) {}}}, // All is the same.
      {"cupilot_expected",
       {{8, 8, 8, 8, 8},
        [](void **A) {
          auto *Before = arg<char *>(A, 0), *First = arg<char *>(A, 1),
               *Second = arg<char *>(A, 2);
          for (uint64_t I = 0; I < 4 * arg<uint64_t>(A, 3); ++I)
            Second[I] = Before[I] != First[I] ? -128 : 0;
        }}},
      {"cupilot_compare",
       {{8, 8, 8, 8, 8},
        [](void **A) {
          auto *First = arg<char *>(A, 0), *Now = arg<char *>(A, 1),
               *Expected = arg<char *>(A, 2);
          auto *Counts = arg<uint64_t *>(A, 4);
          for (uint64_t I = 0; I < 4 * arg<uint64_t>(A, 3); ++I)
            if (Expected[I]) {
              Counts[1] = 1;
              Counts[0] |= First[I] != Now[I];
            }
        }}},
  };
  return Table;
}

static std::recursive_mutex Lock;
static std::map<uint64_t, Allocation> Memory;
static std::vector<std::string> Images;
static CUpti_CallbackFunc Callback;
static CUpti_BuffersCallbackRequestFunc Request;
static CUpti_BuffersCallbackCompleteFunc Complete;
static std::vector<CUpti_ActivityKernel9> Records;
static std::atomic<uint32_t> Correlation{0};
static thread_local uint32_t Enclosing = 0;
static bool Capturing = false;
static CUdeviceptr FirstAllocation = 0;

static bool is(const char *Name) {
  const char *Mode = std::getenv("FAKE_CUDA");
  return Mode && std::strstr(Mode, Name);
}

// ---- the driver

EXPORT CUresult cuInit(unsigned) {
  static bool Done = false;
  if (Done)
    return CUDA_SUCCESS;
  Done = true;
  if (const char *Path = std::getenv("CUDA_INJECTION64_PATH"))
    if (void *Library = *Path ? dlopen(Path, RTLD_NOW) : nullptr)
      if (void *Start = dlsym(Library, "InitializeInjection"))
        reinterpret_cast<int (*)()>(Start)();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorName(CUresult Code, const char **Name) {
  *Name = Code == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                           : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int *Count) {
  *Count = is("peer") ? 2 : 1;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *Device, int Index) {
  *Device = Index;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char *Name, int Size, CUdevice) {
  std::strncpy(Name, "Fake GPU", static_cast<size_t>(Size));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetAttribute(int *Value, CUdevice_attribute What,
                                     CUdevice) {
  *Value = What == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : What == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
           : What == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE        ? 1000000
           : What == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH  ? 4000
                                                                  : 0;
  return CUDA_SUCCESS;
}
static int TheContext;
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *Context, CUdevice) {
  *Context = reinterpret_cast<CUcontext>(&TheContext);
  return is("no-context") ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(CUcontext *Context) {
  *Context = reinterpret_cast<CUcontext>(&TheContext);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice *Device) {
  *Device = 0;
  return CUDA_SUCCESS;
}
static bool Faulted = false;
EXPORT CUresult cuCtxSynchronize() {
  if (is("hang")) {
    std::fprintf(stderr, "fake: hangs\n");
    pause();
  }
  return Faulted ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}
EXPORT CUresult cuStreamCreate(CUstream *Stream, unsigned) {
  *Stream = reinterpret_cast<CUstream>(&TheContext);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamQuery(CUstream) {
  return is("busy") ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
EXPORT CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
EXPORT CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus *Status) {
  *Status = Capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                      : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *At, size_t Size) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  *At = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(256, (Size + 255) & ~size_t(255)));
  Memory[*At] = {Size};
  if (!FirstAllocation)
    FirstAllocation = *At;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr At) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  Memory.erase(At);
  std::free(reinterpret_cast<void *>(At));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *Base, size_t *Size,
                                        CUdeviceptr At) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  auto It = Memory.upper_bound(At);
  if (It == Memory.begin())
    return CUDA_ERROR_NOT_FOUND;
  --It;
  if (At >= It->first + It->second.Size)
    return CUDA_ERROR_NOT_FOUND;
  *Base = It->first;
  *Size = It->second.Size;
  return CUDA_SUCCESS;
}
// On two GPUs, the first allocation lies on the other one.
EXPORT CUresult cuPointerGetAttribute(void *Value, CUpointer_attribute What,
                                      CUdeviceptr At) {
  if (What != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
    return CUDA_ERROR_INVALID_VALUE;
  *static_cast<int *>(Value) = is("peer") && At == FirstAllocation;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyAsync(CUdeviceptr To, CUdeviceptr From, size_t Size,
                              CUstream) {
  if (is("unreadable"))
    return CUDA_ERROR_INVALID_VALUE;
  if (is("slow"))
    usleep(200000);
  std::memcpy(reinterpret_cast<void *>(To), reinterpret_cast<void *>(From),
              Size);
  return CUDA_SUCCESS;
}
// For other processes: a file in the folder FAKE_IPC has what an allocation
// held when its handle was asked for.
EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *Handle, CUdeviceptr At) {
  const char *Folder = std::getenv("FAKE_IPC");
  CUdeviceptr Base;
  size_t Size;
  if (!Folder || cuMemGetAddressRange_v2(&Base, &Size, At) != CUDA_SUCCESS)
    return CUDA_ERROR_NOT_SUPPORTED;
  std::snprintf(Handle->reserved, sizeof(Handle->reserved), "%llx",
                static_cast<unsigned long long>(At));
  FILE *File =
      std::fopen((std::string(Folder) + "/" + Handle->reserved).c_str(), "wb");
  if (!File)
    return CUDA_ERROR_UNKNOWN;
  std::fwrite(reinterpret_cast<void *>(Base), 1, Size, File);
  std::fclose(File);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *At, CUipcMemHandle Handle,
                                      unsigned) {
  FILE *File = std::fopen(
      (std::string(std::getenv("FAKE_IPC")) + "/" + Handle.reserved).c_str(),
      "rb");
  if (!File)
    return CUDA_ERROR_UNKNOWN;
  std::fseek(File, 0, SEEK_END);
  auto Size = static_cast<size_t>(std::ftell(File));
  std::rewind(File);
  cuMemAlloc_v2(At, Size);
  Size = std::fread(reinterpret_cast<void *>(*At), 1, Size, File);
  std::fclose(File);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemsetD32Async(CUdeviceptr At, unsigned Value, size_t Count,
                                 CUstream) {
  std::fill_n(reinterpret_cast<unsigned *>(At), Count, Value);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr At, unsigned char Value,
                                size_t Size, CUstream) {
  std::memset(reinterpret_cast<void *>(At), Value, Size);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemGetInfo_v2(size_t *Free, size_t *Total) {
  *Total = 1 << 30;
  // The recorder leaves a 64th of it alone.
  *Free = is("full") ? 0 : is("tight") ? *Total / 64 + 32768 : *Total;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr To, const void *From, size_t Size) {
  std::memcpy(reinterpret_cast<void *>(To), From, Size);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoH_v2(void *To, CUdeviceptr From, size_t Size) {
  std::memcpy(To, reinterpret_cast<void *>(From), Size);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleLoadData(CUmodule *Module, const void *Image) {
  // The tests' modules are ELF files made by the host compiler: the section
  // table is last.
  auto *Bytes = static_cast<const char *>(Image);
  if (std::strncmp(Bytes, ".version", 8) == 0) {
    *Module = reinterpret_cast<CUmodule>(TouchTable);
    return is("no-compiler") ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  }
  uint64_t Table;
  uint16_t EntrySize, Count;
  std::memcpy(&Table, Bytes + 40, 8);
  std::memcpy(&EntrySize, Bytes + 58, 2);
  std::memcpy(&Count, Bytes + 60, 2);
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  Images.emplace_back(Bytes, Table + uint64_t(EntrySize) * Count);
  *Module = reinterpret_cast<CUmodule>(Images.size());
  if (Callback) {
    CUpti_ModuleResourceData M = {};
    M.moduleId = static_cast<uint32_t>(Images.size());
    M.pCubin = Images.back().data();
    M.cubinSize = Images.back().size();
    CUpti_ResourceData Data = {};
    Data.resourceDescriptor = &M;
    Callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE,
             CUPTI_CBID_RESOURCE_MODULE_LOADED, &Data);
  }
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *Function, CUmodule,
                                    const char *Name) {
  auto It = kernels().find(Name);
  if (It == kernels().end())
    return CUDA_ERROR_NOT_FOUND;
  *Function =
      reinterpret_cast<CUfunction>(const_cast<char *>(It->first.c_str()));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetName(const char **Name, CUfunction Function) {
  *Name = reinterpret_cast<const char *>(Function);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *At, size_t *Size, CUmodule,
                                     const char *Name) {
  if (std::strcmp(Name, "cupilot_touch_table") == 0) {
    *At = reinterpret_cast<CUdeviceptr>(TouchTable);
    *Size = sizeof(TouchTable);
    return CUDA_SUCCESS;
  }
  if (std::strcmp(Name, "Scale") != 0)
    return CUDA_ERROR_NOT_FOUND;
  *At = reinterpret_cast<CUdeviceptr>(&Scale);
  *Size = sizeof(Scale);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetModule(CUmodule *Module, CUfunction) {
  *Module = nullptr;
  if (!Images.empty())
    *Module = reinterpret_cast<CUmodule>(Images.size());
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetParamInfo(CUfunction Function, size_t Index,
                                   size_t *Offset, size_t *Size) {
  const Kernel &K = kernels().at(reinterpret_cast<const char *>(Function));
  if (is("old-driver"))
    return CUDA_ERROR_NOT_SUPPORTED;
  if (Index >= K.Sizes.size())
    return CUDA_ERROR_INVALID_VALUE;
  *Offset = 0;
  for (size_t I = 0; I <= Index; ++I) {
    *Offset = (*Offset + K.Sizes[I] - 1) / std::min<size_t>(K.Sizes[I], 8) *
              std::min<size_t>(K.Sizes[I], 8);
    *Offset = I ? *Offset : 0;
    if (I < Index)
      *Offset += K.Sizes[I];
  }
  *Size = K.Sizes[Index];
  return CUDA_SUCCESS;
}

static void record(const char *Name, unsigned Grid, unsigned Block,
                   unsigned Shared, uint32_t Id, bool InGraph) {
  CUpti_ActivityKernel9 K = {};
  K.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  K.name = Name;
  K.gridX = static_cast<int>(Grid);
  K.blockX = static_cast<int>(Block);
  K.gridY = K.gridZ = K.blockY = K.blockZ = 1;
  K.dynamicSharedMemory = static_cast<int>(Shared);
  K.correlationId = Id;
  K.graphNodeId = InGraph;
  // A microsecond for each block, and never 0.
  K.start = 1000;
  K.end = K.start + 1000 * Grid;
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (Complete)
    Records.push_back(K);
}

static CUresult launch(CUfunction Function, unsigned Grid, unsigned Block,
                       unsigned Shared, void **Params) {
  auto *Name = reinterpret_cast<const char *>(Function);
  if (is("fail") && Grid == 77)
    return CUDA_ERROR_INVALID_VALUE;
  Faulted |= is("fault") && Grid == 79;
  kernels().at(Name).Run(Params);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchKernel(CUfunction F, unsigned X, unsigned Y, unsigned Z,
                               unsigned BX, unsigned BY, unsigned BZ,
                               unsigned Shared, CUstream Stream, void **Params,
                               void **Extra) {
  cuLaunchKernel_params P = {F,  X,      Y,      Z,      BX,   BY,
                             BZ, Shared, Stream, Params, Extra};
  uint32_t Id = ++Correlation;
  CUresult Result = CUDA_SUCCESS;
  CUpti_CallbackData Data = {};
  Data.functionParams = &P;
  Data.functionReturnValue = &Result;
  Data.symbolName = reinterpret_cast<const char *>(F);
  Data.correlationId = Id;
  if (Callback) {
    Data.callbackSite = CUPTI_API_ENTER;
    Callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API,
             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &Data);
  }
  if (!Capturing)
    Result = launch(F, X, BX, Shared, Params);
  if (Callback) {
    Data.callbackSite = CUPTI_API_EXIT;
    Callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API,
             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &Data);
  }
  if (Result == CUDA_SUCCESS && !Capturing)
    record(Data.symbolName, X, BX, Shared, Id, false);
  return Result;
}
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *C, CUfunction F,
                                 void **Params, void **) {
  cuLaunchKernelEx_params P = {C, F, Params, nullptr};
  // Within a callback it bears the number of the call that it is about.
  uint32_t Id = Enclosing ? Enclosing : ++Correlation;
  CUpti_CallbackData Data = {};
  Data.functionParams = &P;
  Data.correlationId = Id;
  if (Callback)
    Callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API,
             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &Data);
  record(reinterpret_cast<const char *>(F), C->gridDimX, C->blockDimX,
         C->sharedMemBytes, Id, false);
  return launch(F, C->gridDimX, C->blockDimX, C->sharedMemBytes, Params);
}

// ---- a graph: a chain of kernels, which the program names one by one

struct GraphNode {
  CUDA_KERNEL_NODE_PARAMS Params = {};
  void *Args[8];
  float Values[8][2];
};
static std::vector<std::unique_ptr<GraphNode>> Chain;

static void callDriver(CUpti_CallbackId Id, const void *Params) {
  CUresult Result = CUDA_SUCCESS;
  CUpti_CallbackData Data = {};
  Data.functionParams = Params;
  Data.functionReturnValue = &Result;
  for (CUpti_ApiCallbackSite Site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    Data.callbackSite = Site;
    if (Callback)
      Callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, Id, &Data);
  }
}
EXPORT CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
  callDriver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, nullptr);
  Chain.clear();
  Capturing = true;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamEndCapture(CUstream, CUgraph *Graph) {
  Capturing = false;
  callDriver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, nullptr);
  *Graph = reinterpret_cast<CUgraph>(&Chain);
  return CUDA_SUCCESS;
}
/// The tests' way to say what the next node holds.
EXPORT void fakeNode(CUfunction F, unsigned Grid, unsigned Block, void **Args) {
  const Kernel &K = kernels().at(reinterpret_cast<const char *>(F));
  GraphNode &N = *Chain.emplace_back(std::make_unique<GraphNode>());
  N.Params.func = F;
  N.Params.gridDimX = Grid;
  N.Params.blockDimX = Block;
  N.Params.gridDimY = N.Params.gridDimZ = N.Params.blockDimY =
      N.Params.blockDimZ = 1;
  for (size_t I = 0; I < K.Sizes.size(); ++I) {
    std::memcpy(N.Values[I], Args[I], std::min<size_t>(K.Sizes[I], 8));
    N.Args[I] = N.Values[I];
  }
  N.Params.kernelParams = N.Args;
}
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *Exec, CUgraph Graph,
                                            unsigned long long Flags) {
  cuGraphInstantiateWithFlags_params P = {Exec, Graph, Flags};
  *Exec = reinterpret_cast<CUgraphExec>(Graph);
  callDriver(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &P);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphClone(CUgraph *Copy, CUgraph Graph) {
  *Copy = Graph;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
// The last one first: only the edges tell the order.
EXPORT CUresult cuGraphGetNodes(CUgraph, CUgraphNode *Nodes, size_t *Count) {
  *Count = Chain.size();
  for (size_t I = 0; Nodes && I < *Count; ++I)
    Nodes[*Count - 1 - I] = reinterpret_cast<CUgraphNode>(Chain[I].get());
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphGetEdges_v2(CUgraph, CUgraphNode *From, CUgraphNode *To,
                                   CUgraphEdgeData *, size_t *Count) {
  *Count = Chain.size() - 1;
  for (size_t I = 0; From && I < *Count; ++I) {
    From[I] = reinterpret_cast<CUgraphNode>(Chain[I].get());
    To[I] = reinterpret_cast<CUgraphNode>(Chain[I + 1].get());
  }
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphNodeGetType(CUgraphNode Node, CUgraphNodeType *Type) {
  bool Second =
      Chain.size() > 1 && reinterpret_cast<CUgraphNode>(Chain[1].get()) == Node;
  *Type = Second && is("host-node") ? CU_GRAPH_NODE_TYPE_HOST
                                    : CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode Node,
                                              CUDA_KERNEL_NODE_PARAMS *P) {
  *P = reinterpret_cast<GraphNode *>(Node)->Params;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphLaunch(CUgraphExec Exec, CUstream Stream) {
  cuGraphLaunch_params Launched = {Exec, Stream};
  uint32_t Id = ++Correlation;
  Enclosing = Id;
  callDriver(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &Launched);
  Enclosing = 0;
  for (auto &N : Chain) {
    const CUDA_KERNEL_NODE_PARAMS &P = N->Params;
    if (CUresult R = launch(P.func, P.gridDimX, P.blockDimX, 0, P.kernelParams))
      return R;
    record(reinterpret_cast<const char *>(P.func), P.gridDimX, P.blockDimX, 0,
           Id, true);
  }
  return CUDA_SUCCESS;
}

// ---- CUPTI

EXPORT CUptiResult cuptiGetVersion(uint32_t *Version) {
  *Version = is("old-cupti") ? 12 : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetResultString(CUptiResult, const char **Text) {
  *Text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *,
                                  CUpti_CallbackFunc Function, void *) {
  if (is("profiled"))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  Callback = Function;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle,
                                       CUpti_CallbackDomain, CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc R, CUpti_BuffersCallbackCompleteFunc C) {
  Request = R;
  Complete = C;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityFlushAll(uint32_t) {
  std::vector<CUpti_ActivityKernel9> Ready;
  {
    std::lock_guard<std::recursive_mutex> Guard(Lock);
    Ready.swap(Records);
  }
  for (size_t At = 0; At < Ready.size();) {
    uint8_t *Buffer = nullptr;
    size_t Size = 0, Most = 0;
    Request(&Buffer, &Size, &Most);
    size_t Count = std::min(Ready.size() - At, Size / sizeof(Ready[0]));
    std::memcpy(Buffer, &Ready[At], Count * sizeof(Ready[0]));
    Complete(nullptr, 0, Buffer, Size, Count * sizeof(Ready[0]));
    At += Count;
  }
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *Buffer, size_t Size,
                                              CUpti_Activity **Record) {
  auto *Next = *Record ? reinterpret_cast<uint8_t *>(*Record) +
                             sizeof(CUpti_ActivityKernel9)
                       : Buffer;
  if (Next + sizeof(CUpti_ActivityKernel9) > Buffer + Size)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *Record = reinterpret_cast<CUpti_Activity *>(Next);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                                     size_t *Dropped) {
  *Dropped = 0;
  return CUPTI_SUCCESS;
}
