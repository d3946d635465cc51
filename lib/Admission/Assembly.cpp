//===- Assembly.cpp - What inline PTX may hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "cupilot/Ptx/Module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <vector>

using namespace llvm;

namespace cupilot {

// Those of the cpu device's tables; a test compares them. "discard" is left
// out: it leaves memory undefined, which no check sees.
static constexpr llvm::StringLiteral Words =
    " abs activemask add addc and applypriority atom bar barrier bfe bfi "
    "bfind bmsk bra brev brkpt clz cnot copysign cos cp createpolicy cvt "
    "cvta div dp2a dp4a elect ex2 exit fence fma fns getctarank "
    "griddepcontrol isspacep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa "
    "match max mbarrier membar min mma mov movmatrix mul mul24 nanosleep neg "
    "not or pmevent popc prefetch prefetchu prmt rcp red redux rem rsqrt sad "
    "selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stmatrix sub "
    "subc szext tanh testp trap vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 "
    "vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset "
    "vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor ";

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

/// Begins the name that stands for an operand of the asm statement; '$' ends
/// it, so that nothing written beside the operand can be a part of it.
static constexpr llvm::StringLiteral OperandStem = "$cupilot.operand";

namespace {
class Checker {
public:
  explicit Checker(StringRef Text) : Raw(Text) {}
  std::optional<AssemblyFinding> run();

private:
  bool clean();
  bool shape();
  bool declare(const ptx::Declaration &D, ptx::Place At);
  bool check(const ptx::Instruction &I, ptx::Place At);
  bool checkOperand(const ptx::Operand &O, bool Branch);
  bool checkName(StringRef Name, bool Branch);
  /// The statement there, as it is written.
  std::string written(ptx::Place At) const;
  /// Always false.
  bool fail(const Twine &What, StringRef Rule = "asm") {
    Found = AssemblyFinding{Rule.str(), What.str()};
    return false;
  }

  StringRef Raw;
  std::string Clean; ///< In one line.
  std::vector<ptx::Token> Tokens;
  std::vector<uint32_t> Starts; ///< Of statements, but for labels and braces.
  StringSet<> Registers, Labels;
  std::vector<std::string> Stems; ///< Of "r<8>".
  std::optional<AssemblyFinding> Found;
};
} // namespace

/// Without comments, with names for %0 and %[name].
bool Checker::clean() {
  if (Raw.contains(OperandStem))
    return fail("the symbol '" + OperandStem + "', which it does not declare");
  auto Operand = [this](StringRef Which) {
    Clean += OperandStem;
    Clean += Which;
    Clean += '$';
  };
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
      StringRef Name =
          Rest.drop_front(2).take_until([](char C) { return C == ']'; });
      if (Name.size() + 2 == Rest.size())
        return fail("an operand's name without an end");
      if (!all_of(Name, [](char C) { return llvm::isAlnum(C) || C == '_'; }))
        return fail("an operand's name that is none");
      Operand(Name);
      I += Name.size() + 2;
    } else if (C == '%') {
      StringRef Number = Rest.drop_front().take_while(llvm::isDigit);
      if (Number.empty())
        return fail("a '%' that names no operand");
      Operand(Number);
      I += Number.size();
    } else if (C == '"') {
      return fail("a string");
    } else if (!isPrint(C) && !llvm::isSpace(C)) {
      return fail("a character that is no ASCII");
    } else if (StringRef("#\\'`/").contains(C)) {
      return fail("the character '" + Twine(C) + "'");
    } else {
      Clean += llvm::isSpace(C) ? ' ' : C;
    }
  }
  return true;
}

std::string Checker::written(ptx::Place At) const {
  StringRef Text = StringRef(Clean).slice(At.Begin, At.End);
  std::string Result;
  while (!Text.empty()) {
    size_t End = std::min(Text.find(OperandStem), Text.size());
    Result += Text.take_front(End);
    Text = Text.drop_front(End);
    if (!Text.consume_front(OperandStem))
      break;
    StringRef Which = Text.take_until([](char C) { return C == '$'; });
    Result += all_of(Which, llvm::isDigit) ? "%" + Which.str()
                                           : "%[" + Which.str() + "]";
    Text = Text.drop_front(std::min(Which.size() + 1, Text.size()));
  }
  StringRef Trimmed = StringRef(Result).trim();
  Trimmed.consume_back(";");
  return Trimmed.rtrim().str();
}

