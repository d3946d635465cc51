//===- CpuDevice.h - Device code on the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_CPUDEVICE_H
#define CUPILOT_CPUDEVICE_CPUDEVICE_H

#include "cupilot/CpuDevice/Decisions.h"
#include "cupilot/Model/ExecutionCounts.h"
#include "cupilot/Model/FaultKind.h"
#include "cupilot/Model/LaunchPlan.h"
#include "cupilot/Support/LimitedProcess.h"
#include "llvm/ADT/BitVector.h"
#include <memory>

namespace cupilot {

/// A device variable of modules with ProductBits or RoundAtRandom: 64 bits.
/// Each value is rounded up or down by a coin that is thrown for this value and
/// number, such that no side is preferred. 0 with ProductBits: to nearest.
inline constexpr char RoundingSeedName[] = "__cupilot_rounding_seed";

/// What is counted and checked while device code runs.
struct CpuDeviceOptions {
  bool CheckBounds = true; ///< Every access against the registered buffers.
  bool CheckRaces = false; ///< Accesses of two threads that nothing orders.
  bool CheckSameValueRaces = true; ///< Report a race also when both threads
                                   ///< write the same value.
  bool CheckWritten = false;       ///< Reads of memory that nobody wrote.
  bool CheckDivergence = true;     ///< Lanes of a warp that come to one barrier
                                   ///< in different places.
  bool Coverage = false;  ///< Note which bytes of buffers launches read and
                          ///< write: DeviceMemory::coverage.
  bool Decisions = false; ///< Note which sides of decisions the code as it
                          ///< was written takes: CpuModule::decided.
  llvm::BitVector OnlyDecisions; ///< Only of these sites; empty: of all.
  bool Count = false;            ///< Fill in Counts (slower).
  bool AsCompiled = false;    ///< When counting: run the code as LLVM optimises
                              ///< it for the GPU, where that can be run here.
  bool WidenFloats = false;   ///< Compute in float64 where the code says float,
                              ///< half or bfloat16, and remember what is stored
                              ///< unrounded: the reference of the precision
                              ///< contract. Memory keeps its types.
  unsigned ProductBits = 0;   ///< With WidenFloats: round operands of products,
                              ///< quotients and results of functions to so many
                              ///< bits behind the point; 0: not at all. See
                              ///< RoundingSeedName.
  bool RoundAtRandom = false; ///< With WidenFloats: round what is computed in
                              ///< double, and is not exact, by coins. See
                              ///< RoundingSeedName.
  unsigned Threads = 0;       ///< Host threads; 0: one per core.
  uint64_t MaxInstructions =
      0; ///< Stop a thread after about so many; 0: no limit.
  uint64_t MaxLaunchInstructions =
      0;                     ///< The same for all threads of a launch together.
  bool CountSteps = false;   ///< Fill in Steps (cheap); needs a limit of
                             ///< MaxLaunchInstructions.
  uint64_t SampleBlocks = 0; ///< When counting: run only about so many blocks,
                             ///< evenly spread, and scale; 0: all of them.
  uint64_t LastBlocks = 0;   ///< When counting: run only about so many blocks,
                             ///< the last ones; 0: as SampleBlocks says. Blocks
                             ///< that may wait for others all run.
  bool Reverse = false; ///< Last block and last thread first: a result that
                        ///< depends on it is a race.
  bool CanonicalNans = false; ///< Give NaN that are computed in float, half and
                              ///< bfloat16 a GPU's bits where they show.
  /// Threads take turns as this number says, on one host thread: they may give
  /// way at every volatile and atomic access, several blocks are resident, and
  /// neither threads nor blocks begin in their order. The same number, the same
  /// turns. Nothing: a thread runs until it waits.
  std::optional<uint64_t> ScheduleSeed;
  /// Blocks that are resident at a time, at most (a cluster, at least, and
  /// cooperative grids whole); 0: as many as the described GPU holds. With 1,
  /// blocks that wait for a block which begins later are a deadlock.
  uint64_t ResidentBlocks = 0;
  /// With ScheduleSeed and CheckRaces: a load and a later store of one place,
  /// both volatile or atomic, between which another thread may store.
  bool CheckLostUpdates = false;
  /// With ScheduleSeed and CheckRaces: a volatile read of what another thread
  /// wrote volatile when nothing orders the two. Places that threads poll, or
  /// access atomically, are exempt: they are what orders others.
  bool CheckVolatileOrder = false;
  std::string Arch = "sm_90"; ///< Bounds what is resident: gpuOfArch().
  /// Keep compiled kernels in the machine cache, and take them from there. Not
  /// with Decisions.
  bool Cache = false;
  /// Make code in a process of its own (cupilot-compile) with these limits: a
  /// crash there, or more than they grant, is a HostCodeError.
  std::optional<ProcessLimits> Apart;
};

/// Switches the checks of \p Options as \p Text says: "all", "none", or names
/// of "bounds", "races", "written" and "divergence" with commas. Another name
/// is a usage error.
llvm::Error selectChecks(llvm::StringRef Text, CpuDeviceOptions &Options);

/// The other thread of a race.
struct FaultParty {
  bool KnowsThread = true; ///< False: some other thread, which is not recorded.
  std::array<uint64_t, 3> Block{}, Thread{};
  AccessKind Access = AccessKind::Read;
  std::string Location; ///< "file.cu:12:3"; empty without line tables.
};

/// What a failed assert() says.
struct FailedAssertion {
  std::string Condition, File, Function;
  uint32_t Line = 0;
};

/// Which rule a race breaks.
enum class RaceRule {
  Unordered,    ///< CheckRaces: two accesses that nothing orders.
  LostUpdate,   ///< CheckLostUpdates.
  VolatileOrder ///< CheckVolatileOrder.
};

/// A wrong access or other fault of device code.
struct DeviceFault {
  FaultKind Kind = FaultKind::Trap;
  std::string Kernel;
  std::array<uint64_t, 3> Block{}, Thread{};
  uint64_t Address = 0;
  std::string Location; ///< "file.cu:12:3"; empty without line tables.
  std::string
      Detail; ///< For people: "4 bytes past the end of a 4096-byte buffer".
  std::optional<FailedAssertion> Assertion;
  std::optional<FaultParty> Other; ///< Of a race.
  bool SameValue = false; ///< A race in which both wrote the same value.
  RaceRule Rule = RaceRule::Unordered; ///< Of a race.
  std::string str() const;
};

struct LaunchResult {
  std::optional<DeviceFault> Fault;
  ExecutionCounts Counts; ///< All zero unless asked for.
  double Steps = 0;       ///< Instructions of all threads; 0 unless asked for.
  double Switches = 0;    ///< How often threads waited for others.
  std::string Printed;    ///< What device printf wrote (also sent to stdout by
                          ///< the CUDA run time).
};

/// One registered buffer.
struct DeviceBuffer {
  void *Base = nullptr;
  uint64_t Size = 0; ///< Bytes.
  bool ReadOnly = false;
};

/// Limits that a program can set (cudaDeviceSetLimit), with CUDA's defaults.
struct DeviceLimits {
  uint64_t HeapBytes = 8 << 20;  ///< For malloc in device code.
  uint64_t PrintBytes = 1 << 20; ///< For printf, per launch.
  uint64_t StackBytes = 1024;    ///< For a thread's calls. Frames are larger on
                                 ///< the host: it gets eight times as much, and
                                 ///< at least 256 KiB.
};

/// The heap of device code. What is not freed there lives as long as the
/// DeviceMemory it belongs to. Thread-safe.
class DeviceHeap {
public:
  DeviceHeap();
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap &) = delete;
  DeviceHeap &operator=(const DeviceHeap &) = delete;
  /// \p Size bytes, aligned to 16; null beyond \p Limit bytes in all.
  void *allocate(uint64_t Size, uint64_t Limit);
  /// Gives \p Pointer to the caller, who frees it with std::free. False for
  /// what allocate() did not return, or was released before.
  bool release(void *Pointer);

private:
  struct State;
  std::unique_ptr<State> S;
};

