//===- NvccOptions.cpp - nvcc's options and what they mean -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvccOptions.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

NvccMeaning nvccMeaning(StringRef Name) {
  return StringSwitch<NvccMeaning>(Name)
      .Cases({"c", "compile"}, NvccMeaning::Object)
      .Cases({"cuda", "cubin", "fatbin", "ptx", "optix-ir", "ltoir", "E",
              "preprocess", "M", "generate-dependencies", "MM",
              "generate-nonsystem-dependencies", "dlink", "device-link", "link",
              "lib"},
             NvccMeaning::NoObject)
      .Cases({"run", "dryrun", "clean", "clean-targets", "help", "h", "version",
              "V", "list-gpu-code", "code-ls", "list-gpu-arch", "arch-ls",
              "fdevice-syntax-only", "r", "relocatable-link"},
             NvccMeaning::NoObject)
      .Cases({"dc", "device-c", "dw", "device-w", "dlto", "dlink-time-opt",
              "lto", "ewp", "extensible-whole-program", "gen-opt-lto"},
             NvccMeaning::Relocatable)
      .Cases({"rdc", "relocatable-device-code"}, NvccMeaning::RelocatableValue)
      .Cases({"G", "device-debug"}, NvccMeaning::Debug)
      .Cases({"keep", "save-temps"}, NvccMeaning::Keep)
      .Case("keep-dir", NvccMeaning::KeepValue)
      .Cases({"objtemp", "objdir-as-tempdir"}, NvccMeaning::ObjectFolder)
      .Cases({"o", "output-file"}, NvccMeaning::Output)
      .Cases({"odir", "output-directory"}, NvccMeaning::OutputDirectory)
      .Cases({"MF", "dependency-output"}, NvccMeaning::DepFile)
      .Cases({"MD", "generate-dependencies-with-compile", "MMD",
              "generate-nonsystem-dependencies-with-compile"},
             NvccMeaning::Dependencies)
      .Cases({"x", "language"}, NvccMeaning::Language)
      .Cases({"Xptxas", "ptxas-options"}, NvccMeaning::Ptxas)
      .Case("maxrregcount", NvccMeaning::Registers)
      .Cases({"optf", "options-file"}, NvccMeaning::OptionsFile)
      .Cases({"use_fast_math", "restrict", "extra-device-vectorization",
              "expt-relaxed-constexpr", "extended-lambda",
              "expt-extended-lambda", "m64", "no-exceptions", "noeh",
              "no-host-device-initializer-list", "nohdinitlist"},
             NvccMeaning::Device)
      .Cases({"no-host-device-move-forward", "nohdmoveforward",
              "allow-unsupported-compiler", "keep-device-functions",
              "no-align-double", "lineinfo", "generate-line-info"},
             NvccMeaning::Device)
      .Cases({"std", "ftz", "prec-div", "prec-sqrt", "fmad", "dopt", "Xcicc",
              "Ofast-compile", "Ofc", "m", "machine", "ccbin",
              "compiler-bindir"},
             NvccMeaning::DeviceValue)
      .Cases({"ldir", "libdevice-directory", "target-dir", "target-directory",
              "default-stream", "jtd", "jump-table-density",
              "device-stack-protector", "split-compile",
              "device-entity-has-hidden-visibility", "Xcudafe", "sanitize",
              "ftemplate-depth"},
             NvccMeaning::DeviceValue)
      .Cases({"include", "pre-include", "l", "library", "D", "define-macro",
              "U", "undefine-macro", "I", "include-path", "isystem",
              "system-include"},
             NvccMeaning::OtherValue)
      .Cases({"L", "library-path", "arbin", "archiver-binary", "cudart",
              "cudadevrt", "opt-info", "optimization-info",
              "ftemplate-backtrace-limit", "Xcompiler", "compiler-options",
              "Xlinker", "linker-options"},
             NvccMeaning::OtherValue)
      .Cases({"Xarchive", "archive-options", "Xnvlink", "nvlink-options",
              "Xfatbin", "static-global-template-stub", "t", "threads",
              "split-compile-extended", "fdevice-time-trace", "time",
              "run-args"},
             NvccMeaning::OtherValue)
      .Cases({"idp", "input-drive-prefix", "ddp", "dependency-drive-prefix",
              "dp", "drive-prefix", "MT", "MQ", "dependency-target-name",
              "arch", "gpu-architecture", "code", "gpu-code"},
             NvccMeaning::OtherValue)
      .Cases({"gencode", "generate-code", "e", "entries", "Werror",
              "diag-error", "diag-suppress", "diag-warn", "hls",
              "host-linker-script", "aug-hls", "brief-diag",
              "brief-diagnostics"},
             NvccMeaning::OtherValue)
      .Cases({"compress-mode", "frandom-seed", "optimize", "O", "qpp-config"},
             NvccMeaning::OtherValue)
      .Case("Rpass", NvccMeaning::Pass)
      .Case("Rpass-missed", NvccMeaning::PassMissed)
      .Default(NvccMeaning::Other);
}

bool nvccTakesValue(NvccMeaning M) {
  switch (M) {
  case NvccMeaning::OtherValue:
  case NvccMeaning::DeviceValue:
  case NvccMeaning::Ptxas:
  case NvccMeaning::Registers:
  case NvccMeaning::RelocatableValue:
  case NvccMeaning::KeepValue:
  case NvccMeaning::Output:
  case NvccMeaning::OutputDirectory:
  case NvccMeaning::DepFile:
  case NvccMeaning::Language:
  case NvccMeaning::OptionsFile:
    return true;
  default:
    return false;
  }
}

bool isJoinedNvcc(StringRef Name, StringRef &Option) {
  for (StringRef Prefix : {"O", "D", "U", "I", "L", "l", "t"})
    if (Name.size() > Prefix.size() && Name.starts_with(Prefix)) {
      Option = Prefix;
      return true;
    }
  return false;
}

} // namespace cupilot
