module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_1d160927de5d4c88 of "_Z8meanLossPKfPfi" grid [1, 1, 1] block [256, 1, 1] shared 0 count 1 weight 5.000000e-01 modelled args ["0000000000000000", "0000000000000000", "00800000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 131072, align = 256, digest = "b3:c762f2b062b3fa5faf47d18616e1c5a2105b2692021ced0b5d9ef31bca012c59", generator = "f32 rand seed=1 low=7 high=9">, #cupilot.buffer<size = 4, align = 256, digest = "b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd", generator = "f32 output">]
}

