//===- UnitName.h - Names of one unit's own kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_UNITNAME_H
#define CUPILOT_PORTABLE_UNITNAME_H

#include <string_view>

namespace cupilot {

/// The mangled name \p Symbol without what compilers of relocatable device code
/// make names unique by that belong to one unit, as those of static kernels:
/// nvcc begins them with "__nv_static_LENGTH_", LENGTH characters and "_", and
/// clang ends them with "__intern__" or "__static__" and hexadecimal digits.
std::string_view withoutUnitName(std::string_view Symbol);

} // namespace cupilot

#endif // CUPILOT_PORTABLE_UNITNAME_H
