//===- Recorder.h - Records the launches of this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_RECORDER_H
#define CUPILOT_TOOLS_CAPTURE_RECORDER_H

#include "Cupti.h"
#include "Driver.h"
#include "Journal.h"
#include "Modules.h"
#include "cupilot/Capture/LaunchTable.h"
#include "cupilot/Capture/Options.h"
#include "cupilot/Capture/Pointers.h"
#include "cupilot/Capture/PtxImages.h"
#include "cupilot/Capture/TimeBudget.h"
#include "cupilot/Capture/Touched.h"
#include <atomic>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace cupilot::capture {

struct NoiseRequest;

/// A launch as the driver is asked for it.
struct LaunchCall {
  void *Function = nullptr; ///< A CUfunction or a CUkernel.
  const char *Name = nullptr;
  Shape Dims;
  CUstream Stream = nullptr;
  void **Params = nullptr; ///< A pointer to each argument, or
  void **Extra = nullptr;  ///< all of them in one piece.
};

/// As long as one of these lives, this thread's calls of the driver are our
/// own: they are not recorded, and possible while other threads capture
/// streams.
class OwnCalls {
public:
  explicit OwnCalls(const Driver &Cuda);
  ~OwnCalls();
  OwnCalls(const OwnCalls &) = delete;
  static bool active();
  /// For the rest of this thread's life.
  static void always();

private:
  const Driver &Cuda;
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Everything that the library knows in the recorded process. There is one; it
/// is never destroyed, because other threads run until the process is gone.
class Recorder {
public:
  Recorder(std::string Folder, Options Opts);
  /// Makes the files. False: nothing can be recorded.
  bool open();

  Driver Cuda;
  Cupti Tracer;
  Modules Binaries;
  Journal Log;
  const Options Opts;

  /// Before and after a launch on a stream, by the thread that makes it.
  void beforeLaunch(const LaunchCall &Call, uint32_t Correlation);
  void afterLaunch(bool Launched);
  /// A launch that a graph will make.
  void inGraph(const LaunchCall &Call);
  /// With --graphs, from GraphData.cpp: an executable graph is made of
  /// \p Graph, changed, about to be launched, destroyed.
  void graphMade(CUgraphExec Exec, CUgraph Graph);
  void graphChanged(CUgraphExec Exec);
  void beforeGraph(CUgraphExec Exec, CUstream Stream);
  void graphGone(CUgraphExec Exec);
  /// One that we make ourselves: it is not counted.
  void ownLaunch(uint32_t Correlation);
  /// What the device says about one launch.
  void finished(const char *Kernel, const Shape &Dims, uint32_t Correlation,
                bool InGraph, uint64_t Nanoseconds);
  void capturing(bool Begins);
  void forgetFunctions();

  /// Says on standard error how far the program is, when it is time to.
  void showProgress();
  /// Facts of the devices, as soon as there are some.
  void describeDevices();
  /// The process ends.
  void finish();
  /// Ends the recording when nothing can be written any more.
  void checkLog();
  void disable() { Disabled = true; }
  bool disabled() const { return Disabled; }

private:
  struct Function {
    std::string Name;
    std::string Library; ///< That launches it; "" for others.
    std::vector<Parameter> Layout;
    size_t Size = 0;       ///< Of all parameters, in bytes.
    bool Named = false;    ///< By the driver.
    bool IsKernel = false; ///< A CUkernel.
    bool Known = false;    ///< The layout is.
    std::vector<std::pair<unsigned, unsigned>> Words; ///< That are pointers.
    size_t Misses = 0; ///< Launches whose arguments were new.
  };
  struct Pending; ///< A launch that is being kept.
  /// What an executable graph was made of.
  struct KnownGraph {
    CUgraph Copy = nullptr; ///< Ours; null: it cannot be copied.
    bool Changed = false, Tried = false;
  };
  class GraphRun; ///< A graph's nodes on copies of their memory.

  Function &function(const LaunchCall &Call);
  bool readArguments(const Function &F, const LaunchCall &Call,
                     std::vector<std::string> &Args) const;
  uint64_t keyOf(const Function &F, std::vector<std::string> Args) const;
  bool findRange(uint64_t Address, Range &Found) const;
  uint32_t classify(Function &F, const LaunchCall &Call, bool InGraph,
                    std::vector<std::string> &Args);
  void writeClass(uint32_t Index, const std::vector<std::string> &Remarks);

  /// What a thread that keeps a launch does, as showProgress() says it.
  class Task {
  public:
    explicit Task(Recorder &R) : R(R) {}
    ~Task() { R.setDoing(""); }
    Task(const Task &) = delete;
    void now(const char *What, const std::string &Kernel);

  private:
    Recorder &R;
  };
  void setDoing(std::string What);

