module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_f684b4541f9edb31 of "_Z7softmaxPKfPfi" only gate grid [4, 1, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00300000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 196608, align = 256, digest = "b3:162f552b4cf7a46621152b8d67b2be3a2038a6332bfedbbec99103cbd8aa5e0a", generator = "f32 uniform seed=1">, #cupilot.buffer<size = 196608, align = 256, digest = "b3:678426dad0d75d6bce039eab4a2414eda52eb1368db475e6b5fee2cf97a42495", generator = "f32 output">]
}

