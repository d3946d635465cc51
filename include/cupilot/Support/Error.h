//===- Error.h - User-facing errors and exit codes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_ERROR_H
#define CUPILOT_SUPPORT_ERROR_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace cupilot {

/// Exit status of every tool.
enum class ExitCode : int {
  Done = 0,    ///< The work is done.
  Finding = 1, ///< It ran, and found something: nothing accepted, check failed.
  Usage = 2,   ///< Wrong use or broken input.
  Resource = 3, ///< An outside resource failed: disk, device, provider.
};

/// An error with the exit status that it leads to and, when there is one, the
/// way out. Message and hint are whole sentences without a final full stop.
class ToolError : public llvm::ErrorInfo<ToolError> {
public:
  static char ID;
  ToolError(ExitCode Code, const llvm::Twine &Message,
            const llvm::Twine &Hint = "")
      : Code(Code), Message(Message.str()), Hint(Hint.str()) {}

  ExitCode code() const { return Code; }
  const std::string &text() const { return Message; }
  const std::string &hint() const { return Hint; }
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

private:
  ExitCode Code;
  std::string Message, Hint;
};

/// Something was found to be so (exit status 1).
llvm::Error findingError(const llvm::Twine &Message,
                         const llvm::Twine &Hint = "");
/// The user's command or input is wrong (exit status 2).
llvm::Error usageError(const llvm::Twine &Message,
                       const llvm::Twine &Hint = "");
/// Something outside failed (exit status 3).
llvm::Error resourceError(const llvm::Twine &Message,
                          const llvm::Twine &Hint = "");

/// Prints \p E as "TOOL: error: ..." with a "note:" line for the hint, and
/// returns the exit status it stands for (Done for success). Errors that are
/// no ToolError count as Resource.
int reportError(llvm::Error E, llvm::StringRef Tool);

/// Passes a finding's text (exit status 1) to \p Use and goes on: what is wrong
/// with one kernel says nothing of the others. Other errors, faults of the
/// machine or of the input as a whole, are returned.
llvm::Error absorbFinding(llvm::Error E,
                          llvm::function_ref<void(llvm::StringRef)> Use);

/// Keeps LLVM's remarks and warnings on code that cuPilot compiles for itself
/// ("loop not unrolled") from the user's terminal. Errors are still printed.
void printErrorsOnly(llvm::LLVMContext &Context);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_ERROR_H
