//===- NvccCommand.cpp - What an nvcc command line asks for -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: nvcc --help, "NVIDIA CUDA Compiler Driver NVCC", chapter 4.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

std::string NvccDeviceFlags::context() const { return join(Ptxas, " "); }

namespace {
class Parser {
public:
  explicit Parser(NvccCommand &C) : C(C) {}
  /// Reads \p Args; what is not cuPilot's own goes to \p Kept. True in
  /// \p Changed when something was.
  Error read(ArrayRef<std::string> Args, std::vector<std::string> &Kept,
             bool &Changed, unsigned Depth = 0);
  void finish();
  bool Main = false; ///< The command's own arguments, not a variable's.

private:
  Expected<bool> ownArgument(const opt::Arg &A);
  Error readArgument(const opt::Arg &A, ArrayRef<std::string> Words,
                     std::vector<std::string> &Kept, bool &Changed,
                     unsigned Depth);
  Error readFiles(StringRef Names, std::vector<std::string> &Kept,
                  bool &Changed, unsigned Depth);
  void take(const opt::Arg &A, StringRef Spelling);
  /// \p Remark: whoever asks for remarks hears of it.
  void refuse(const BuildNote &Why, bool Remark = true) {
    if (!C.Unchanged || (Remark && !C.UnchangedRemark))
      C.Unchanged = Why;
    C.UnchangedRemark |= Remark;
  }

  NvccCommand &C;
  bool Object = false, Dependencies = false, AllCuda = false,
       OtherLanguage = false;
  bool HiddenOutput = false; ///< An output in a file or variable.
  std::string Directory;
};
} // namespace

Expected<bool> Parser::ownArgument(const opt::Arg &A) {
  StringRef Value = valueOf(A);
  switch (A.getOption().getID()) {
  case nvcc::OPT_fplugin_arg:
    C.PluginGiven = true;
    if (Error E = parsePluginArgument(Value, C.Plugin))
      return std::move(E);
    return true;
  case nvcc::OPT_fplugin: {
    StringRef Name = sys::path::filename(Value);
    if (Name != "cupilot" && Name != "cupilot.so")
      return false;
    C.PluginGiven = true;
    return true;
  }
  case nvcc::OPT_rpass:
  case nvcc::OPT_rpass_missed: {
    std::string Why;
    if (!Regex(Value).isValid(Why))
      return usageError("'" + Value + "' is not a regular expression: " + Why);
    (A.getOption().matches(nvcc::OPT_rpass) ? C.Remarks : C.MissedRemarks) =
        Value.str();
    return true;
  }
  default:
    return false;
  }
}

