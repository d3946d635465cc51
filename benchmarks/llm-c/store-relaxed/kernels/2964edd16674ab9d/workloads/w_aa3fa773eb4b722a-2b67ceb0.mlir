module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_aa3fa773eb4b722a of "_Z22matmul_forward_kernel4PfPKfS1_S1_ii" only gpu grid [32, 393, 1] block [16, 16, 1] shared 0 count 1 weight 2.000000e-01 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "0000000000000000", "00030000", "80c40000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 2>] buffers [#cupilot.buffer<size = 824180736, align = 256, generator = "f32 output">, #cupilot.buffer<size = 12582912, align = 256, digest = "b3:3633d7fa221fcb57f2c29c3092ad24b947941cc9257b6ea4e0f17a4a137e32ea", generator = "f32 normal seed=1">, #cupilot.buffer<size = 154533888, align = 256, generator = "f32 normal seed=2">]
}

