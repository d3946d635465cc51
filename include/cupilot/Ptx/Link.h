//===- Link.h - One PTX module of several -----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_LINK_H
#define CUPILOT_PTX_LINK_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// The text of one module that holds what \p Units hold, for their newest
/// version and architecture: names of one unit alone get other names where two
/// units use them, of weak and common definitions the first stays. Sections for
/// debuggers are left out; lines stay. Two strong definitions of one name both
/// stay, and the reader rejects the text.
std::string link(const std::vector<Module> &Units);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_LINK_H
