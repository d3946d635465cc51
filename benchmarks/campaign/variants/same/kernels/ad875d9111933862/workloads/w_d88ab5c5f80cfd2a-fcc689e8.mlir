module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_d88ab5c5f80cfd2a of "_Z7softmaxPKfPfi" only gpu grid [4096, 1, 1] block [256, 1, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00000600"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 6442450944, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 6442450944, align = 256, generator = "f32 output">]
}

