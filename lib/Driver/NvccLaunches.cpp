//===- NvccLaunches.cpp - The launches of a unit that nvcc builds -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objects of nvcc find out at run time, by handle, which kernel is launched
// (docs/Launcher.md). What that leads to is known before: every launch of this
// object by the run time's functions reaches the dispatch. So the launches that
// the source has are told, as clang sees it, with the kernels that the build
// gave variants.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/NvccLaunches.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Frontend/HostLaunches.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/LaunchForms.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Substitute/UnitReport.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

namespace {
/// What the build did, as far as launches ask.
struct NvccUnit {
  std::vector<std::string> Defined, Applied; ///< Kernels, as nvcc mangles them.
  StringSet<> Weak; ///< Functions that the linker takes of one unit only.

  bool has(ArrayRef<std::string> Names, StringRef Symbol) const {
    return any_of(Names, [&](StringRef Each) {
      return NvccPtx::isSameKernel(Each, Symbol);
    });
  }
  BuildNote redirected(const HostLaunch &L) const;
  void judge(const HostLaunch &L, LaunchSite &S) const;
};
} // namespace

static StringSet<> weakFunctions(StringRef Path) {
  StringSet<> Names;
  Expected<object::OwningBinary<object::ObjectFile>> File =
      object::ObjectFile::createObjectFile(Path);
  if (!File) {
    // A build that passed gave one; without, nothing is known to be shared.
    consumeError(File.takeError());
    return Names;
  }
  for (const object::SymbolRef &Each : File->getBinary()->symbols()) {
    Expected<uint32_t> Flags = Each.getFlags();
    Expected<StringRef> Name = Each.getName();
    if (Flags && Name && (*Flags & object::SymbolRef::SF_Weak) &&
        !(*Flags & object::SymbolRef::SF_Undefined))
      Names.insert(*Name);
    consumeError(Flags.takeError());
    consumeError(Name.takeError());
  }
  return Names;
}

/// The launch \p L reaches variants; where it is not always this object's, the
/// note says when.
BuildNote NvccUnit::redirected(const HostLaunch &L) const {
  std::vector<std::string> Names = {L.Function};
  // Their stubs have the kernels' names.
  if (L.Kernel.empty())
    append_range(Names, L.MayBe);
  else
    Names.push_back(L.Kernel);
  for (StringRef Name : Names)
    if (Weak.contains(Name))
      return {BuildReason::RedirectedWhereTaken, {demangle(Name)}};
  return BuildReason::Redirected;
}

void NvccUnit::judge(const HostLaunch &L, LaunchSite &S) const {
  if (std::optional<BuildReason> Kept = keptLaunchForm(L.Form)) {
    S.Why = *Kept;
    return;
  }
  if (!L.Kernel.empty()) {
    S.Known = has(Applied, L.Kernel);
    // A unit that was left alone names no kernels.
    bool Elsewhere = !Defined.empty() && !has(Defined, L.Kernel);
    S.Why = S.Known     ? redirected(L)
            : Elsewhere ? BuildReason::NotDefinedHere
                        : BuildReason::NoVariantHere;
    return;
  }
  bool Typed = L.Form == "<<<>>>";
  S.Known = Typed ? any_of(L.MayBe,
                           [&](StringRef Each) { return has(Applied, Each); })
                  : !Applied.empty();
  S.Why = S.Known           ? redirected(L)
          : Applied.empty() ? BuildReason::NoVariantHere
                            : BuildReason::NoSuchType;
}

/// The first of clang's errors, or the first line.
static std::string firstOf(StringRef Text) {
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines)
    if (size_t At = Line.find(" error: "); At != StringRef::npos)
      return Line.trim().str();
  return Lines.empty() ? "" : Lines.front().trim().str();
}

void addNvccLaunches(json::Object &Part, StringRef Source,
                     ArrayRef<std::string> Command, StringRef Object) {
  Expected<HostLaunches> Found = [&]() -> Expected<HostLaunches> {
    Expected<std::vector<std::string>> Flags =
        clangFlagsFor(Source, Command, "");
    if (!Flags)
      return Flags.takeError();
    return hostLaunches(Source, *Flags);
  }();
  if (!Found) {
    std::string Text;
    handleAllErrors(
        Found.takeError(), [&](const ToolError &E) { Text = E.text(); },
        [&](const ErrorInfoBase &E) { Text = E.message(); });
    Part["unit"].getAsArray()->push_back(json::Object{
        {"outcome", "LaunchesUnknown"},
        {"applied", false},
        {"message",
         BuildNote(BuildReason::UnknownLaunches, {firstOf(Text)}).text()},
        {"reason", wordOf(BuildReason::UnknownLaunches)}});
    return;
  }
  NvccUnit Unit;
  Unit.Weak = weakFunctions(Object);
  for (json::Value &Each : *Part["kernels"].getAsArray()) {
    json::Object &K = *Each.getAsObject();
    std::string Symbol = K.getString("symbol").value_or("").str();
    Unit.Defined.push_back(Symbol);
    if (K.getBoolean("applied").value_or(false))
      Unit.Applied.push_back(Symbol);
    auto At = find_if(Found->Kernels, [&](const HostKernel &S) {
      return NvccPtx::isSameKernel(S.Symbol, Symbol);
    });
    if (At == Found->Kernels.end())
      continue;
    K["file"] = sys::path::remove_leading_dotslash(At->File).str();
    K["line"] = At->Line;
  }
  json::Array &Launches = *Part["launches"].getAsArray();
  for (const HostLaunch &L : Found->Launches) {
    if (L.Dead)
      continue;
    LaunchSite S;
    S.Function = L.Function;
    S.File = L.File;
    S.Line = L.Line;
    S.Kernel = L.Kernel;
    Unit.judge(L, S);
    Launches.push_back(toJSON(S));
  }
}

} // namespace cupilot
