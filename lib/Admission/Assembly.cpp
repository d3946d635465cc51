//===- Assembly.cpp - What inline PTX may hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <vector>

using namespace llvm;

namespace cupilot {

// Those of the cpu device's tables; a test compares them. "discard" is left
// out: it leaves memory undefined, which no check sees.
static constexpr StringLiteral Words =
    " abs activemask add addc and applypriority atom bar barrier bfe "
    "bfi bfind bmsk bra brev brkpt clz cnot copysign cos cp "
    "createpolicy cvt cvta div dp2a dp4a elect ex2 exit fence fma fns "
    "getctarank griddepcontrol isspacep ld ldmatrix ldu lg2 lop3 mad "
    "mad24 madc mapa match max mbarrier membar min mma mov movmatrix "
    "mul mul24 nanosleep neg not or pmevent popc prefetch prefetchu "
    "prmt rcp red redux rem rsqrt sad selp set setmaxnreg setp shf "
    "shfl shl shr sin slct sqrt st stmatrix sub subc szext tanh testp "
    "trap vabsdiff2 vabsdiff4 vadd2 vadd4 vavrg2 vavrg4 vmax2 vmax4 "
    "vmin2 vmin4 vote vset2 vset4 vsub2 vsub4 wgmma wmma xor ";

bool isAdmittedInstruction(StringRef Word) {
  return !Word.empty() && Words.contains((" " + Word + " ").str());
}

unsigned admittedInstructions() {
  return static_cast<unsigned>(Words.count(' ')) - 1;
}

bool isMachineRegister(StringRef Name) {
  for (StringRef Prefix : {"clock", "globaltimer", "pm"})
    if (Name.starts_with(Prefix))
      return true;
  return StringSwitch<bool>(Name)
      .Cases({"smid", "nsmid", "warpid", "nwarpid", "gridid"}, true)
      .Default(Name.starts_with("envreg"));
}

static bool isKnownRegister(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases({"tid", "ntid", "ctaid", "nctaid", "laneid"}, true)
      .Cases({"lanemask_eq", "lanemask_le", "lanemask_lt"}, true)
      .Cases({"lanemask_ge", "lanemask_gt"}, true)
      .Cases({"clusterid", "nclusterid", "cluster_ctaid"}, true)
      .Cases({"cluster_nctaid", "cluster_ctarank", "cluster_nctarank"}, true)
      .Cases({"is_explicit_cluster", "dynamic_smem_size"}, true)
      .Cases({"total_smem_size", "aggr_smem_size"}, true)
      .Case("reserved_smem_offset_1", true)
      .Default(false);
}

/// Stands for an operand of the asm statement.
static constexpr char Operand = '\1';

static bool isNameCharacter(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '%' || C == Operand;
}

namespace {
class Checker {
public:
  explicit Checker(StringRef Text) : Raw(Text) {}
  std::optional<AssemblyFinding> run();

private:
  bool clean();
  bool split();
  bool declare(StringRef Line);
  bool check(StringRef Line);
  bool checkOperands(StringRef Rest, bool Branch);
  bool checkName(StringRef Name, bool Branch);
  /// Always false.
  bool fail(const Twine &What, StringRef Rule = "asm") {
    Found = AssemblyFinding{Rule.str(), What.str()};
    return false;
  }

