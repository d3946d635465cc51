module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_91dbf2b94562e13d of "_Z7rmsNormPKfPfiif" only gate grid [4, 2, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "40000000", "00040000", "acc52737"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 524288, align = 256, digest = "b3:f0d8d4fbe4225c7a3ef3a4002cd294369a6400fa526a29f8b338496c7d2afa9e", generator = "f32 uniform seed=1">, #cupilot.buffer<size = 524288, align = 256, digest = "b3:934d6b7aea5a339a9e858430cca7ac455d3537e70fd2b302931cc93b25e1df9a", generator = "f32 output">]
}

