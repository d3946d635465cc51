module attributes {cupilot.format = 6 : i64} {
  cupilot.workload @w_9745371939ff3873 of "_Z11convolutionPKfS0_Pfiiii" only gpu grid [32, 128, 2048] block [32, 8, 1] shared 0 count 1 weight 1.000000e+00 modelled args ["0000000000000000", "0000000000000000", "0000000000000000", "10000000", "80000000", "00040000", "00040000"] addresses [#cupilot.address<param = 0, buffer = 0>, #cupilot.address<param = 1, buffer = 1>, #cupilot.address<param = 2, buffer = 2>] buffers [#cupilot.buffer<size = 1073741824, align = 256, generator = "f32 rand seed=1">, #cupilot.buffer<size = 73728, align = 256, digest = "b3:ce8025d4a5fc8d1ecc4e3bcf737618e92497550d77e3211ad644abfce1475fe4", generator = "f32 rand low=-0.1 high=0.1 seed=2">, #cupilot.buffer<size = 8556412928, align = 256, generator = "f32 output">]
}

