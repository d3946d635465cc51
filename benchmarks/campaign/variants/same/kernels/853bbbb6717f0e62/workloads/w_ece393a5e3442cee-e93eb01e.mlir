module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_ece393a5e3442cee of "_Z6cumsumPKfPfi" only gate grid [5, 1, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "e9030000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 20020, align = 256, digest = "b3:98aaad851ba79a1a76a1f939498f781ceda0535dca6162586ca9397d16ca13aa", generator = "f32 normal seed=1">, #cupilot.buffer<size = 20020, align = 256, digest = "b3:dc7bb5d8d71d5b0da0268eac72b30ddf655e41f5de8454fd11d5656f4727fa8d", generator = "f32 output">]
}

