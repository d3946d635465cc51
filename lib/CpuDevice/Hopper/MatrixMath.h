//===- MatrixMath.h - Fragments and products of matrix instructions -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXMATH_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXMATH_H

#include "Abi/DeviceOp.h"
#include "MatrixTypes.h"
#include <vector>

namespace cupilot {

/// D = A * B + C of M x K and K x N matrices.
struct MatrixShape {
  unsigned M = 0, N = 0, K = 0;
};

/// "m16n8k16".
std::optional<MatrixShape> matrixShape(llvm::StringRef Modifier);

enum class MatrixUse : uint32_t { A, B, C };

/// Registers of a wmma fragment (PTX ISA, "Matrix Fragments for WMMA"); nothing
/// when wmma lacks the shape for the type of A and B. Only for A and B.
std::optional<unsigned> wmmaRegisters(MatrixShape Shape, MatrixUse Use,
                                      ElementType Type);

/// Which elements of a matrix lie in which register of which lane (PTX ISA,
/// "Matrix Fragments for mma.m..."). Matrices larger than those of mma.sync, as
/// wmma has them, are rows or columns of such tiles; registers beyond the last
/// repeat the first ones.
class Fragment {
public:
  Fragment(MatrixShape Shape, MatrixUse Use, ElementType Type);
  /// Registers of a lane that hold different elements.
  unsigned registers() const { return Registers; }
  unsigned elementsPerRegister() const { return PerRegister; }
  unsigned rows() const { return Rows; }
  unsigned columns() const { return Columns; }
  unsigned registerBits() const { return Type == ElementType::F64 ? 64 : 32; }
  ElementType type() const { return Type; }
  /// Row and column of element \p Element of register \p Register.
  std::pair<unsigned, unsigned> place(unsigned Lane, unsigned Register,
                                      unsigned Element) const;
  uint64_t elementMask() const {
    return Bits == 64 ? ~0ull : (1ull << Bits) - 1;
  }
  unsigned bits() const { return Bits; }

private:
  MatrixUse Use;
  ElementType Type;
  unsigned Rows = 0, Columns = 0, Bits = 0, PerRegister = 0, Registers = 0,
           TileRows = 0, PerTile = 0;
};

/// A dense matrix of values; integers are held exactly.
struct Dense {
  Dense(unsigned Rows, unsigned Columns)
      : Columns(Columns), Values(size_t(Rows) * Columns) {}
  double &at(unsigned Row, unsigned Column) {
    return Values[size_t(Row) * Columns + Column];
  }
  unsigned Columns;
  std::vector<double> Values;
};

enum class BitProduct : uint32_t { None, Xor, And };

/// C += A * B. float64 products round at each step, as the hardware's; others
/// are summed in float64, which holds every product exactly.
void multiplyAdd(MatrixShape Shape, Dense &A, Dense &B, Dense &C,
                 ElementType Type, BitProduct Bits = BitProduct::None);

/// The bits of \p Value, a sum, as an element of the result.
uint64_t encodeResult(ElementType Type, double Value, bool Saturate);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXMATH_H
