//===- PtxReader.cpp - The reader of PTX alone under libFuzzer -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program of its own, without LLVM: it is fast, and leaks are looked for,
// which the libraries of the other targets do not allow.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Print.h"
#include <cstdio>
#include <cstdlib>

using namespace cupilot;

static void require(bool Holds, const char *What) {
  if (Holds)
    return;
  std::fprintf(stderr, "%s\n", What);
  std::abort();
}

/// An error has a place in the text and says something.
static void requirePlace(const ptx::Diagnostic &Why, const std::string &Text) {
  size_t Lines = 1;
  for (char C : Text)
    Lines += C == '\n';
  require(Why.Line >= 1 && Why.Line <= Lines && Why.Column >= 1 &&
              !Why.Message.empty(),
          "an error without a place");
}

static void readAsModule(const std::string &Text) {
  ptx::Diagnostic Why;
  std::optional<ptx::Module> M = ptx::readModule(Text, Why);
  if (!M)
    return requirePlace(Why, Text);
  for (const ptx::Function *F : M->kernels())
    require(M->function(F->Name) != nullptr, "a kernel cannot be found");
  for (const ptx::Item &I : M->Items)
    require(M->lineOf(I.At) >= 1, "an item without a line");
  std::optional<ptx::Module> Again = ptx::readModule(ptx::print(*M), Why);
  require(Again && *Again == *M, "PTX that is printed reads otherwise");
}

static void readAsFragment(const std::string &Text) {
  ptx::Diagnostic Why;
  std::optional<ptx::Fragment> F = ptx::readFragment(Text, Why);
  if (!F)
    return requirePlace(Why, Text);
  std::string Printed;
  for (const ptx::Statement &S : F->Statements)
    Printed += ptx::print(S) + "\n";
  std::optional<ptx::Fragment> Again = ptx::readFragment(Printed, Why);
  require(Again && Again->Statements == F->Statements,
          "statements that are printed read otherwise");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Text(reinterpret_cast<const char *>(Data), Size);
  readAsModule(Text);
  readAsFragment(Text);
  return 0;
}
