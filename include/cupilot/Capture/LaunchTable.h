//===- LaunchTable.h - Which launches are kept -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_LAUNCHTABLE_H
#define CUPILOT_CAPTURE_LAUNCHTABLE_H

#include "cupilot/Capture/Counters.h"
#include "cupilot/Capture/Record.h"
#include <unordered_map>

namespace cupilot::capture {

struct TableLimits {
  size_t KeptPerKernel = 8;     ///< Launches with data.
  size_t ClassesPerKernel = 64; ///< Told apart by their arguments.
};

/// Sorts launches into classes: one kernel, one shape, the same bytes outside
/// of pointers. Bounded: a kernel with more classes than the limit has its
/// further launches sorted by shape alone, then by nothing. Says which
/// launches to keep with their data: the first ones of each kernel, later the
/// ones that take more time than those that are kept.
class LaunchTable {
public:
  LaunchTable(TableLimits Limits, Counters &Counts)
      : Limits(Limits), Counts(Counts) {}

  struct Class {
    std::string Kernel;
    Shape Dims;
    bool Rest = false; ///< Stands for several arguments or shapes.
    bool InGraph = false;
    bool Kept = false;
    bool Never = false; ///< Keeping one was tried and is not possible.
    uint64_t Bytes = 0; ///< Of the data, as long as it is kept.
  };
  struct Found {
    uint32_t Index;
    bool New;
  };

  /// The class of a launch whose arguments have the hash \p Args.
  Found find(const std::string &Kernel, const Shape &Dims, uint64_t Args,
             bool InGraph = false);
  /// The same, but makes none: New says that there is none yet.
  Found lookup(const std::string &Kernel, const Shape &Dims, uint64_t Args,
               bool InGraph) const;
  /// The class of a launch whose arguments are not known: a class of the same
  /// shape, where there is one.
  Found findByShape(const std::string &Kernel, const Shape &Dims,
                    bool InGraph = false);

  Class &operator[](uint32_t Index) { return Classes[Index]; }
  size_t size() const { return Classes.size(); }
  size_t kernels() const { return Kernels.size(); }
  /// Kept classes of the kernel of \p Index; of all kernels.
  size_t keptLike(uint32_t Index) const;
  size_t kept() const;

  /// Whether the launch that was just counted in \p Index is to be kept. True
  /// at most once for each doubling of the count.
  bool wants(uint32_t Index) const;
  /// The same of a launch in a graph: those of one kernel and shape are counted
  /// together, so one of them stands for all.
  bool wantsInGraph(uint32_t Index) const;
  /// The kept classes to give up for \p Index, least time first: one of the
  /// kernel's own when it has its share already, then any until \p Bytes
  /// are free. All of them took less than half its time.
  std::vector<uint32_t> victims(uint32_t Index, uint64_t Bytes) const;

private:
  struct Kernel {
    std::vector<uint32_t> Own; ///< All of its classes.
    size_t ByArguments = 0, ByShape = 0;
  };
  Found add(Kernel &K, uint64_t Key, const std::string &Name, const Shape &Dims,
            bool Rest, bool InGraph);
  TableLimits Limits;
  Counters &Counts;
  std::vector<Class> Classes;
  std::unordered_map<std::string, Kernel> Kernels;
  std::unordered_map<uint64_t, uint32_t> Known;
};

/// Mixes \p Size bytes into a hash. Not for contents: those have digests.
uint64_t mixHash(uint64_t Hash, const void *Bytes, size_t Size);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_LAUNCHTABLE_H
