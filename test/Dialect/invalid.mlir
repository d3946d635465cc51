// RUN: cupilot-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{parameter 'x' needs a domain}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({x = []}) requires([]) conflicts([]) "s"

// -----

// expected-error @+1 {{must hold integers only, or strings only}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({x = [1, "b"]}) requires([]) conflicts([]) "s"

// -----

// expected-error @+1 {{a strategy cannot name itself in 'requires'}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({}) requires([@a]) conflicts([]) "s"

// -----

// expected-error @+1 {{@b is both required and in conflict}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({}) requires([@b]) conflicts([@b]) "s"

// -----

// expected-error @+1 {{is no digest}}
cupilot.kernel @k symbol("k") digest("abc") params([]) scalars([]) pointers([]) contract(same) {}

// -----

// expected-error @+1 {{a bound of the norm stands beside a tolerance}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) norm(1.0e-4) {}

// -----

// expected-error @+1 {{a tolerance belongs to contract(relaxed)}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(relaxed) {}

// -----

// expected-error @+1 {{a range and 'biased' belong to relaxed}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) biased {}

// -----

// expected-error @+1 {{'range(x)' contains no number}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(relaxed) tolerance(1.0e-3) ranges([#cupilot.magnitudes<low = 2.0, high = 1.0, buffer = "x">]) {}

// -----

// expected-error @+1 {{lies outside the parameters}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([#cupilot.scalar<param = 0, bits = 32, is_signed = true>]) pointers([]) contract(same) {}

// -----

// expected-error @+1 {{a scalar has 8, 16, 32 or 64 bits, not 24}}
#s = #cupilot.scalar<param = 0, bits = 24, is_signed = true>

// -----

// expected-error @+1 {{an alignment is a power of two, not 12}}
#s = #cupilot.align<pointer = <param = 0>, bytes = 12>

// -----

// expected-error @+1 {{a genome holds each strategy at most once, but @a comes twice}}
#g = #cupilot.genome<[<@a, {}>, <@a, {}>]>

// -----

// expected-error @+1 {{must have the 7 dims of a launch}}
#g = #cupilot.guard<"sm_90", affine_set<(d0) : (d0 == 0)>>

// -----

// expected-error @+1 {{a guard names the architecture as "sm_NN"}}
#g = #cupilot.guard<"hopper", affine_set<(a, b, c, d, e, f, g) : (a == 0)>>

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{"strategy-translator 2" is no prompt (name, version and digest)}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[]>) {prompts = ["strategy-translator 2"]}
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{has an unknown outcome, "splendid"}}
  cupilot.variant @v genome(<[]>) outcome("splendid")
}

// -----

// expected-error @+1 {{a ratio lies inside its interval}}
#m = #cupilot.measurement<device = "x", basis = "modelled", ratio = 3.0, low = 1.0, high = 2.0, gate = 1, checks = 1, build = <compiler = "c", arch = "sm_90", digest = "b3:0000000000000000000000000000000000000000000000000000000000000000">>

// -----

cupilot.strategy @a bottleneck(memory) min_arch(50) params({x = [1, 2]}) requires([@b]) conflicts([@c]) "s"
cupilot.strategy @b bottleneck(memory) min_arch(50) params({}) requires([]) conflicts([]) "s"
cupilot.strategy @c bottleneck(memory) min_arch(50) params({}) requires([]) conflicts([]) "s"
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{gene @a requires @b ('requires' of @a)}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[<@a, {x = 1}>]>)
}

// -----

cupilot.strategy @a bottleneck(memory) min_arch(50) params({x = [1, 2]}) requires([]) conflicts([]) "s"
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{is outside the domain of 'x'}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[<@a, {x = 3}>]>)
}

// -----

cupilot.strategy @a bottleneck(memory) min_arch(50) params({}) requires([]) conflicts([@c]) "s"
cupilot.strategy @c bottleneck(memory) min_arch(50) params({}) requires([]) conflicts([]) "s"
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{gene @a conflicts with @c ('conflicts' of @a)}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[<@a, {}>, <@c, {}>]>)
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{'cluster' has three dimensions, which divide those of the grid, and 16 blocks at most}}
  cupilot.workload @w of "k" grid [3, 1, 1] block [1, 1, 1] cluster [2, 1, 1] shared 0 count 1 weight 0.5 "modelled" args [] addresses [] buffers []
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{'after' has a digest, or "", for each buffer}}
  cupilot.workload @w of "k" grid [1, 1, 1] block [1, 1, 1] shared 0 count 1 weight 0.5 "modelled" args [] addresses [] buffers [] after [""]
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{'block' is at least 1}}
  cupilot.workload @w of "k" grid [1, 1, 1] block [0, 1, 1] shared 0 count 1 weight 0.5 "modelled" args [] addresses [] buffers []
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{invalid only attribute specification: "nobody"}}
  cupilot.workload @w of "k" only "nobody" grid [1, 1, 1] block [1, 1, 1] shared 0 count 1 weight 0.5 "modelled" args [] addresses [] buffers []
}

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{"" is no digest}}
  cupilot.workload @w of "k" grid [1, 1, 1] block [1, 1, 1] shared 0 count 1 weight 0.5 "modelled" args [] addresses [] buffers [#cupilot.buffer<size = 4, align = 4, file = "d">]
}

