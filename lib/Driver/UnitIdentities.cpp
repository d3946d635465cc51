//===- UnitIdentities.cpp - Build identities of a unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/UnitIdentities.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"

using namespace llvm;

namespace cupilot {

static Expected<std::vector<KernelIdentity>>
identitiesIn(StringRef Source, const std::string &Arch,
             ArrayRef<std::string> Flags) {
  Expected<std::string> Bitcode = compileDeviceBitcode(Source, Arch, Flags);
  if (!Bitcode)
    return Bitcode.takeError();
  return identifyKernels(*Bitcode, buildContext(llvmArguments(Flags)));
}

Expected<std::string> UnitIdentities::identityOf(const Kernel &K,
                                                 const std::string &Arch) {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-slice");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("slice.cu"), K.Slice))
    return std::move(E);
  Expected<std::vector<KernelIdentity>> InSlice =
      identitiesIn(Dir->file("slice.cu"), Arch, variantFlags(Flags));
  if (!InSlice)
    return InSlice.takeError();
  Expected<std::string> Cut = digestOf(*InSlice, K.Symbol);
  if (!Cut || Unit.empty())
    return Cut;
  auto It = Whole.find(Arch);
  if (It == Whole.end()) {
    Expected<std::vector<KernelIdentity>> All = identitiesIn(Unit, Arch, Flags);
    if (!All)
      return All.takeError();
    It = Whole.emplace(Arch, std::move(*All)).first;
  }
  Expected<std::string> InUnit = digestOf(It->second, K.Symbol);
  if (InUnit && *InUnit != *Cut)
    return findingError(
        "the device code of its slice differs from that of the whole unit");
  return InUnit;
}

} // namespace cupilot
