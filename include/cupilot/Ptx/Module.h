//===- Module.h - PTX as data -----------------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a PTX text says (PTX ISA 7.0 to 9.0). Names and numbers are views into
// the text, which the module keeps. Equality is that of meaning: where things
// stand does not count.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_MODULE_H
#define CUPILOT_PTX_MODULE_H

#include "cupilot/Ptx/Lexer.h"
#include "cupilot/Ptx/Types.h"
#include <array>
#include <memory>
#include <unordered_map>
#include <variant>

namespace cupilot::ptx {

/// Bytes of the text that something was read from: from Begin to before End.
struct Place {
  uint32_t Begin = 0, End = 0;
  /// Equal things may stand elsewhere.
  bool operator==(const Place &) const { return true; }
};

enum class OperandKind : uint8_t {
  Name,    ///< A register, variable, function or label: "%r1", "%tid.x".
  Integer, ///< Value has its 64 bits.
  Single,  ///< "0f3F800000": Value has the 32 bits.
  Double,  ///< "0d...", "1.5": Value has the 64 bits.
  Address, ///< "[a+4]": Parts are the base and, of tensors, what follows it.
  Vector,  ///< "{a, b}".
  Pair,    ///< "p|q".
  List,    ///< "(a, b)" of a call.
  Nothing  ///< "_".
};

struct Operand {
  OperandKind Kind = OperandKind::Nothing;
  bool Negated = false;  ///< "!p".
  bool Minus = false;    ///< "-a" of video instructions.
  bool Unsigned = false; ///< "12U".
  /// Something is added to the name. ptxas -O0 makes other code of "a+0".
  bool Sum = false;
  std::string_view Name; ///< Of a name, with what follows its point.
  /// Of numbers: their bits. Of names: what is added, "table+16".
  uint64_t Value = 0;
  std::vector<Operand> Parts;
  bool operator==(const Operand &) const = default;
};

struct Instruction {
  std::string_view Guard; ///< "@p": the predicate; "" when there is none.
  bool GuardNegated = false;
  std::string_view Opcode;                 ///< "ld".
  std::vector<std::string_view> Modifiers; ///< "global", "L2::128B", "f32".
  std::vector<Operand> Operands;
  bool has(std::string_view Modifier) const;
  bool operator==(const Instruction &) const = default;
};

enum class InitialKind : uint8_t {
  Integer, ///< Value has its 64 bits.
  Single,  ///< As those of operands.
  Double,
  Address, ///< Value is the number of an InitialAddress.
  Field,   ///< "filter_mode = ": the same; of samplers, before its value.
  Open,    ///< "{".
  Close    ///< "}".
};
struct InitialValue {
  InitialKind Kind = InitialKind::Integer;
  uint64_t Value = 0;
  bool operator==(const InitialValue &) const = default;
};
struct InitialAddress {
  std::string_view Name;
  int64_t Offset = 0;
  bool Generic = false; ///< "generic(Name)".
  uint64_t Mask = 0;    ///< "0xFF(Name)": the byte that is taken; 0: all.
  bool operator==(const InitialAddress &) const = default;
};
/// "= {1, generic(a)+8, {2, 3}}", flat. Arrays have millions of elements.
struct Initialiser {
  std::vector<InitialValue> Values; ///< None: there is no initialiser.
  std::vector<InitialAddress> Addresses;
  bool operator==(const Initialiser &) const = default;
};

/// ".ptr.global.align 16" of a kernel's parameter.
struct PointerAttribute {
  std::optional<Space> To;
  unsigned Align = 0; ///< 0: none is said.
  bool operator==(const PointerAttribute &) const = default;
};

struct Variable {
  std::string_view Name; ///< "_" and "" in prototypes.
  Linkage Link = Linkage::Internal;
  Space In = Space::Reg;
  Type Of = Type::B32;
  unsigned Vector = 1; ///< ".v4": 4.
  unsigned Align = 0;  ///< Bytes; 0: none is said.
  /// "%r<5>" declares %r0 to %r4; 0 for a single name.
  unsigned Count = 0;
  /// Of arrays: elements in each dimension, nothing for "[]".
  std::vector<std::optional<uint64_t>> Dimensions;
  std::optional<PointerAttribute> Pointer;
  std::vector<std::string_view> Attributes; ///< "managed", "unified(1, 2)".
  Initialiser Initial;
  Place At;
  bool operator==(const Variable &) const = default;
};

/// "name:".
struct Label {
  std::string_view Name;
  bool operator==(const Label &) const = default;
};
/// ".reg .b64 a, b;": one statement, in a body or in the module.
struct Declaration {
  std::vector<Variable> Variables;
  bool operator==(const Declaration &) const = default;
};
/// "{" and "}".
struct Scope {
  bool Opens = true;
  bool operator==(const Scope &) const = default;
};
/// ".loc 1 20 5, function_name $L__s+4, inlined_at 1 40 9".
struct Location {
  uint64_t File = 0, Line = 0, Column = 0;
  std::string_view Function; ///< "": none.
  uint64_t FunctionOffset = 0;
  bool Inlined = false;
  std::array<uint64_t, 3> InlinedAt = {0, 0, 0}; ///< File, line, column.
  bool operator==(const Location &) const = default;
};
/// Its strings, with their quotation marks.
struct Pragma {
  std::vector<std::string_view> Strings;
  bool operator==(const Pragma &) const = default;
};
/// "p: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;".
struct Prototype {
  std::string_view Name;
  std::vector<Variable> Results, Parameters;
  std::vector<std::pair<Tuning, std::vector<uint64_t>>> Tunings;
  bool operator==(const Prototype &) const = default;
};
/// "t: .branchtargets a, b;" and ".calltargets".
struct Targets {
  std::string_view Name;
  bool OfCalls = false;
  std::vector<std::string_view> Names;
  bool operator==(const Targets &) const = default;
};

struct Statement {
  std::variant<Instruction, Label, Declaration, Scope, Location, Pragma,
               Prototype, Targets>
      Is;
  Place At;
  template <class T> const T *as() const { return std::get_if<T>(&Is); }
  bool operator==(const Statement &) const = default;
};

struct Function {
  std::string_view Name;
  bool IsKernel = false; ///< .entry, else .func.
  bool HasBody = false;
  Linkage Link = Linkage::Internal;
  std::vector<std::string_view> Attributes;
  std::vector<Variable> Results, Parameters;
  std::vector<std::pair<Tuning, std::vector<uint64_t>>> Tunings;
  std::vector<Pragma> Pragmas;
  std::vector<Statement> Body; ///< Without the braces around it.
  bool operator==(const Function &) const = default;
};

/// ".alias a, b;": a is another name of b.
struct Alias {
  std::string_view Name, Of;
  bool operator==(const Alias &) const = default;
};
/// ".file 1 "a.cu", 123, 456".
struct SourceFile {
  uint64_t Number = 0;
  std::vector<std::string_view> Names; ///< With their quotation marks.
  std::vector<uint64_t> TimeAndSize;
  bool operator==(const SourceFile &) const = default;
};
/// A section for debuggers. Its data is kept as tokens.
struct Section {
  std::string_view Name; ///< ".debug_info".
  std::vector<std::string_view> Words;
  bool operator==(const Section &) const = default;
};

struct Item {
  std::variant<Declaration, Function, Alias, SourceFile, Section, Pragma,
               Location>
      Is;
  Place At;
  template <class T> const T *as() const { return std::get_if<T>(&Is); }
  bool operator==(const Item &) const = default;
};

/// ".version 9.0".
struct Version {
  unsigned Major = 0, Minor = 0;
  auto operator<=>(const Version &) const = default;
};
/// What this reader is made for. A newer one may be read, too, as long as it
/// holds nothing new.
constexpr Version NewestVersion = {9, 0};

class Module {
public:
  /// The whole text.
  std::string_view text() const { return *Text; }
  Version Needs;
  std::vector<std::string_view> Target; ///< "sm_90a", "debug".
  unsigned AddressSize = 0;             ///< 32, 64; 0: none is said.
  std::vector<Item> Items;              ///< In the text's order.