/// \p Spelling: the name as it was given, with its dashes.
void Parser::take(const opt::Arg &A, StringRef Spelling) {
  const opt::Option &O = A.getOption();
  StringRef Value = valueOf(A);
  if (O.matches(nvcc::OPT_DeviceGroup))
    C.Device.Flags.push_back(O.getKind() == opt::Option::FlagClass
                                 ? Spelling.str()
                                 : (Spelling + "=" + Value).str());
  else if (O.matches(nvcc::OPT_NoObjectGroup) && !O.matches(nvcc::OPT_lib))
    refuse(BuildReason::NoObject, false);
  else if (O.matches(nvcc::OPT_DeviceLinkGroup))
    refuse({BuildReason::DeviceLinkTime, {Spelling}});
  else if (O.matches(nvcc::OPT_KeepGroup))
    refuse(BuildReason::SaveTemps);
  switch (O.getID()) {
  case nvcc::OPT_ptxas_options: {
    SmallVector<StringRef> Parts;
    Value.split(Parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts)
      // What only prints changes no code.
      if (Part != "-v" && Part != "--verbose" && !Part.contains("warn") &&
          !Part.contains("Werror"))
        C.Device.Ptxas.push_back(Part.str());
    break;
  }
  case nvcc::OPT_maxrregcount: // The front end unrolls less for few registers.
    C.Device.Flags.push_back(("-maxrregcount=" + Value).str());
    C.Device.Ptxas.push_back(C.Device.Flags.back());
    break;
  case nvcc::OPT_device_c:
    C.Relocatable = true;
    Object = true;
    break;
  case nvcc::OPT_compile:
  case nvcc::OPT_device_w:
    Object = true;
    break;
  case nvcc::OPT_relocatable_device_code:
    C.Relocatable = Value == "true";
    break;
  case nvcc::OPT_gpu_architecture:
  case nvcc::OPT_gpu_code:
  case nvcc::OPT_generate_code:
    // arch=compute_90,code=[sm_90,lto_90]
    if (size_t At = Value.find("lto_"); At != StringRef::npos)
      refuse({BuildReason::DeviceLinkTime,
              {Value.substr(At).take_while(
                  [](char Each) { return isAlnum(Each) || Each == '_'; })}});
    break;
  case nvcc::OPT_device_debug:
    refuse(BuildReason::DeviceDebug);
    break;
  case nvcc::OPT_objdir_as_tempdir:
    refuse(BuildReason::ObjectFolder);
    break;
  case nvcc::OPT_output_file:
    C.Output = Value.str();
    break;
  case nvcc::OPT_output_directory:
    Directory = Value.str();
    break;
  case nvcc::OPT_dependency_output:
    C.DepFile = Value.str();
    break;
  case nvcc::OPT_generate_dependencies_with_compile:
    Dependencies = true;
    break;
  case nvcc::OPT_language:
    AllCuda = Value == "cu";
    OtherLanguage = !AllCuda;
    break;
  default:
    break;
  }
}

Error Parser::readFiles(StringRef Names, std::vector<std::string> &Kept,
                        bool &Changed, unsigned Depth) {
  SmallVector<StringRef> Files;
  Names.split(Files, ',', -1, /*KeepEmpty=*/false);
  for (StringRef File : Files) {
    Expected<std::string> Text = readFile(File);
    if (!Text)
      return Text.takeError();
    BumpPtrAllocator Memory;
    StringSaver Saver(Memory);
    SmallVector<const char *> Words;
    cl::TokenizeGNUCommandLine(*Text, Saver, Words);
    std::vector<std::string> More(Words.begin(), Words.end());
    if (Error E = read(More, Kept, Changed, Depth + 1))
      return E;
  }
  return Error::success();
}

Error Parser::readArgument(const opt::Arg &A, ArrayRef<std::string> Words,
                           std::vector<std::string> &Kept, bool &Changed,
                           unsigned Depth) {
  Expected<bool> Own = ownArgument(A);
  if (!Own)
    return Own.takeError();
  if (*Own) {
    Changed = true;
    return Error::success();
  }
  const opt::Option &O = A.getOption();
  size_t First = A.getIndex();
  if (O.matches(nvcc::OPT_options_file)) {
    std::vector<std::string> Inner;
    bool InnerChanged = false;
    if (Error E = readFiles(valueOf(A), Inner, InnerChanged, Depth))
      return E;
    if (InnerChanged) {
      // nvcc gets the words instead.
      Changed = true;
      Kept.insert(Kept.end(), Inner.begin(), Inner.end());
      return Error::success();
    }
  } else if (O.matches(nvcc::OPT_INPUT)) {
    StringRef Input = valueOf(A);
    if (Input == "-")
      refuse(BuildReason::StandardInput);
    C.Inputs.push_back(Input.str());
    if (Main && !Depth)
      C.InputAt.push_back(First);
  } else if (!O.matches(nvcc::OPT_UNKNOWN)) {
    C.Options.push_back({static_cast<nvcc::ID>(O.getID()), valueOf(A).str()});
    take(A, StringRef(Words.front()).split('=').first);
    const bool Output = O.matches(nvcc::OPT_output_file);
    if (Output || O.matches(nvcc::OPT_lib)) {
      if (Main && !Depth)
        for (size_t I = 0; I < Words.size(); ++I)
          C.OutputAt.push_back(First + I);
      else
        HiddenOutput = true;
    }
  }
  Kept.insert(Kept.end(), Words.begin(), Words.end());
  return Error::success();
}

