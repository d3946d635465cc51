//===- BuildCompilers.cpp - Whose code is judged --------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cupilot {

static Expected<BuildCompiler> compilerBy(NvccUse Use,
                                          ArrayRef<std::string> Flags) {
  Expected<std::string> Name = Use.name();
  if (!Name)
    return Name.takeError();
  return BuildCompiler{std::move(*Name), Flags.vec(), std::move(Use)};
}

/// The toolkit's nvcc beside clang, if it is there and knows the flags.
static Error addToolkits(const UnitCommand &Command,
                         std::vector<BuildCompiler> &All, raw_ostream &Log) {
  Expected<Toolchain> Tools = Toolchain::find(Command.Flags);
  if (!Tools)
    return Tools.takeError();
  std::string Nvcc = Tools->CudaPath + "/bin/nvcc";
  if (Tools->CudaPath.empty() || !sys::fs::can_execute(Nvcc))
    return Error::success();
  std::optional<NvccUse> Use;
  if (Error E = absorbFinding(
          nvccUseFor(Nvcc, Command.Flags).moveInto(Use),
          [&](StringRef Why) { Log << "  nvcc left out: " << Why << "\n"; }))
    return E;
  if (!Use)
    return Error::success();
  Expected<BuildCompiler> By = compilerBy(std::move(*Use), Command.Flags);
  if (!By)
    return By.takeError();
  All.push_back(std::move(*By));
  return Error::success();
}

Expected<std::vector<BuildCompiler>> buildCompilers(const UnitCommand &Command,
                                                    ArrayRef<std::string> Named,
                                                    raw_ostream &Log) {
  std::vector<BuildCompiler> All;
  if (Command.Nvcc) {
    Expected<BuildCompiler> By = compilerBy(*Command.Nvcc, Command.Flags);
    if (!By)
      return By.takeError();
    All.push_back(std::move(*By));
  } else {
    All.push_back({CUPILOT_CLANG, Command.Flags});
    if (Named.empty())
      if (Error E = addToolkits(Command, All, Log))
        return std::move(E);
  }
  for (const std::string &Text : Named) {
    Expected<std::optional<NvccUse>> Use = readCompiler(Text);
    if (!Use)
      return Use.takeError();
    if (!*Use) {
      if (Command.Nvcc)
        All.push_back({clangName(Command.Flags), Command.Flags});
      continue;
    }
    Expected<BuildCompiler> By = compilerBy(**Use, Command.Flags);
    if (!By) { // It takes nothing away from the first.
      consumeError(By.takeError());
      By = BuildCompiler{"", Command.Flags, std::move(**Use)};
    }
    All.push_back(std::move(*By));
  }
  return All;
}

/// A template argument of \p K is a lambda.
static bool hasLambda(const Kernel &K) {
  return StringRef(K.Name).contains("(lambda ");
}

BuildCompiler compilerOf(const Kernel &K, BuildCompiler By) {
  if (By.Nvcc && !By.Nvcc->Named && hasLambda(K)) {
    // No nvcc builds the unit without.
    By.Nvcc->UnitFlags.push_back("--extended-lambda");
    By.Nvcc->Device.Flags.push_back("--extended-lambda");
    By.Name += " --extended-lambda";
  }
  return By;
}

static Expected<std::string> identityIn(const NvccPtx &Ptx, const Kernel &K,
                                        const NvccUse &Use) {
  std::string Symbol = Ptx.find(K.Symbol);
  if (Symbol.empty())
    return findingError("nvcc emits no code for it");
  KernelIdentity Own = Ptx.identify(Symbol, Use.Device.context());
  if (Own.Digest.empty())
    return make_error<BuildError>(*Own.Refusal);
  return digestOfPlan(Own);
}

Expected<std::string> BuildIdentities::byNvcc(const Kernel &K,
                                              const std::string &Arch,
                                              const NvccUse &Use) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-nvcc");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("slice.cu"), K.Slice))
    return std::move(E);
  Expected<NvccPtx> Slice =
      compileNvccPtx(Use.Nvcc, Dir->file("slice.cu"), Arch, Use.Device.Flags);
  if (!Slice)
    return Slice.takeError();
  Expected<std::string> Cut = identityIn(*Slice, K, Use);
  if (!Cut || Unit.empty())
    return Cut;
  const std::string Key = Arch + " " + join(Use.UnitFlags, " ");
  auto It = Whole.find(Key);
  if (It == Whole.end()) {
    Expected<NvccPtx> All = compileNvccPtx(Use.Nvcc, Unit, Arch, Use.UnitFlags);
    if (!All)
      return All.takeError();
    It = Whole.emplace(Key, std::move(*All)).first;
  }
  Expected<std::string> InUnit = identityIn(It->second, K, Use);
  if (InUnit && *InUnit != *Cut)
    return findingError(Twine("the device code of its slice differs from that "
                              "of the whole unit") +
                        (hasLambda(K)
                             ? ": nvcc wraps a '__host__ __device__' lambda "
                               "in another type; make it '__device__'"
                             : ""));
  return InUnit;
}

Expected<std::string> BuildIdentities::identityOf(const Kernel &K,
                                                  const std::string &Arch,
                                                  const BuildCompiler &By) {
  if (By.Nvcc)
    return byNvcc(K, Arch, *By.Nvcc);
  auto &[Flags, Known] = Clang[By.Name];
  if (!Known) {
    Flags = By.Flags;
    Known = std::make_unique<UnitIdentities>(Unit, Flags);
  }
  return Known->identityOf(K, Arch);
}

} // namespace cupilot
