//===- SharedFolder.cpp - Files that cuPilot comes with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Support/Config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

std::string sharedFile(StringRef Installed, StringRef Source) {
  std::string Self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&sharedFile));
  SmallString<256> Share(sys::path::parent_path(sys::path::parent_path(Self)));
  sys::path::append(Share, "share", "cupilot", Installed);
  return sys::fs::exists(Share) ? Share.str().str()
                                : (CUPILOT_SOURCE_DIR "/" + Source).str();
}

std::string storeNamed(StringRef Name) {
  return Name == "examples" ? sharedFile("examples", "examples/store")
                            : Name.str();
}

} // namespace cupilot
