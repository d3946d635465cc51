//===- ClosurePart.h - The meaning of a part of a closure -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_LIB_FRONTEND_CLOSUREPART_H
#define CUPILOT_LIB_FRONTEND_CLOSUREPART_H

#include "Closure.h"
#include "cupilot/Portable/Digest.h"

namespace cupilot {

/// Collects names while it lives, then adds their digest to the meanings.
class Closure::Part {
public:
  Part(Closure &C, const clang::NamedDecl *Of, llvm::StringRef What) : C(C) {
    C.Names = &Names;
    Names = (describe(Of) + "\n" + What + "\n").str();
  }
  void add(const llvm::Twine &Fact) { Names += (Fact + "\n").str(); }
  ~Part() {
    C.Names = nullptr;
    C.Meanings.insert(digest(Names));
  }

private:
  Closure &C;
  std::string Names;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_CLOSUREPART_H
