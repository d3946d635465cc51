//===- InputValues.h - Other values for the buffers of a case -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_INPUTVALUES_H
#define CUPILOT_LIB_EVALUATION_INPUTVALUES_H

#include "Cases.h"
#include "cupilot/Portable/Random.h"

namespace cupilot {

/// \p Base under another name: not captured, and perhaps no launch that the
/// original bears.
GateCase varied(const GateCase &Base, const llvm::Twine &Name);

/// A number that follows from seed, buffer and index alone.
inline uint64_t drawAt(uint64_t Seed, size_t Buffer, uint64_t Index) {
  uint64_t State = Seed ^ (Buffer + 1) * 0xd1342543de82ef95 ^
                   (Index + 1) * 0xaef17502108ef2d9;
  return splitMix64(State);
}

/// What becomes of a float: \p Kind, its buffer, its index there and its value.
using FloatChange = std::function<double(ElementKind Kind, size_t Buffer,
                                         uint64_t Index, double Value)>;
/// Changes the floats of all buffers of \p C.
void changeFloats(GateCase &C, const FloatChange &Change);
/// Adds the case "NAME" in which all floats are changed so.
void addFloatCase(const GateCase &Base, const char *Name,
                  const FloatChange &Change, CaseMakers &Makers);

/// A few values are hundreds of times larger than the rest; by \p Draw.
double heavyTailed(uint64_t Draw);
/// A float of a random sign whose binary exponent lies in [Low, High); by
/// \p Draw. Both are cut to what \p Kind holds.
double ofBinades(ElementKind Kind, uint64_t Draw, int Low, int High);
/// Multiplies the floats of \p Buffer behind the first \p Period bytes, which
/// they repeat, by factors from 1/2 to 2: who leaves out a copy must not find
/// the same in another.
void varyCopies(GateCase &C, size_t Buffer, uint64_t Period, uint64_t Seed);
/// A few floats of \p Buffer become a thousand times as large: who looks for
/// the largest must look everywhere. Among them are the last ones of some rows,
/// if rows have one of \p Lengths elements.
void addSpikes(GateCase &C, size_t Buffer, uint64_t Seed,
               llvm::ArrayRef<int64_t> Lengths = {});
/// Makes one float of each row far larger than all others (each third round:
/// far less), so that what compares them finds it. A row is as long as one of
/// \p Lengths. It lies where a row of the length in \p Was has nothing, and
/// in each third round among the last.
void addPeaks(GateCase &C, size_t Buffer, uint64_t Seed, unsigned Round,
              llvm::ArrayRef<int64_t> Lengths, llvm::ArrayRef<int64_t> Was);
/// Makes the last numbers of each buffer nearly the first ones of another one
/// of the same type (of which one, says \p Round), so that a search for what is
/// nearest finds them. They are twelve, which rows of up to four divide, or as
/// many rows, if \p Round is not 0, of one of \p Lengths.
void addTwins(GateCase &C, uint64_t Seed, unsigned Round,
              llvm::ArrayRef<int64_t> Lengths);
/// The numbers of buffer \p Buffer of \p C in another order.
void permuteIntegers(GateCase &C, size_t Buffer, uint64_t Seed);

/// Floats: every size, NaN, infinity, multiples of pi, rows in which many small
/// terms matter.
void addFloatInputs(const CaseContext &X, const GateCase &Base,
                    CaseMakers &Makers);
/// Integers: their whole type, the ends of the floats' whole numbers, and what
/// indices and lengths bear.
void addIntegerInputs(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_INPUTVALUES_H
