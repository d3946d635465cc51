//===- Error.cpp - User-facing errors and exit codes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Error.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

char ToolError::ID = 0;

void ToolError::log(raw_ostream &OS) const {
  OS << Message;
  if (!Hint.empty())
    OS << " (" << Hint << ")";
}

std::error_code ToolError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error findingError(const Twine &Message, const Twine &Hint) {
  return make_error<ToolError>(ExitCode::Finding, Message, Hint);
}

Error usageError(const Twine &Message, const Twine &Hint) {
  return make_error<ToolError>(ExitCode::Usage, Message, Hint);
}

Error resourceError(const Twine &Message, const Twine &Hint) {
  return make_error<ToolError>(ExitCode::Resource, Message, Hint);
}

Error absorbFinding(Error E, function_ref<void(StringRef)> Use) {
  return handleErrors(std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
    if (T->code() != ExitCode::Finding)
      return Error(std::move(T));
    Use(T->text());
    return Error::success();
  });
}

void printErrorsOnly(LLVMContext &Context) {
  Context.setDiagnosticHandlerCallBack([](const DiagnosticInfo *Info, void *) {
    if (Info->getSeverity() != DS_Error)
      return;
    DiagnosticPrinterRawOStream Printer(WithColor::error(errs()));
    Info->print(Printer);
    errs() << "\n";
  });
}

int reportError(Error E, StringRef Tool) {
  int Status = static_cast<int>(ExitCode::Done);
  handleAllErrors(
      std::move(E),
      [&](const ToolError &T) {
        WithColor::error(errs(), Tool) << T.text() << "\n";
        if (!T.hint().empty())
          WithColor::note(errs(), Tool) << T.hint() << "\n";
        Status = std::max(Status, static_cast<int>(T.code()));
      },
      [&](const ErrorInfoBase &Other) {
        WithColor::error(errs(), Tool) << Other.message() << "\n";
        Status = static_cast<int>(ExitCode::Resource);
      });
  return Status;
}

} // namespace cupilot
