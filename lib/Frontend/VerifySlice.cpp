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
#include "PtxModule.h"
#include "cupilot/Frontend/ParsedUnit.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Portable/Digest.h"
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

/// The kernel \p Symbol. In relocatable code the names of static ones end with
/// a digest of the unit's path.
static const Function *findKernel(const llvm::Module &M, StringRef Symbol) {
  if (const Function *F = M.getFunction(Symbol))
    return F->isDeclaration() ? nullptr : F;
  for (const Function &F : M) {
    StringRef Rest = F.getName();
    if (Rest.consume_front(Symbol) && !F.isDeclaration() &&
        (Rest.starts_with("__static__") || Rest.starts_with("__intern__")))
      return &F;
  }
  return nullptr;
}

namespace {
/// A kernel's code in the unit.
struct WantedCode {
  std::string Text; ///< Canonical; empty when the kernel has no identity.
  std::string Name; ///< Of the function.
  bool Emitted = false, WritableVariables = false;
};

class Verifier {
public:
  Verifier(const SliceCompiler &Compiler, const TemporaryDirectory &Folder,
           StringRef File, StringRef Arch, std::vector<std::string> Flags)
      : Compiler(Compiler), Folder(Folder), File(File), Arch(Arch),
        Flags(std::move(Flags)), AloneFlags(variantFlags(this->Flags)),
        Context(buildContext(llvmArguments(this->Flags))) {}

  WantedCode wantedOf(const llvm::Module &Unit, StringRef Symbol,
                      KernelIdentity &Build) const {
    WantedCode Wanted;
    Build.Symbol = Symbol.str();
    const Function *F = findKernel(Unit, Symbol);
    Wanted.Emitted = F != nullptr;
    if (!Wanted.Emitted) {
      Build.Refusal = BuildReason::NotEmitted;
      return Wanted;
    }
    Wanted.Name = F->getName().str();
    Build.Symbol = Wanted.Name;
    Expected<CanonicalCode> Code = canonicalCode(*F, Context);
    if (!Code) {
      Build.Refusal = noteOf(Code.takeError());
      return Wanted;
    }
    Build.Digest = digest(Code->Text);
    Wanted.Text = std::move(Code->Text);
    for (const GlobalVariable *V : Code->Variables)
      Wanted.WritableVariables |= !V->isConstant();
    return Wanted;
  }

  /// A finding says why the slice of \p K is none.
  Error verify(const Kernel &K, const WantedCode &Wanted) {
    Expected<std::unique_ptr<DeviceCode>> Code =
        Compiler.compile(K.Slice, "slice.cu");
    if (!Code)
      return findingError("its slice does not compile alone: " +
                          textOf(Code.takeError()));
    foldReflect(*(*Code)->Module);
    const Function *F = findKernel(*(*Code)->Module, K.Symbol);
    if (!F)
      return findingError("its slice compiles to no code for it");
    if (!Wanted.Text.empty()) {
      Expected<std::string> Got = canonicalText(*F, Context);
      if (!Got)
        return findingError("its slice has no build identity: " +
                            textOf(Got.takeError()));
      if (*Got != Wanted.Text)
        return otherCode(Wanted.Text, *Got);
      if (!Wanted.WritableVariables)
        return Error::success();
    }
    return comparePtx(K, Wanted.Name, F->getName());
  }

private:
  static Error otherCode(StringRef Unit, StringRef Slice) {
    return findingError(
        "its slice compiles to other device code than the unit: " +
        firstDifference(Unit, Slice));
  }

  static std::string textOf(Error E) {
    std::string Text;
    handleAllErrors(std::move(E),
                    [&](const ToolError &Tool) { Text = Tool.text(); });
    return Text;
  }

  Expected<PtxModule> ptxOf(StringRef Path, ArrayRef<std::string> With) const {
    Expected<std::string> Ptx = compileToPtx(Path, Arch, With);
    return Ptx ? PtxModule::parse(std::move(*Ptx))
               : Expected<PtxModule>(Ptx.takeError());
  }

  /// What other code of the unit writes shows after optimisation only.
  Error comparePtx(const Kernel &K, StringRef InUnit, StringRef Alone) {
    std::call_once(UnitOnce, [&] {
      Expected<PtxModule> Ptx = ptxOf(File, Flags);
      if (Ptx)
        Unit.emplace(std::move(*Ptx));
      else
        UnitFailure = textOf(Ptx.takeError());
    });
    if (!Unit)
      return findingError("the unit cannot be compiled to PTX: " + UnitFailure);
    std::string Wanted = Unit->closureOf(InUnit);
    if (Wanted.empty())
      return buildError(BuildReason::NotEmitted);
    std::string Path = Folder.file("slice" + std::to_string(Counter++) + ".cu");
    if (Error E = writeFileAtomic(Path, K.Slice))
      return findingError("the slice cannot be checked: " +
                          textOf(std::move(E)));
    Expected<PtxModule> Ptx = ptxOf(Path, AloneFlags);
    if (!Ptx)
      return findingError("its slice does not compile alone: " +
                          textOf(Ptx.takeError()));
    std::string Got = Ptx->closureOf(InUnit == Alone ? InUnit : "");
    if (InUnit != Alone)
      return findingError(
          "its name depends on the unit's path in relocatable code");
    return Got == Wanted ? Error::success() : otherCode(Wanted, Got);
  }

  const SliceCompiler &Compiler;
  const TemporaryDirectory &Folder;
  StringRef File, Arch;
  std::vector<std::string> Flags, AloneFlags;
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
  Expected<SliceCompiler> Compiler = SliceCompiler::create(Arch, Kept, Texts);
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
      K.Refusal = Builds[I].Refusal->text();
      K.Slice.clear();
      continue;
    }
    Pool.async([&, I] {
      handleAllErrors(Work.verify(Kernels[I], Wanted[I]),
                      [&](const ToolError &E) {
                        Kernels[I].Refusal = E.text();
                        Kernels[I].Slice.clear();
                      });
    });
  }
  Pool.wait();
  return Error::success();
}

} // namespace cupilot
