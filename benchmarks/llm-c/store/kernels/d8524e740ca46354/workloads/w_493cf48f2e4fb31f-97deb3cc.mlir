module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_493cf48f2e4fb31f of "_Z19gelu_forward_kernelPfPKfi" only gate grid [16, 1, 1] block [128, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00080000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 8192, align = 256, digest = "b3:128daa44a4f7badaed2244bb6fe009d5e7803177414e01d7d9df80c190e14906", generator = "f32 output">, #cupilot.buffer<size = 8192, align = 256, digest = "b3:c40cc9da4132d951f9e93c67680ccdc5943560635cfacb67142a659f64024027", generator = "f32 normal seed=1">]
}

