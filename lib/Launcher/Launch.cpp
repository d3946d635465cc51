//===- Launch.cpp - cupilot-launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc compiles the unchanged source. The PTX that it makes on the way tells
// which kernels these are; what the store has for them comes into the finished
// object.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/Launch.h"
#include "ToolName.h"
#include "cupilot/Launcher/Child.h"
#include "cupilot/Launcher/NvccBuild.h"
#include "cupilot/Launcher/ObjectFile.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/UnitReport.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

namespace {
/// A folder whose name depends on the command only: with -g nvcc puts it into
/// the object. Of equal commands at once, others get other names.
class KeepFolder {
public:
  static Expected<KeepFolder> create(ArrayRef<std::string> Command);
  KeepFolder(KeepFolder &&Other) noexcept : Path(std::move(Other.Path)) {
    Other.Path.clear();
  }
  KeepFolder &operator=(KeepFolder &&) = delete;
  ~KeepFolder() {
    if (!Path.empty())
      sys::fs::remove_directories(Path);
  }
  StringRef path() const { return Path; }

private:
  explicit KeepFolder(std::string Path) : Path(std::move(Path)) {}
  std::string Path;
};

class NvccLaunch {
public:
  /// \p Last: nothing comes after it, so that it may replace this process.
  NvccLaunch(StringRef Nvcc, NvccCommand C, bool Last)
      : Nvcc(Nvcc), C(std::move(C)), Last(Last) {}
  int run();
  /// The signal that ended the compiler, where this process lives on.
  int signal() const { return EndedBy; }

private:
  std::vector<std::string> plainCommand() const {
    std::vector<std::string> Command = {Nvcc};
    Command.insert(Command.end(), C.Args.begin(), C.Args.end());
    return Command;
  }
  int passOn();
  /// Errors are those of the store.
  Expected<NvccSelection> substitute(const BuildStore &Store, StringRef Folder);
  /// Remarks and report; a missed variant of a strict build is an error.
  Error report(const NvccSelection &S) const;
  void remark(StringRef Pattern, StringRef Flag, const Twine &Text) const;
  int storeError(Error E) const;
  /// What follows nvcc, as an exit status.
  int finish(const BuildStore &Store, StringRef Folder);

  std::string Nvcc;
  NvccCommand C;
  bool Last;
  bool Explicit = false;
  int EndedBy = 0;
};
} // namespace

Expected<KeepFolder> KeepFolder::create(ArrayRef<std::string> Command) {
  DigestBuilder Key;
  SmallString<256> Here;
  sys::fs::current_path(Here);
  Key.add(Here.str());
  for (const std::string &Arg : Command)
    Key.add(Arg);
  SmallString<128> Base;
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, Base);
  sys::path::append(Base, "cupilot-launch-" + Twine(getuid()) + "-" +
                              shortDigest(Key.str()));
  std::error_code EC;
  for (unsigned Number = 0; Number < 1000; ++Number) {
    std::string Path =
        Base.str().str() + (Number ? "-" + utostr(Number) : std::string());
    EC = sys::fs::create_directory(Path, /*IgnoreExisting=*/false,
                                   sys::fs::owner_all);
    if (!EC)
      return KeepFolder(std::move(Path));
    if (EC != std::errc::file_exists)
      break;
  }
  return resourceError("cannot create the folder '" + Twine(Base) +
                       "': " + EC.message());
}

void NvccLaunch::remark(StringRef Pattern, StringRef Flag,
                        const Twine &Text) const {
  if (!Pattern.empty() && Regex(Pattern).match("cupilot"))
    errs() << (C.Inputs.empty() ? StringRef(LauncherName)
                                : StringRef(C.Inputs.front()))
           << ": remark: " << Text << " [-" << Flag << "=cupilot]\n";
}

/// Runs \p Command as it is. Returns its exit status; \p Signal, if one ended
/// it.
static int runToEnd(ArrayRef<std::string> Command,
                    ArrayRef<std::string> Environment, int &Signal) {
  SignalGuard Signals;
  Expected<ChildEnd> End = runChild(Command, Environment);
  if (!End)
    return reportError(End.takeError(), LauncherName);
  Signal = End->Signal ? End->Signal : Signals.caught();
  return Signal ? 128 + Signal : End->Status;
}

