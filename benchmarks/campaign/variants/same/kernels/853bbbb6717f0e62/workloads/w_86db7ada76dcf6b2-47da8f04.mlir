module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_86db7ada76dcf6b2 of "_Z6cumsumPKfPfi" only gate grid [4, 1, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00200000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 131072, align = 256, digest = "b3:3118188e8e03cd40b0d8b51fac045de5fee189c50cb2ad898666b66bd7fe6164", generator = "f32 uniform seed=1">, #cupilot.buffer<size = 131072, align = 256, digest = "b3:33badd2c738dbf1cbeebf3279bf6da04ee43995276f786ef8dd30fb708f16e95", generator = "f32 output">]
}

