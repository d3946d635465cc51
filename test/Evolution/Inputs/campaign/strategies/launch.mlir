// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies about launches: who does how much.

module attributes {cupilot.format = 6 : i64} {
  cupilot.strategy @block_size bottleneck(latency) min_arch(50)
      params({x = [32, 64, 128, 256, 512, 1024]})
      shown_by(probe(block_threads)) origin("plain")
      "Launch blocks of another size, with the same threads in all"

  cupilot.strategy @block_shape bottleneck(latency) min_arch(50)
      params({x = [32, 64, 128], y = [1, 2, 4, 8]}) conflicts([@block_size])
      origin("plain")
      "Launch blocks of another shape in x and y, with the same threads in all"

  cupilot.strategy @rows_per_block bottleneck(latency) min_arch(50)
      params({rows = [2, 4, 8, 16]}) conflicts([@block_size, @block_shape])
      origin("plain")
      "Let a block take several rows, where each had a small block of its own"

  cupilot.strategy @more_threads bottleneck(latency) min_arch(50)
      params({factor = [2, 4, 8, 16]}) conflicts([@thread_coarsening])
      shown_by(plan(more_blocks)) origin("plain")
      "Launch several times the blocks, so that each thread of a grid-stride loop does less"

  cupilot.strategy @thread_coarsening bottleneck(latency) min_arch(50)
      params({factor = [2, 4, 8]}) conflicts([@vectorized_access]) resources({registers = 16})
      shown_by(plan(fewer_threads)) origin("plain")
      "Let each thread do the work of several, by a grid-stride loop"

  cupilot.strategy @launch_bounds bottleneck(latency) min_arch(50)
      params({max_threads = [128, 256, 512, 1024], min_blocks = [1, 2, 4]})
      shown_by(instruction(".maxntid", ".reqntid", ".minnctapersm", ".maxnreg")) origin("plain")
      "Tell the compiler the block size and how many blocks shall be resident"

  cupilot.strategy @persistent_kernel bottleneck(latency) min_arch(70)
      params({blocks_per_sm = [1, 2]}) conflicts([@thread_coarsening]) resources({registers = 24})
      shown_by(plan(resident_blocks)) origin("hopper")
      "Launch as many blocks as fit and let each fetch tiles until none is left"

  cupilot.strategy @block_swizzle bottleneck(memory) min_arch(50)
      params({group = [4, 8, 16]})
      origin("paper")
      "Visit tiles in an order that keeps neighbours together in the L2 cache"

  cupilot.strategy @split_reduction bottleneck(latency) min_arch(50)
      params({parts = [2, 4, 8, 32, 128]}) resources({scratch_bytes = 4096})
      shown_by(plan(more_launches, more_blocks) or instruction("atom", "red.", "barrier.cluster")) origin("plain")
      "Split a long reduction over several blocks and combine the parts"
}
