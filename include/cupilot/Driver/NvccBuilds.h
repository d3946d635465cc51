//===- NvccBuilds.h - What builds by nvcc need of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_NVCCBUILDS_H
#define CUPILOT_DRIVER_NVCCBUILDS_H

#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Store/ProjectStore.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// An nvcc, the flags for the unit, and those for what stands alone.
struct NvccUse {
  std::string Nvcc;
  std::vector<std::string> UnitFlags;
  NvccDeviceFlags Device;
  bool Named = false; ///< By the user, who chose all its flags.
};

/// The nvccs among \p Compilers, the commands that the user named; without any,
/// the toolkit's if there is one. A command that cannot be read or run, or that
/// does not compute as clang does with \p Flags, is an error. Flags of clang
/// that nvcc has no counterpart for leave it out, with a message to \p Log.
llvm::Expected<std::vector<NvccUse>>
nvccUses(llvm::ArrayRef<std::string> Flags,
         llvm::ArrayRef<std::string> Compilers, llvm::raw_ostream &Log);

/// Adds to \p S what builds by \p Uses look up for \p Arch: the identity of the
/// kernel, and of each variant, in nvcc's PTX. \p Unit is the whole source ("":
/// only the slice is there). What nvcc cannot compile is left out with a
/// message to \p Log; only an nvcc that cannot be run is an error.
llvm::Error recordNvcc(StoredKernel &S, llvm::StringRef Unit,
                       const std::string &Arch, llvm::ArrayRef<NvccUse> Uses,
                       llvm::raw_ostream &Log);

/// The identity of \p K in \p Unit by the nvcc command \p Compiler, which must
/// compute as clang does with \p Flags. Findings say why there is none.
llvm::Expected<std::string> nvccIdentity(const Kernel &K, llvm::StringRef Unit,
                                         const std::string &Arch,
                                         llvm::ArrayRef<std::string> Flags,
                                         const std::string &Compiler);

} // namespace cupilot

#endif // CUPILOT_DRIVER_NVCCBUILDS_H
