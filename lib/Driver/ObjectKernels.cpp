//===- ObjectKernels.cpp - The kernels that an object registers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/ObjectKernels.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;

namespace cupilot {

/// Both compilers name the host function that launches a kernel so.
static constexpr StringLiteral StubMark = "__device_stub__";

static bool isName(StringRef Text) {
  return !Text.empty() && all_of(Text, [](char C) {
    return isAlnum(C) || C == '_' || C == '$' || C == '.';
  });
}

static Expected<StringSet<>> namesIn(const object::ObjectFile &Object) {
  StringSet<> Names;
  bool HasKernels = false;
  for (const object::SymbolRef &S : Object.symbols()) {
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    HasKernels |= Name->contains(StubMark);
  }
  if (!HasKernels)
    return Names;
  for (const object::SectionRef &S : Object.sections()) {
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    if (!Name->starts_with(".rodata"))
      continue;
    Expected<StringRef> Bytes = S.getContents();
    if (!Bytes)
      return Bytes.takeError();
    for (StringRef Text : split(*Bytes, '\0'))
      if (isName(Text))
        Names.insert(Text);
  }
  return Names;
}

Expected<StringSet<>> registeredNames(StringRef Path) {
  Expected<object::OwningBinary<object::ObjectFile>> Object =
      object::ObjectFile::createObjectFile(Path);
  if (Object) {
    Expected<StringSet<>> Names = namesIn(*Object->getBinary());
    if (Names)
      return Names;
    return findingError("cannot read '" + Path +
                        "': " + toString(Names.takeError()));
  }
  return findingError("cannot read '" + Path +
                      "': " + toString(Object.takeError()));
}

} // namespace cupilot
