module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_4c7cc61b412c5a04 of "_Z7rmsNormPKfPfiif" only gate grid [2, 3, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "05000000", "2c010000", "acc52737"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 18000, align = 256, digest = "b3:15b288c2f72d786688b4062a8fe354201b5c3f1aa7a22bb669d763834d5a06c0", generator = "f32 normal seed=1">, #cupilot.buffer<size = 18000, align = 256, digest = "b3:1e42b7d19817ea55a7a7d7b0cece49e204dc723647461b83735bd95e22658db8", generator = "f32 output">]
}

