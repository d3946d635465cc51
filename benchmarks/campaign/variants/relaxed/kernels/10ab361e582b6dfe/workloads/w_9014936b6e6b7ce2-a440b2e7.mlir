module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_9014936b6e6b7ce2 of "_Z11batchedGemmPKfS0_Pfiii" only gpu grid [64, 16, 128] block [32, 32, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "00020000", "00080000", "00040000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 2>] buffers [#cupilot.buffer<size = 268435456, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 1073741824, align = 256, generator = "f32 rand seed=2">, #cupilot.buffer<size = 536870912, align = 256, generator = "f32 output">]
}

