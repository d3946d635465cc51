//===- Print.cpp - PTX as text ----------------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Print.h"
#include <cstdio>

namespace cupilot::ptx {

namespace {
class Printer {
public:
  explicit Printer(const PrintOptions &Options) : Options(Options) {}
  void print(const Item &I);
  void print(const Statement &S);
  std::string Text;

private:
  void name(std::string_view Name) {
    if (Options.Rename && !Name.empty())
      Text += Options.Rename(Name);
    else
      Text += Name;
  }
  void directive(std::string_view Word) {
    Text += '.';
    Text += Word;
    Text += ' ';
  }
  template <class Range, class Each>
  void list(const Range &Elements, Each Print) {
    bool First = true;
    for (const auto &Element : Elements) {
      if (!First)
        Text += ", ";
      First = false;
      Print(Element);
    }
  }
  void number(uint64_t Bits, bool Unsigned);
  void hex(const char *Prefix, uint64_t Bits, int Digits);
  void sum(std::string_view Name, bool Sum, uint64_t Offset);
  void attributes(const std::vector<std::string_view> &Attributes);
  void head(const Variable &V);
  void declarator(const Variable &V);
  void parameters(const std::vector<Variable> &Variables);
  void
  tunings(const std::vector<std::pair<Tuning, std::vector<uint64_t>>> &Tunings);
  void initial(const Initialiser &I);
  void show(const Operand &O);
  void show(const Instruction &I);
  void show(const Label &L);
  void show(const Declaration &D);
  void show(const Scope &S) { Text += S.Opens ? '{' : '}'; }
  void show(const Location &L);
  void show(const Pragma &P);
  void show(const Prototype &P);
  void show(const Targets &T);
  void show(const Function &F);
  void show(const Alias &A);
  void show(const SourceFile &F);
  void show(const Section &S);

