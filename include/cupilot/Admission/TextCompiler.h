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
#include <memory>

namespace cupilot {

/// What a compilation of a text may take.
struct TextLimits {
  unsigned CpuSeconds = 60;
  uint64_t AddressBytes = uint64_t(4) << 30;
  /// Of wall time; 0: ten times the processor time and a minute, since a
  /// machine may have little of it.
  unsigned WallSeconds = 0;
};

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
  explicit TextCompiler(TextLimits Limits = {});
  ~TextCompiler();
  TextCompiler(const TextCompiler &) = delete;

  /// May be called by several threads. That no process can be started or that
  /// it is lost is a resource error, and says nothing of the text.
  llvm::Expected<CompiledText> compile(const TextRequest &Text);

private:
  struct Pool;
  std::unique_ptr<Pool> Servers;
  TextLimits Limits;
};

/// What cupilot-compile does: reads requests from standard input and answers
/// on standard output, until the input ends. Returns the exit status.
int serveTexts();

} // namespace cupilot

#endif // CUPILOT_ADMISSION_TEXTCOMPILER_H
