// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies that Hopper (sm_90) adds.

module attributes {cupilot.format = 6 : i64} {
  cupilot.strategy @bulk_copy bottleneck(memory) min_arch(90)
      requires([@shared_memory_tiling]) conflicts([@async_copy])
      shown_by(instruction("cp.async.bulk.shared", "cp.async.bulk.global", "cp.async.bulk.tensor", "cp.reduce.async.bulk")) evident
      origin("hopper")
      "Copy whole tiles by the bulk engine (cp.async.bulk) with a barrier in memory"

  cupilot.strategy @tma_tensor_copy bottleneck(memory) min_arch(90)
      params({swizzle = ["none", "32B", "64B", "128B"]}) requires([@bulk_copy]) resources({tensor_maps = 2})
      shown_by(instruction("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor")) evident reads(swizzle = swizzle) origin("hopper")
      "Copy tiles by tensor maps (TMA), swizzled on the way"

  cupilot.strategy @wgmma bottleneck(compute) min_arch(90)
      params({n = [64, 128, 256]}) requires([@shared_memory_tiling]) conflicts([@register_blocking, @tensor_core_mma])
      resources({registers = 128}) shown_by(instruction("wgmma.mma_async")) evident reads(n = columns) origin("hopper")
      "Multiply by warp-group instructions that read shared memory (wgmma)"

  cupilot.strategy @warp_specialization bottleneck(latency) min_arch(90)
      params({consumers = [1, 2]}) requires([@bulk_copy]) resources({registers = 16})
      origin("hopper")
      "Let some warps copy and others compute"

  cupilot.strategy @thread_block_cluster bottleneck(memory) min_arch(90)
      params({size = [2, 4, 8]})
      shown_by(plan(cluster) or instruction(".reqnctapercluster", ".explicitcluster")) evident reads(size = cluster_blocks)
      origin("hopper")
      "Launch blocks in clusters that share each other's shared memory"

  cupilot.strategy @multicast bottleneck(memory) min_arch(90)
      requires([@thread_block_cluster, @tma_tensor_copy])
      shown_by(instruction("multicast::cluster")) evident origin("hopper")
      "Let one copy fill the shared memory of all blocks of a cluster"

  cupilot.strategy @setmaxnreg bottleneck(latency) min_arch(90)
      params({consumer_registers = [160, 208, 240]}) requires([@warp_specialization])
      shown_by(instruction("setmaxnreg")) evident reads(consumer_registers = immediate) origin("hopper")
      "Move registers from copying to computing warps"
}
