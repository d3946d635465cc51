//===- NvccFlags.cpp - nvcc's flags, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/NvccFlags.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace llvm;

namespace cupilot {

namespace {
enum class Meaning {
  Architecture,     ///< -arch=sm_90
  Gencode,          ///< -gencode arch=compute_90,code=sm_90
  HostOptions,      ///< -Xcompiler -Wall,-fPIC
  Valued,           ///< Ignored, with its value.
  Plain,            ///< Ignored.
  Silent,           ///< Says what clang does anyway.
  FastMath,         ///< --use_fast_math
  FlushToZero,      ///< -ftz=true
  MultiplyAdd,      ///< -fmad=false
  DefaultStream,    ///< -default-stream per-thread
  Relocatable,      ///< -rdc=true
  RelocatableAlways ///< -dc
};
} // namespace

/// The part of a flag before "=", as nvcc has it; nothing for others'.
static std::optional<Meaning> meaningOf(StringRef Name) {
  using M = std::optional<Meaning>;
  return StringSwitch<M>(Name)
      .Cases({"-arch", "--gpu-architecture", "-gpu-architecture"},
             Meaning::Architecture)
      .Cases({"-gencode", "--generate-code", "-generate-code"},
             Meaning::Gencode)
      .Cases({"-Xcompiler", "--compiler-options", "-compiler-options"},
             Meaning::HostOptions)
      .Cases({"-code", "--gpu-code", "-ccbin", "--compiler-bindir", "-Xptxas",
              "--ptxas-options", "-Xnvlink", "--nvlink-options", "-Xfatbin",
              "-Xcudafe", "-maxrregcount", "--maxrregcount"},
             Meaning::Valued)
      .Cases({"-t", "--threads", "-split-compile", "-cudart", "--cudart",
              "-diag-suppress", "--diag-suppress", "-diag-warn", "-prec-div",
              "--prec-div", "-prec-sqrt", "--prec-sqrt"},
             Meaning::Valued)
      .Cases({"-G", "--device-debug", "-keep", "--keep", "-res-usage",
              "--resource-usage", "-restrict", "--restrict", "-src-in-ptx",
              "--compress-all"},
             Meaning::Plain)
      .Cases({"-lineinfo", "--generate-line-info", "-generate-line-info",
              "-expt-extended-lambda", "--expt-extended-lambda",
              "--extended-lambda", "-extended-lambda",
              "-expt-relaxed-constexpr", "--expt-relaxed-constexpr",
              "-forward-unknown-to-host-compiler",
              "--forward-unknown-to-host-compiler"},
             Meaning::Silent)
      .Cases({"-lcudart", "-lcudart_static", "-lcudadevrt"}, Meaning::Silent)
      .Cases({"-use_fast_math", "--use_fast_math"}, Meaning::FastMath)
      .Cases({"-ftz", "--ftz"}, Meaning::FlushToZero)
      .Cases({"-fmad", "--fmad"}, Meaning::MultiplyAdd)
      .Cases({"-default-stream", "--default-stream"}, Meaning::DefaultStream)
      .Cases({"-rdc", "--relocatable-device-code", "-relocatable-device-code"},
             Meaning::Relocatable)
      .Cases({"-dc", "--device-c", "-dlink", "--device-link", "-dlto", "-dw",
              "-fgpu-rdc"},
             Meaning::RelocatableAlways)
      .Default(std::nullopt);
}

/// CUDA's libraries are machine code for a GPU.
static StringRef libraryOf(StringRef Flag) {
  static constexpr StringLiteral Libraries[] = {
      "cublas", "cublasLt", "cufft", "cufftw",   "curand", "cusparse",
      "cudnn",  "cusolver", "nccl",  "cutensor", "nvrtc",  "cuda"};
  if (Flag.consume_front("-l") && is_contained(Libraries, Flag))
    return Flag;
  return "";
}

static Error relocatable(StringRef Flag) {
  return usageError("the cpu device has no relocatable device code (" + Flag +
                        ")",
                    "compile all device code of a kernel in one unit");
}

/// "compute_90", "sm_90a" or "90" as clang's flag; what is no architecture
/// ("native", "all") is left to the default.
static void addArchitecture(StringRef Text, std::vector<std::string> &Args) {
  if (!Text.consume_front("compute_"))
    Text.consume_front("sm_");
  if (!Text.empty() && isDigit(Text.front()))
    Args.push_back(("--cuda-gpu-arch=sm_" + Text).str());
}

/// The newest architecture of "arch=compute_80,code=[sm_80,sm_90]", or of its
/// arch where it makes PTX alone.
static StringRef newest(StringRef Gencode) {
  StringRef Best;
  SmallVector<StringRef> Parts;
  Gencode.split(Parts, ',');
  unsigned Highest = 0;
  for (StringRef Part : Parts) {
    Part.consume_front("arch=");
    Part.consume_front("code=");
    Part = Part.trim("[]\"'");
    StringRef Digits = Part.split('_').second;
    unsigned Number = 0;
    if (!Digits.consumeInteger(10, Number) && Number >= Highest) {
      Highest = Number;
      Best = Part;
    }
  }
  return Best;
}

static unsigned numberOf(StringRef Architecture) {
  StringRef Digits = Architecture.split('_').second;
  unsigned Number = 0;
  Digits.consumeInteger(10, Number);
  return Number;
}

Expected<TranslatedFlags> translateNvccFlags(ArrayRef<std::string> Args,
                                             NvccTarget Target) {
  TranslatedFlags Result;
  std::string Generated; // The newest architecture of all -gencode.
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Flag = Args[I];
    if (StringRef Library = libraryOf(Flag);
        !Library.empty() && Target == NvccTarget::CpuDevice)
      return usageError("the cpu device has no library '" + Library + "' (" +
                            Flag + ")",
                        "CUDA's libraries hold code for a GPU; programs that "
                        "bring their own kernels run here");
    if (Flag == "-x" && I + 1 < Args.size() && Args[I + 1] == "cu") {
      Result.Args.insert(Result.Args.end(), {"-x", "cuda"});
      ++I;
      continue;
    }
    auto [Name, Value] = Flag.split('=');
    std::optional<Meaning> M = meaningOf(Name);
    if (!M) {
      Result.Args.push_back(Flag.str());
      continue;
    }
    bool TakesValue = *M != Meaning::Plain && *M != Meaning::Silent &&
                      *M != Meaning::FastMath &&
                      *M != Meaning::RelocatableAlways;
    std::string Text = Flag.str();
    if (TakesValue && !Flag.contains('=')) {
      if (I + 1 == Args.size())
        return usageError("'" + Flag + "' needs a value");
      Value = Args[++I];
      Text += " " + Value.str();
    }
    switch (*M) {
    case Meaning::Architecture:
      addArchitecture(Value, Result.Args);
      break;
    case Meaning::Gencode:
      if (StringRef New = newest(Value);
          numberOf(New) >= numberOf(Generated) && !New.empty())
        Generated = New.str();
      break;
    case Meaning::HostOptions: {
      SmallVector<StringRef> Parts;
      Value.trim("\"'").split(Parts, ',', -1, /*KeepEmpty=*/false);
      for (StringRef Part : Parts) {
        SmallVector<StringRef> Words;
        Part.split(Words, ' ', -1, /*KeepEmpty=*/false);
        for (StringRef Word : Words)
          Result.Host.push_back(Word.str());
      }
      break;
    }
    case Meaning::Valued:
    case Meaning::Plain:
      Result.Ignored.push_back(Text);
      break;
    case Meaning::Silent:
      break;
    case Meaning::FastMath:
      Result.Args.insert(Result.Args.end(), {"-fgpu-flush-denormals-to-zero",
                                             "-fgpu-approx-transcendentals"});
      break;
    case Meaning::FlushToZero:
      if (Value == "true")
        Result.Args.push_back("-fgpu-flush-denormals-to-zero");
      break;
    case Meaning::MultiplyAdd:
      Result.Args.push_back(Value == "false" ? "-ffp-contract=off"
                                             : "-ffp-contract=fast");
      break;
    case Meaning::DefaultStream:
      if (Value == "per-thread") // Clang takes its own flag for HIP alone.
        Result.Args.insert(Result.Args.end(),
                           {"-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-Xclang",
                            "-fgpu-default-stream=per-thread"});
      break;
    case Meaning::Relocatable:
      if (Value != "true")
        break;
      [[fallthrough]];
    case Meaning::RelocatableAlways:
      if (Target == NvccTarget::CpuDevice)
        return relocatable(Text);
      Result.Args.push_back("-fgpu-rdc");
      break;
    }
  }
  if (!Generated.empty())
    addArchitecture(Generated, Result.Args);
  return Result;
}

} // namespace cupilot
