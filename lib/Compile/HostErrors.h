//===- HostErrors.h - Errors that device code does not feel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_COMPILE_HOSTERRORS_H
#define CUPILOT_LIB_COMPILE_HOSTERRORS_H

namespace clang {
class CompilerInstance;
class DiagnosticConsumer;
class FrontendAction;
} // namespace clang

namespace cupilot {

class Repairs;

/// Runs \p Action in \p CI, whose files are set. \p ByNvcc: the program's own
/// files see __NVCC__. False if there were errors
/// outside of functions that the host alone runs; \p Printer gets the first
/// twenty of them, and \p Mending, if given, all. Errors inside leave no trace:
/// what such a function names of device code is still instantiated.
bool runForDevice(clang::CompilerInstance &CI, clang::FrontendAction &Action,
                  clang::DiagnosticConsumer &Printer, bool ByNvcc,
                  Repairs *Mending = nullptr);

} // namespace cupilot

#endif // CUPILOT_LIB_COMPILE_HOSTERRORS_H
