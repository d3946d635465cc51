// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Divides each row by the root of its mean square.
void normalizeRows(const float *in, float *out, int rows, int columns);

// Adds the n numbers to *out.
void addUp(const float *in, float *out, int n);