  StringRef Raw;
  std::string Clean;
  std::vector<std::string> Statements;
  StringSet<> Registers, Labels;
  std::vector<std::string> Stems; ///< Of "r<8>".
  std::optional<AssemblyFinding> Found;
};
} // namespace

/// Without comments, with Operand for %0 and %[name].
bool Checker::clean() {
  for (size_t I = 0; I < Raw.size(); ++I) {
    StringRef Rest = Raw.substr(I);
    char C = Raw[I];
    if (Rest.starts_with("//") || Rest.starts_with("/*")) {
      bool Line = Rest[1] == '/';
      size_t End = Line ? Rest.find('\n') : Rest.find("*/", 2);
      if (End == StringRef::npos)
        return fail("a comment without an end");
      I += End + !Line;
      Clean += ' ';
    } else if (Rest.starts_with("%%")) {
      Clean += '%';
      ++I;
    } else if (Rest.starts_with("%=")) {
      Clean += "uid";
      ++I;
    } else if (Rest.starts_with("%[")) {
      size_t End = Rest.find(']');
      if (End == StringRef::npos)
        return fail("an operand's name without an end");
      Clean += Operand;
      I += End;
    } else if (C == '%') {
      StringRef Number = Rest.drop_front().take_while(isDigit);
      if (Number.empty())
        return fail("a '%' that names no operand");
      Clean += Operand;
      I += Number.size();
    } else if (C == '"') {
      return fail("a string");
    } else if (!isPrint(C) && !isSpace(C)) {
      return fail("a character that is no ASCII");
    } else if (StringRef("#\\'`/").contains(C)) {
      return fail("the character '" + Twine(C) + "'");
    } else {
      Clean += isSpace(C) ? ' ' : C;
    }
  }
  return true;
}

bool Checker::split() {
  StringRef Rest = StringRef(Clean).ltrim();
  int Depth = 0;
  while (!Rest.empty()) {
    if (Rest.consume_front("{")) {
      ++Depth;
    } else if (Rest.consume_front("}")) {
      if (--Depth < 0)
        return fail("a brace that closes the function");
    } else {
      StringRef Name = Rest.take_while(isNameCharacter);
      StringRef After = Rest.drop_front(Name.size()).ltrim();
      if (!Name.empty() && After.starts_with(":") && !After.starts_with("::")) {
        if (Name.contains(Operand) || isDigit(Name.front()))
          return fail("the label '" + Name + "'");
        Labels.insert(Name);
        Rest = After.drop_front().ltrim();
        continue;
      }
      // Braces inside of a statement are those of a vector.
      size_t End = 0;
      for (int Inner = 0; End < Rest.size() && Rest[End] != ';'; ++End) {
        Inner += Rest[End] == '{';
        Inner -= Rest[End] == '}';
        if (Inner < 0)
          break;
      }
      StringRef Line = Rest.take_front(End).trim();
      Rest = Rest.drop_front(End);
      Rest.consume_front(";");
      if (Line.starts_with(".reg ")) {
        if (!declare(Line))
          return false;
      } else if (Line.starts_with(".")) {
        return fail("the directive '" +
                    Line.take_until([](char C) { return isSpace(C); }) + "'");
      } else if (!Line.empty()) {
        Statements.push_back(Line.str());
      }
    }
    Rest = Rest.ltrim();
  }
  return Depth == 0 || fail("a brace without an end");
}

/// .reg .b32 a, b, c<4>
bool Checker::declare(StringRef Line) {
  StringRef Rest = Line.drop_front(4).ltrim();
  StringRef Types = Rest;
  while (Rest.consume_front(".")) // ".v2 .b32".
    Rest = Rest.drop_while(isAlnum).ltrim();
  if (Types == Rest || Rest.empty())
    return fail("the declaration '" + Line + "'");
  for (StringRef Each : llvm::split(Rest, ',')) {
    auto [Name, Range] = Each.trim().split('<');
    Name = Name.trim();
    unsigned Count = 0;
    bool Counted = Each.contains('<');
    if (Name.empty() || isDigit(Name.front()) || Name.contains(Operand) ||
        !all_of(Name, isNameCharacter) ||
        (Counted &&
         (!Range.consume_back(">") || Range.trim().getAsInteger(10, Count))))
      return fail("the declaration '" + Line + "'");
    if (Counted)
      Stems.push_back(Name.str());
    else
      Registers.insert(Name);
  }
  return true;
}

bool Checker::checkName(StringRef Name, bool Branch) {
  auto Declared = [&] {
    return Registers.contains(Name) || any_of(Stems, [&](StringRef Stem) {
             StringRef Number = Name;
             return Number.consume_front(Stem) && !Number.empty() &&
                    all_of(Number, isDigit);
           });
  };
  if (Branch ? Labels.contains(Name) : Name.size() == 1 && Name[0] == Operand)
    return true;
  if (Name.contains(Operand))
    return fail("a name that an operand is a part of");
  StringRef Special = Name;
  if (Special.consume_front("%")) {
    if (isMachineRegister(Special))
      return fail("the register '" + Name +
                      "', which tells when or where a thread runs",
                  "timing");
    if (isKnownRegister(Special))
      return true;
  }
  if (!Branch && (Declared() || Name == "_" || Name == "WARP_SZ"))
    return true;
  return fail((Branch ? "a branch to '" : "the symbol '") + Name +
              "', which it does not declare");
}

bool Checker::checkOperands(StringRef Rest, bool Branch) {
  while (!Rest.empty()) {
    char C = Rest.front();
    if (isDigit(C)) { // 0x1f, 0f3F800000, 1.5
      Rest = Rest.drop_while([](char C) { return isAlnum(C) || C == '.'; });
      continue;
    }
    StringRef Name = Rest.take_while(isNameCharacter);
    if (Name.empty()) {
      if (!StringRef(" ,[]{}|!+-").contains(C))
        return fail("the character '" + Twine(C) + "' among operands");
      Rest = Rest.drop_front();
      continue;
    }
    if (!checkName(Name, Branch))
      return false;
    Rest = Rest.drop_front(Name.size());
    if (Rest.consume_front(".")) // %tid.x
      Rest = Rest.drop_while(isAlnum);
  }
  return true;
}

bool Checker::check(StringRef Line) {
  StringRef Rest = Line;
  if (Rest.consume_front("@")) {
    Rest = Rest.ltrim();
    Rest.consume_front("!");
    Rest = Rest.ltrim();
    StringRef Guard = Rest.take_while(isNameCharacter);
    if (!checkName(Guard, false))
      return false;
    Rest = Rest.drop_front(Guard.size()).ltrim();
  }
  StringRef Op = Rest.take_until(isSpace), Word = Op.split('.').first;
  if (!isAdmittedInstruction(Word))
    return fail("the instruction '" + Word + "', which cannot be checked");
  if (!all_of(Op, [](char C) {
        return isAlnum(C) || C == '.' || C == '_' || C == ':';
      }))
    return fail("the instruction '" + Op + "', which is none");
  return checkOperands(Rest.drop_front(Op.size()), Word == "bra");
}

std::optional<AssemblyFinding> Checker::run() {
  if (clean() && split())
    for (const std::string &Line : Statements)
      if (!check(Line))
        break;
  return Found;
}

std::optional<AssemblyFinding> checkAssembly(StringRef Text) {
  return Checker(Text).run();
}

} // namespace cupilot
