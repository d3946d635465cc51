// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies about tensor cores before Hopper.

module attributes {cupilot.format = 6 : i64} {
  cupilot.strategy @tensor_core_mma bottleneck(compute) min_arch(80)
      params({precision = ["tf32", "bf16x3", "f16"]}) requires([@shared_memory_tiling]) conflicts([@register_blocking, @wgmma])
      resources({registers = 64}) shown_by(instruction("mma.sync")) evident reads(precision = factors) origin("paper")
      "Multiply on the tensor cores with warp-level instructions (mma.sync)"

  cupilot.strategy @ldmatrix bottleneck(memory) min_arch(75)
      params({count = [2, 4]}) requires([@tensor_core_mma])
      shown_by(instruction("ldmatrix")) evident reads(count = matrices) origin("paper")
      "Load the operands of tensor instructions by ldmatrix"

  cupilot.strategy @mma_pipeline bottleneck(latency) min_arch(80)
      params({depth = [2, 3]}) requires([@tensor_core_mma, @double_buffering]) resources({registers = 32})
      shown_by(instruction("mma.sync", "wgmma.mma_async")) origin("paper")
      "Overlap the loading of fragments with tensor instructions"

  cupilot.strategy @swapped_product bottleneck(compute) min_arch(80)
      origin("plain")
      "Compute the transposed product, so that each operand lies as the tensor instructions want it: what is in the wrong order goes through registers, the other stays in shared memory"

  cupilot.strategy @implicit_gemm bottleneck(compute) min_arch(50)
      requires([@shared_memory_tiling])
      origin("plain")
      "Compute a convolution as a matrix product whose operand is gathered from the input's tile on the way, without writing it out"
}
