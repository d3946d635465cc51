//===- SlurmOptions.cpp - How jobs are sent to a Slurm cluster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmOptions.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A key with what it sets, and the option of sbatch that it becomes.
struct TextKey {
  StringRef Name;
  std::string SlurmOptions::*Value;
  StringRef Flag; ///< "": none.
};
struct NumberKey {
  StringRef Name;
  unsigned SlurmOptions::*Value;
  unsigned Least;
};
} // namespace

static constexpr TextKey TextKeys[] = {
    {"folder", &SlurmOptions::Folder, ""},
    {"partition", &SlurmOptions::Partition, "--partition="},
    {"account", &SlurmOptions::Account, "--account="},
    {"qos", &SlurmOptions::Qos, "--qos="},
    {"constraint", &SlurmOptions::Constraint, "--constraint="},
    {"reservation", &SlurmOptions::Reservation, "--reservation="},
    {"nodes", &SlurmOptions::Nodes, "--nodelist="},
    {"time", &SlurmOptions::Time, "--time="},
    {"gres", &SlurmOptions::Gres, "--gres="},
    {"cpus", &SlurmOptions::Cpus, "--cpus-per-task="},
    {"mem", &SlurmOptions::Memory, "--mem="},
    {"prefix", &SlurmOptions::Prefix, ""},
    {"container", &SlurmOptions::Container, ""},
    {"card", &SlurmOptions::Card, ""},
};
static constexpr NumberKey NumberKeys[] = {
    {"attempts", &SlurmOptions::Attempts, 1},
    {"per-task", &SlurmOptions::PerTask, 1},
    {"settle", &SlurmOptions::Settle, 0},
    {"patience", &SlurmOptions::Patience, 0},
};

static std::string allKeys() {
  std::vector<StringRef> Names;
  for (const TextKey &K : TextKeys)
    Names.push_back(K.Name);
  for (const NumberKey &K : NumberKeys)
    Names.push_back(K.Name);
  return join(Names, ", ");
}

static Error set(SlurmOptions &O, StringRef Name, StringRef Value) {
  for (const TextKey &K : TextKeys)
    if (K.Name == Name) {
      if (Value.empty())
        return usageError("slurm: " + Name + "= needs a value");
      O.*K.Value = Value.str();
      return Error::success();
    }
  for (const NumberKey &K : NumberKeys)
    if (K.Name == Name) {
      unsigned Number;
      if (Value.getAsInteger(10, Number) || Number < K.Least ||
          Number > 1000000000)
        return usageError("slurm: " + Name + "= takes a number from " +
                          Twine(K.Least));
      O.*K.Value = Number;
      return Error::success();
    }
  return usageError("slurm: '" + Name + "' is not a key", allKeys());
}

Error SlurmOptions::add(StringRef Text) {
  SmallVector<StringRef> Words;
  Text.split(Words, ',');
  for (size_t I = 0; I < Words.size();) {
    auto [Name, First] = Words[I].split('=');
    std::string Value = First.str();
    for (++I; I < Words.size() && !Words[I].contains('='); ++I)
      Value += "," + Words[I].str();
    if (Error E = set(*this, Name.trim(), StringRef(Value).trim()))
      return E;
  }
  return Error::success();
}

Error SlurmOptions::addFile(StringRef Path, StringRef Section) {
  static constexpr StringRef Sections[] = {"judge"};
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  SmallVector<StringRef> Lines;
  StringRef(*Text).split(Lines, '\n');
  for (auto [I, Line] : enumerate(Lines)) {
    StringRef Said = Line.split('#').first.trim();
    if (Said.empty())
      continue;
    auto [Name, Value] = Said.split('=');
    auto [First, Rest] = Name.split('.');
    const bool IsOfSection = is_contained(Sections, First) && !Rest.empty();
    if (IsOfSection ? First != Section : !Section.empty())
      continue;
    if (Error E = set(*this, (IsOfSection ? Rest : Name).trim(), Value.trim()))
      return handleErrors(std::move(E), [&](const ToolError &T) {
        return usageError(Path + ":" + Twine(I + 1) + ": " + T.text(),
                          T.hint());
      });
  }
  return Error::success();
}

Error SlurmOptions::placeIn(StringRef Usual) {
  SmallString<256> Whole(Folder.empty() ? Usual : StringRef(Folder));
  if (std::error_code EC = sys::fs::make_absolute(Whole))
    return resourceError("'" + Whole.str() + "': " + EC.message());
  sys::path::remove_dots(Whole, /*remove_dot_dot=*/true);
  Folder = Whole.str().str();
  return Error::success();
}

std::string slurmFileBeside(StringRef Store) {
  SmallString<256> Path(Store.empty() ? StringRef(".cupilot") : Store);
  (void)sys::fs::make_absolute(Path); // Else it is meant from here.
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  sys::path::remove_filename(Path);
  sys::path::append(Path, "cupilot.slurm");
  return Path.str().str();
}

std::string SlurmOptions::str() const {
  static const SlurmOptions Usual;
  std::vector<std::string> Said;
  for (const TextKey &K : TextKeys)
    if (this->*K.Value != Usual.*K.Value)
      Said.push_back((K.Name + "=" + this->*K.Value).str());
  for (const NumberKey &K : NumberKeys)
    if (this->*K.Value != Usual.*K.Value)
      Said.push_back((K.Name + "=" + Twine(this->*K.Value)).str());
  return join(Said, ",");
}

std::vector<std::string> SlurmOptions::sbatchFlags() const {
  std::vector<std::string> Flags;
  for (const TextKey &K : TextKeys)
    if (!K.Flag.empty() && !(this->*K.Value).empty() &&
        this->*K.Value != "none")
      Flags.push_back((K.Flag + this->*K.Value).str());
  return Flags;
}

std::vector<std::string> SlurmOptions::onNode(StringRef Program) const {
  std::vector<std::string> Words;
  if (!Container.empty()) {
    Words = {"apptainer", "exec"};
    if (Gres != "none")
      Words.push_back("--nv");
    if (!Folder.empty())
      append_range(Words, std::vector<std::string>{"--bind", Folder});
    Words.push_back(Container);
  }
  std::string Here = installedPath(("bin/" + Program).str());
  if (!Prefix.empty())
    Words.push_back((Prefix + "/bin/" + Program).str());
  else if (Container.empty() && sys::fs::can_execute(Here))
    Words.push_back(Here);
  else
    Words.push_back(Program.str());
  return Words;
}

} // namespace cupilot
