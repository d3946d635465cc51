//===- Evolve.h - The search of a unit's kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_EVOLVE_H
#define CUPILOT_DRIVER_EVOLVE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/EvolveAgents.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Model/Contract.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// How many candidates a search makes, and in which generations.
struct SearchSize {
  /// Without: those of the models' preset, or else of SearchOptions.
  std::optional<unsigned> Population, Generations;
  /// As many candidates, but two in a generation.
  bool Steady = false;

  /// Numbers that are not of a search are usage errors.
  llvm::Error check() const;
  /// \p Options are those of the preset.
  void applyTo(SearchOptions &Options) const;
};

/// What is searched, how, and where to.
struct EvolveRequest {
  std::string Input;     ///< A CUDA source, or a module of kernels (".mlir").
  std::string Workloads; ///< Module of the recorded launches.
  std::string Store;     ///< Folder.
  std::string Only;      ///< Kernels whose names hold it; "": all.
  UnitCommand Command;
  std::vector<std::string> Compilers;        ///< For buildCompilers.
  std::optional<PrecisionContract> Contract; ///< None: the kernels' own.
  /// Bytes of a launch that is too large for the gate; 0: none is compared.
  uint64_t LargeBytes = UsualLargeBytes;
  std::string Device = "cpu", Gpu = "H200";
  uint64_t Seed = 1;
  TextLimits Compilation; ///< Of each candidate.
  SearchSize Size;
  bool Resume = false;
  bool Wait = true;              ///< For results of a GPU elsewhere.
  bool Verbose = false;          ///< Say why each candidate was dropped.
  std::string Strategies;        ///< Folder of the library; "": cuPilot's.
  std::vector<std::string> Like; ///< Stores, for seedGenomes.
  std::optional<AgentSettings> Models; ///< None: rules translate.

  bool isModule() const;
  bool isDryRun() const { return Models && Models->DryRun; }
};

/// Searches the kernels and puts what is accepted into the store. Progress goes
/// to \p Log, the prompts of a dry run to \p Out. Findings: no kernel is
/// launched in the workloads, or no variant was accepted. Resource errors: the
/// budget is used up, or results of a GPU are awaited.
llvm::Error evolve(const EvolveRequest &R, llvm::raw_ostream &Out,
                   llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_EVOLVE_H
