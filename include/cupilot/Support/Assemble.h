//===- Assemble.h - PTX to machine code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_ASSEMBLE_H
#define CUPILOT_SUPPORT_ASSEMBLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace cupilot {

struct AssembledPtx {
  std::string Cubin;
  std::string Figures; ///< What `ptxas -v` says of each kernel.
};

/// What the ptxas that \p Flags lead to makes of \p Ptx for \p Arch ("sm_90");
/// nothing where there is no ptxas. A usage error when it refuses the code.
llvm::Expected<std::optional<AssembledPtx>>
assemblePtx(llvm::StringRef Ptx, llvm::StringRef Arch,
            llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_ASSEMBLE_H
