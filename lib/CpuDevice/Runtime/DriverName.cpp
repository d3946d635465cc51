//===- DriverName.cpp - libcuda.so.1 ----------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library of this name has nothing of its own: the loader finds the driver
// API in libcupilot-cuda.so, which it needs.
//
//===----------------------------------------------------------------------===//
