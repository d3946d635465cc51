module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_473bada4e52d5f34 of "_Z20gelu_backward_kernelPfPKfS1_i" only gpu grid [98304, 1, 1] block [128, 1, 1] shared 0 count 1 weight 2.500000e-01 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "0000c000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 0>] buffers [#cupilot.buffer<size = 50331648, align = 256, digest = "b3:518f80e324445676db0df6059fe2ea00e91f1189b3470d3410a0f84e4824da66", generator = "f32 normal seed=2">, #cupilot.buffer<size = 50331648, align = 256, digest = "b3:04f89ad37fabc3c92fe97f48d36966aab06f8c4b526aa9fcd5df389035b529d9", generator = "f32 normal seed=1">]
}

