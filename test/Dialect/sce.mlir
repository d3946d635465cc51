// The SCE operators: valid by construction, and the same for the same seed.
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-initialise{seed=7 population=6})' > %t.a
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-initialise{seed=7 population=6})' > %t.b
// RUN: diff %t.a %t.b
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-initialise{seed=8 population=6})' > %t.c
// RUN: not diff %t.a %t.c
// RUN: FileCheck %s < %t.a
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-select{seed=1 offspring=3},cupilot-crossover{seed=1 generation=4},cupilot-mutate{seed=1 generation=4 rate=0},cupilot-align)' | FileCheck %s --check-prefix=CROSS
// Of an accepted fitter parent each gene stays, and what conflicts with it does not come.
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-select{seed=5 offspring=12},cupilot-crossover{seed=5 generation=4},cupilot-mutate{seed=5 generation=4 rate=100 keep=true})' | sed '/kernel @crowd/,$d' | FileCheck %s --check-prefix=KEPT --implicit-check-not='g4_{{.*}}swizzle'
// KEPT: cupilot.kernel @k
// KEPT-COUNT-12: g4_v{{.*}}<@tile, {size = {{[0-9]+}} : i64}>, <@pad
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-prune{keep=1})' | FileCheck %s --check-prefix=PRUNE
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-prune{keep=3 elite=1 crowd=10})' | FileCheck %s --check-prefix=CROWD
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-prune{keep=3 elite=1})' | FileCheck %s --check-prefix=FITTEST
// RUN: not cupilot-opt %s --pass-pipeline='builtin.module(cupilot-mutate{tallies=tile:1:2})' 2>&1 | FileCheck %s --check-prefix=TALLY
// TALLY: error: {{.*}}'tile:1:2' is not NAME:TRIED:HELPED
// RUN: cupilot-opt %s --pass-pipeline='builtin.module(cupilot-initialise{seed=7 population=20 strategies=tile,pad tallies=tile:9:9})' | FileCheck %s

cupilot.strategy @tile bottleneck(memory) min_arch(50) params({size = [8, 16, 32]}) requires([]) conflicts([]) "s"
cupilot.strategy @pad bottleneck(memory) min_arch(50) params({}) requires([@tile]) conflicts([@swizzle]) "s"
cupilot.strategy @swizzle bottleneck(memory) min_arch(50) params({}) requires([@tile]) conflicts([@pad]) "s"
// CHECK: cupilot.kernel @k
// CHECK-COUNT-4: cupilot.variant @g0_v
// CROSS: cupilot.variant @p0
// CROSS: cupilot.variant @g4_v{{[0-9]}} parents([@p
// PRUNE: cupilot.variant @p0
// PRUNE-NOT: cupilot.variant @p1
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  cupilot.variant @p0 parents([]) genome(#cupilot.genome<[<@tile, {size = 16}>, <@pad, {}>]>) fitness(2.0) outcome("accepted")
  cupilot.variant @p1 parents([]) genome(#cupilot.genome<[<@tile, {size = 32}>, <@swizzle, {}>]>) fitness(1.0) outcome("slower")
}
// Three that are alike, and one that is not; a duplicate is of no use.
// CROWD: cupilot.kernel @crowd
// CROWD: @q0
// CROWD: @q1
// CROWD-NOT: @q2
// CROWD: @q3
// CROWD-NOT: @q4
// FITTEST: cupilot.kernel @crowd
// FITTEST: @q0
// FITTEST: @q1
// FITTEST: @q2
// FITTEST-NOT: @q3
cupilot.kernel @crowd symbol("crowd") digest("b3:0000000000000000000000000000000000000000000000000000000000000001") params([]) scalars([]) pointers([]) contract(same) {
  cupilot.variant @q0 parents([]) genome(#cupilot.genome<[<@tile, {size = 16}>]>) fitness(2.0) outcome("accepted")
  cupilot.variant @q1 parents([]) genome(#cupilot.genome<[<@tile, {size = 32}>]>) fitness(1.99) outcome("accepted")
  cupilot.variant @q2 parents([]) genome(#cupilot.genome<[<@tile, {size = 8}>]>) fitness(1.98) outcome("accepted")
  cupilot.variant @q3 parents([]) genome(#cupilot.genome<[<@tile, {size = 16}>, <@swizzle, {}>]>) fitness(1.97) outcome("accepted")
  cupilot.variant @q4 parents([]) genome(#cupilot.genome<[<@tile, {size = 16}>, <@pad, {}>]>) fitness(9.0) outcome("duplicate")
}
