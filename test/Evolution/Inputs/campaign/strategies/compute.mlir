// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies about instructions.

module attributes {cupilot.format = 6 : i64} {
  cupilot.strategy @unroll bottleneck(latency) min_arch(50)
      params({factor = [2, 4, 8]}) resources({registers = 8})
      shown_by(probe(more_unrolled)) origin("plain")
      "Unroll the innermost loops"

  cupilot.strategy @fast_intrinsics bottleneck(compute) min_arch(50)
      shown_by(instruction(".approx", ".ftz")) origin("plain")
      "Use the special units' approximate functions; needs a relaxed contract"

  cupilot.strategy @register_blocking bottleneck(compute) min_arch(50)
      params({m = [2, 4, 8], n = [2, 4, 8]}) requires([@shared_memory_tiling]) conflicts([@tensor_core_mma, @wgmma])
      resources({registers = 64}) origin("paper")
      "Compute a block of results per thread from registers"

  cupilot.strategy @loop_tiling bottleneck(compute) min_arch(50)
      params({k = [8, 16, 32]}) requires([@shared_memory_tiling])
      origin("paper")
      "Tile the reduction loop so that a tile's operands stay near"

  cupilot.strategy @warp_shuffle_reduction bottleneck(latency) min_arch(50)
      shown_by(instruction("shfl.sync", "redux.sync")) origin("plain")
      "Reduce within warps by shuffles, and across warps by shared memory once"

  cupilot.strategy @online_reduction bottleneck(memory) min_arch(50)
      resources({registers = 4}) origin("plain")
      "Compute dependent reductions (maximum and sum, mean and variance) in one pass"

  cupilot.strategy @privatized_atomics bottleneck(latency) min_arch(50)
      params({copies = [1, 2, 4]}) resources({shared_bytes = 4096})
      shown_by(probe(shared_memory), instruction("atom", "red.")) origin("plain")
      "Count into private copies in shared memory and merge them at the end"

  cupilot.strategy @strength_reduction bottleneck(compute) min_arch(50)
      origin("plain")
      "Replace divisions and index multiplications in loops by increments"

  cupilot.strategy @ptx_level bottleneck(compute) min_arch(50)
      shown_by(probe(inline_assembly)) origin("paper")
      "Write the innermost instructions in PTX"
}
