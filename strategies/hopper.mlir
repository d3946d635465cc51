// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategies that Hopper (sm_90) adds.

module attributes {cupilot.format = 1 : i64} {
  cupilot.strategy @bulk_copy bottleneck(memory) min_arch(90)
      params({}) requires([@shared_memory_tiling]) conflicts([@async_copy])
      origin("hopper")
      "Copy whole tiles by the bulk engine (cp.async.bulk) with a barrier in memory"

  cupilot.strategy @tma_tensor_copy bottleneck(memory) min_arch(90)
      params({swizzle = ["none", "32B", "64B", "128B"]}) requires([@bulk_copy]) conflicts([])
      resources({tensor_maps = 2}) origin("hopper")
      "Copy tiles by tensor maps (TMA), swizzled on the way"

  cupilot.strategy @wgmma bottleneck(compute) min_arch(90)
      params({n = [64, 128, 256]}) requires([@tma_tensor_copy]) conflicts([@register_blocking, @tensor_core_mma])
      resources({registers = 128}) origin("hopper")
      "Multiply by warp-group instructions that read shared memory (wgmma)"

  cupilot.strategy @warp_specialization bottleneck(latency) min_arch(90)
      params({consumers = [1, 2]}) requires([@bulk_copy]) conflicts([])
      resources({registers = 16}) origin("hopper")
      "Let some warps copy and others compute"

  cupilot.strategy @thread_block_cluster bottleneck(memory) min_arch(90)
      params({size = [2, 4, 8]}) requires([]) conflicts([])
      origin("hopper")
      "Launch blocks in clusters that share each other's shared memory"

  cupilot.strategy @multicast bottleneck(memory) min_arch(90)
      params({}) requires([@thread_block_cluster, @tma_tensor_copy]) conflicts([])
      origin("hopper")
      "Let one copy fill the shared memory of all blocks of a cluster"

  cupilot.strategy @setmaxnreg bottleneck(latency) min_arch(90)
      params({consumer_registers = [160, 208, 240]}) requires([@warp_specialization]) conflicts([])
      origin("hopper")
      "Move registers from copying to computing warps"
}
