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
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

namespace {
enum class Meaning {
  Other,            ///< Neither changes device code nor what the command makes.
  OtherValue,       ///< The same, with a value.
  Device,           ///< Changes device code; goes to variants.
  DeviceValue,      ///< The same, with a value.
  Ptxas,            ///< Arguments for ptxas.
  Registers,        ///< -maxrregcount N.
  Object,           ///< -c.
  NoObject,         ///< Makes something else than an object, or nothing.
  Relocatable,      ///< -dc, -dlto.
  RelocatableValue, ///< -rdc=true.
  Debug,            ///< -G.
  Keep,             ///< -keep, -save-temps.
  KeepValue,        ///< -keep-dir D.
  ObjectFolder,     ///< -objtemp.
  Output,           ///< -o.
  OutputDirectory,
  DepFile,      ///< -MF.
  Dependencies, ///< -MD, -MMD.
  Language,     ///< -x.
  Pass,         ///< -Rpass=
  PassMissed,   ///< -Rpass-missed=
  OptionsFile
};
} // namespace

/// By the name of an option without its dashes; nvcc takes one or two.
static Meaning meaningOf(StringRef Name) {
  return StringSwitch<Meaning>(Name)
      .Cases({"c", "compile"}, Meaning::Object)
      .Cases({"cuda", "cubin", "fatbin", "ptx", "optix-ir", "ltoir", "E",
              "preprocess", "M", "generate-dependencies", "MM",
              "generate-nonsystem-dependencies", "dlink", "device-link", "link",
              "lib"},
             Meaning::NoObject)
      .Cases({"run", "dryrun", "clean", "clean-targets", "help", "h", "version",
              "V", "list-gpu-code", "code-ls", "list-gpu-arch", "arch-ls",
              "fdevice-syntax-only", "r", "relocatable-link"},
             Meaning::NoObject)
      .Cases({"dc", "device-c", "dw", "device-w", "dlto", "dlink-time-opt",
              "lto", "ewp", "extensible-whole-program", "gen-opt-lto"},
             Meaning::Relocatable)
      .Cases({"rdc", "relocatable-device-code"}, Meaning::RelocatableValue)
      .Cases({"G", "device-debug"}, Meaning::Debug)
      .Cases({"keep", "save-temps"}, Meaning::Keep)
      .Case("keep-dir", Meaning::KeepValue)
      .Cases({"objtemp", "objdir-as-tempdir"}, Meaning::ObjectFolder)
      .Cases({"o", "output-file"}, Meaning::Output)
      .Cases({"odir", "output-directory"}, Meaning::OutputDirectory)
      .Cases({"MF", "dependency-output"}, Meaning::DepFile)
      .Cases({"MD", "generate-dependencies-with-compile", "MMD",
              "generate-nonsystem-dependencies-with-compile"},
             Meaning::Dependencies)
      .Cases({"x", "language"}, Meaning::Language)
      .Cases({"Xptxas", "ptxas-options"}, Meaning::Ptxas)
      .Case("maxrregcount", Meaning::Registers)
      .Cases({"optf", "options-file"}, Meaning::OptionsFile)
      .Cases({"use_fast_math", "restrict", "extra-device-vectorization",
              "expt-relaxed-constexpr", "extended-lambda",
              "expt-extended-lambda", "m64", "no-exceptions", "noeh",
              "no-host-device-initializer-list", "nohdinitlist"},
             Meaning::Device)
      .Cases({"no-host-device-move-forward", "nohdmoveforward",
              "allow-unsupported-compiler", "keep-device-functions",
              "no-align-double", "lineinfo", "generate-line-info"},
             Meaning::Device)
      .Cases({"std", "ftz", "prec-div", "prec-sqrt", "fmad", "dopt", "Xcicc",
              "Ofast-compile", "Ofc", "m", "machine", "ccbin",
              "compiler-bindir"},
             Meaning::DeviceValue)
      .Cases({"ldir", "libdevice-directory", "target-dir", "target-directory",
              "default-stream", "jtd", "jump-table-density",
              "device-stack-protector", "split-compile",
              "device-entity-has-hidden-visibility", "Xcudafe", "sanitize",
              "ftemplate-depth"},
             Meaning::DeviceValue)
      .Cases({"include", "pre-include", "l", "library", "D", "define-macro",
              "U", "undefine-macro", "I", "include-path", "isystem",
              "system-include"},
             Meaning::OtherValue)
      .Cases({"L", "library-path", "arbin", "archiver-binary", "cudart",
              "cudadevrt", "opt-info", "optimization-info",
              "ftemplate-backtrace-limit", "Xcompiler", "compiler-options",
              "Xlinker", "linker-options"},
             Meaning::OtherValue)
      .Cases({"Xarchive", "archive-options", "Xnvlink", "nvlink-options",
              "Xfatbin", "static-global-template-stub", "t", "threads",
              "split-compile-extended", "fdevice-time-trace", "time",
              "run-args"},
             Meaning::OtherValue)
      .Cases({"idp", "input-drive-prefix", "ddp", "dependency-drive-prefix",
              "dp", "drive-prefix", "MT", "MQ", "dependency-target-name",
              "arch", "gpu-architecture", "code", "gpu-code"},
             Meaning::OtherValue)
      .Cases({"gencode", "generate-code", "e", "entries", "Werror",
              "diag-error", "diag-suppress", "diag-warn", "hls",
              "host-linker-script", "aug-hls", "brief-diag",
              "brief-diagnostics"},
             Meaning::OtherValue)
      .Cases({"compress-mode", "frandom-seed", "optimize", "O", "qpp-config"},
             Meaning::OtherValue)
      .Case("Rpass", Meaning::Pass)
      .Case("Rpass-missed", Meaning::PassMissed)
      .Default(Meaning::Other);
}

