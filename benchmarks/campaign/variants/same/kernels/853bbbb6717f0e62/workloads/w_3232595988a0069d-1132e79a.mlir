module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_3232595988a0069d of "_Z6cumsumPKfPfi" only gpu grid [32768, 1, 1] block [256, 1, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00800000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 4294967296, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 4294967296, align = 256, generator = "f32 output">]
}

