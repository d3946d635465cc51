//===- SharedArena.h - Shared memory of resident blocks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_SHAREDARENA_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_SHAREDARENA_H

#include <cstdint>

namespace cupilot {

/// One block's shared memory. It lies in the lowest 2 GiB of the address space,
/// as code that keeps shared addresses in 32-bit registers needs
/// (__cvta_generic_to_shared, "r" operands of inline PTX): such an address,
/// extended with zeros, is the address here. The lowest 18 bits are those of an
/// H200, where a block's own variables begin at 0x400.
class SharedWindow {
public:
  /// No window crosses a multiple of it: descriptors of matrices hold 18 bits
  /// of an address (PTX ISA, "Matrix Descriptor Format"), and code adds to them
  /// what cannot carry where addresses begin at 0, as a GPU's do.
  static constexpr uint64_t Span = 1 << 18;
  /// What lies before a block's own variables: the system's 1 KiB since sm_80.
  static constexpr uint64_t SystemSize = 1024;

  SharedWindow() = default;
  ~SharedWindow();
  SharedWindow(const SharedWindow &) = delete;
  SharedWindow &operator=(const SharedWindow &) = delete;
  /// At least \p Size bytes, with a page around them that no one else has.
  char *reserve(uint64_t Size);

private:
  char *Base = nullptr;
  uint64_t Capacity = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_SHAREDARENA_H
