//===- Errors.h - Rounding errors of buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_ERRORS_H
#define CUPILOT_LIB_EVALUATION_ERRORS_H

#include "Compare.h"

namespace cupilot {

/// Where a buffer breaks the contract.
struct BufferMismatch {
  bool Bitwise = false; ///< It had to be equal; only At is set.
  uint64_t At = 0;      ///< Byte of the first wrong number.
  size_t Wrong = 0;     ///< Numbers beyond what they may have.
  size_t FarOff = 0; ///< Numbers at which the original's own error is none of
                     ///< rounding.
  double Mine = 0, Own = 0; ///< Largest errors against the float64 run.
  double Term = 0; ///< What each number may have beyond the original's error.
  double Got = 0, Original = 0, Reference = 0; ///< The first wrong number.
  /// No number is wrong; |out - ref| / |ref| is, of which Term was allowed.
  bool Norm = false;
  bool Leans = false; ///< The same of leanOf().
};

/// What a result may differ by.
struct Tolerance {
  const PrecisionContract &Contract;
  /// Each float may also be Factor times this away from the float64 run, and
  /// under "relaxed" the contract's term more; empty when it is not known.
  llvm::ArrayRef<double> Sensitivity;
  double Factor = 16;
  /// How far the original is off at each double, by its byte: the float64 run
  /// is no measure of that. Empty when it is not known.
  llvm::ArrayRef<double> OfDoubles = {};
  /// Whether these are a workload's own inputs: the contract's bound of the
  /// norm holds for them.
  bool OwnInputs = false;
  /// What leanOf() may be beyond the original's own, in size.
  std::optional<double> Lean = std::nullopt;
  /// Whether nothing is asked where the original is NaN or infinite, or only \p
  /// Got is where the original is near that.
  bool OnlyFinite = false;
  /// The original stands for the float64 run: its own error is not known.
  bool OwnPrecision = false;
};

/// Compares \p Got with what the original left, by the float64 run: floats by
/// what is \p Allowed, all else bit by bit, padding not at all.
std::optional<BufferMismatch>
compareBuffer(const Bytes &Got, const Bytes &Reference, const Bytes &Original,
              const Layout &L, const Tolerance &Allowed, ErrorRange &Errors);

/// |X - ref| / |ref| in Euclidean norms, and sum((X - ref) * ref) / sum(ref^2):
/// how far errors lean to one side. Both over the finite numbers of a buffer
/// that lie at \p F; infinity where ref is 0 and X is not.
struct ErrorSums {
  double Norm = 0, Lean = 0;
  double Rms = 0;     ///< Root mean square of ref.
  size_t Numbers = 0; ///< Finite ones.
  bool Finite = true; ///< All numbers of both are.
};
ErrorSums sumErrors(const Bytes &X, const Bytes &Reference, const Layout &L,
                    const LayoutField &F);

/// Half a unit in the last place, relative to the number.
double unitOfRounding(ElementKind K);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_ERRORS_H
