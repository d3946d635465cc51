//===- RoundTrip.cpp - Reads PTX and prints it ------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-round-trip FILE [OUT] | --forms FILE...
//
// Reads FILE, prints it to OUT, and reads that: both must be equal. --forms
// lists the forms of statements in all files, each with how often it stands
// there.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Print.h"
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

using namespace cupilot::ptx;

static std::optional<Module> read(const std::string &Path) {
  std::ifstream File(Path, std::ios::binary);
  std::string Text((std::istreambuf_iterator<char>(File)), {});
  Diagnostic Why;
  std::optional<Module> M = readModule(std::move(Text), Why);
  if (!File || !M)
    std::cerr << Path << ":" << (File ? Why.str() : " cannot be read") << "\n";
  return M;
}

static std::string formOf(const Operand &O) {
  switch (O.Kind) {
  case OperandKind::Name:
    return O.Name.front() != '%' ? "name" : O.Negated ? "!reg" : "reg";
  case OperandKind::Integer:
    return "int";
  case OperandKind::Single:
  case OperandKind::Double:
    return "float";
  case OperandKind::Address:
    return O.Parts.size() == 1 ? "[]" : "[,]";
  case OperandKind::Vector:
    return "{}";
  case OperandKind::Pair:
    return "|";
  case OperandKind::List:
    return "()";
  case OperandKind::Nothing:
    return "_";
  }
  return "";
}

static std::string formOf(const Statement &S) {
  if (const auto *I = S.as<Instruction>()) {
    std::string Form = I->Guard.empty() ? "" : "@ ";
    Form += I->Opcode;
    for (std::string_view Modifier : I->Modifiers)
      Form += "." + std::string(Modifier);
    for (const Operand &O : I->Operands)
      Form += " " + formOf(O);
    return Form;
  }
  if (const auto *D = S.as<Declaration>()) {
    const Variable &V = D->Variables.front();
    return "." + std::string(wordOf(V.In)) + " ." + std::string(wordOf(V.Of)) +
           (V.Count ? " <>" : "") + (V.Dimensions.empty() ? "" : " []");
  }
  static const char *const Kinds[] = {
      "", "label", "", "scope", ".loc", ".pragma", "prototype", "targets"};
  return Kinds[S.Is.index()];
}

static int forms(int Count, char **Files) {
  std::map<std::string, size_t> Forms;
  bool Failed = false;
  for (int I = 0; I < Count; ++I) {
    std::optional<Module> M = read(Files[I]);
    Failed |= !M;
    if (!M)
      continue;
    for (const Item &Each : M->Items)
      if (const auto *F = Each.as<Function>())
        for (const Statement &S : F->Body)
          ++Forms[formOf(S)];
  }
  for (const auto &[Form, Times] : Forms)
    std::cout << Times << "\t" << Form << "\n";
  return Failed;
}

int main(int Count, char **Args) {
  if (Count > 2 && std::string_view(Args[1]) == "--forms")
    return forms(Count - 2, Args + 2);
  if (Count < 2) {
    std::cerr << "usage: ptx-round-trip FILE [OUT] | --forms FILE...\n";
    return 2;
  }
  std::optional<Module> First = read(Args[1]);
  if (!First)
    return 1;
  std::string Text = print(*First);
  Diagnostic Why;
  std::optional<Module> Second = readModule(Text, Why);
  if (!Second || !(*First == *Second)) {
    std::cerr << Args[1] << ": what is printed reads otherwise: "
              << (Second ? "another module" : Why.str()) << "\n";
    return 1;
  }
  if (Count > 2)
    std::ofstream(Args[2], std::ios::binary) << Text;
  return 0;
}