/// Braces close what they open, and no directive but .reg begins a statement.
bool Checker::shape() {
  ptx::Diagnostic Why;
  std::optional<std::vector<ptx::Token>> Words = ptx::lex(Clean, Why);
  if (!Words)
    return fail("what cannot be read (" + Why.Message + ")");
  Tokens = std::move(*Words);
  auto IsMark = [this](size_t I, char C) {
    return I < Tokens.size() && Tokens[I].Kind == ptx::TokenKind::Mark &&
           Clean[Tokens[I].Begin] == C;
  };
  int Depth = 0;
  for (size_t I = 0; Tokens[I].Kind != ptx::TokenKind::End;) {
    StringRef Word = Tokens[I].in(Clean);
    if (IsMark(I, '{') || IsMark(I, '}') || IsMark(I, ';')) {
      Depth += Word == "{" ? 1 : Word == "}" ? -1 : 0;
      if (Depth < 0)
        return fail("a brace that closes the function");
      ++I;
      continue;
    }
    if (Tokens[I].Kind == ptx::TokenKind::Name && IsMark(I + 1, ':') &&
        !IsMark(I + 2, ':')) {
      I += 2;
      continue;
    }
    Word = Word.take_front(Word.find('.', 1));
    if (Tokens[I].Kind == ptx::TokenKind::Directive && Word != ".reg")
      return fail("the directive '" + Word + "'");
    Starts.push_back(Tokens[I].Begin);
    // Braces inside of a statement are those of a vector.
    for (int Inner = 0;
         Tokens[I].Kind != ptx::TokenKind::End && !IsMark(I, ';'); ++I) {
      Inner += IsMark(I, '{');
      Inner -= IsMark(I, '}');
      if (Inner < 0)
        break;
    }
  }
  return Depth == 0 || fail("a brace without an end");
}

/// .reg .b32 a, b, c<4>
bool Checker::declare(const ptx::Declaration &D, ptx::Place At) {
  for (const ptx::Variable &V : D.Variables) {
    StringRef Name = V.Name;
    if (V.In != ptx::Space::Reg || Name.contains(OperandStem) ||
        !V.Dimensions.empty() || !V.Initial.Values.empty())
      return fail("the declaration '" + written(At) + "'");
    if (V.Count)
      Stems.push_back(Name.str());
    else
      Registers.insert(Name);
  }
  return true;
}

static bool isOperand(StringRef Name) {
  return Name.consume_front(OperandStem) && Name.consume_back("$") &&
         !Name.contains('$') && !Name.contains('.');
}

bool Checker::checkName(StringRef Name, bool Branch) {
  auto Declared = [&] {
    return Registers.contains(Name) || any_of(Stems, [&](StringRef Stem) {
             StringRef Number = Name;
             return Number.consume_front(Stem) && !Number.empty() &&
                    all_of(Number, llvm::isDigit);
           });
  };
  if (!Branch && isOperand(Name))
    return true;
  if (Name.contains(OperandStem))
    return fail("a name that an operand is a part of");
  Name = Name.split('.').first; // %tid.x
  if (Branch && Labels.contains(Name))
    return true;
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

bool Checker::checkOperand(const ptx::Operand &O, bool Branch) {
  if (O.Kind == ptx::OperandKind::Name && !checkName(O.Name, Branch))
    return false;
  return all_of(O.Parts, [&](const ptx::Operand &Part) {
    return checkOperand(Part, Branch);
  });
}

bool Checker::check(const ptx::Instruction &I, ptx::Place At) {
  if (!I.Guard.empty() && !checkName(I.Guard, false))
    return false;
  if (!isAdmittedInstruction(I.Opcode))
    return fail("the instruction '" + StringRef(I.Opcode) +
                "', which cannot be checked");
  // Numbers are plain ones.
  auto *First = find_if(Tokens, [&](const ptx::Token &T) {
                  return T.Begin >= At.Begin;
                }).base();
  for (const ptx::Token *T = First; T->Begin < At.End; ++T)
    if (T->Kind == ptx::TokenKind::Mark &&
        !StringRef(",[]{}|!+-@:;").contains(Clean[T->Begin]))
      return fail("the character '" + Twine(Clean[T->Begin]) +
                  "' among operands");
  return all_of(I.Operands, [&](const ptx::Operand &O) {
    return checkOperand(O, I.Opcode == "bra");
  });
}

std::optional<AssemblyFinding> Checker::run() {
  if (!clean() || !shape())
    return Found;
  ptx::Diagnostic Why;
  std::optional<ptx::Fragment> F = ptx::readFragment(Clean, Why);
  if (!F) {
    // The statement that holds the place, which lies in the only line.
    auto Next = upper_bound(Starts, Why.Column - 1);
    uint32_t Begin = Next == Starts.begin() ? 0 : *std::prev(Next);
    auto End =
        static_cast<uint32_t>(std::min(Clean.find(';', Begin), Clean.size()));
    std::string Text = written({Begin, End});
    fail(StringRef(Text).starts_with(".")
             ? "the declaration '" + Text + "'"
             : "'" + Text + "', which cannot be read");
    return Found;
  }
  for (const ptx::Statement &S : F->Statements) {
    if (const auto *D = S.as<ptx::Declaration>()) {
      if (!declare(*D, S.At))
        return Found;
    } else if (const auto *L = S.as<ptx::Label>()) {
      if (StringRef(L->Name).contains(OperandStem)) {
        fail("the label '" + written(S.At) + "'");
        return Found;
      }
      Labels.insert(L->Name);
    }
  }
  for (const ptx::Statement &S : F->Statements)
    if (const auto *I = S.as<ptx::Instruction>(); I && !check(*I, S.At))
      break;
  return Found;
}

std::optional<AssemblyFinding> checkAssembly(StringRef Text) {
  return Checker(Text).run();
}

} // namespace cupilot
