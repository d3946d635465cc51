#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] -> (d6)>
#map3 = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8] -> (s7, s8, s0, s1, s2, s3, s4, s5, s0 * s3, (s3 * s4) * s5)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0, s1] : (s0 - 1 >= 0, -s1 + 2147483519 >= 0, -d6 + 48640 >= 0)>
module attributes {cupilot.format = 7 : i64} {
  cupilot.variant @v_92e0dec1 genome(<[<@shared_memory_tiling, {tile = 64 : i64}>]>) plan(<[<symbol = "_Z7nearestPKfS0_S0_S0_Piii", grid = #map, block = #map1, shared = #map2>]>) guard(<"sm_90", #set>) domain(<[<seen(gate) ranges #map3 in[[1, 1048577], [-3, 1048577], [1, 8193], [1, 1], [1, 1], [1, 1024], [1, 1], [1, 1], [-9223372036854775808, 1048704], [-9223372036854775808, 1024]] nulls[<pointer = <param = 0>>, <pointer = <param = 1>>, <pointer = <param = 2>>, <pointer = <param = 3>>, <pointer = <param = 4>>]>]>) source("v_92e0dec1-3449f340.cu") digest("b3:3449f340f44e0d5c5a310c5e52ac57bc8da96c246b576d78adfe80b06e77ab01") fitness(1.1595503717942015) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = modelled, ratio = 1.1595503717942015 : f64, low = 1.1595503717942015 : f64, high = 1.1595503717942015 : f64, gate = 6, checks = 343, build = <compiler = "clang-22", arch = "sm_90", digest = "b3:94817da10b5de46c8cebf33a1e2152a9034b15b7db6bd2bf0f6e2d85f4f29813">, original = "b3:31ce8096b3b3709679adcc866e49312c97c4abc751fbbeb2a62249edf65ad5cc", contract = "same", domain = <cases = ["w_6d5ede0cffb8a9f2"]>>])
}

