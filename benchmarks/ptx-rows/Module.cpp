//===- Module.cpp - Rows as PTX, and their digests --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <set>

namespace ptxrows {

static std::string typeName(Kind K) { return ".b" + std::to_string(bitsOf(K)); }

/// "  ld.global.b32 %a0, [%in+8];"
static std::string loadOf(Kind K, unsigned Number, uint64_t At) {
  std::string Register = "%a" + std::to_string(Number),
              From = "[%in+" + std::to_string(At) + "];\n";
  if (K != Kind::Predicate)
    return "  ld.global" + typeName(K) + " " + Register + ", " + From;
  return "  ld.global.b32 %word, " + From + "  setp.ne.u32 " + Register +
         ", %word, 0;\n";
}

static std::string storeOf(Kind K, unsigned Number, uint64_t At) {
  std::string Register = "%d" + std::to_string(Number),
              To = "[%to+" + std::to_string(At) + "], ";
  if (K != Kind::Predicate)
    return "  st.global" + typeName(K) + " " + To + Register + ";\n";
  return "  selp.u32 %word, 1, 0, " + Register + ";\n  st.global.b32 " + To +
         "%word;\n";
}

static std::string declarationOf(Kind K, char Letter, unsigned Number) {
  std::string Type = K == Kind::Predicate ? ".pred" : typeName(K);
  return "  .reg " + Type + " %" + std::string(1, Letter) +
         std::to_string(Number) + ";\n";
}

/// "L$" in a body names a label of this row alone.
static std::string withLabels(const std::string &Body, const std::string &Own) {
  std::string Text;
  for (size_t I = 0; I < Body.size(); ++I)
    if (Body.compare(I, 2, "L$") == 0) {
      Text += Own;
      ++I;
    } else {
      Text += Body[I];
    }
  return Text;
}

static std::string scopeOf(const Row &R, const Part::Place &At, size_t Number) {
  std::string Text = "{ // " + R.Name +
                     "\n  .reg .b64 %in, %to;\n"
                     "  .reg .b32 %word;\n";
  auto Place = [&](const char *Name, const char *Base, size_t Words,
                   uint64_t First) {
    Text += "  mad.wide.u32 " + std::string(Name) + ", %i, " +
            std::to_string(Words * 8) + ", " + Base + ";\n";
    Text += "  add.s64 " + std::string(Name) + ", " + Name + ", " +
            std::to_string(First * 8) + ";\n";
  };
  Place("%in", "%from", R.Inputs.size(), At.In);
  Place("%to", "%into", R.Outputs.size(), At.Out);
  for (unsigned I = 0; I < R.Inputs.size() && !R.LoadsItself; ++I)
    Text += declarationOf(R.Inputs[I], 'a', I) + loadOf(R.Inputs[I], I, I * 8);
  for (unsigned I = 0; I < R.Outputs.size() && !R.StoresItself; ++I)
    Text += declarationOf(R.Outputs[I].Of, 'd', I);
  if (R.Shared)
    Text += "  bar.sync 0;\n";
  Text += "  " + withLabels(R.Body, "L" + std::to_string(Number) + "_") + "\n";
  for (unsigned I = 0; I < R.Outputs.size() && !R.StoresItself; ++I)
    Text += storeOf(R.Outputs[I].Of, I, I * 8);
  return Text + "}\n";
}

std::vector<Part::Place> Part::places() const {
  std::vector<Place> Places(Rows.size());
  uint64_t In = 0, Out = 0;
  for (size_t I = 0; I < Rows.size(); ++I) {
    if (I % GroupRows == 0)
      In = Out = 0;
    Places[I] = {static_cast<unsigned>(I / GroupRows), In, Out};
    In += uint64_t(Tuples) * Rows[I].Inputs.size();
    Out += uint64_t(Tuples) * Rows[I].Outputs.size();
  }
  return Places;
}

static std::string headOf(unsigned Kernel, bool Shared, bool Cluster) {
  std::string Text = ".visible .entry rows" + std::to_string(Kernel) +
                     "(.param .u64 from, .param .u64 into)\n.reqntid " +
                     std::to_string(BlockTuples) +
                     (Cluster ? "\n.reqnctapercluster 2\n{\n" : "\n{\n");
  if (Shared)
    Text += ".shared .align 1024 .b8 memory[32768];\n";
  return Text +
         ".reg .b64 %from, %into;\n.reg .b32 %i, %lane, %thread, %block;\n"
         "ld.param.u64 %from, [from];\nld.param.u64 %into, [into];\n"
         "cvta.to.global.u64 %from, %from;\n"
         "cvta.to.global.u64 %into, %into;\n"
         "mov.u32 %thread, %tid.x;\nmov.u32 %block, %ctaid.x;\n"
         "mad.lo.u32 %i, %block, " +
         std::to_string(BlockTuples) +
         ", %thread;\nand.b32 %lane, %thread, 31;\n";
}

static std::string constants() {
  std::string Text = ".const .align 16 .b32 constants[64] = {";
  uint32_t Word = 0x80ff7f01;
  for (unsigned I = 0; I < 64; ++I) {
    Text += (I ? ", " : "") + std::to_string(Word);
    Word = Word * 1664525 + 1013904223;
  }
  return Text + "};\n";
}

std::string Part::ptx() const {
  // All rows of a part are of one age, and in clusters or not.
  std::string Text = Rows.front().Old ? ".version 6.3\n.target sm_70\n"
                                      : ".version 8.8\n.target sm_90a\n";
  Text += ".address_size 64\n";
  if (std::any_of(Rows.begin(), Rows.end(),
                  [](const Row &R) { return R.Constants; }))
    Text += constants();
  std::vector<Place> Places = places();
  for (size_t I = 0; I < Rows.size(); ++I) {
    auto First = Rows.begin() + static_cast<ptrdiff_t>(I),
         End = Rows.begin() +
               static_cast<ptrdiff_t>(std::min(I + GroupRows, Rows.size()));
    if (I % GroupRows == 0)
      Text +=
          headOf(Places[I].Kernel,
                 std::any_of(First, End, [](const Row &R) { return R.Shared; }),
                 Rows.front().Cluster);
    Text += scopeOf(Rows[I], Places[I], I);
    if (I % GroupRows == GroupRows - 1 || I + 1 == Rows.size())
      Text += "ret;\n}\n";
  }
  return Text;
}

std::vector<Part> partsOf(const std::vector<Row> &Rows) {
  std::vector<Part> Parts;
  for (unsigned Kind = 0; Kind < 3; ++Kind) {
    bool Begin = true;
    for (const Row &R : Rows) {
      if ((R.Old ? 2 : R.Cluster ? 1 : 0) != Kind)
        continue;
      if (Begin || Parts.back().Rows.size() == PartRows)
        Parts.emplace_back();
      Begin = false;
      Parts.back().Rows.push_back(R);
    }
  }
  return Parts;
}

static void mask(const Output &O, uint64_t &Word) {
  if (O.Open == Mask::AnyNan && O.Of == Kind::F64 &&
      (Word & 0x7fffffffffffffff) > 0x7ff0000000000000)
    Word = 0x7fffffffffffffff;
}

Answer answerOf(const Row &R, std::vector<uint64_t> &Out) {
  Answer A;
  A.Row = R.Name;
  const size_t Count = R.Outputs.size();
  for (unsigned Block = 0; Block < Blocks; ++Block) {
    uint64_t Digest = 0xcbf29ce484222325;
    for (size_t I = 0; I < BlockTuples * Count; ++I) {
      uint64_t &Word = Out[Block * BlockTuples * Count + I];
      mask(R.Outputs[I % Count], Word);
      Digest = (Digest ^ Word) * 0x9e3779b97f4a7c15;
      Digest ^= Digest >> 29;
    }
    Digest = (Digest ^ Digest >> 32) * 0xd6e8feb86659fd93;
    A.Digests.push_back(static_cast<uint32_t>(Digest >> 40));
  }
  return A;
}

std::vector<Row> rowsNamed(const std::vector<Answer> &Answers) {
  std::set<std::string> Names;
  for (const Answer &A : Answers)
    Names.insert(A.Row);
  std::vector<Row> Rows = allRows();
  std::erase_if(Rows, [&](const Row &R) { return !Names.count(R.Name); });
  return Rows;
}

std::string lineOf(const Answer &A) {
  std::string Line = A.Row + "\t";
  for (uint32_t Digest : A.Digests) {
    char Text[8];
    std::snprintf(Text, sizeof(Text), "%06x", Digest);
    Line += Text;
  }
  return Line;
}

std::vector<Answer> readAnswers(std::istream &In) {
  std::vector<Answer> Answers;
  for (std::string Line; std::getline(In, Line);) {
    if (Line.empty() || Line[0] == '#')
      continue;
    size_t Tab = Line.find('\t');
    Answer &A = Answers.emplace_back();
    A.Row = Line.substr(0, Tab);
    if (Tab == std::string::npos)
      continue; // A name alone.
    for (size_t I = Tab + 1; I + 6 <= Line.size(); I += 6)
      A.Digests.push_back(static_cast<uint32_t>(
          std::strtoul(Line.substr(I, 6).c_str(), nullptr, 16)));
  }
  return Answers;
}

} // namespace ptxrows
