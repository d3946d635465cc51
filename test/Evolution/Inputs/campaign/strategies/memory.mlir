// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies about memory: fewer bytes, wider accesses, nearer data.

module attributes {cupilot.format = 6 : i64} {
  cupilot.strategy @vectorized_access bottleneck(memory) min_arch(50)
      params({width = [2, 4]}) conflicts([@thread_coarsening]) resources({registers = 8})
      shown_by(probe(wider_access)) origin("paper")
      "Load and store several neighbouring elements at once"

  cupilot.strategy @restrict_pointers bottleneck(memory) min_arch(50)
      origin("plain")
      "Say that arrays do not overlap, so that values stay in registers and loads are issued early"

  cupilot.strategy @read_only_loads bottleneck(memory) min_arch(50)
      shown_by(instruction("ld.global.nc", "tex.")) origin("plain")
      "Load what the kernel never writes through the read-only path"

  cupilot.strategy @cache_hints bottleneck(memory) min_arch(50)
      params({policy = ["streaming"]})
      shown_by(instruction(".cs", ".cg", ".lu", ".cv", ".wt", "L1::", "L2::", "prefetch", "createpolicy")) origin("plain")
      "Mark data that is touched once, so that it does not push out what is reused"

  cupilot.strategy @shared_memory_tiling bottleneck(memory) min_arch(50)
      params({tile = [16, 32, 64, 128]}) resources({shared_bytes = 16384})
      shown_by(probe(shared_memory)) origin("paper")
      "Bring tiles that several threads use into shared memory once"

  cupilot.strategy @halo_tiling bottleneck(memory) min_arch(50)
      params({}) conflicts([@shared_memory_tiling]) resources({shared_bytes = 8192})
      shown_by(probe(shared_memory)) origin("plain")
      "Bring a block's tile and its halo into shared memory once, where threads read their neighbours' elements"

  cupilot.strategy @shared_padding bottleneck(memory) min_arch(50)
      params({words = [1, 4]}) requires([@shared_memory_tiling]) conflicts([@shared_swizzle])
      resources({shared_bytes = 512}) shown_by(probe(shared_memory)) origin("paper")
      "Pad rows of shared tiles, so that columns fall into different banks"

  cupilot.strategy @shared_swizzle bottleneck(memory) min_arch(50)
      params({bits = [2, 3]}) requires([@shared_memory_tiling]) conflicts([@shared_padding])
      shown_by(probe(shared_memory)) origin("paper")
      "Permute the columns of shared tiles by an exclusive or with the row"

  cupilot.strategy @double_buffering bottleneck(latency) min_arch(50)
      params({stages = [2, 3, 4]}) requires([@shared_memory_tiling]) resources({shared_bytes = 16384, registers = 8})
      origin("paper")
      "Load the next tile while the present one is used"

  cupilot.strategy @async_copy bottleneck(latency) min_arch(80)
      params({bytes = [4, 8, 16]}) requires([@shared_memory_tiling]) conflicts([@bulk_copy])
      shown_by(instruction("cp.async.ca.shared", "cp.async.cg.shared")) evident reads(bytes = immediate) origin("paper")
      "Copy from global to shared memory without registers (cp.async)"

  cupilot.strategy @load_hoisting bottleneck(latency) min_arch(50)
      resources({registers = 8}) origin("plain")
      "Issue loads early, before their values are needed"

  cupilot.strategy @constant_memory bottleneck(memory) min_arch(50)
      resources({constant_bytes = 4096})
      shown_by(instruction(".const")) origin("plain")
      "Keep small tables that all threads read alike in constant memory"

  cupilot.strategy @coalesced_layout bottleneck(memory) min_arch(50)
      requires([@shared_memory_tiling])
      shown_by(probe(shared_memory)) origin("plain")
      "Turn strided global accesses into contiguous ones by way of shared memory"

  cupilot.strategy @on_chip_reuse bottleneck(memory) min_arch(50)
      params({place = ["registers", "shared", "cluster"]}) resources({registers = 32})
      origin("plain")
      "Keep what a later pass over the same data needs in registers, in shared memory, or in that of a cluster's blocks, so that it is loaded once"

  cupilot.strategy @sliding_window bottleneck(memory) min_arch(50)
      params({rows = [4, 8, 16, 32]}) resources({registers = 16})
      origin("plain")
      "Walk a thread along a window's direction and keep the window's rows in registers, so that each input is loaded once and each partial result is used again"
}
