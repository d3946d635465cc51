//===- EjectPatch.cpp - The patch that puts variants into a source
//------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/EjectPatch.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/UnitIdentities.h"
#include "cupilot/Eject/Eject.h"
#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace cupilot {

using EditsOf = std::map<std::string, std::vector<SourceEdit>>;

static std::string realPath(StringRef Path) {
  SmallString<256> Real;
  return sys::fs::real_path(Path, Real) ? Path.str() : Real.str().str();
}

/// The folder that paths in the patch start from: the repository's, else the
/// current one.
static std::string patchRoot() {
  SmallString<256> Here;
  sys::fs::current_path(Here);
  for (StringRef Folder = Here; !Folder.empty();
       Folder = sys::path::parent_path(Folder))
    if (sys::fs::exists(Folder + "/.git"))
      return realPath(Folder);
  return realPath(Here);
}

/// The kernels of the source that the store has proved variants of for
/// \p Flags, and the digest that each variant's code must have.
static Expected<std::vector<EjectKernel>>
variantsToEject(const EjectRequest &R, const ProjectStore &Store,
                std::map<std::string, std::string> &Digests, raw_ostream &Log) {
  Expected<std::vector<StoredKernel>> Stored = Store.kernels();
  if (!Stored)
    return Stored.takeError();
  Expected<std::vector<Kernel>> Kernels =
      extractChosen(R.Input, R.Command.Flags, R.Only);
  if (!Kernels)
    return Kernels.takeError();
  UnitIdentities Identities(R.Input, R.Command.Flags);
  std::vector<EjectKernel> Chosen;
  for (const Kernel &K : *Kernels) {
    EjectKernel E{K, {}};
    std::string Why = "the store has no variant of it";
    for (StoredKernel &S : *Stored) {
      if (S.K.Symbol != K.Symbol)
        continue;
      if (S.K.Digest != withContract(K, S.K.Contract).Digest ||
          K.Slice.empty()) {
        Why =
            "its source has changed since the search; run cupilot evolve again";
        continue;
      }
      if (!E.Variants.empty())
        continue;
      Why = "none of its variants was proved with these flags; run cupilot "
            "refresh";
      for (const std::string &Arch : R.Command.Archs) {
        Expected<std::string> Identity = Identities.identityOf(K, Arch);
        if (!Identity) {
          if (Error Failed =
                  absorbFinding(Identity.takeError(),
                                [&](StringRef Text) { Why = Text.str(); }))
            return std::move(Failed);
          continue;
        }
        auto Build = find_if(S.Builds, [&](const BuildEntry &B) {
          return B.Arch == Arch && B.Digest == *Identity;
        });
        if (Build == S.Builds.end())
          continue;
        if (Error Failed = Store.readTexts(S))
          return std::move(Failed);
        // The build's record has what fits, in the order in which it is tried.
        for (const BuildRecord &Record : buildRecords(S)) {
          if (Record.Compiler != Build->Compiler || Record.Arch != Arch ||
              Record.Identity != Build->Digest)
            continue;
          for (const BuildVariant &V : Record.Variants) {
            if (!V.Where) {
              Why = "its variants have no domain; " + verifyCommand(R.Store) +
                    " gives them one";
              continue;
            }
            auto At = find_if(S.Variants, [&](const Variant &Each) {
              return Each.Name == V.Name;
            });
            if (Digests.try_emplace(K.Symbol + " " + V.Name, V.Canonical)
                    .second)
              E.Variants.push_back(
                  {V.Name, V.Genome,
                   S.Sources[static_cast<size_t>(At - S.Variants.begin())],
                   V.Plan, V.When, V.Where});
          }
        }
      }
    }
    if (E.Variants.empty())
      Log << K.Name << ": left out: " << Why << "\n";
    else
      Chosen.push_back(std::move(E));
  }
  return std::move(Chosen);
}

/// True when \p Name, demangled, is that of \p Function in some namespace.
static bool isFunction(StringRef Name, StringRef Function) {
  for (size_t At = 0; (At = Name.find(Function, At)) != StringRef::npos; ++At) {
    StringRef Before = Name.take_front(At),
              After = Name.drop_front(At).drop_front(Function.size());
    if ((After.starts_with("(") || After.starts_with("<")) &&
        (Before.empty() || Before.ends_with(" ") || Before.ends_with("::")))
      return true;
  }
  return false;
}

