//===- CupilotDialect.td - The cupilot dialect -*- tablegen -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DIALECT_CUPILOTDIALECT_TD
#define CUPILOT_DIALECT_CUPILOTDIALECT_TD

include "mlir/IR/OpBase.td"

def Cupilot_Dialect : Dialect {
  let name = "cupilot";
  let cppNamespace = "::cupilot";
  let summary = "Kernels, strategies and what is known of them";
  let description = [{
    Everything that cuPilot knows is a module of this dialect: what extraction
    prints, the strategy library, a population during the search, what the store
    keeps. The dialect holds decisions and evidence; code lies in files beside
    the module and is named by its path and digest.

    A strategy is typed: its parameters have domains, and what it requires and
    excludes is part of it. A genome that breaks a rule does not verify, so the
    search can only make valid offspring. Where a module does not hold a
    strategy's definition (a single kernel's file, say), genomes that name it are
    checked for their form alone.

    Maps and sets in plans and guards have seven dimensions, the original launch
    (grid x, y, z, block x, y, z, dynamic shared memory), and one symbol for each
    scalar of the kernel. MLIR multiplies and divides by symbols only: a map that
    does so with the launch itself, such as `(gx * bx) ceildiv 128`, has no
    dimensions and takes the launch as its first seven symbols instead.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // CUPILOT_DIALECT_CUPILOTDIALECT_TD
