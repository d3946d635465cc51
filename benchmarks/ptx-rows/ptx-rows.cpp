//===- ptx-rows.cpp - Writes rows as PTX ------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-rows names             all rows that there might be
//        ptx-rows parts NAMES          how many parts some of them make
//        ptx-rows write NAMES FOLDER   part0.ptx, part1.ptx ... of them
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <cstdio>
#include <fstream>
#include <iostream>

using namespace ptxrows;

int main(int Argc, char **Argv) {
  const std::string Command = Argc > 1 ? Argv[1] : "";
  if (Command == "names" && Argc == 2) {
    for (const Row &R : allRows())
      std::cout << R.Name << "\n";
    return 0;
  }
  if (!(Command == "write" && Argc == 4) &&
      !(Command == "parts" && Argc == 3)) {
    std::cerr << "usage: ptx-rows names | parts NAMES | write NAMES FOLDER\n";
    return 2;
  }
  std::ifstream Names(Argv[2]);
  if (!Names) {
    std::cerr << "error: cannot read '" << Argv[2] << "'\n";
    return 2;
  }
  std::vector<Part> Parts = partsOf(rowsNamed(readAnswers(Names)));
  if (Command == "parts")
    std::cout << Parts.size() << "\n";
  for (size_t I = 0; Command == "write" && I < Parts.size(); ++I) {
    std::ofstream Out(std::string(Argv[3]) + "/part" + std::to_string(I) +
                      ".ptx");
    Out << Parts[I].ptx();
    if (!Out.flush()) {
      std::cerr << "error: cannot write to '" << Argv[3] << "'\n";
      return 3;
    }
  }
  return 0;
}