int NvccLaunch::passOn() {
  if (C.UnchangedRemark) {
    SubstitutionOutcome O{"", SubstitutionResult::Refused, *C.Unchanged};
    remark(C.MissedRemarks, "Rpass-missed", O.message());
    if (Error E = writeReport(C.Plugin.Report, {join(C.Inputs, " "),
                                                "nvcc",
                                                UnitHalf::Object,
                                                "",
                                                0,
                                                {std::move(O)}}))
      return reportError(std::move(E), LauncherName);
  }
  if (Last)
    return reportError(replaceProcess(plainCommand(), C.Environment),
                       LauncherName);
  return runToEnd(plainCommand(), C.Environment, EndedBy);
}

/// A store that was named must be there; one that lies around need not work,
/// unless the build is strict.
int NvccLaunch::storeError(Error E) const {
  if (Explicit || C.Plugin.Strict)
    return reportError(std::move(E), LauncherName);
  errs() << LauncherName << ": warning: " << toString(std::move(E))
         << "; compiling without it\n";
  return 0;
}

static std::string textOf(const SubstitutionOutcome &O) {
  return (O.Kernel.empty() ? "" : NvccPtx::sourceName(O.Kernel) + ": ") +
         O.message();
}

Error NvccLaunch::report(const NvccSelection &S) const {
  for (const SubstitutionOutcome &O : S.Outcomes) {
    std::string Text = textOf(O);
    if (O.isApplied())
      remark(C.Remarks, "Rpass", Text);
    else
      remark(C.MissedRemarks, "Rpass-missed", Text);
  }
  if (Error E = writeReport(C.Plugin.Report,
                            {C.Inputs.front(), "nvcc", UnitHalf::Object,
                             S.Targets, S.Seen, S.Outcomes}))
    return E;
  for (const SubstitutionOutcome &O : S.Outcomes)
    if (C.Plugin.Strict && O.isMissed())
      return findingError(textOf(O));
  return Error::success();
}

Expected<NvccSelection> NvccLaunch::substitute(const BuildStore &Store,
                                               StringRef Folder) {
  if (!C.DepFile.empty()) {
    Expected<std::vector<std::string>> Files = Store.decidingFiles();
    if (!Files)
      return Files.takeError();
    if (Error E = addDependencies(C.DepFile, *Files))
      return std::move(E);
  }
  NvccSelection S;
  std::string Targets;
  Expected<std::vector<NvccPtx>> Modules = loadPtx(Folder);
  if (Modules) {
    for (const NvccPtx &M : *Modules)
      Targets += (Targets.empty() ? "" : ",") + M.target().str();
    Expected<NvccSelection> Selected = selectVariants(Store, *Modules, Nvcc, C);
    if (!Selected)
      return Selected.takeError();
    S = std::move(*Selected);
  } else {
    S.Outcomes.push_back(
        {"", SubstitutionResult::Refused, noteOf(Modules.takeError())});
  }
  S.Targets = std::move(Targets);
  if (!S.Kernels.empty() && C.Plugin.How != PluginArguments::Mode::Check)
    if (Error Failed = addDispatch(C.Output, S.Kernels, Folder)) {
      erase_if(S.Outcomes,
               [](const SubstitutionOutcome &O) { return O.isApplied(); });
      S.Outcomes.push_back(
          {"", SubstitutionResult::Refused, noteOf(std::move(Failed))});
    }
  return S;
}

int NvccLaunch::finish(const BuildStore &Store, StringRef Folder) {
  Expected<NvccSelection> S = substitute(Store, Folder);
  if (!S)
    return storeError(S.takeError());
  if (Error E = report(*S))
    return reportError(std::move(E), LauncherName);
  return 0;
}

