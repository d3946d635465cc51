//===- Toolchain.h - The compiler and the CUDA toolkit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_TOOLCHAIN_H
#define CUPILOT_SUPPORT_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The clang of the LLVM that cuPilot was built with, and a CUDA toolkit.
struct Toolchain {
  std::string Clang;    ///< Path of clang++.
  std::string CudaPath; ///< Root of the toolkit; "" when none was found.
  std::string Ptxas;    ///< Path of ptxas; "" when none was found.

  /// Finds both. The toolkit comes from --cuda-path= in \p Flags, then from
  /// CUDA_PATH, CUDA_HOME, the one found at configure time, /usr/local/cuda.
  /// No clang 22 is a resource error.
  static llvm::Expected<Toolchain> find(llvm::ArrayRef<std::string> Flags);
  /// As find; no CUDA toolkit is a resource error too.
  static llvm::Expected<Toolchain> findCuda(llvm::ArrayRef<std::string> Flags);

  /// CUDART_VERSION of the toolkit's headers, 13000 for 13.0; 0 when they do
  /// not tell.
  unsigned headerVersion() const;

  /// The command prefix for a CUDA compilation: clang++, --cuda-path=, the
  /// toolkit's own headers where others lie in the system's folders, the CCCL
  /// include folder, what nvcc and its host compiler take and clang does not
  /// (nvccHeader, gcc's own headers, "register"), then \p Flags but for
  /// NvccMacroFlag.
  std::vector<std::string> cudaCommand(llvm::ArrayRef<std::string> Flags) const;
};

/// cupilot-nvcc.h, which brings what nvcc has built in and clang has not. Every
/// parse that cuPilot starts reads it before the source, and no slice has any
/// of it. A real path; "" where this installation lacks it.
const std::string &nvccHeader();

/// Stands in flags for clang that come from a command of nvcc's: the program's
/// own files see __NVCC__ and nvcc's version. Headers of others do not, which
/// would take clang for nvcc.
constexpr llvm::StringLiteral NvccMacroFlag = "-D__NVCC__";

/// The GPU architectures ("sm_90") that \p Flags ask for; {"sm_90"} if none.
std::vector<std::string> gpuArchitectures(llvm::ArrayRef<std::string> Flags);

/// \p Flags without the ones that choose the GPU architecture.
std::vector<std::string>
withoutArchitectures(llvm::ArrayRef<std::string> Flags);

/// The -mllvm arguments that \p Flags hand to the compiler proper.
std::vector<std::string> llvmArguments(llvm::ArrayRef<std::string> Flags);

/// What clang makes of the device code of \p Source for \p Arch with \p Flags
/// and \p Output, which says what that is ("-S", "-emit-llvm" ...). A file that
/// does not compile is a usage error with the compiler's own messages.
llvm::Expected<std::string>
compileDevice(llvm::StringRef Source, llvm::StringRef Arch,
              llvm::ArrayRef<std::string> Flags,
              llvm::ArrayRef<llvm::StringRef> Output);

/// compileDevice's output for LLVM bitcode before any optimisation (libdevice
/// is linked in): what the clang plugin sees at the start of the pipeline.
llvm::ArrayRef<llvm::StringRef> bitcodeOutput();

/// The flags that may change the device code of a self-contained file: \p Flags
/// without macros, include folders, forced includes, outputs, depfiles, linker
/// inputs, relocatable device code and cuPilot's own plugin.
std::vector<std::string> variantFlags(llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_TOOLCHAIN_H
