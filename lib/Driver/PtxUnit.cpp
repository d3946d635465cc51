//===- PtxUnit.cpp - Kernels that are only PTX ------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/PtxSource.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

bool isPtxFile(StringRef File) { return sys::path::extension(File) == ".ptx"; }

/// A parameter as its code shows it. Nothing for one that holds several things.
static std::optional<KernelParam> paramOf(const Argument &A) {
  KernelParam P;
  P.Name = "arg" + std::to_string(A.getArgNo());
  const Type *T = A.getType();
  if (A.hasByValAttr())
    return std::nullopt;
  P.IsPointer = T->isPointerTy();
  P.Size = P.IsPointer ? 8 : T->getPrimitiveSizeInBits() / 8;
  if (P.IsPointer) {
    P.Type = "void *"; // What lies there, all accesses say.
    P.Pointee = "void";
  } else if (T->isFloatingPointTy()) {
    P.Type = T->isHalfTy()     ? "__half"
             : T->isBFloatTy() ? "__nv_bfloat16"
             : T->isFloatTy()  ? "float"
                               : "double";
  } else {
    P.Type = P.Size == 1   ? "signed char"
             : P.Size == 2 ? "short"
             : P.Size == 4 ? "int"
                           : "long long";
  }
  return P;
}

/// Fills in what the code of \p K says.
static Error describe(UnitToJudge &U, Kernel &K) {
  Expected<PtxSource> Source = sourceOfPtx(U.Ptx, K.Symbol);
  if (!Source)
    return Source.takeError();
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Source->Bitcode, Context);
  if (!M)
    return M.takeError();
  for (const Argument &A : (*M)->getFunction(K.Symbol)->args()) {
    std::optional<KernelParam> P = paramOf(A);
    if (!P) {
      K.Refusal = "parameter " + std::to_string(A.getArgNo()) +
                  " is passed as bytes; PTX does not say which of them are "
                  "pointers and numbers";
      return Error::success();
    }
    if (P->IsPointer)
      K.Pointers.push_back({A.getArgNo(), 0});
    else if (A.getType()->isIntegerTy())
      K.Scalars.push_back(
          {A.getArgNo(), 0, static_cast<unsigned>(P->Size * 8), true});
    K.Params.push_back(std::move(*P));
  }
  U.Bitcode = std::move(Source->Bitcode);
  U.NoFloat64 = std::move(Source->NoFloat64);
  return Error::success();
}

Expected<UnitToJudge> UnitToJudge::loadPtx(StringRef Path,
                                           ArrayRef<std::string> Named) {
  UnitToJudge U;
  U.Path = U.File = Path.str();
  if (Error E = readFile(Path).moveInto(U.Ptx))
    return std::move(E);
  Expected<NvccPtx> Read = NvccPtx::parse(U.Ptx);
  if (!Read)
    return handleErrors(Read.takeError(), [&](const ToolError &E) -> Error {
      return make_error<ToolError>(E.code(), Path.str() + ": " + E.text(),
                                   E.hint());
    });
  U.Arch = Read->target().str();
  for (const std::string &Symbol : Read->kernels()) {
    Kernel K;
    K.Name = demangle(Symbol);
    K.Symbol = Symbol;
    K.Digest = Read->identify(Symbol).Digest;
    K.File = Path.str();
    K.Lowered = true;
    // What a template returns stands before its name.
    if (StringRef Whole = K.Name; Whole.consume_front("void "))
      K.Name = Whole.str();
    U.Kernels.push_back(std::move(K));
  }
  for (const std::string &Name : Named) {
    Expected<const Kernel *> Found = U.find(Name);
    if (!Found)
      return Found.takeError();
    if (!(*Found)->Params.empty())
      continue;
    if (Error E = describe(U, U.Kernels[*Found - U.Kernels.data()]))
      return std::move(E);
  }
  return U;
}

} // namespace cupilot
