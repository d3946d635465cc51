//===- NvccFlags.cpp - nvcc's flags, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccFlags.h"
#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Option/Arg.h"

using namespace llvm;

namespace cupilot {

/// CUDA's libraries are machine code for a GPU.
static bool isCudaLibrary(StringRef Name) {
  static constexpr StringLiteral Libraries[] = {
      "cublas", "cublasLt", "cufft", "cufftw",   "curand", "cusparse",
      "cudnn",  "cusolver", "nccl",  "cutensor", "nvrtc",  "cuda"};
  return is_contained(Libraries, Name);
}

static Error relocatable(StringRef Flag) {
  return usageError(
      "the cpu device does not support relocatable device code (" + Flag + ")",
      "compile all device code of a kernel in one translation unit");
}

/// As clang's flag; what is no architecture ("native", "all") is left to the
/// default.
static void addArchitecture(const std::optional<Architecture> &A,
                            std::vector<std::string> &Args) {
  if (A)
    Args.push_back("--cuda-gpu-arch=" + A->str());
}

/// The newest architecture of "arch=compute_80,code=[sm_80,sm_90]", or of its
/// arch where it makes PTX alone.
static std::optional<Architecture> newest(StringRef Gencode) {
  std::optional<Architecture> Best;
  SmallVector<StringRef> Words;
  SplitString(Gencode, Words, ",=[]'\" ");
  for (StringRef Word : Words)
    if (auto A = Architecture::parseNvcc(Word);
        A && (!Best || A->Number >= Best->Number))
      Best = A;
  return Best;
}

/// The words that -Xcompiler hands on: a list of lists.
static void addHostOptions(StringRef Value, std::vector<std::string> &Host) {
  SmallVector<StringRef> Parts;
  Value.trim("\"'").split(Parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts)
    for (StringRef Word : split(Part, ' '))
      if (!Word.empty())
        Host.push_back(Word.str());
}

Expected<TranslatedFlags> translateNvccFlags(ArrayRef<std::string> Args,
                                             NvccTarget Target) {
  TranslatedFlags Result;
  std::optional<Architecture> Generated; // The newest of all -gencode.
  auto Translate = [&](const opt::Arg &A, size_t First, size_t Last) -> Error {
    const opt::Option &O = A.getOption();
    StringRef Value = valueOf(A);
    auto Words = Args.slice(First, Last - First);
    auto Add = [&](std::initializer_list<StringRef> Flags) {
      Result.Args.insert(Result.Args.end(), Flags.begin(), Flags.end());
    };
    bool Relocatable =
        O.matches(nvcc::OPT_RelocatableGroup) ||
        O.matches(nvcc::OPT_DeviceLinkGroup) ||
        O.matches(nvcc::OPT_device_link) ||
        (O.matches(nvcc::OPT_relocatable_device_code) && Value == "true");
    if (Relocatable && Target == NvccTarget::CpuDevice)
      return relocatable(join(Words, " "));
    if (Relocatable) {
      Add({"-fgpu-rdc"});
    } else if (O.hasFlag(nvcc::Ignored)) {
      Result.Ignored.push_back(join(Words, " "));
    } else if (!O.hasFlag(nvcc::Silent)) {
      switch (O.getID()) {
      case nvcc::OPT_gpu_architecture:
        addArchitecture(Architecture::parseNvcc(Value), Result.Args);
        break;
      case nvcc::OPT_generate_code:
        if (auto New = newest(Value);
            New && (!Generated || New->Number >= Generated->Number))
          Generated = New;
        break;
      case nvcc::OPT_compiler_options:
        addHostOptions(Value, Result.Host);
        break;
      case nvcc::OPT_use_fast_math:
        Add({"-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals"});
        break;
      case nvcc::OPT_ftz:
        if (Value == "true")
          Add({"-fgpu-flush-denormals-to-zero"});
        break;
      case nvcc::OPT_fmad:
        Add({Value == "false" ? "-ffp-contract=off" : "-ffp-contract=fast"});
        break;
      case nvcc::OPT_default_stream:
        if (Value == "per-thread") // Clang takes its own flag for HIP alone.
          Add({"-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-Xclang",
               "-fgpu-default-stream=per-thread"});
        break;
      case nvcc::OPT_relocatable_device_code:
        break;
      case nvcc::OPT_language:
        if (Value == "cu")
          Add({"-x", "cuda"});
        else
          append_range(Result.Args, Words);
        break;
      case nvcc::OPT_library:
        if (isCudaLibrary(Value) && Target == NvccTarget::CpuDevice)
          return usageError("the cpu device does not provide the library '" +
                                Value + "' (" + join(Words, " ") + ")",
                            "CUDA's libraries hold code for a GPU; programs "
                            "that bring their own kernels run here");
        // Clang's driver links the run time by itself.
        if (Value != "cudart" && Value != "cudart_static" &&
            Value != "cudadevrt")
          append_range(Result.Args, Words);
        break;
      default: // Clang's own, or common to both.
        append_range(Result.Args, Words);
      }
    }
    return Error::success();
  };
  if (Error E = readOptions(nvccOptions(), Args, Translate))
    return std::move(E);
  addArchitecture(Generated, Result.Args);
  return Result;
}

} // namespace cupilot
