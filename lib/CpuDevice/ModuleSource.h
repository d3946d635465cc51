//===- ModuleSource.h - Device code, and the parts of it ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_MODULESOURCE_H
#define CUPILOT_LIB_CPUDEVICE_MODULESOURCE_H

#include "Abi/LoweredModule.h"
#include "cupilot/CpuDevice/CpuDevice.h"

namespace cupilot {

/// What is known of a module before any kernel is compiled.
struct ModuleIndex {
  struct Kernel {
    std::string Name;
    std::vector<uint64_t> ParamSizes;
  };
  unsigned Arch = 0;
  /// All kernels are one part: there is only one, pointers lead to functions,
  /// or options number things throughout the module.
  bool IsWhole = false;
  std::vector<Kernel> Kernels;
  std::vector<LoweredModule::Global> Globals;
};

/// The index of \p M, which is as clang wrote it.
ModuleIndex indexOf(const llvm::Module &M, const CpuDeviceOptions &Options);

/// The device code of a module: bitcode, or PTX, which becomes bitcode when it
/// is first needed. Each part has a module and a context of its own. Not
/// thread-safe.
class ModuleSource {
public:
  ModuleSource(std::string Text, bool IsPtx)
      : Text(std::move(Text)), IsPtx(IsPtx) {}
  llvm::StringRef text() const { return Text; }
  bool isPtx() const { return IsPtx; }
  llvm::Expected<llvm::StringRef> bitcode();
  /// All of it.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  whole(llvm::LLVMContext &Context);
  /// \p Kernel and what it uses. Variables that others may see have external
  /// linkage, and are to be left to the part of variables: forgetVariables.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  only(llvm::StringRef Kernel, llvm::LLVMContext &Context);
  /// Those variables alone.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  variables(llvm::LLVMContext &Context);

private:
  std::string Text;
  bool IsPtx;
  std::string Made; ///< Bitcode of the PTX.
};

/// Makes the variables of \p M that another part defines declarations, once it
/// is lowered, and takes them out of \p Tables.
void forgetVariables(llvm::Module &M, LoweredModule &Tables);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_MODULESOURCE_H
