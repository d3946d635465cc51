module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_baf5fa20bc88e71c of "_Z7rmsNormPKfPfiif" only gpu grid [1024, 112, 1] block [256, 1, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "40000000", "00000400", "acc52737"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 7516192768, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 7516192768, align = 256, generator = "f32 output">]
}

