//===- Passes.td - Passes over cupilot modules -*- tablegen -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DIALECT_TRANSFORMS_PASSES_TD
#define CUPILOT_DIALECT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InitialisePass : Pass<"cupilot-initialise", "::mlir::ModuleOp"> {
  let summary = "Give each kernel a start population of valid genomes";
  let options = [
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random numbers">,
    Option<"population", "population", "unsigned", "12", "Variants per kernel">,
    ListOption<"strategies", "strategies", "std::string", "Strategies to draw from; all if empty">,
    ListOption<"tallies", "tallies", "std::string", "NAME:TRIED:HELPED of strategies; they steer the draw">,
    ListOption<"genomes", "genomes", "std::string", "Genomes to begin with, their genes joined by '+'">,
    ListOption<"refused", "refused", "std::string", "Genomes that cannot be made for the kernel">,
    ListOption<"favoured", "favoured", "std::string", "Genes to draw before others of their strategies">
  ];
}

def SelectPass : Pass<"cupilot-select", "::mlir::ModuleOp"> {
  let summary = "Choose parents by tournament";
  let description = [{
    Sets the attribute cupilot.parents, pairs of variants with different genomes
    where there are such, on each kernel. In a tournament the fitness of a variant
    counts less by `crowd` percent for each other one with the same strategies,
    down to half. Duplicates, of which the device code is that of another one, do
    not take part.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random numbers">,
    Option<"generation", "generation", "unsigned", "1", "Number of the generation">,
    Option<"tournament", "tournament", "unsigned", "3", "Variants that meet in a tournament">,
    Option<"offspring", "offspring", "unsigned", "8", "Pairs to choose">,
    Option<"crowd", "crowd", "unsigned", "0", "Percentage that each variant of the same strategies costs">
  ];
}

def CrossoverPass : Pass<"cupilot-crossover", "::mlir::ModuleOp"> {
  let summary = "Cross the strategies of chosen parents";
  let description = [{
    Makes a variant of each pair in cupilot.parents, and drops that attribute. Of
    the fitter parent, if it was accepted, all genes stay: they are proved.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random numbers">,
    Option<"generation", "generation", "unsigned", "1", "Number of the generation">,
    ListOption<"strategies", "strategies", "std::string", "Strategies to draw from; all if empty">,
    ListOption<"refused", "refused", "std::string", "Genomes that cannot be made for the kernel">
  ];
}

def MutatePass : Pass<"cupilot-mutate", "::mlir::ModuleOp"> {
  let summary = "Change some of the variants that have not been judged";
  let description = [{
    With `keep`, genes of the fitter parent, if it was accepted, may get other
    values but do not go.
  }];
  let options = [
    Option<"keep", "keep", "bool", "false", "Take away no proved gene">,
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random numbers">,
    Option<"generation", "generation", "unsigned", "1", "Number of the generation">,
    Option<"rate", "rate", "unsigned", "40", "Percentage of variants that change">,
    ListOption<"strategies", "strategies", "std::string", "Strategies to draw from; all if empty">,
    ListOption<"tallies", "tallies", "std::string", "NAME:TRIED:HELPED of strategies; they steer the draw">,
    ListOption<"refused", "refused", "std::string", "Genomes that cannot be made for the kernel">,
    ListOption<"favoured", "favoured", "std::string", "Genes to draw before others of their strategies">
  ];
}

def AlignPass : Pass<"cupilot-align", "::mlir::ModuleOp"> {
  let summary = "Bring genomes into library order and drop unjudged repetitions";
}

def PrunePass : Pass<"cupilot-prune", "::mlir::ModuleOp"> {
  let summary = "Keep the best variants (elitism)";
  let description = [{
    The `elite` fittest stay in any case. The other places go, one by one, to the
    fittest of those that are left, their fitness counting less by `crowd` percent
    for each one that stays and has the same strategies, down to half. Duplicates
    go first.
  }];
  let options = [
    Option<"keep", "keep", "unsigned", "12", "Variants that stay per kernel">,
    Option<"elite", "elite", "unsigned", "2", "Of them, those that fitness alone chooses">,
    Option<"crowd", "crowd", "unsigned", "0", "Percentage that each variant of the same strategies costs">
  ];
}

def VerifyLibraryPass : Pass<"cupilot-verify-library", "::mlir::ModuleOp"> {
  let summary = "Check a strategy library as a whole";
  let description = [{
    No cycle of requirements, no reference to a strategy that is not there, no
    strategy that can never be used because what it requires is in conflict.
  }];
}

def ExtractGpuPass : Pass<"cupilot-extract-gpu", "::mlir::ModuleOp"> {
  let summary = "Describe the GPU kernels of a module as cupilot.kernel operations";
  let description = [{
    Kernels are gpu.func operations marked as kernels, and llvm.func operations
    with nvvm.kernel or the calling convention ptx_kernelcc. Each is classified
    from its operations: floating-point operations against bytes of memory.
  }];
  let dependentDialects = ["::cupilot::CupilotDialect"];
}

#endif // CUPILOT_DIALECT_TRANSFORMS_PASSES_TD
