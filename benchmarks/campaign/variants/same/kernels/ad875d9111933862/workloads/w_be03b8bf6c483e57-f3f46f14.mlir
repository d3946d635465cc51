module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_be03b8bf6c483e57 of "_Z7softmaxPKfPfi" only gate grid [7, 1, 1] block [256, 1, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "e9030000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 28028, align = 256, digest = "b3:5e74360fd723112e01ac56c5ff67982a5bdcc922bb7efbb9c038cef19a16726e", generator = "f32 normal seed=1">, #cupilot.buffer<size = 28028, align = 256, digest = "b3:746b4001bd05328e6035d5398e0909baf76a7dbd0ba97966b97c740bc1afce9c", generator = "f32 output">]
}

