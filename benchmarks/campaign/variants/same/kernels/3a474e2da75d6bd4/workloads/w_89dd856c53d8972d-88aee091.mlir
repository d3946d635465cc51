module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_89dd856c53d8972d of "_Z7maxPoolPKfPfii" only gate grid [2, 5, 3] block [32, 8, 1] shared 0 count 1 weight 0.000000e+00 modelled args ["0000000000000000", "0000000000000000", "25000000", "2d000000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 19980, align = 256, digest = "b3:0361c056de9eb2108562f9e31c53431b9e27402f31e3da418c233e092f229dd6", generator = "f32 normal seed=1">, #cupilot.buffer<size = 19008, align = 256, digest = "b3:0458cfb95c3d28aafc1ed2b4a9dce175dc441b7f677d978b38ab7a2db8b8d48d", generator = "f32 output">]
}