  // Touching.cpp
  /// A kernel's copy that marks what it touches, in the current context.
  struct Marked {
    CUfunction Kernel = nullptr;
    CUmodule Module = nullptr;
    std::vector<std::string> Variables;
    std::string Why; ///< There is none.
  };
  const Marked &markedKernel(const std::string &Kernel);
  Obstacle makeMarked(const std::string &Kernel, Marked &Made);
  /// A launch on buffers of their own.
  struct OwnBuffers {
    std::vector<Part> Parts;
    std::vector<Pointer> Pointers;
    std::vector<std::string>
        Before; ///< Their contents; none of too large ones.
    /// Digests of what they hold after it; empty where two runs differed.
    std::vector<std::string> After;
    uint64_t bytes() const;
  };
  Obstacle touched(Launch &L, const std::vector<Range> &Allocations,
                   const std::vector<Range> &Globals, OwnBuffers &Made);
  class MarkedRun;
  // Inferring.cpp
  Obstacle inferred(Launch &L, const std::vector<Range> &Allocations,
                    const std::vector<Range> &Globals, OwnBuffers &Made);
  Obstacle inferRanges(Launch &L, const std::vector<Range> &Allocations,
                       const std::vector<Range> &Globals, OwnBuffers &Made);
  Obstacle askForRanges(const NoiseRequest &Request, nlohmann::json &Answer);
  Obstacle readParts(const std::vector<Part> &Parts,
                     const std::vector<uint64_t> &At,
                     std::vector<std::string> &Contents,
                     const std::vector<const char *> &Saved = {}) const;
  Obstacle tryBuffers(const Launch &L, const Marked &K,
                      const std::vector<Range> &Globals, const OwnBuffers &Made,
                      bool &Further, std::vector<std::string> &After);

  // Snapshot.cpp
  void keepBefore(uint32_t Index, const Function &F, const LaunchCall &Call,
                  std::vector<std::string> Args);
  Obstacle waitFor(CUstream Stream) const;
  bool findModule(Launch &L, std::vector<std::string> &Variables);
  Obstacle read(const Range &R, std::unique_ptr<char[]> &Bytes) const;
  Obstacle store(std::string_view Bytes, std::string &Digest);
  Obstacle snapshot(const Range &R, std::string &Digest,
                    std::string *Keep = nullptr);
  Obstacle keepAfter(const Range &R, const std::string &Before, Content &C);
  Obstacle keepPartAfter(const Part &P, const std::string &Before,
                         const std::string &Expected, Content &C);
  void findGlobals(Launch &L, std::vector<Range> &At, const Function &F,
                   const void *Handle);
  void giveUp(uint32_t Index);
  bool makeRoom(uint32_t Index, uint64_t Bytes);
  void drop(const Launch &L);

  const std::string Folder;
  std::atomic<bool> Disabled{false};
  std::atomic<int> Captures{0}; ///< Streams that are being captured.

  std::mutex TableLock;
  Counters Counts;
  LaunchTable Table;
  std::unordered_map<void *, Function> Functions;
  std::unordered_map<std::string, std::string> Libraries; ///< By kernel.
  std::vector<Launch> KeptLaunches;                       ///< By class.

  std::mutex GraphLock;
  std::unordered_map<CUgraphExec, KnownGraph> Graphs;

  std::mutex StoreLock; ///< Held while a launch is being kept.
  ContentStore Store;
  TimeBudget Budget;
  PtxImages Ptx;
  std::map<std::pair<CUcontext, std::string>, Marked> MarkedKernels;
  /// How often ranges of a kernel could not be inferred, and why the last time.
  std::map<std::string, std::pair<unsigned, std::string>> NotInferred;
  /// Of launches that touch too much, by kernel.
  std::map<std::string, std::vector<Shape>> TooLarge;

  /// Correlation and class of recent launches, by the low bits of the former.
  static constexpr size_t RingSize = 1 << 18;
  static constexpr uint32_t OwnEntry = ~uint32_t(0);
  std::unique_ptr<std::atomic<uint64_t>[]> Ring;
  std::atomic<bool> DevicesKnown{false};

  const TimeBudget::Clock::time_point Begin = TimeBudget::Clock::now();
  TimeBudget::Clock::time_point Shown = Begin; ///< The last progress.
  std::mutex DoingLock;
  std::string Doing;
};

/// Registers for records of kernels.
Obstacle startActivity(Recorder &R);
/// Delivers the records; all of them when \p Forced.
void flushActivity(Recorder &R, bool Forced);

/// Tells \p R of the kernels in \p Graph.
void walkGraph(Recorder &R, CUgraph Graph);
/// The launch that a kernel's node makes, attributes included; false where the
/// driver does not tell. Arguments stay the node's.
bool launchOfNode(const Driver &Cuda, CUgraphNode Node, LaunchCall &Call);
/// A stream of our own in the current context, which waits for no other one;
/// null where there is no context. There are two, by number.
CUstream copyStream(const Driver &Cuda, unsigned Number = 0);
/// The library that launches the kernel whose callback this is, by the file
/// whose code makes the launch: "libcublas.so.13". "" where that is not one of
/// those that nobody can rebuild.
std::string launchingLibrary();
/// Whether the host can read at \p Address.
bool isHostAddress(uint64_t Address);

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_RECORDER_H