  /// The item that defines \p Name, else one that declares it; null for none.
  const Item *find(std::string_view Name) const;
  /// The function \p Name; null when there is none.
  const Function *function(std::string_view Name) const;
  /// The kernels that have bodies, in the text's order.
  std::vector<const Function *> kernels() const;
  /// The line of a place in the text, from 1.
  unsigned lineOf(Place P) const;

  bool operator==(const Module &Other) const {
    return Needs == Other.Needs && Target == Other.Target &&
           AddressSize == Other.AddressSize && Items == Other.Items;
  }

private:
  friend class Parser;
  /// Shared, because names in copies point into it, too.
  std::shared_ptr<const std::string> Text;
  std::unordered_map<std::string_view, uint32_t> Index;
};

/// Statements without a module around them, as inline assembly has them.
struct Fragment {
  std::vector<Statement> Statements;
  /// What names and places point into.
  std::shared_ptr<const std::string> Text;
};

/// Reads a module. Nothing, with the first error in \p Why, for a broken one;
/// never throws but for want of memory.
std::optional<Module> readModule(std::string Text, Diagnostic &Why);
/// Reads statements. Before a brace that closes and at the end a semicolon may
/// be missing, which compilers supply. Errors as readModule's.
std::optional<Fragment> readFragment(std::string Text, Diagnostic &Why);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_MODULE_H
