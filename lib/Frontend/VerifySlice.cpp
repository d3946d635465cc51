//===- VerifySlice.cpp - A slice's device code against the unit's -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySlice.h"
#include "DeviceCode.h"
#include "ParsedUnit.h"
#include "PtxModule.h"
#include "cupilot/Frontend/Kernel.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

/// The first line in which two texts differ, for people.
static std::string firstDifference(StringRef A, StringRef B) {
  while (!A.empty() || !B.empty()) {
    auto [LineA, RestA] = A.split('\n');
    auto [LineB, RestB] = B.split('\n');
    if (LineA != LineB)
      return ("'" + LineA + "' against '" + LineB + "'").str();
    A = RestA;
    B = RestB;
  }
  return "";
}

namespace {
/// A kernel's code in the unit.
struct WantedCode {
  std::string Text; ///< Canonical; empty when the kernel has no identity.
  bool Emitted = false, WritableVariables = false;
};

class Verifier {
public:
  Verifier(const SliceCompiler &Compiler, const TemporaryDirectory &Folder,
           StringRef File, StringRef Arch, std::vector<std::string> Flags)
      : Compiler(Compiler), Folder(Folder), File(File), Arch(Arch),
        Flags(std::move(Flags)), Alone(variantFlags(this->Flags)),
        Context(buildContext(llvmArguments(this->Flags))) {}

  WantedCode wantedOf(const Module &Unit, StringRef Symbol,
                      KernelIdentity &Build) const {
    WantedCode Wanted;
    Build.Symbol = Symbol.str();
    const Function *F = Unit.getFunction(Symbol);
    Wanted.Emitted = F && !F->isDeclaration();
    if (!Wanted.Emitted) {
      Build.Refusal = "the compiler emits no code for it";
      return Wanted;
    }
    Build = identify(*F, Context);
    if (Build.Digest.empty())
      return Wanted;
    Wanted.Text = cantFail(canonicalText(*F, Context));
    for (const GlobalVariable *V : cantFail(closureVariables(*F)))
      Wanted.WritableVariables |= !V->isConstant();
    return Wanted;
  }

  /// Why the slice of \p K is none; "" when it is one.
  std::string verify(const Kernel &K, const WantedCode &Wanted) {
    Expected<std::unique_ptr<DeviceCode>> Code =
        Compiler.compile(K.Slice, "slice.cu");
    if (!Code)
      return "its slice does not compile alone: " + textOf(Code.takeError());
    foldReflect(*(*Code)->Module);
    const Function *F = (*Code)->Module->getFunction(K.Symbol);
    if (!F || F->isDeclaration())
      return "its slice compiles to no code for it";
    if (!Wanted.Text.empty()) {
      Expected<std::string> Got = canonicalText(*F, Context);
      if (!Got)
        return "its slice has no build identity: " + textOf(Got.takeError());
      if (*Got != Wanted.Text)
        return "its slice compiles to other device code than the unit: " +
               firstDifference(Wanted.Text, *Got);
      if (!Wanted.WritableVariables)
        return "";
    }
    return comparePtx(K);
  }

private:
  static std::string textOf(Error E) {
    std::string Text;
    handleAllErrors(std::move(E),
                    [&](const ToolError &Tool) { Text = Tool.text(); });
    return Text;
  }

  /// What other code of the unit writes shows after optimisation only.
  std::string comparePtx(const Kernel &K) {
    std::call_once(UnitOnce, [&] {
      Expected<std::string> Ptx = compileToPtx(File, Arch, Flags);
      if (Ptx)
        Unit.emplace(*Ptx);
      else
        UnitFailure = textOf(Ptx.takeError());
    });
    if (!Unit)
      return "the unit cannot be compiled to PTX: " + UnitFailure;
    std::string Wanted = Unit->closureOf(K.Symbol);
    if (Wanted.empty())
      return "the compiler emits no code for it";
    std::string Path = Folder.file("slice" + std::to_string(Counter++) + ".cu");
    if (Error E = writeFileAtomic(Path, K.Slice))
      return "the slice cannot be checked: " + textOf(std::move(E));
    Expected<std::string> Ptx = compileToPtx(Path, Arch, Alone);
    if (!Ptx)
      return "its slice does not compile alone: " + textOf(Ptx.takeError());
    std::string Got = PtxModule(*Ptx).closureOf(K.Symbol);
    return Got == Wanted ? ""
                         : "its slice compiles to other device code than the "
                           "unit: " +
                               firstDifference(Wanted, Got);
  }

  const SliceCompiler &Compiler;
  const TemporaryDirectory &Folder;
  StringRef File, Arch;
  std::vector<std::string> Flags, Alone;
  std::string Context;
  std::once_flag UnitOnce;
  std::optional<PtxModule> Unit;
  std::string UnitFailure;
  std::atomic<unsigned> Counter = 0;
};
} // namespace

Error verifySlices(std::vector<Kernel> &Kernels, DeviceCode &Unit,
                   StringRef File, ArrayRef<std::string> Flags,
                   MutableArrayRef<KernelIdentity> Builds) {
  if (Kernels.empty())
    return Error::success();
  if (!Unit.Module)
    return usageError("'" + File + "' gives no device code");
  std::vector<std::string> Kept = parseFlags(Flags);
  std::string Arch = gpuArchitectures(Flags).front();
  std::vector<StringRef> Texts;
  for (const Kernel &K : Kernels)
    if (!K.Slice.empty())
      Texts.push_back(K.Slice);
  Expected<SliceCompiler> Compiler =
      SliceCompiler::create(Arch, variantFlags(Kept), Texts);
  if (!Compiler)
    return Compiler.takeError();
  Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::create("cupilot-slice");
  if (!Folder)
    return Folder.takeError();
  Verifier Work(*Compiler, *Folder, File, Arch, Kept);
  foldReflect(*Unit.Module);
  std::vector<WantedCode> Wanted(Kernels.size());
  DefaultThreadPool Pool(hardware_concurrency());
  for (size_t I = 0; I < Kernels.size(); ++I) {
    Kernel &K = Kernels[I];
    Wanted[I] = Work.wantedOf(*Unit.Module, K.Symbol, Builds[I]);
    if (K.Slice.empty())
      continue;
    if (!Wanted[I].Emitted) {
      K.Refusal = Builds[I].Refusal;
      K.Slice.clear();
      continue;
    }
    Pool.async([&, I] {
      std::string Why = Work.verify(Kernels[I], Wanted[I]);
      if (Why.empty())
        return;
      Kernels[I].Refusal = Why;
      Kernels[I].Slice.clear();
    });
  }
  Pool.wait();
  return Error::success();
}

} // namespace cupilot
