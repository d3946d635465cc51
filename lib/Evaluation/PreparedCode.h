//===- PreparedCode.h - Device code whose values can be followed -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_PREPAREDCODE_H
#define CUPILOT_LIB_EVALUATION_PREPAREDCODE_H

#include "cupilot/Model/Domain.h"
#include "cupilot/Model/Kernel.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace cupilot {

/// A private copy of device code: functions are inlined and variables are
/// values, but no branch became a select and no loop another one.
struct PreparedCode {
  std::unique_ptr<llvm::LLVMContext> Context;
  std::unique_ptr<llvm::Module> M;
  /// The kernel \p Symbol; a usage error where there is none.
  llvm::Expected<llvm::Function *> kernel(llvm::StringRef Symbol) const;
};

/// Prepares \p Bitcode; \p Before sees the module as clang wrote it, and what
/// it gives marks to then stays as it is, even where it says nothing new.
llvm::Expected<PreparedCode>
prepareCode(llvm::StringRef Bitcode,
            llvm::function_ref<void(llvm::Module &)> Before = nullptr);

/// What a value is that a kernel gets.
struct Leaf {
  enum class Kind {
    Scalar,
    Float,
    Pointer,
    Dim,     ///< gridDim, blockDim, bytes of shared memory: a LaunchDim.
    Index,   ///< threadIdx, blockIdx: from 0 to the LaunchDim less one.
    Lane,    ///< The place in the warp.
    Thread,  ///< Anything else that tells threads apart.
    Argument ///< Bytes of an argument, of which it covers no single one.
  };
  Kind K = Kind::Scalar;
  unsigned Index = 0; ///< Of the scalar, pointer or dimension; the parameter.
  FloatRef Number{};  ///< When it is one.
};
/// What \p V is, when it is read directly from the launch or an argument of a
/// kernel like \p K.
std::optional<Leaf> leafOf(const llvm::Value &V, const Kernel &K);

/// The memory behind a pointer, when it is known which.
struct MemoryObject {
  enum class Kind {
    Global, ///< Or anything.
    Local,  ///< A variable of the thread.
    Shared,
    Table,   ///< A constant with its content.
    Argument ///< A by-value argument.
  };
  Kind K = Kind::Global;
  const llvm::Value *Base = nullptr;
};
MemoryObject objectOf(const llvm::Value *Pointer);

/// The pointer that an argument of a call is, also as an integer; null for
/// other numbers.
const llvm::Value *addressIn(const llvm::Value &Argument);

/// A call of libdevice that is an instruction in other languages.
enum class MathCall { None, Abs, Min, Max };
/// What \p V is of these, on integers or floats, as a call or as an intrinsic.
MathCall mathCallOf(const llvm::Value &V);

/// "k.cu:12:3": in the kernel's own file, if the code came from there; "" where
/// nothing is known.
std::string sourceOf(const llvm::Instruction &I);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_PREPAREDCODE_H