/// Compiles the changed source, both halves, in place of the files that are
/// there, and compares the device code of the variants.
static Error prove(const EjectRequest &R, const Ejection &Done,
                   const EditsOf &Edits,
                   const std::map<std::string, std::string> &Digests) {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-ejected");
  if (!Dir)
    return Dir.takeError();
  json::Array Roots;
  for (const auto &[Path, All] : Edits) {
    Expected<std::string> Old = readFile(Path);
    if (!Old)
      return Old.takeError();
    std::string New = Dir->file(std::to_string(Roots.size()) + ".txt");
    if (Error E = writeFileAtomic(New, applyEdits(*Old, All)))
      return E;
    Roots.push_back(json::Object{
        {"name", Path}, {"type", "file"}, {"external-contents", New}});
  }
  std::string Overlay = Dir->file("overlay.yaml");
  if (Error E = writeFileAtomic(
          Overlay,
          formatv("{0}", json::Value(json::Object{{"version", 0},
                                                  {"roots", std::move(Roots)}}))
              .str()))
    return E;
  std::vector<std::string> Flags = R.Command.Flags;
  Flags.insert(Flags.end(), {"-ivfsoverlay", Overlay});
  std::string Source = realPath(R.Input);
  Expected<Toolchain> Tools = Toolchain::findCuda(Flags);
  if (!Tools)
    return Tools.takeError();
  std::vector<std::string> Host = Tools->cudaCommand(Flags);
  Host.insert(Host.end(),
              {"-x", "cuda", "--cuda-host-only", "-fsyntax-only", Source});
  Expected<ProcessResult> Compiled = runProcess(Host);
  if (!Compiled)
    return Compiled.takeError();
  if (Compiled->Status != 0)
    return findingError("the changed source does not compile:\n" +
                        StringRef(Compiled->Err).rtrim());
  for (const std::string &Arch : R.Command.Archs) {
    Expected<std::string> Bitcode = compileDeviceBitcode(Source, Arch, Flags);
    if (!Bitcode)
      return Bitcode.takeError();
    Expected<std::vector<KernelIdentity>> Identities =
        identifyKernels(*Bitcode, buildContext(llvmArguments(Flags)));
    if (!Identities)
      return Identities.takeError();
    for (const Ejection::Placed &P : Done.Variants) {
      std::vector<KernelIdentity> Own;
      for (const std::string &Function : P.Functions)
        for (const KernelIdentity &Id : *Identities)
          if (isFunction(demangle(Id.Symbol), Function)) {
            if (Id.Digest.empty())
              return findingError("'" + Function +
                                  "' has no identity: " + Id.Refusal->text());
            Own.push_back(Id);
          }
      if (Own.size() != P.Functions.size() ||
          digestOfPlan(Own) != Digests.at(P.Symbol + " " + P.Variant))
        return findingError(
            "the device code of '" + join(P.Functions, "', '") +
            "' in the changed source differs from that of variant " +
            P.Variant);
    }
  }
  return Error::success();
}

static EditsOf byFile(const Ejection &Done) {
  EditsOf Edits;
  for (const SourceEdit &E : Done.Edits)
    Edits[E.File].push_back(E);
  return Edits;
}

/// An ejection that is proved: of all of \p Kernels, or, when what one gets
/// breaks the source, of those that do not. Notes say what is left out.
static Expected<Ejection>
ejectProved(const EjectRequest &R, ArrayRef<EjectKernel> Kernels,
            const std::map<std::string, std::string> &Digests) {
  auto Attempt = [&](ArrayRef<EjectKernel> Some) -> Expected<Ejection> {
    Expected<Ejection> Made = ejectVariants(R.Input, R.Command.Flags, Some);
    if (Made && !Made->Variants.empty())
      if (Error E = prove(R, *Made, byFile(*Made), Digests))
        return std::move(E);
    return Made;
  };
  Expected<Ejection> Whole = Attempt(Kernels);
  if (Whole)
    return Whole;
  std::string Reason;
  if (Error E = absorbFinding(Whole.takeError(),
                              [&](StringRef Why) { Reason = Why.str(); }))
    return std::move(E);
  std::vector<EjectKernel> Good;
  std::vector<EjectNote> Bad;
  for (const EjectKernel &K : Kernels) {
    std::string Why = Reason;
    if (Kernels.size() > 1) {
      Expected<Ejection> Alone = Attempt(K);
      if (Alone) {
        Good.push_back(K);
        continue;
      }
      if (Error E = absorbFinding(Alone.takeError(),
                                  [&](StringRef W) { Why = W.str(); }))
        return std::move(E);
    }
    Bad.push_back({K.K.Name, "", Why});
  }
  Ejection Done;
  if (!Good.empty()) {
    Expected<Ejection> Rest = Attempt(Good);
    if (!Rest)
      return Rest.takeError();
    Done = std::move(*Rest);
  }
  Done.Notes.insert(Done.Notes.begin(), Bad.begin(), Bad.end());
  return Done;
}

Expected<std::string> ejectPatch(const EjectRequest &R, raw_ostream &Log) {
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  std::map<std::string, std::string> Digests;
  Expected<std::vector<EjectKernel>> Kernels =
      variantsToEject(R, *Store, Digests, Log);
  if (!Kernels)
    return Kernels.takeError();
  Ejection Done;
  if (!Kernels->empty()) {
    Expected<Ejection> Made = ejectProved(R, *Kernels, Digests);
    if (!Made)
      return Made.takeError();
    Done = std::move(*Made);
  }
  for (const EjectNote &N : Done.Notes)
    Log << (N.At.empty() ? N.Kernel : N.At + ": " + N.Kernel)
        << (N.At.empty() ? ": left out: " : ": ") << N.Why << "\n";
  if (Done.Variants.empty())
    return findingError("no variant could be put into the source");
  EditsOf Edits = byFile(Done);
  std::string Root = patchRoot(), Patch;
  for (const auto &[Path, All] : Edits) {
    StringRef Relative = Path;
    if (!Relative.consume_front(Root + "/"))
      return findingError("'" + Path +
                              "' would have to change, but it is outside of '" +
                              Root + "'",
                          "run the command in the project's folder");
    Expected<std::string> Old = readFile(Path);
    if (!Old)
      return Old.takeError();
    Patch += unifiedDiff(Relative, *Old, All);
  }
  Log << "cupilot eject: " << Done.Variants.size() << " variant(s), "
      << Done.Launches << " launch(es) in " << Edits.size() << " file(s)\n";
  return Patch;
}

} // namespace cupilot