/// The bytes of a buffer that launches with CpuDeviceOptions::Coverage touched.
struct BufferCoverage {
  llvm::BitVector Read, Written; ///< A bit for each byte.
};

/// Memory that device code got from malloc.
struct DeviceHeapBlock {
  void *Base = nullptr;
  uint64_t Size = 0;            ///< Bytes.
  std::string Kernel, Location; ///< Of the malloc; "file.cu:12:3" or "".
  std::array<uint64_t, 3> Block{}, Thread{};
};

/// What launches asked the heap of device code for.
struct DeviceHeapUse {
  /// Bytes that all threads would hold together, each at its own peak: threads
  /// run one after the other here, but not on a GPU.
  uint64_t AtOnce = 0;
  uint64_t Refused = 0;      ///< Requests beyond the heap, which got null.
  uint64_t RefusedBytes = 0; ///< Of the first of them.
  std::string Location; ///< Of that one, or of the largest that was granted.
};

/// Memory that device code may touch. Thread-safe.
class DeviceMemory {
public:
  DeviceLimits Limits;
  DeviceHeap Heap;
  virtual ~DeviceMemory();
  static std::unique_ptr<DeviceMemory> create();
  /// Registers [Base, Base + Size) as one buffer, readable and, unless
  /// \p ReadOnly, writable.
  /// Its bytes count as written: see setWritten.
  virtual void addBuffer(void *Base, uint64_t Size, bool ReadOnly = false) = 0;
  /// The caller may free the memory; an access to it is still reported as use
  /// after free, until another buffer lies there.
  virtual void removeBuffer(void *Base) = 0;
  /// Unregisters a buffer that std::malloc or posix_memalign made, and takes
  /// it: it is freed later, so that its addresses stay unused for a while.
  virtual void freeBuffer(void *Base) = 0;
  /// Says whether bytes of a buffer hold something: what CheckWritten asks.
  /// Bytes outside buffers are passed over.
  virtual void setWritten(const void *Start, uint64_t Size,
                          bool Written = true) = 0;
  /// Bytes were copied: those of \p To hold something where those of \p From
  /// do, or where \p From is no device memory.
  virtual void copyWritten(void *To, const void *From, uint64_t Size) = 0;
  /// Which bytes of the buffer at \p Base launches read and wrote since it was
  /// added or coverage was reset; nothing when no buffer begins there.
  virtual std::optional<BufferCoverage> coverage(const void *Base) const = 0;
  virtual void resetCoverage() = 0;
  /// What device code allocated and has not freed.
  virtual std::vector<DeviceHeapBlock> deviceHeap() const = 0;
  /// What it asked for since this was made.
  virtual DeviceHeapUse heapUse() const = 0;
  /// Bytes that the checks hold besides the buffers.
  virtual uint64_t checkMemory() const = 0;
  /// The buffer that holds \p Address; nothing when none does.
  virtual std::optional<DeviceBuffer> find(const void *Address) const = 0;
  /// The buffer that lies next to \p Address, for diagnostics.
  virtual std::optional<DeviceBuffer> nearest(const void *Address) const = 0;
};

