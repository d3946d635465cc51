//===- ProjectUnits.h - The CUDA units of compile_commands.json -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_PROJECTUNITS_H
#define CUPILOT_DRIVER_PROJECTUNITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace clang::tooling {
class CompilationDatabase;
} // namespace clang::tooling

namespace cupilot {

/// A command of a build that compiles CUDA code. Paths are absolute.
struct ProjectUnit {
  std::string Source;
  std::string Folder; ///< In which it runs.
  std::string Object; ///< What it makes.
  std::vector<std::string> Command;
};

/// The units of a project, in the order of its file.
struct ProjectUnits {
  std::vector<ProjectUnit> Units;
  unsigned Commands = 0;         ///< Of the file, other languages' among them.
  std::vector<std::string> Gone; ///< Sources that the file names in vain.
};

/// The file that "-p Folder" means; \p Folder may be the file itself.
std::string commandsFile(llvm::StringRef Folder);
/// Its commands; a usage error where it is none or cannot be read (Clang's
/// documentation, "JSON Compilation Database Format Specification").
llvm::Expected<std::unique_ptr<clang::tooling::CompilationDatabase>>
loadCommands(llvm::StringRef Folder);

/// The CUDA units of commandsFile(Folder): those that nvcc or clang compiles as
/// CUDA, by the name of the source or as the command says. Commands of other
/// compilers and languages are passed over, and so are second ones that are the
/// same. A usage error where no unit is left.
llvm::Expected<ProjectUnits> readProject(llvm::StringRef Folder);

} // namespace cupilot

#endif // CUPILOT_DRIVER_PROJECTUNITS_H
