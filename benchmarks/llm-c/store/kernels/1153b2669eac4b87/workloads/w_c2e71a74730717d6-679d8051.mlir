module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_c2e71a74730717d6 of "_Z20gelu_backward_kernelPfPKfS1_i" only gate grid [16, 1, 1] block [128, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "00080000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 0>] buffers [#cupilot.buffer<size = 8192, align = 256, digest = "b3:7c7cbdccb4b799b125a2d67a6bee7fccf1ab52d3a188272c0d8744316320c429", generator = "f32 normal seed=2">, #cupilot.buffer<size = 8192, align = 256, digest = "b3:c40cc9da4132d951f9e93c67680ccdc5943560635cfacb67142a659f64024027", generator = "f32 normal seed=1">]
}

