//===- LaunchPlan.h - Launch plans and guards in lowered form -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowered form of #cupilot.plan and #cupilot.guard: plain data that builds
// read from the store and turn into IR, that the gate evaluates, and that the
// dialect converts from and to attributes. It knows neither MLIR nor LLVM IR.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_LAUNCHPLAN_H
#define CUPILOT_MODEL_LAUNCHPLAN_H

#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// The dimensions of the maps and sets in plans and guards: the original
/// launch. Their order is that of the dims of the affine maps.
enum LaunchDim : unsigned {
  GridX,
  GridY,
  GridZ,
  BlockX,
  BlockY,
  BlockZ,
  SharedBytes, ///< Dynamic shared memory.
  NumLaunchDims
};

/// An integer that the kernel gets: a scalar argument, or an integer field of a
/// by-value argument. The symbols of the affine maps are a kernel's scalars, in
/// this order: by parameter, then by offset.
struct ScalarRef {
  unsigned Param = 0;  ///< Parameter index.
  unsigned Offset = 0; ///< Byte offset in the parameter.
  unsigned Bits = 32;  ///< 8, 16, 32 or 64.
  bool Signed = true;
  bool operator==(const ScalarRef &) const = default;
};

/// A pointer that the kernel gets: an argument or a field of one.
struct PointerRef {
  unsigned Param = 0;
  unsigned Offset = 0;
  bool operator==(const PointerRef &) const = default;
};

/// A (semi-)affine expression over the launch and the scalars, in signed 64-bit
/// arithmetic. Mod, FloorDiv and CeilDiv are MLIR's: the right side must be
/// positive, Mod is never negative.
struct Expr {
  enum class Kind { Constant, Dim, Symbol, Add, Mul, Mod, FloorDiv, CeilDiv };
  Kind K = Kind::Constant;
  int64_t Value = 0;          ///< The constant, or the index of dim or symbol.
  std::vector<Expr> Operands; ///< Two for the binary kinds.

  static Expr constant(int64_t Value) { return {Kind::Constant, Value, {}}; }
  static Expr dim(unsigned Index) { return {Kind::Dim, Index, {}}; }
  static Expr symbol(unsigned Index) { return {Kind::Symbol, Index, {}}; }
  static Expr binary(Kind K, Expr LHS, Expr RHS) {
    return {K, 0, {std::move(LHS), std::move(RHS)}};
  }
  bool operator==(const Expr &) const = default;
  /// For people: "gx ceildiv 4", with s0, s1, ... for the scalars.
  std::string str() const;
};

/// The values that an expression is evaluated over.
struct Bindings {
  std::array<int64_t, NumLaunchDims> Dims{};
  std::vector<int64_t> Symbols;
};

/// The value of \p E; nothing on overflow, on a division by a number that is
/// not positive, or on an index out of range.
std::optional<int64_t> evaluate(const Expr &E, const Bindings &B);

/// One launch of a plan; by default that of the original.
struct Launch {
  std::string Symbol; ///< Mangled name of the kernel in the variant's source.
  std::array<Expr, 3> Grid{Expr::dim(GridX), Expr::dim(GridY),
                           Expr::dim(GridZ)};
  std::array<Expr, 3> Block{Expr::dim(BlockX), Expr::dim(BlockY),
                            Expr::dim(BlockZ)};
  Expr Shared = Expr::dim(SharedBytes);
  /// Blocks of a cluster; nothing: what the kernel itself asks for.
  std::optional<std::array<Expr, 3>> Cluster;
  bool operator==(const Launch &) const = default;
};

/// A tensor map over a buffer that the kernel gets: the arguments of
/// cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Management").
struct TensorMapPlan {
  static constexpr unsigned MaxRank = 5;
  PointerRef Base;
  unsigned Type = 0;           ///< CUtensorMapDataType.
  std::vector<Expr> Extents;   ///< Elements, innermost first: its rank.
  std::vector<Expr> Strides;   ///< Bytes, of the second dimension and on.
  std::vector<unsigned> Box;   ///< Elements, a number for each dimension.
  std::vector<unsigned> Steps; ///< Element strides; empty: all 1.
  unsigned Swizzle = 0;        ///< CUtensorMapSwizzle: 0 to 3.
  unsigned Promotion = 0;      ///< CUtensorMapL2promotion: 0 to 3.
  bool FillNan = false;        ///< What is outside reads as NaN, not zero.
  unsigned rank() const { return static_cast<unsigned>(Extents.size()); }
  unsigned step(unsigned I) const { return Steps.empty() ? 1 : Steps[I]; }
  bool operator==(const TensorMapPlan &) const = default;
};

/// How the host must launch a variant: one launch after the other, on the
/// original's stream. The parameters of each of its kernels are the original's,
/// then a pointer for each scratch buffer, then a CUtensorMap (by value, const,
/// __grid_constant__) for each tensor map.
struct LaunchPlan {
  std::vector<Launch> Launches;
  std::vector<Expr> Scratch; ///< Bytes of each buffer, aligned to 256.
  std::vector<TensorMapPlan> TensorMaps;
  bool operator==(const LaunchPlan &) const = default;
  /// Parameters of the kernels beyond the original's.
  unsigned extraParams() const {
    return static_cast<unsigned>(Scratch.size() + TensorMaps.size());
  }
  /// More than one launch with a shape.
  bool isExtended() const;
  /// The kernels that it launches, each once, in the order of first use.
  std::vector<std::string> symbols() const;
  /// The place of \p L's kernel in symbols().
  unsigned indexOf(const Launch &L) const;
};