static bool takesValue(Meaning M) {
  switch (M) {
  case Meaning::OtherValue:
  case Meaning::DeviceValue:
  case Meaning::Ptxas:
  case Meaning::Registers:
  case Meaning::RelocatableValue:
  case Meaning::KeepValue:
  case Meaning::Output:
  case Meaning::OutputDirectory:
  case Meaning::DepFile:
  case Meaning::Language:
  case Meaning::OptionsFile:
    return true;
  default:
    return false;
  }
}

/// Options of one letter, and some more, take their value joined on: -O2,
/// -Ifoo.
static bool isJoined(StringRef Name, StringRef &Option) {
  for (StringRef Prefix : {"O", "D", "U", "I", "L", "l", "t"})
    if (Name.size() > Prefix.size() && Name.starts_with(Prefix)) {
      Option = Prefix;
      return true;
    }
  return false;
}

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

private:
  Expected<bool> ownArgument(StringRef Arg);
  void take(Meaning M, StringRef Spelling, StringRef Value);
  void refuse(const Twine &Why, bool Remark) {
    if (C.Unchanged.empty() || (Remark && !C.UnchangedRemark))
      C.Unchanged = Why.str();
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

void Parser::take(Meaning M, StringRef Spelling, StringRef Value) {
  switch (M) {
  case Meaning::Device:
    C.Device.Flags.push_back(Spelling.str());
    break;
  case Meaning::DeviceValue:
    C.Device.Flags.push_back((Spelling + "=" + Value).str());
    break;
  case Meaning::Ptxas: {
    SmallVector<StringRef> Parts;
    Value.split(Parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts)
      // What only prints changes no code.
      if (Part != "-v" && Part != "--verbose" && !Part.contains("warn") &&
          !Part.contains("Werror"))
        C.Device.Ptxas.push_back(Part.str());
    break;
  }
  case Meaning::Registers:
    C.Device.Ptxas.push_back(("-maxrregcount=" + Value).str());
    break;
  case Meaning::Object:
    Object = true;
    break;
  case Meaning::NoObject:
    refuse("it makes no object", false);
    break;
  case Meaning::Relocatable:
    refuse("relocatable device code keeps its originals", true);
    break;
  case Meaning::RelocatableValue:
    if (Value == "true")
      refuse("relocatable device code keeps its originals", true);
    break;
  case Meaning::Debug:
    refuse("-G compiles without optimisation", true);
    break;
  case Meaning::Keep:
  case Meaning::KeepValue:
    refuse("-save-temps splits the compilation", true);
    break;
  case Meaning::ObjectFolder:
    refuse("-objtemp says where nvcc's temporary files go", true);
    break;
  case Meaning::Output:
    C.Output = Value.str();
    break;
  case Meaning::OutputDirectory:
    Directory = Value.str();
    break;
  case Meaning::DepFile:
    C.DepFile = Value.str();
    break;
  case Meaning::Dependencies:
    Dependencies = true;
    break;
  case Meaning::Language:
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
        refuse("it reads standard input", true);
      C.Inputs.push_back(Arg.str());
      Kept.push_back(Arg.str());
      continue;
    }
    StringRef Name = Arg.ltrim('-');
    auto [Option, Value] = Name.split('=');
    Meaning M = meaningOf(Option);
    StringRef Joined;
    bool HasValue = Name.contains('=');
    if (M == Meaning::Other && isJoined(Name, Joined)) {
      M = meaningOf(Joined);
      Value = Name.drop_front(Joined.size());
      Option = Joined;
      HasValue = true;
    }
    size_t First = I;
    if (takesValue(M) && !HasValue) {
      if (I + 1 == Args.size())
        return usageError("'" + Arg + "' needs a value");
      Value = Args[++I];
    }
    if (M == Meaning::OptionsFile) {
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
      std::string Spelling =
          Arg.take_front(Arg.size() - Name.size()).str() + Option.str();
      take(M, Spelling, Value);
    }
    for (; First <= I; ++First)
      Kept.push_back(Args[First]);
  }
  return Error::success();
}

void Parser::finish() {
  auto IsCuda = [&](StringRef Input) {
    return !OtherLanguage &&
           (AllCuda || sys::path::extension(Input).lower() == ".cu");
  };
  bool Any = any_of(C.Inputs, IsCuda);
  if (!C.Unchanged.empty())
    C.UnchangedRemark &= Any;
  else if (!Any)
    refuse("it compiles no CUDA source", false);
  else if (!Object)
    refuse("compile with -c to get variants: it links too", true);
  else if (C.Inputs.size() > 1)
    refuse("it compiles several sources at once", true);
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
  if (Error E = P.read(Args, C.Args, Changed))
    return std::move(E);
  if (Error E = readVariable(P, "NVCC_APPEND_FLAGS", Append, C))
    return std::move(E);
  P.finish();
  return C;
}

} // namespace cupilot
