//===- Cases.h - The launches that a variant is judged on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_CASES_H
#define CUPILOT_LIB_EVALUATION_CASES_H

#include "CodeFacts.h"
#include "cupilot/Evaluation/GateCase.h"
#include <functional>

namespace cupilot {

/// A case that is made when it is needed.
struct CaseMaker {
  std::string Name;
  std::function<GateCase()> Make;
};
using CaseMakers = std::vector<CaseMaker>;
/// Moves the first of each of \p Each to \p To, then the second ones, and so
/// on, so that a small budget tries all kinds.
void appendInTurn(std::vector<CaseMakers> Each, CaseMakers &To);

/// What the makers know of a kernel.
struct CaseContext {
  const Kernel &K;
  const KernelLayout &Types;
  uint64_t Seed = 1;
};

/// The value of an integer argument.
uint64_t readScalar(const GateCase &C, const ScalarRef &S);
void writeScalar(GateCase &C, const ScalarRef &S, uint64_t Value);
/// "n"; "p.8" for the field at byte 8 of p.
std::string scalarName(const Kernel &K, const ScalarRef &S);
/// Bytes of all of them.
uint64_t bytesOf(llvm::ArrayRef<Bytes> Buffers);
/// "grid 16 block 256".
std::string shapeText(const LaunchShape &S);
/// Whether the kernel gets a pointer to \p Buffer that is not to const.
bool mayBeWritten(const Kernel &K, const GateCase &C, size_t Buffer);
/// The same for integers.
void transformIntegers(
    Bytes &Content, const Layout &L,
    llvm::function_ref<int64_t(uint64_t Index, int64_t Value)> Change);

/// Other values: rescaled, heavy-tailed, position-coded, special.
void addInputCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers);
/// Rows of floats in which many small terms matter beside a large one. Part of
/// the above; longer rows want it once more.
void addRowCases(const CaseContext &X, const GateCase &Base,
                 CaseMakers &Makers);
/// Float arguments, fields of structs and device variables: usual numbers, and
/// both sides of each of \p Thresholds. Each case says in ChangedFloats which
/// number it is about.
void addConstantCases(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers,
                      llvm::ArrayRef<FloatThresholdFact> Thresholds = {});
/// The floating arguments and fields of arguments.
std::vector<FloatRef> floatArguments(const CaseContext &X,
                                     const GateCase &Base);
double readFloat(const GateCase &C, const FloatRef &R);
/// Of the bytes of a launch's arguments.
double readFloat(llvm::ArrayRef<Bytes> Args, const FloatRef &R);
void writeFloat(GateCase &C, const FloatRef &R, double Value);
/// Single elements and random groups of them made to stand out.
void addProbeCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers);
/// Other integer arguments, with buffers that fit them.
void addShapeCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers);
/// Other grids and blocks.
void addLaunchCases(const CaseContext &X, const GateCase &Base,
                    CaseMakers &Makers);
/// in == out, overlapping and misaligned buffers.
void addAliasCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers);

/// Launches like \p Base in which two pointers that C++ lets be equal are: one
/// for each pair, of which one is written.
std::vector<GateCase> equalPointerCases(const CaseContext &X,
                                        const GateCase &Base);

/// For relaxed contracts: numbers that rounding leaves alone, or on which it
/// must not lean to one side, and inputs times powers of two.
void addRelaxedCases(const CaseContext &X, const GateCase &Base,
                     CaseMakers &Makers);

/// Bytes of the widest element that a pointer parameter has.
uint64_t widestElement(const Kernel &K);

/// What of a launch is resized: an integer argument, or a dimension of the
/// grid.
struct Extent {
  const ScalarRef *Scalar = nullptr;
  unsigned GridDim = 0; ///< Where there is no scalar.
};

/// How buffers follow an extent.
enum class Fit {
  All,    ///< Every buffer whose size is a multiple.
  Larger, ///< Those of several times the extent.
  Equal,  ///< Those of exactly the extent.
  None,   ///< Buffers stay.
};

/// \p Base with \p E at \p Value, the grid where it covered the extent, and
/// the buffers as \p F says. New elements repeat the old ones.
GateCase resized(const CaseContext &X, const GateCase &Base, const Extent &E,
                 uint64_t Value, Fit F, bool ResizeGrid);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_CASES_H