int NvccLaunch::run() {
  if (C.Plugin.Help)
    errs()
        << "cupilot " CUPILOT_VERSION
           " for nvcc; arguments have the form -fplugin-arg-cupilot-KEY=VALUE\n"
        << pluginArgumentsHelp();
  if (C.Plugin.Version)
    errs() << "cupilot " CUPILOT_VERSION " for LLVM " CUPILOT_LLVM_VERSION "\n";
  if (C.Unchanged || C.Plugin.isOff())
    return passOn();
  std::string Root = resolveStore(C.Plugin.Store, C.Inputs.front(), Explicit);
  if (Root.empty())
    return passOn();
  Expected<BuildStore> Store = BuildStore::open(Root);
  if (!Store) {
    if (int Status = storeError(Store.takeError()))
      return Status;
    return passOn();
  }
  std::vector<std::string> Command = plainCommand();
  SignalGuard Signals;
  int Signal = 0;
  {
    Expected<KeepFolder> Folder = KeepFolder::create(Command);
    if (!Folder)
      return reportError(Folder.takeError(), LauncherName);
    Command.insert(Command.end(),
                   {"--keep", "--keep-dir", Folder->path().str()});
    Expected<ChildEnd> End = runChild(Command, C.Environment);
    if (!End)
      return reportError(End.takeError(), LauncherName);
    if (End->Status)
      return End->Status;
    Signal = End->Signal;
    if (!Signal && !Signals.caught())
      if (int Status = finish(*Store, Folder->path())) {
        // A failed compilation leaves no object.
        sys::fs::remove(C.Output);
        return Status;
      }
  }
  if (!Signal && Signals.caught()) {
    Signal = Signals.caught();
    sys::fs::remove(C.Output);
  }
  EndedBy = Signal;
  if (Signal && Last)
    endBySignal(Signal);
  return Signal ? 128 + Signal : 0;
}

static Expected<NvccCommand> parseWithVariables(ArrayRef<std::string> Args) {
  auto Variable = [](const char *Name) {
    const char *Value = std::getenv(Name);
    return StringRef(Value ? Value : "");
  };
  Expected<NvccCommand> C = parseNvccCommand(
      Args, Variable("NVCC_PREPEND_FLAGS"), Variable("NVCC_APPEND_FLAGS"));
  // What a cache's prefix gave us is not for what nvcc runs.
  if (C)
    for (StringRef Name : {PassedArguments, NamedNvcc})
      C->Environment.push_back(Name.str());
  return C;
}

static bool isCudaSource(StringRef Input) {
  return sys::path::extension(Input).lower() == ".cu";
}

/// \p Command as a command for each CUDA source, and one for what is left: the
/// other sources, and linking.
static int launchParts(ArrayRef<std::string> Command, const NvccCommand &C,
                       int &Signal) {
  ArrayRef<std::string> Args = Command.drop_front();
  std::vector<std::string> Rest = {Command.front()};
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-parts");
  if (!Dir)
    return reportError(Dir.takeError(), LauncherName);
  std::vector<std::string> Common = {Command.front()};
  for (size_t I = 0; I < Args.size(); ++I)
    if (!is_contained(C.InputAt, I) && !is_contained(C.OutputAt, I))
      Common.push_back(Args[I]);
  bool Left = C.Links;
  for (size_t I = 0; I < Args.size(); ++I) {
    if (!is_contained(C.InputAt, I) || !isCudaSource(Args[I])) {
      Rest.push_back(Args[I]);
      Left |= is_contained(C.InputAt, I);
      continue;
    }
    std::vector<std::string> Part = Common;
    Part.push_back(Args[I]);
    if (C.Links) {
      std::string Object = Dir->file(utostr(I) + ".o");
      Part.insert(Part.end(), {"-c", "-o", Object});
      Rest.push_back(Object);
    }
    Expected<NvccCommand> One = parseWithVariables(ArrayRef(Part).drop_front());
    if (!One)
      return reportError(One.takeError(), LauncherName);
    NvccLaunch Launch(Part.front(), std::move(*One), false);
    int Status = Launch.run();
    Signal = Launch.signal();
    if (Status)
      return Status;
  }
  if (!Left)
    return 0;
  Expected<NvccCommand> Last = parseWithVariables(ArrayRef(Rest).drop_front());
  if (!Last)
    return reportError(Last.takeError(), LauncherName);
  std::vector<std::string> Plain = {Rest.front()};
  Plain.insert(Plain.end(), Last->Args.begin(), Last->Args.end());
  return runToEnd(Plain, Last->Environment, Signal);
}

int launchNvcc(ArrayRef<std::string> Command) {
  Expected<NvccCommand> C = parseWithVariables(Command.drop_front());
  if (!C)
    return reportError(C.takeError(), LauncherName);
  bool Explicit = false;
  if (C->Splits && !C->Plugin.isOff() &&
      !resolveStore(C->Plugin.Store, C->Inputs.front(), Explicit).empty()) {
    int Signal = 0, Status = launchParts(Command, *C, Signal);
    if (Signal)
      endBySignal(Signal);
    return Status;
  }
  return NvccLaunch(Command.front(), std::move(*C), true).run();
}

} // namespace cupilot