// -----

// expected-error @+1 {{a fact of a plan is one of more_launches, more_blocks, fewer_threads, resident_blocks, cluster, scratch, tensormap, not "more_luck"}}
cupilot.strategy @a bottleneck(memory) min_arch(50) shown_by(plan(cluster, more_luck)) "s"

// -----

// expected-error @+1 {{a probe of code is one of shared_memory, wider_access, more_unrolled, block_threads, inline_assembly, not "luck"}}
cupilot.strategy @a bottleneck(memory) min_arch(50) shown_by(probe(luck)) "s"

// -----

// expected-error @+1 {{"mmma.sync" is no pattern of PTX: its first word is none of the instructions abs activemask}}
cupilot.strategy @a bottleneck(memory) min_arch(50) shown_by(probe(shared_memory), instruction("mma.sync", "mmma.sync")) "s"

// -----

// expected-error @+1 {{".mma" is no pattern of PTX}}
#s = #cupilot.sign<instruction(".mma")>

// -----

// expected-error @+1 {{a sign has at least one alternative}}
#s = #cupilot.sign<plan()>

// -----

// expected-error @+1 {{a sign is plan(...), probe(...) or instruction(...)}}
cupilot.strategy @a bottleneck(memory) min_arch(50) shown_by(opcode("mma")) "s"

// -----

// expected-error @+1 {{a value that code shows is one of columns, factors, matrices, immediate, cluster_blocks, swizzle, not "luck"}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = [1]}) shown_by(instruction("mma.sync")) reads(n = luck) "s"

// -----

// expected-error @+1 {{has no parameter 'm' to read}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = [1]}) shown_by(instruction("mma.sync")) reads(m = columns) "s"

// -----

// expected-error @+1 {{reads parameter 'n' twice}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = [1]}) shown_by(instruction("mma.sync")) reads(n = columns, n = immediate) "s"

// -----

// expected-error @+1 {{parameter 'n' cannot be read: 'factors' is a word}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = [1]}) shown_by(instruction("mma.sync")) reads(n = factors) "s"

// -----

// expected-error @+1 {{parameter 'n' cannot be read: 'columns' is an integer}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = ["f16"]}) shown_by(instruction("mma.sync")) reads(n = columns) "s"

// -----

// expected-error @+1 {{is 'evident' by nothing: 'shown_by' is missing}}
cupilot.strategy @a bottleneck(memory) min_arch(50) evident "s"

// -----

// expected-error @+1 {{is 'evident', but parameter 'n' is not read}}
cupilot.strategy @a bottleneck(memory) min_arch(50) params({n = [1]}) shown_by(instruction("mma.sync")) evident "s"

// -----

// expected-error @+2 {{failed to parse Cupilot_MeasurementAttr parameter 'basis'}}
// expected-error @+1 {{where a figure comes from is one of static, modelled, measured, declared, not "guessed"}}
#m = #cupilot.measurement<device = "x", basis = guessed, ratio = 1.0, low = 1.0, high = 1.0, gate = 1, checks = 1, build = <compiler = "c", arch = "sm_90", digest = "b3:0000000000000000000000000000000000000000000000000000000000000000">>

// -----

// expected-error @+1 {{a measurement is modelled, measured or declared, not static}}
#m = #cupilot.measurement<device = "x", basis = static, ratio = 1.0, low = 1.0, high = 1.0, gate = 1, checks = 1, build = <compiler = "c", arch = "sm_90", digest = "b3:0000000000000000000000000000000000000000000000000000000000000000">>

// -----

// expected-error @+1 {{a roofline is static, modelled or measured, not declared}}
#r = #cupilot.roofline<bottleneck = memory, basis = declared, intensity = 1.0>

// -----

cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") contract(same) {
  // expected-error @+1 {{a weight is modelled or measured, not static}}
  cupilot.workload @w of "k" grid [1, 1, 1] block [1, 1, 1] shared 0 count 1 weight 0.5 static args [] addresses [] buffers []
}

// -----

// expected-error @+1 {{attribute 'pointers' failed to satisfy constraint: its pointers (array of #cupilot.pointer)}}
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") pointers([0]) contract(same) {}
