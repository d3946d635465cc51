#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d6)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] : (0 == 0)>
module attributes {cupilot.format = 6 : i64} {
  cupilot.variant @v_a2d24a49 genome(<[<@unroll, {factor = 4 : i64}>]>) plan(<[<symbol = "_Z6forcesPK6float4PfS2_ii", grid = #map, block = #map1, shared = #map2>]>) guard(<"sm_90", #set>) source("v_a2d24a49-1efbfa14.cu") digest("b3:1efbfa14b60c036ea98ffd88ef51c3555547389bb31a80ab08d50062d064ad49") fitness(1.5524863409916614) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = modelled, ratio = 1.5524863409916614 : f64, low = 1.5524863409916614 : f64, high = 1.5524863409916614 : f64, gate = 4, checks = 152, build = <compiler = "clang-22", arch = "sm_90", digest = "b3:42e2c1b617b2e9cbeac29d06da00ce9d9c2e1f394e17091526d63edaa32fca86">, original = "b3:42e2c1b617b2e9cbeac29d06da00ce9d9c2e1f394e17091526d63edaa32fca86", contract = "same">])
}

