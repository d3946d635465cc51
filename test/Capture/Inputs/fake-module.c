//===- fake-module.c - The module of the programs in these tests -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sections and symbols as in a GPU binary; their contents are never looked at.
#define KERNEL(NAME)                                                           \
  __attribute__((section(".text." #NAME))) void NAME(void) {}
KERNEL(_Z3addPfPKfif)
KERNEL(_Z6viewed4View)
KERNEL(_Z6linkedP4NodePf)
KERNEL(_Z5clockPl)
KERNEL(_Z5emptyv)
__attribute__((section(".nv.global"))) float Scale = 2;