  const PrintOptions &Options;
};
} // namespace

void Printer::number(uint64_t Bits, bool Unsigned) {
  // The least number of all cannot be written as the opposite of one.
  if (Bits == uint64_t(1) << 63)
    Text += "0x8000000000000000";
  else if (!Unsigned && Bits >> 63)
    Text += std::to_string(static_cast<int64_t>(Bits));
  else
    Text += std::to_string(Bits);
  if (Unsigned)
    Text += 'U';
}

void Printer::hex(const char *Prefix, uint64_t Bits, int Digits) {
  char Buffer[24];
  std::snprintf(Buffer, sizeof Buffer, "%s%0*llX", Prefix, Digits,
                static_cast<unsigned long long>(Bits));
  Text += Buffer;
}

void Printer::sum(std::string_view Name, bool Sum, uint64_t Offset) {
  name(Name);
  if (!Sum)
    return;
  Text += '+';
  number(Offset, false);
}

void Printer::attributes(const std::vector<std::string_view> &Attributes) {
  if (Attributes.empty())
    return;
  Text += ".attribute(";
  list(Attributes, [&](std::string_view A) {
    Text += '.';
    Text += A;
  });
  Text += ") ";
}

void Printer::head(const Variable &V) {
  if (V.Link != Linkage::Internal)
    directive(wordOf(V.Link));
  directive(wordOf(V.In));
  attributes(V.Attributes);
  if (V.Align)
    Text += ".align " + std::to_string(V.Align) + " ";
  if (V.Vector > 1)
    Text += ".v" + std::to_string(V.Vector) + " ";
  directive(wordOf(V.Of));
  if (V.Pointer) {
    Text += ".ptr ";
    if (V.Pointer->To)
      directive(wordOf(*V.Pointer->To));
    if (V.Pointer->Align)
      Text += ".align " + std::to_string(V.Pointer->Align) + " ";
  }
}

void Printer::declarator(const Variable &V) {
  name(V.Name);
  if (V.Count)
    Text += "<" + std::to_string(V.Count) + ">";
  for (const std::optional<uint64_t> &Size : V.Dimensions)
    Text += "[" + (Size ? std::to_string(*Size) : std::string()) + "]";
  if (V.Initial.Values.empty())
    return;
  Text += " = ";
  initial(V.Initial);
}

void Printer::initial(const Initialiser &I) {
  bool Separate = false;
  for (const InitialValue &V : I.Values) {
    if (Separate && V.Kind != InitialKind::Close)
      Text += ", ";
    Separate = V.Kind != InitialKind::Open && V.Kind != InitialKind::Field;
    switch (V.Kind) {
    case InitialKind::Integer:
      number(V.Value, false);
      break;
    case InitialKind::Single:
      hex("0f", V.Value, 8);
      break;
    case InitialKind::Double:
      hex("0d", V.Value, 16);
      break;
    case InitialKind::Open:
      Text += '{';
      break;
    case InitialKind::Close:
      Text += '}';
      break;
    case InitialKind::Field:
      Text += I.Addresses[V.Value].Name;
      Text += " = ";
      break;
    case InitialKind::Address: {
      const InitialAddress &A = I.Addresses[V.Value];
      if (A.Mask)
        hex("0x", A.Mask, 2), Text += '(';
      if (A.Generic)
        Text += "generic(";
      name(A.Name);
      if (A.Generic)
        Text += ')';
      if (A.Offset)
        Text += '+', number(static_cast<uint64_t>(A.Offset), false);
      if (A.Mask)
        Text += ')';
      break;
    }
    }
  }
}

void Printer::parameters(const std::vector<Variable> &Variables) {
  Text += '(';
  list(Variables, [&](const Variable &V) {
    head(V);
    declarator(V);
  });
  Text += ')';
}

void Printer::tunings(
    const std::vector<std::pair<Tuning, std::vector<uint64_t>>> &Tunings) {
  for (const auto &[Is, Numbers] : Tunings) {
    Text += ' ';
    directive(wordOf(Is));
    list(Numbers, [&](uint64_t N) { Text += std::to_string(N); });
  }
}

void Printer::show(const Operand &O) {
  Text += O.Negated ? "!" : O.Minus ? "-" : "";
  auto Parts = [&](const char *Open, const char *Close) {
    Text += Open;
    list(O.Parts, [&](const Operand &Part) { show(Part); });
    Text += Close;
  };
  switch (O.Kind) {
  case OperandKind::Name:
    return sum(O.Name, O.Sum, O.Value);
  case OperandKind::Integer:
    return number(O.Value, O.Unsigned);
  case OperandKind::Single:
    return hex("0f", O.Value, 8);
  case OperandKind::Double:
    return hex("0d", O.Value, 16);
  case OperandKind::Address:
    return Parts("[", "]");
  case OperandKind::Vector:
    return Parts("{", "}");
  case OperandKind::List:
    return Parts("(", ")");
  case OperandKind::Pair:
    show(O.Parts.front());
    Text += '|';
    return show(O.Parts.back());
  case OperandKind::Nothing:
    Text += '_';
    return;
  }
}

void Printer::show(const Instruction &I) {
  if (!I.Guard.empty()) {
    Text += I.GuardNegated ? "@!" : "@";
    name(I.Guard);
    Text += ' ';
  }
  Text += I.Opcode;
  for (std::string_view Modifier : I.Modifiers) {
    Text += '.';
    Text += Modifier;
  }
  if (!I.Operands.empty())
    Text += ' ';
  list(I.Operands, [&](const Operand &O) { show(O); });
  Text += ';';
}

void Printer::show(const Label &L) {
  name(L.Name);
  Text += ':';
}

void Printer::show(const Declaration &D) {
  head(D.Variables.front());
  list(D.Variables, [&](const Variable &V) { declarator(V); });
  Text += ';';
}

void Printer::show(const Location &L) {
  Text += ".loc " + std::to_string(L.File) + " " + std::to_string(L.Line) +
          " " + std::to_string(L.Column);
  if (!L.Function.empty()) {
    Text += ", function_name ";
    sum(L.Function, L.FunctionOffset != 0, L.FunctionOffset);
  }
  if (L.Inlined) {
    Text += ", inlined_at";
    for (uint64_t Each : L.InlinedAt)
      Text += " " + std::to_string(Each);
  }
}

void Printer::show(const Pragma &P) {
  Text += ".pragma ";
  list(P.Strings, [&](std::string_view S) { Text += S; });
  Text += ';';
}

void Printer::show(const Prototype &P) {
  name(P.Name);
  Text += ": .callprototype ";
  if (!P.Results.empty())
    parameters(P.Results);
  Text += " _ ";
  parameters(P.Parameters);
  tunings(P.Tunings);
  Text += ';';
}

void Printer::show(const Targets &T) {
  name(T.Name);
  Text += T.OfCalls ? ": .calltargets " : ": .branchtargets ";
  list(T.Names, [&](std::string_view N) { name(N); });
  Text += ';';
}

void Printer::show(const Function &F) {
  if (F.Link != Linkage::Internal)
    directive(wordOf(F.Link));
  Text += F.IsKernel ? ".entry " : ".func ";
  attributes(F.Attributes);
  if (!F.Results.empty()) {
    parameters(F.Results);
    Text += ' ';
  }
  name(F.Name);
  parameters(F.Parameters);
  tunings(F.Tunings);
  for (const Pragma &P : F.Pragmas) {
    Text += ' ';
    show(P);
  }
  if (!F.HasBody) {
    Text += ';';
    return;
  }
  Text += "\n{\n";
  for (const Statement &S : F.Body) {
    if (!Options.DebugData && S.as<Location>())
      continue;
    print(S);
    Text += '\n';
  }
  Text += '}';
}

void Printer::show(const Alias &A) {
  Text += ".alias ";
  name(A.Name);
  Text += ", ";
  name(A.Of);
  Text += ';';
}

void Printer::show(const SourceFile &F) {
  Text += ".file " + std::to_string(F.Number);
  for (std::string_view Name : F.Names) {
    Text += ' ';
    Text += Name;
  }
  for (uint64_t Each : F.TimeAndSize)
    Text += ", " + std::to_string(Each);
}

void Printer::show(const Section &S) {
  Text += ".section ";
  Text += S.Name;
  Text += "\n{";
  for (std::string_view Word : S.Words) {
    // Data begins with its type.
    bool Line = Word.front() == '.' && typeOf(Word.substr(1));
    Text += Line ? '\n' : ' ';
    Text += Word;
  }
  Text += "\n}";
}

void Printer::print(const Statement &S) {
  std::visit([&](const auto &Is) { show(Is); }, S.Is);
}

void Printer::print(const Item &I) {
  if (!Options.DebugData &&
      (I.as<SourceFile>() || I.as<Section>() || I.as<Location>()))
    return;
  std::visit([&](const auto &Is) { show(Is); }, I.Is);
  Text += '\n';
}

std::string print(const Statement &S, const PrintOptions &Options) {
  Printer P(Options);
  P.print(S);
  return std::move(P.Text);
}

std::string print(const Item &I, const PrintOptions &Options) {
  Printer P(Options);
  P.print(I);
  return std::move(P.Text);
}

std::string print(const Module &M, const PrintOptions &Options) {
  Printer P(Options);
  P.Text = ".version " + std::to_string(M.Needs.Major) + "." +
           std::to_string(M.Needs.Minor) + "\n.target ";
  for (size_t I = 0; I < M.Target.size(); ++I)
    P.Text += (I ? ", " : "") + std::string(M.Target[I]);
  P.Text += '\n';
  if (M.AddressSize)
    P.Text += ".address_size " + std::to_string(M.AddressSize) + "\n";
  for (const Item &I : M.Items)
    P.print(I);
  return std::move(P.Text);
}

} // namespace cupilot::ptx
