//===- TextCompiler.h - Texts compiled in processes of their own -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_TEXTCOMPILER_H
#define CUPILOT_ADMISSION_TEXTCOMPILER_H

#include "cupilot/Admission/CompileText.h"
#include "cupilot/Support/LimitedProcess.h"

namespace cupilot {

/// A text and how it is compiled.
struct TextRequest {
  std::string Source;
  std::string Arch; ///< "sm_90".
  /// How messages and line tables call it: the name of a file.
  std::string Name = "variant.cu";
  /// Of the original's compilation; variantFlags of them count.
  std::vector<std::string> Flags;
  OriginalCode Original;
};

/// Admits texts and compiles them, each in a process of its own that has
/// limits, sees toolkitFiles only and writes no file: whatever a text does to a
/// compiler is its own fate. The processes are copies of one that has loaded
/// what they need (cupilot-compile), so that they start at once.
class TextCompiler {
public:
  explicit TextCompiler(ProcessLimits Limits = {})
      : Servers("--serve"), Limits(Limits) {}

  /// May be called by several threads. That no process can be started or that
  /// it is lost is a resource error, and says nothing of the text.
  llvm::Expected<CompiledText> compile(const TextRequest &Text);

private:
  RequestServers Servers;
  ProcessLimits Limits;
};

/// What cupilot-compile does: reads requests from standard input and answers
/// on standard output, until the input ends. Returns the exit status.
int serveTexts();

} // namespace cupilot

#endif // CUPILOT_ADMISSION_TEXTCOMPILER_H