Error Parser::read(ArrayRef<std::string> Args, std::vector<std::string> &Kept,
                   bool &Changed, unsigned Depth) {
  if (Depth > 16)
    return usageError("options files include each other recursively");
  return readOptions(nvccOptions(), Args,
                     [&](const opt::Arg &A, size_t First, size_t Last) {
                       return readArgument(A, Args.slice(First, Last - First),
                                           Kept, Changed, Depth);
                     });
}

/// A host compiler of Microsoft's kind, or an object named as theirs.
static bool isForWindows(const NvccCommand &C) {
  auto HasStyle = [](const NvccOption &Option) {
    std::string Stem =
        sys::path::stem(Option.Value, sys::path::Style::windows).lower();
    return Option.Id == nvcc::OPT_compiler_bindir &&
           (Stem == "cl" || Stem == "clang-cl");
  };
  return sys::path::extension(C.Output).lower() == ".obj" ||
         any_of(C.Options, HasStyle);
}

void Parser::finish() {
  auto IsCuda = [&](StringRef Input) {
    return !OtherLanguage &&
           (AllCuda || sys::path::extension(Input).lower() == ".cu");
  };
  bool Any = any_of(C.Inputs, IsCuda);
  if (isForWindows(C))
    refuse({BuildReason::OtherMachine, {"Windows"}});
  if (C.Unchanged)
    C.UnchangedRemark &= Any;
  else if (!Any)
    refuse(BuildReason::NoCudaSource, false);
  else if (!Object || C.Inputs.size() > 1) {
    // A depfile, or inputs in another file, cannot be told apart by source.
    C.Splits = !Dependencies && !AllCuda && C.DepFile.empty() &&
               C.InputAt.size() == C.Inputs.size() && !HiddenOutput &&
               (!Object || C.Output.empty()); // nvcc refuses it otherwise.
    C.Links = !Object;
    refuse(C.Links ? BuildReason::Links : BuildReason::SeveralSources);
  }
  if (C.Inputs.empty())
    return;
  SmallString<128> Default(Directory);
  sys::path::append(Default, sys::path::stem(C.Inputs.front()));
  if (C.Output.empty())
    C.Output = (Default + ".o").str();
  if (!Dependencies)
    C.DepFile.clear();
  else if (C.DepFile.empty())
    C.DepFile = (Default + ".d").str();
}

/// A variable's words; without \p Changed, the text stays as it is.
static Error readVariable(Parser &P, StringRef Name, StringRef Text,
                          NvccCommand &C) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  cl::TokenizeGNUCommandLine(Text, Saver, Words);
  std::vector<std::string> Args(Words.begin(), Words.end()), Kept;
  bool Changed = false;
  if (Error E = P.read(Args, Kept, Changed))
    return E;
  if (Changed)
    C.Environment.push_back((Name + "=" + join(Kept, " ")).str());
  return Error::success();
}

Expected<NvccCommand> parseNvccCommand(ArrayRef<std::string> Args,
                                       StringRef Prepend, StringRef Append) {
  NvccCommand C;
  Parser P(C);
  bool Changed = false;
  if (Error E = readVariable(P, "NVCC_PREPEND_FLAGS", Prepend, C))
    return std::move(E);
  P.Main = true;
  if (Error E = P.read(Args, C.Args, Changed))
    return std::move(E);
  P.Main = false;
  if (Error E = readVariable(P, "NVCC_APPEND_FLAGS", Append, C))
    return std::move(E);
  P.finish();
  return C;
}

bool isNvcc(StringRef Program) {
  return sys::path::filename(Program).starts_with("nvcc");
}

bool isClang(StringRef Program) {
  return sys::path::filename(Program).starts_with("clang");
}

} // namespace cupilot
