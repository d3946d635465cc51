module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_8ab1ab103dbcc0a9 of "_Z7maxPoolPKfPfii" only gate grid [16, 4, 2] block [32, 8, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "20000000", "00020000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 131072, align = 256, digest = "b3:3118188e8e03cd40b0d8b51fac045de5fee189c50cb2ad898666b66bd7fe6164", generator = "f32 uniform seed=1">, #cupilot.buffer<size = 126728, align = 256, digest = "b3:25c9fded875bb164087c7fe635adeb6e830fe5110272fdd79a955ed42d0e60be", generator = "f32 output">]
}

