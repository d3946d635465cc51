module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_5ddb619e7f604920 of "_Z7maxPoolPKfPfii" only gpu grid [16, 64, 2048] block [32, 8, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "00020000", "00020000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 2147483648, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 2139103232, align = 256, generator = "f32 output">]
}

