//===- SharedFolder.cpp - Files that cuPilot comes with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cupilot {

std::string sharedFile(StringRef Installed, StringRef Source) {
  std::string Share = installedPath(("share/cupilot/" + Installed).str());
  return sys::fs::exists(Share) ? Share
                                : (CUPILOT_SOURCE_DIR "/" + Source).str();
}

std::vector<std::string> storesNamed(StringRef Name) {
  if (Name != "examples")
    return {Name.str()};
  std::vector<std::string> All = {sharedFile("examples", "examples/store")};
  // One for each contract: a build has variants of one.
  for (StringRef Contract : {"same", "relaxed", "norm"})
    All.push_back(
        sharedFile(("campaign/" + Contract).str(),
                   ("benchmarks/campaign/variants/" + Contract).str()));
  return All;
}

} // namespace cupilot
