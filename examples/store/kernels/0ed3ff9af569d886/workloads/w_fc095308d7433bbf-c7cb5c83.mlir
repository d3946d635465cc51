module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_fc095308d7433bbf of "_Z4geluPKfPfi" grid [2048, 1, 1] block [256, 1, 1] shared 0 count 1 weight 1.000000e-01 modelled args ["0000000000000000", "0000000000000000", "00000800"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>] buffers [#cupilot.buffer<size = 2097152, align = 256, digest = "b3:a3445f174d2cf27d5024b57feee77bec3fd9236f1ab503f020e6a7eeff814f62", generator = "f32 normal seed=1">, #cupilot.buffer<size = 2097152, align = 256, digest = "b3:8ac83f8ce09d064b023ab3c15880b02f2686cd1817fd25915b8153316ee059f8", generator = "f32 output">]
}

