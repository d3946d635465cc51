//===- NvccPtx.h - Kernels as nvcc's PTX shows them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For nvcc the build identity of a kernel is a digest of the PTX of its
// closure. The text is read as the PTX ISA, chapter "Syntax", has it, as far as
// that is needed: tokens, module-level functions and variables, names.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_NVCCPTX_H
#define CUPILOT_SUBSTITUTE_NVCCPTX_H

#include "cupilot/Substitute/BuildIdentity.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The PTX of one compilation for one architecture. It keeps the text.
class NvccPtx {
public:
  /// Text that is no PTX is a usage error that names the line.
  static llvm::Expected<NvccPtx> parse(std::string Text);

  /// The architecture that the code is for: "sm_90", "sm_90a".
  llvm::StringRef target() const { return Target; }
  /// The mangled names of the kernels defined, in the order of the text.
  const std::vector<std::string> &kernels() const { return Kernels; }
  /// The kernel here that clang calls \p Symbol: of that name, or, for static
  /// kernels and those of anonymous namespaces, which nvcc names otherwise, the
  /// only one with the same name and parameters in the source. "" when none is.
  std::string find(llvm::StringRef Symbol) const;
  /// True when both are names of one kernel of the source, whoever mangled
  /// them: nvcc names static and anonymous ones otherwise than clang.
  static bool isSameKernel(llvm::StringRef A, llvm::StringRef B);
  /// The name of a kernel or variable as the source has it, whoever mangled it:
  /// nvcc for the device, or a host compiler.
  static std::string sourceName(llvm::StringRef Symbol);
  /// What one walk over the closure of a kernel finds.
  struct Closure {
    std::string Text; ///< canonicalText's.
    /// The names of the __device__ and __constant__ variables that it uses, in
    /// the order of first use; literals are none.
    std::vector<std::string> Variables;
    /// It calls by a pointer or takes a function's address: pointers to
    /// functions are of one image only, and what they point to finds its
    /// constants there alone.
    bool FunctionPointers = false;
    /// A function that it calls and that is weak; "" when none is. The device
    /// linker may take another unit's.
    std::string WeakFunction;
  };
  /// Arguments and errors as canonicalText's.
  llvm::Expected<Closure> closure(llvm::StringRef Kernel,
                                  llvm::StringRef Context = "") const;
  /// What the identity of \p Kernel digests; see docs/BuildIdentity.md.
  /// \p Context is what changes the machine code and is not in the PTX: the
  /// arguments for ptxas. The error says why the kernel has no identity.
  llvm::Expected<std::string> canonicalText(llvm::StringRef Kernel,
                                            llvm::StringRef Context = "") const;
  KernelIdentity identify(llvm::StringRef Kernel,
                          llvm::StringRef Context = "") const;
  /// Does \p Kernel wait for the launch before its own before anything else?
  bool waitsFirst(llvm::StringRef Kernel) const;
  /// The text with other names for some kernels: from, to.
  std::string
  renamed(llvm::ArrayRef<std::pair<std::string, std::string>> Names) const;

private:
  friend class NvccPtxReader;
  friend class NvccPtxCanonicaliser;
  struct Token {
    unsigned Begin = 0, End = 0; ///< In the text.
    bool IsName = false;         ///< An identifier that a program chose.
  };
  struct Item {
    enum class Kind { Function, Kernel, Shared, Variable };
    Kind K = Kind::Variable;
    unsigned First = 0, Last = 0; ///< Tokens [First, Last).
    unsigned Name = 0;            ///< Token of the name.
    bool Defined = true;
    bool External = false, Weak = false;
  };
  llvm::StringRef spelling(const Token &T) const {
    return llvm::StringRef(Text).slice(T.Begin, T.End);
  }

  std::string Text, Target, TargetLine;
  std::vector<Token> Tokens;
  std::vector<Item> Items;
  llvm::StringMap<unsigned> Index; ///< From name to its best item.
  std::vector<std::string> Kernels;
};

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_NVCCPTX_H
