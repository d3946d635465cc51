//===- Judge.h - Admission of texts in tests --------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_ADMISSION_JUDGE_H
#define CUPILOT_TEST_ADMISSION_JUDGE_H

#include "cupilot/Admission/Admission.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <optional>
#include <set>

class AdmissionAction : public clang::SyntaxOnlyAction {
public:
  explicit AdmissionAction(std::vector<cupilot::AdmissionFinding> &Findings)
      : Findings(Findings) {}

protected:
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &CI, llvm::StringRef) override {
    return cupilot::createAdmissionConsumer(CI, Findings);
  }

private:
  std::vector<cupilot::AdmissionFinding> &Findings;
};

/// The rules in \p Findings, "+" between them.
inline std::string
joined(const std::vector<cupilot::AdmissionFinding> &Findings) {
  std::set<std::string> Rules;
  for (const cupilot::AdmissionFinding &F : Findings) {
    EXPECT_FALSE(F.Message.empty());
    EXPECT_GT(F.Line, 0u);
    Rules.insert(F.Rule);
  }
  return llvm::join(Rules, "+");
}

/// What \p Source breaks, without a CUDA toolkit: the words of the
/// language are macros here as there. \p Beside are more files in its folder.
inline std::optional<std::vector<cupilot::AdmissionFinding>>
findingsIn(const std::string &Source,
           const clang::tooling::FileContentMappings &Beside = {}) {
  std::vector<cupilot::AdmissionFinding> Findings;
  std::vector<std::string> Flags = {
      "-xcuda",     "--cuda-device-only",    "-nocudainc", "-nocudalib",
      "-std=c++20", "--cuda-gpu-arch=sm_90", "-w",         "-fsyntax-only"};
  for (std::string Word : {"device", "host", "global", "shared", "constant"})
    Flags.push_back("-D__" + Word + "__=__attribute__((" + Word + "))");
  if (!clang::tooling::runToolOnCodeWithArgs(
          std::make_unique<AdmissionAction>(Findings), Source, Flags,
          "/store/variant.cu", "clang",
          std::make_shared<clang::PCHContainerOperations>(), Beside))
    return std::nullopt;
  return Findings;
}

/// The rules that it breaks, by name.
inline std::string
judge(const std::string &Source,
      const clang::tooling::FileContentMappings &Beside = {}) {
  auto Findings = findingsIn(Source, Beside);
  return Findings ? joined(*Findings) : "does not parse";
}

/// The same with lines: "asm@3".
inline std::string judgeWithLines(const std::string &Source) {
  auto Findings = findingsIn(Source);
  if (!Findings)
    return "does not parse";
  std::set<std::string> Rules;
  for (const cupilot::AdmissionFinding &F : *Findings)
    Rules.insert(F.Rule + "@" + std::to_string(F.Line));
  return llvm::join(Rules, "+");
}

#endif // CUPILOT_TEST_ADMISSION_JUDGE_H
