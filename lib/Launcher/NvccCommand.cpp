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
#include "NvccOptions.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
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
  Expected<bool> ownArgument(StringRef Arg);
  void take(NvccMeaning M, StringRef Spelling, StringRef Value);
  /// \p Remark: whoever asks for remarks hears of it.
  void refuse(const BuildNote &Why, bool Remark = true) {
    if (!C.Unchanged || (Remark && !C.UnchangedRemark))
      C.Unchanged = Why;
    C.UnchangedRemark |= Remark;
  }

  NvccCommand &C;
  bool Object = false, Dependencies = false, AllCuda = false,
       OtherLanguage = false;
  std::string Directory;
};
} // namespace

Expected<bool> Parser::ownArgument(StringRef Arg) {
  if (Arg.consume_front("-fplugin-arg-cupilot-")) {
    C.PluginGiven = true;
    if (Error E = parsePluginArgument(Arg, C.Plugin))
      return std::move(E);
    return true;
  }
  if (Arg.consume_front("-fplugin=")) {
    StringRef Name = sys::path::filename(Arg);
    if (Name != "cupilot" && Name != "cupilot.so")
      return false;
    C.PluginGiven = true;
    return true;
  }
  for (auto [Prefix, To] :
       {std::pair("-Rpass=", &C.Remarks), {"-Rpass-missed=", &C.MissedRemarks}})
    if (Arg.consume_front(Prefix)) {
      std::string Why;
      if (!Regex(Arg).isValid(Why))
        return usageError("'" + Arg + "' is no regular expression: " + Why);
      *To = Arg.str();
      return true;
    }
  return false;
}

void Parser::take(NvccMeaning M, StringRef Spelling, StringRef Value) {
  switch (M) {
  case NvccMeaning::Device:
    C.Device.Flags.push_back(Spelling.str());
    break;
  case NvccMeaning::DeviceValue:
    C.Device.Flags.push_back((Spelling + "=" + Value).str());
    break;
  case NvccMeaning::Ptxas: {
    SmallVector<StringRef> Parts;
    Value.split(Parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts)
      // What only prints changes no code.
      if (Part != "-v" && Part != "--verbose" && !Part.contains("warn") &&
          !Part.contains("Werror"))
        C.Device.Ptxas.push_back(Part.str());
    break;
  }
  case NvccMeaning::Registers:
    C.Device.Ptxas.push_back(("-maxrregcount=" + Value).str());
    break;
  case NvccMeaning::Object:
    Object = true;
    break;
  case NvccMeaning::NoObject:
    refuse(BuildReason::NoObject, false);
    break;
  case NvccMeaning::Relocatable:
    refuse(BuildReason::Relocatable);
    break;
  case NvccMeaning::RelocatableValue:
    if (Value == "true")
      refuse(BuildReason::Relocatable);
    break;
  case NvccMeaning::Debug:
    refuse(BuildReason::DeviceDebug);
    break;
  case NvccMeaning::Keep:
  case NvccMeaning::KeepValue:
    refuse(BuildReason::SaveTemps);
    break;
  case NvccMeaning::ObjectFolder:
    refuse(BuildReason::ObjectFolder);
    break;
  case NvccMeaning::Output:
    C.Output = Value.str();
    break;
  case NvccMeaning::OutputDirectory:
    Directory = Value.str();
    break;
  case NvccMeaning::DepFile:
    C.DepFile = Value.str();
    break;
  case NvccMeaning::Dependencies:
    Dependencies = true;
    break;
  case NvccMeaning::Language:
    AllCuda = Value == "cu";
    OtherLanguage = !AllCuda;
    break;
  default:
    break;
  }
}

Error Parser::read(ArrayRef<std::string> Args, std::vector<std::string> &Kept,
                   bool &Changed, unsigned Depth) {
  if (Depth > 16)
    return usageError("options files name each other without end");
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    Expected<bool> Own = ownArgument(Arg);
    if (!Own)
      return Own.takeError();
    if (*Own) {
      Changed = true;
      continue;
    }
    if (!Arg.starts_with("-") || Arg == "-") {
      if (Arg == "-")
        refuse(BuildReason::StandardInput);
      C.Inputs.push_back(Arg.str());
      if (Main && !Depth)
        C.InputAt.push_back(I);
      Kept.push_back(Arg.str());
      continue;
    }
    StringRef Name = Arg.ltrim('-');
    auto [Option, Value] = Name.split('=');
    NvccMeaning M = nvccMeaning(Option);
    StringRef Joined;
    bool HasValue = Name.contains('=');
    if (M == NvccMeaning::Other && isJoinedNvcc(Name, Joined)) {
      M = nvccMeaning(Joined);
      Value = Name.drop_front(Joined.size());
      Option = Joined;
      HasValue = true;
    }
    size_t First = I;
    if (nvccTakesValue(M) && !HasValue) {
      if (I + 1 == Args.size())
        return usageError("'" + Arg + "' needs a value");
      Value = Args[++I];
    }
    if (M == NvccMeaning::OptionsFile) {
      SmallVector<StringRef> Files;
      Value.split(Files, ',', -1, /*KeepEmpty=*/false);
      std::vector<std::string> Inner;
      bool InnerChanged = false;
      for (StringRef File : Files) {
        Expected<std::string> Text = readFile(File);
        if (!Text)
          return Text.takeError();
        BumpPtrAllocator Memory;
        StringSaver Saver(Memory);
        SmallVector<const char *> Words;
        cl::TokenizeGNUCommandLine(*Text, Saver, Words);
        std::vector<std::string> More(Words.begin(), Words.end());
        if (Error E = read(More, Inner, InnerChanged, Depth + 1))
          return E;
      }
      if (InnerChanged) {
        Changed = true;
        Kept.insert(Kept.end(), Inner.begin(), Inner.end());
        continue;
      }
    } else {
      // "-o" and "--output-file" as they stand; joined ones by their letter.
      C.Options.emplace_back(Option.str(), Value.str());
      std::string Spelling =
          Arg.take_front(Arg.size() - Name.size()).str() + Option.str();
      take(M, Spelling, Value);
    }
    for (; First <= I; ++First) {
      if (M == NvccMeaning::Output && Main && !Depth)
        C.OutputAt.push_back(First);
      Kept.push_back(Args[First]);
    }
  }
  return Error::success();
}

/// A host compiler of Microsoft's kind, or an object named as theirs.
static bool isForWindows(const NvccCommand &C) {
  auto HasStyle = [](const auto &Option) {
    std::string Stem =
        sys::path::stem(Option.second, sys::path::Style::windows).lower();
    return (Option.first == "ccbin" || Option.first == "compiler-bindir") &&
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
               C.InputAt.size() == C.Inputs.size() &&
               C.OutputAt.empty() == C.Output.empty() &&
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

} // namespace cupilot
