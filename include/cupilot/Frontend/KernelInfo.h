//===- KernelInfo.h - Names and parameters of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_KERNELINFO_H
#define CUPILOT_FRONTEND_KERNELINFO_H

#include <optional>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class FunctionDecl;
} // namespace clang

namespace cupilot {

struct Kernel;
struct ParsedUnit;

/// The kernels and kernel instantiations that files of the user define, in the
/// order of their text.
std::vector<const clang::FunctionDecl *> kernelsOf(const ParsedUnit &Unit);

/// Name, symbol, place, parameters, scalars and pointers of \p F.
void describeKernel(const ParsedUnit &Unit, const clang::FunctionDecl *F,
                    Kernel &K);

/// The explicit instantiation that makes a unit emit \p F, for the innermost
/// namespace around it; "" when \p F is no instantiation.
std::string instantiationOf(const clang::FunctionDecl *F);

/// The template arguments of the instance \p F, "<64, float>"; "" when it is
/// none.
std::string templateArgumentsOf(const clang::FunctionDecl *F);

/// The first template argument of \p F that other code cannot write. Slices
/// make lambdas again, so these count only with \p Lambdas.
std::optional<std::string> unspeakableArgument(const ParsedUnit &Unit,
                                               const clang::FunctionDecl *F,
                                               bool Lambdas = false);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_KERNELINFO_H
