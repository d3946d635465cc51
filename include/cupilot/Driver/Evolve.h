//===- Evolve.h - The search of a program's kernels -*- C++ -*-===//
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
#include "cupilot/Driver/SearchTable.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evolution/KernelLanguage.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Slurm/SlurmOptions.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace cupilot {

struct SubmittedVariant;

/// SearchOptions::Tune with models.
inline constexpr unsigned UsualTune = 32;

/// Kernels in another language than CUDA C++.
struct LanguageUnit {
  std::shared_ptr<const KernelLanguage> Language;
  std::string Compiler; ///< What makes their code, in evidence.
  std::string Arch;     ///< That the code is for.
  std::vector<Kernel> Kernels;
  /// The identity of each kernel's code; "": there is none, and its Refusal
  /// says why.
  std::vector<std::string> Identities;
};

/// How many candidates a search makes, and in which generations.
struct SearchSize {
  /// Without: those of the models' preset, or else of SearchOptions.
  std::optional<unsigned> Population, Generations;
  /// As many candidates, but two in a generation.
  bool Steady = false;
  /// SearchOptions::Tune; without: UsualTune with models, and none by rules.
  std::optional<unsigned> Tune = std::nullopt;

  /// Numbers that are not of a search are usage errors.
  llvm::Error check() const;
  /// \p Options are those of the preset.
  void applyTo(SearchOptions &Options) const;
  /// As many generations as make \p Candidates.
  static void limit(SearchOptions &Options, unsigned Candidates);
};

/// What is searched, how, and where to.
struct EvolveRequest {
  /// A CUDA source, or a module of kernels (".mlir"); "": Project's units.
  std::string Input;
  /// Kernels of Input, where it is no CUDA; they are searched as they are here.
  std::optional<LanguageUnit> Other = std::nullopt;
  std::string Project;   ///< For readProject.
  std::string Workloads; ///< Module of the recorded launches.
  std::string Store;     ///< Folder.
  std::string Only;      ///< Kernels whose names hold it; "": all.
  ShareChoice Choice;
  UnitCommand Command;                       ///< Of a source.
  std::vector<std::string> Trailing;         ///< For the commands of a project.
  std::vector<std::string> Compilers;        ///< For buildCompilers.
  std::optional<PrecisionContract> Contract; ///< None: the kernels' own.
  /// Bytes of a launch that is too large for the gate; 0: none is compared.
  uint64_t LargeBytes = UsualLargeBytes;
  std::string Device = "cpu", Gpu = "H200";
  bool AcceptEstimates = false; ///< As SearchProblem has it.
  uint64_t Seed = 1;
  ProcessLimits Compilation; ///< Of each candidate.
  SearchSize Size;
  /// Candidates, or calls to models, of all kernels together.
  std::optional<unsigned> Budget;
  /// Seconds for all kernels together. What is under way then ends.
  std::optional<unsigned> MaxSeconds;
  unsigned Jobs = 1; ///< Candidates that are judged at a time.
  /// Kernels that are searched at a time; the same store, whatever the number.
  unsigned AtOnce = 1;
  /// The cluster whose nodes judge candidates (gatePlace); nothing: here.
  std::optional<SlurmOptions> Cluster;
  bool Resume = false;
  bool Wait = true;              ///< For results of a GPU elsewhere.
  bool Verbose = false;          ///< Say why each candidate was dropped.
  bool Json = false;             ///< The table is one JSON object.
  std::string Strategies;        ///< Folder of the library; "": cuPilot's.
  std::vector<std::string> Like; ///< Stores, for seedGenomes.
  bool FromStore = false; ///< Begin with the store's variants of the kernels.
  std::optional<AgentSettings> Models; ///< None: rules translate.
  /// The only candidate, of one kernel; null: candidates are searched.
  const SubmittedVariant *Submitted = nullptr;
  /// How long to wait for another search of a kernel in this store.
  std::chrono::milliseconds LockWait{0};

  bool isModule() const;
  bool isProject() const { return Input.empty() && !Project.empty(); }
  bool isDryRun() const { return Models && Models->DryRun; }
};

/// Searches the kernels that the workloads launch, those with the largest share
/// of the time first, and puts what is accepted into the store. Progress goes
/// to
/// \p Log; the table of all kernels (SearchTable), or the prompts of a dry run,
/// to \p Out. A kernel that fails is left out, with its reason. Findings: no
/// kernel is launched, or no variant was accepted. Resource errors, after the
/// others were searched: something outside failed for a kernel, results of a
/// GPU are awaited; at once: the budget is used up.
llvm::Error evolve(const EvolveRequest &R, llvm::raw_ostream &Out,
                   llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_EVOLVE_H
