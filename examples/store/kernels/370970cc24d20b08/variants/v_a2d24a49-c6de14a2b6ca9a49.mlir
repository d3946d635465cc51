#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d6)>
#map3 = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8] -> (s7, s8, s0, s1, s2, s3, s4, s5, s0 * s3)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] : (0 == 0)>
module attributes {cupilot.format = 7 : i64} {
  cupilot.variant @v_a2d24a49 genome(<[<@unroll, {factor = 4 : i64}>]>) plan(<[<symbol = "_Z6forcesPK6float4PfS2_ii", grid = #map, block = #map1, shared = #map2>]>) guard(<"sm_90", #set>) domain(<[<seen(gate) ranges #map3 in[[-3, 16777224], [-3, 1048577], [1, 16385], [1, 1], [1, 1], [1, 1024], [1, 1], [1, 1], [-9223372036854775808, 2097280]] nulls[<pointer = <param = 0>>, <pointer = <param = 1>>, <pointer = <param = 2>>] align[<pointer = <param = 1>, bytes = 16>, <pointer = <param = 2>, bytes = 16>]>]>) source("v_a2d24a49-1efbfa14.cu") digest("b3:1efbfa14b60c036ea98ffd88ef51c3555547389bb31a80ab08d50062d064ad49") fitness(1.5524863409916614) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = modelled, ratio = 1.5524863409916614 : f64, low = 1.5524863409916614 : f64, high = 1.5524863409916614 : f64, gate = 6, checks = 308, build = <compiler = "clang-22", arch = "sm_90", digest = "b3:42e2c1b617b2e9cbeac29d06da00ce9d9c2e1f394e17091526d63edaa32fca86">, original = "b3:42e2c1b617b2e9cbeac29d06da00ce9d9c2e1f394e17091526d63edaa32fca86", contract = "same", domain = <cases = ["w_32d3628e2a192381"]>>])
}

