module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_ad64538b2fcb4f23 of "_Z9depthwisePKfS0_Pfiii" only gpu grid [16, 32, 8192] block [32, 8, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "80000000", "00010000", "00020000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 2>] buffers [#cupilot.buffer<size = 4294967296, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 4608, align = 256, digest = "b3:93399dc2664aa26637bf3a0ab905992068ee6a019743bfc3e3d6e0dfb3c50630", generator = "f32 rand low=-0.3 high=0.3 seed=2">, #cupilot.buffer<size = 4244766720, align = 256, generator = "f32 output">]
}

