module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_87842894914bbdf3 of "_Z19gelu_forward_kernelPfPKfi" only gpu grid [98304, 1, 1] block [128, 1, 1] shared 0 count 1 weight 0.33333333333333331 modelled args ["0000000000000000", "0000000000000000", "0000c000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 50331648, align = 256, digest = "b3:d31396f202e1eddd79349038cc0eee916dd505d5207dd537af0136c8911d8895", generator = "f32 output">, #cupilot.buffer<size = 50331648, align = 256, digest = "b3:04f89ad37fabc3c92fe97f48d36966aab06f8c4b526aa9fcd5df389035b529d9", generator = "f32 normal seed=1">]
}