/// A loaded device module, ready to launch. Thread-safe.
class CpuModule {
public:
  virtual ~CpuModule();
  /// Takes NVPTX bitcode. Kernels are lowered and compiled for this CPU when
  /// something first asks for them. What it cannot run is a finding error that
  /// names the instruction and the kernel.
  static llvm::Expected<std::unique_ptr<CpuModule>>
  load(llvm::StringRef Bitcode, const CpuDeviceOptions &Options);
  virtual std::vector<std::string> kernels() const = 0;
  /// Compute capability that the code was compiled for, times ten: 90.
  virtual unsigned arch() const = 0;
  /// Size in bytes of each parameter of \p Kernel; a usage error for an unknown
  /// one.
  virtual llvm::Expected<std::vector<uint64_t>>
  paramSizes(llvm::StringRef Kernel) const = 0;
  /// Address and size of a __device__ or __constant__ variable.
  virtual std::optional<std::pair<void *, uint64_t>>
  global(llvm::StringRef Symbol) const = 0;
  /// Blocks of \p Kernel that the described GPU holds at a time in launches of
  /// this shape, as far as threads, blocks and shared memory bound it: what a
  /// cooperative grid may have.
  virtual llvm::Expected<uint64_t>
  residentBlocks(llvm::StringRef Kernel, const LaunchShape &Shape) const = 0;
  /// Whether threads of \p Kernel may tell in which order they run by anything
  /// but a race: they have volatile or atomic accesses, loops that wait for
  /// memory, or call functions. Without, one schedule stands for all.
  virtual llvm::Expected<bool> seesSchedule(llvm::StringRef Kernel) const = 0;
  /// Another schedule for the launches to come, of a module that was loaded
  /// with one. Not while a launch runs.
  virtual void setSchedule(uint64_t Seed, uint64_t ResidentBlocks) = 0;
  /// Bytes of local memory that each thread of \p Kernel has: variables that
  /// fit into no register. Without those of functions that it calls.
  virtual llvm::Expected<uint64_t> localBytes(llvm::StringRef Kernel) const = 0;
  /// Names of such variables that a program can see.
  virtual std::vector<std::string> globals() const = 0;
  /// Where the code decides something; nothing unless that was asked for.
  virtual llvm::ArrayRef<DecisionSite> decisions() const = 0;
  /// Which of their sides launches took since this was loaded or last
  /// forgotten: DecisionSite::First and on.
  virtual llvm::BitVector decided() const = 0;
  virtual void forgetDecided() = 0;
  /// Runs \p Kernel to its end. Faults are results, not errors; errors are
  /// wrong uses (unknown kernel, illegal shape).
  virtual llvm::Expected<LaunchResult> launch(llvm::StringRef Kernel,
                                              const LaunchShape &Shape,
                                              llvm::ArrayRef<const void *> Args,
                                              DeviceMemory &Memory) = 0;
};

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_CPUDEVICE_H
