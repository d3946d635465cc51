//===- Row.h - Forms of PTX instructions as kernels -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is one form of an instruction, or a few that belong together (a chain
// of carries, a matrix between its load and its store), with the operands that
// it takes. Rows become kernels in PTX that run on a GPU and on the cpu device;
// what they leave must be the same, bit by bit.
//
// C++ standard library alone: the machine with the GPU has no LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_BENCHMARKS_PTXROWS_ROW_H
#define CUPILOT_BENCHMARKS_PTXROWS_ROW_H

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrows {

/// Threads of a block, and tuples of which one digest is taken.
inline constexpr unsigned BlockTuples = 256;
inline constexpr unsigned Blocks = 8;
inline constexpr unsigned Tuples = Blocks * BlockTuples;

/// What an operand holds. Says the register's size and what values are worth
/// trying.
enum class Kind {
  Bits16,
  Bits32,
  Bits64,
  F16,
  BF16,
  F16x2,
  BF16x2,
  F32,
  F64,
  Predicate,
  Amount,   ///< 32 bits: of a shift, of a field's place and length.
  Lane,     ///< 32 bits, below 32.
  Few,      ///< 32 bits of few different values, equal in many lanes.
  Few64,    ///< The same in 64 bits.
  Narrow,   ///< 16 bits: two numbers of 8, 6 or 4 bits.
  Mantissa, ///< 32 bits: a float32 near 1, of either sign.
  // Elements of matrices, as many as fit into 32 (or 64) bits, of which sums
  // of products are exact.
  MatrixF16,
  MatrixBF16,
  MatrixTF32,
  MatrixF32,
  MatrixF64,
  MatrixE4M3,
  MatrixE5M2,
  // The same with an infinity, a NaN, or a number near the largest here and
  // there.
  WildF16,
  WildBF16,
  WildTF32,
  WildF32,
  WildF64,
  WildE4M3,
  WildE5M2,
};

unsigned bitsOf(Kind K);

/// What of a result PTX leaves open.
enum class Mask {
  None,
  /// Any NaN is as good: of float64, PTX ISA, "Floating Point Instructions",
  /// promises payloads but not which.
  AnyNan,
};

struct Output {
  Kind Of = Kind::Bits32;
  Mask Open = Mask::None;
};

struct Row {
  std::string Name;            ///< The opcode, and what tells it from others.
  std::vector<Kind> Inputs;    ///< Registers %a0, %a1 ...; 64 bits in memory.
  std::vector<Output> Outputs; ///< Registers %d0, %d1 ...; 64 bits in memory.
  /// The body: statements that read %a and write %d. Also known are %i (the
  /// tuple), %lane, %thread (in the block), %in and %to (the tuple's own 64-bit
  /// words in global memory), and "memory", 16 KiB of shared memory.
  std::string Body;
  bool Shared = false;    ///< It uses "memory".
  bool Constants = false; ///< It uses "constants", 256 bytes of them.
  bool Cluster = false;   ///< Its blocks must be a cluster: two of them are.
  bool Old = false;       ///< Only PTX before 6.4 has it.
  /// It finds its operands in memory, or leaves its results there, by itself.
  bool LoadsItself = false, StoresItself = false;
};

/// All rows, in an order that does not change.
std::vector<Row> allRows();

// The families, each in a file of its own.
void addIntegerRows(std::vector<Row> &Rows);
void addFloatRows(std::vector<Row> &Rows);
void addConversionRows(std::vector<Row> &Rows);
void addVideoRows(std::vector<Row> &Rows);
void addMemoryRows(std::vector<Row> &Rows);
void addAtomicRows(std::vector<Row> &Rows);
void addThreadRows(std::vector<Row> &Rows);
void addMatrixRows(std::vector<Row> &Rows);
void addAsyncRows(std::vector<Row> &Rows);

/// All opcodes of a pattern: a word, (one of) and [at most one of] several.
/// "add [sat] (u32 s32)" is add.u32, add.s32, add.sat.u32, add.sat.s32.
std::vector<std::string> expand(std::string_view Pattern);

/// A row for each opcode of \p Pattern that takes registers only: "T:TT". The
/// letters say what the result and the operands are, by the opcode's types: T
/// the last, F the first, W twice as wide as the last, H 32 bits; i 32 bits, s
/// an amount, p a predicate, l the pair of the last, as "f16x2" of "f16".
void addPlain(std::vector<Row> &Rows, std::string_view Pattern,
              std::string_view Operands);

/// The kind of registers of a type; Bits32 for 8 bits.
Kind kindOf(std::string_view Type);
/// The types among an opcode's modifiers.
std::vector<std::string> typesOf(std::string_view Opcode);
/// "%a0, %a1".
std::string registers(char Letter, unsigned First, unsigned Count);

/// The operands of a row's tuples: Tuples times as many words as it has inputs.
std::vector<uint64_t> operandsOf(const Row &R);

/// Rows that share a module. Their kernels are "rows0", "rows1" ..., each of
/// GroupRows rows in turn, with parameters (in, out), both .u64: the words of
/// one row after the other.
struct Part {
  std::vector<Row> Rows;
  std::string ptx() const;
  /// The rows' kernel, and where their words begin in the kernel's buffers.
  struct Place {
    unsigned Kernel = 0;
    uint64_t In = 0, Out = 0; ///< In words.
  };
  std::vector<Place> places() const;
};
inline constexpr unsigned GroupRows = 16, PartRows = 128;
std::vector<Part> partsOf(const std::vector<Row> &Rows);

/// What a device answered: for each row a digest of each block of tuples.
struct Answer {
  std::string Row;
  std::vector<uint32_t> Digests; ///< 24 bits each, one for each block.
};
std::string lineOf(const Answer &A); ///< "add.u32\t012345..."
/// The lines of a file but for comments, which begin with '#'.
std::vector<Answer> readAnswers(std::istream &In);

/// The rows that a file of answers names, in their own order.
std::vector<Row> rowsNamed(const std::vector<Answer> &Answers);

/// A digest of what each block of a row left; the words that PTX leaves open
/// are replaced in \p Out.
Answer answerOf(const Row &R, std::vector<uint64_t> &Out);

} // namespace ptxrows

#endif // CUPILOT_BENCHMARKS_PTXROWS_ROW_H
