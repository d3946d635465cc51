//===- ProjectKernels.cpp - The units that define a recording's kernels -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/ProjectKernels.h"
#include "cupilot/Driver/ObjectKernels.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot {

/// "rows" of "void blur::rows<4>(float const*, int)"; a C name is its own.
static std::string baseName(StringRef Symbol) {
  Symbol = withoutUnitName(Symbol);
  ItaniumPartialDemangler D;
  if (D.partialDemangle(Symbol.str().c_str()))
    return Symbol.str();
  char *Text = D.getFunctionBaseName(nullptr, nullptr);
  if (!Text)
    return Symbol.str();
  std::string Name = Text;
  std::free(Text);
  return Name;
}

/// \p Name stands in \p Text as a word.
static bool holdsWord(StringRef Text, StringRef Name) {
  auto IsPart = [](char C) { return isAlnum(C) || C == '_'; };
  for (size_t At = Text.find(Name); At != StringRef::npos;
       At = Text.find(Name, At + 1)) {
    const size_t End = At + Name.size();
    if ((At == 0 || !IsPart(Text[At - 1])) &&
        (End == Text.size() || !IsPart(Text[End])))
      return true;
  }
  return false;
}

/// An object older than its source may lack its kernels.
static bool isFresh(const ProjectUnit &U) {
  sys::fs::file_status Object, Source;
  return !sys::fs::status(U.Object, Object) &&
         !sys::fs::status(U.Source, Source) &&
         Object.getLastModificationTime() >= Source.getLastModificationTime();
}

ProjectKernels::ProjectKernels(ProjectUnits Project,
                               ArrayRef<std::string> Trailing)
    : Project(std::move(Project)), Trailing(Trailing),
      Known(this->Project.Units.size()) {}

void ProjectKernels::readObjects() {
  for (auto [U, State] : zip_equal(Project.Units, Known)) {
    if (State.Names || !isFresh(U))
      continue;
    if (Expected<StringSet<>> Names = registeredNames(U.Object))
      State.Names = std::move(*Names);
    else // Its text tells as well.
      consumeError(Names.takeError());
  }
}

const Kernel *ProjectKernels::find(size_t Unit, StringRef Symbol) const {
  for (const Kernel &K : Known[Unit].Kernels)
    if (NvccPtx::isSameKernel(K.Symbol, Symbol))
      return &K;
  return nullptr;
}

/// A unit that fails says so to each of its kernels.
void ProjectKernels::extract(size_t Unit, ArrayRef<std::string> Symbols) {
  UnitState &State = Known[Unit];
  const ProjectUnit &U = Project.Units[Unit];
  std::vector<StringRef> New;
  for (StringRef Symbol : Symbols)
    if (State.Sought.insert(Symbol).second)
      New.push_back(Symbol);
  if (New.empty() || !State.Failure.empty())
    return;
  auto Extract = [&]() -> Error {
    if (!State.Command)
      if (Error E = unitCommandOf(U, Trailing).moveInto(State.Command))
        return E;
    auto IsWanted = [&](const Kernel &K) {
      return any_of(New, [&](StringRef Symbol) {
        return NvccPtx::isSameKernel(K.Symbol, Symbol);
      });
    };
    // Identities are compared for each kernel, so slices need no other proof.
    Expected<std::vector<Kernel>> Found =
        extractKernels(U.Source, State.Command->Flags,
                       {.VerifySlices = false, .Wanted = IsWanted});
    if (!Found)
      return Found.takeError();
    for (Kernel &K : *Found)
      if (!find(Unit, K.Symbol))
        State.Kernels.push_back(std::move(K));
    return Error::success();
  };
  if (Error E = Extract())
    State.Failure = toString(std::move(E));
}

void ProjectKernels::locate(ArrayRef<std::string> Symbols) {
  readObjects();
  for (const std::string &Symbol : Symbols) {
    std::vector<size_t> &Units = Holders[Symbol];
    auto Note = [&](function_ref<bool(const StringSet<> &)> Holds) {
      for (auto [Index, State] : enumerate(Known))
        if (State.Names && Holds(*State.Names))
          Units.push_back(Index);
    };
    Note([&](const StringSet<> &Names) { return Names.contains(Symbol); });
    // Another compiler may have made the recorded program.
    if (Units.empty())
      Note([&](const StringSet<> &Names) {
        return any_of(Names.keys(), [&](StringRef Name) {
          return StringRef(withoutUnitName(Name)).starts_with("_Z") &&
                 NvccPtx::isSameKernel(Name, Symbol);
        });
      });
  }
  // Without an object, the text tells which units are worth parsing.
  std::vector<size_t> Last;
  std::vector<std::string> Missing = Symbols.vec();
  for (auto [Index, State] : enumerate(Known)) {
    if (State.Names)
      continue;
    Expected<std::string> Text = readFile(Project.Units[Index].Source);
    if (!Text) {
      State.Failure = toString(Text.takeError());
      continue;
    }
    std::vector<std::string> Likely;
    copy_if(Missing, std::back_inserter(Likely), [&](StringRef Symbol) {
      return holdsWord(*Text, baseName(Symbol));
    });
    if (Likely.empty()) {
      Last.push_back(Index);
      continue;
    }
    extract(Index, Likely);
    for (StringRef Symbol : Likely)
      if (!State.Failure.empty() || find(Index, Symbol))
        Holders[Symbol].push_back(Index);
  }
  // Headers and macros may define the others.
  for (size_t Index : Last) {
    erase_if(Missing,
             [&](StringRef Symbol) { return !Holders[Symbol].empty(); });
    if (Missing.empty())
      break;
    extract(Index, Missing);
    for (StringRef Symbol : Missing)
      if (find(Index, Symbol))
        Holders[Symbol].push_back(Index);
  }
}

ArrayRef<size_t> ProjectKernels::unitsOf(StringRef Symbol) const {
  auto It = Holders.find(Symbol);
  return It == Holders.end() ? ArrayRef<size_t>() : ArrayRef(It->second);
}

Expected<ProjectKernel> ProjectKernels::kernelOf(StringRef Symbol,
                                                 ArrayRef<std::string> Wanted) {
  std::vector<ProjectKernel> Found;
  std::string Failure;
  for (size_t Unit : unitsOf(Symbol)) {
    std::vector<std::string> Here;
    copy_if(Wanted, std::back_inserter(Here),
            [&](StringRef Each) { return is_contained(unitsOf(Each), Unit); });
    extract(Unit, Here);
    if (const Kernel *K = find(Unit, Symbol))
      Found.push_back({*K, Unit});
    else if (Failure.empty())
      Failure = Known[Unit].Failure;
  }
  if (Found.empty() && !Failure.empty())
    return findingError(Failure);
  if (Found.empty())
    return findingError("no unit of the project defines it");
  for (const ProjectKernel &Other : drop_begin(Found))
    if (Other.K.Digest != Found.front().K.Digest)
      return findingError(
          "'" + Project.Units[Found.front().Unit].Source + "' and '" +
          Project.Units[Other.Unit].Source +
          "' define different kernels of this name; search one with "
          "'cupilot evolve FILE'");
  for (const ProjectKernel &Other : drop_begin(Found))
    Found.front().Others.push_back(Other.Unit);
  return std::move(Found.front());
}

} // namespace cupilot