/// A finding where \p Plan could never be carried out, whatever the launch: a
/// rank, box or swizzle that the hardware does not have, ...
llvm::Error checkTensorMap(const TensorMapPlan &Plan);

/// The words for CUtensorMapDataType ("f32"), CUtensorMapSwizzle ("128B") and
/// CUtensorMapL2promotion ("none"), in the order of their values.
llvm::ArrayRef<llvm::StringRef> tensorTypeWords();
llvm::ArrayRef<llvm::StringRef> tensorSwizzleWords();
llvm::ArrayRef<llvm::StringRef> tensorPromotionWords();
/// Bytes of an element of a CUtensorMapDataType; 0 for other numbers.
unsigned tensorTypeBytes(unsigned Type);

/// `E == 0` or `E >= 0`, as in an integer set.
struct Constraint {
  Expr E;
  bool IsEq = false;
  bool operator==(const Constraint &) const = default;
};

/// The pointer must be a multiple of \p Bytes (a power of two).
struct Alignment {
  PointerRef Pointer;
  unsigned Bytes = 1;
  bool operator==(const Alignment &) const = default;
};

/// [A, A + ExtentA) and [B, B + ExtentB) must not overlap; extents in bytes.
struct Disjoint {
  PointerRef A, B;
  Expr ExtentA, ExtentB;
  bool operator==(const Disjoint &) const = default;
};

/// When a variant may run. All of it must hold; an expression that overflows
/// fails the guard.
struct Guard {
  std::string Arch; ///< "sm_90": compute capability must be equal.
  std::vector<Constraint> Constraints;
  std::vector<Alignment> Alignments;
  std::vector<Disjoint> Disjoints;
  bool operator==(const Guard &) const = default;
};

/// The shape of one launch in numbers.
struct LaunchShape {
  std::array<uint64_t, 3> Grid{1, 1, 1};
  std::array<uint64_t, 3> Block{1, 1, 1};
  uint64_t Shared = 0;
  std::array<uint64_t, 3> Cluster{1, 1, 1}; ///< Blocks of a cluster.
  bool Cooperative = false; ///< All blocks at once: grids may synchronise.
  bool operator==(const LaunchShape &) const = default;
};

/// The bindings of a launch: dims from \p Shape, symbols read from the raw
/// bytes of the arguments. An argument that is too short is a usage error.
llvm::Expected<Bindings> bindLaunch(const LaunchShape &Shape,
                                    llvm::ArrayRef<ScalarRef> Scalars,
                                    llvm::ArrayRef<std::vector<uint8_t>> Args);

/// True when \p G admits the launch. Pointers are read from \p Args too. The
/// architecture is not looked at.
bool admits(const Guard &G, const Bindings &B,
            llvm::ArrayRef<std::vector<uint8_t>> Args);

/// The shape of launch \p L under \p B; nothing when an expression has no value
/// or the result is no legal launch (a dimension below 1 or above CUDA's
/// limits, a grid that is no multiple of its cluster).
std::optional<LaunchShape> planShape(const Launch &L, const Bindings &B);

/// Bytes that a scratch buffer may have at most, and its alignment.
inline constexpr int64_t MostScratch = int64_t(1) << 40;
inline constexpr unsigned ScratchAlignment = 256;

/// The bytes of scratch buffer \p Size under \p B; nothing when that is no
/// number from 1 to MostScratch.
std::optional<uint64_t> scratchBytes(const Expr &Size, const Bindings &B);

/// The numbers of a tensor map for one launch.
struct TensorMapValues {
  std::vector<uint64_t> Extents, Strides;
};

/// The numbers of \p Map under \p B; nothing when an expression has no value or
/// a number is outside cuTensorMapEncodeTiled's rules. The pointer's own
/// (16 bytes of alignment) are not looked at.
std::optional<TensorMapValues> tensorValues(const TensorMapPlan &Map,
                                            const Bindings &B);

// JSON, as in the store's build files: expressions are numbers, "gx".."bz",
// "shared", "s0".., or [operator, lhs, rhs].
llvm::json::Value toJSON(const Expr &E);
llvm::json::Value toJSON(const LaunchPlan &Plan);
llvm::json::Value toJSON(const Guard &G);
llvm::json::Value toJSON(const ScalarRef &S);
bool fromJSON(const llvm::json::Value &V, Expr &E, llvm::json::Path P);
bool fromJSON(const llvm::json::Value &V, LaunchPlan &Plan, llvm::json::Path P);
bool fromJSON(const llvm::json::Value &V, Guard &G, llvm::json::Path P);
bool fromJSON(const llvm::json::Value &V, ScalarRef &S, llvm::json::Path P);
/// "grid", "block" and "shared" of a launch.
llvm::json::Object toJSON(const LaunchShape &S);
bool fromJSON(const llvm::json::Value &V, LaunchShape &S, llvm::json::Path P);

} // namespace cupilot

#endif // CUPILOT_MODEL_LAUNCHPLAN_H
