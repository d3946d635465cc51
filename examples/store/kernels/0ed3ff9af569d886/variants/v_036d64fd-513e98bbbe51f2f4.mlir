#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 ceildiv 2, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d6)>
#map3 = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7] -> (s7, s0, s1, s2, s3, s4, s5, s0 * s3, s3 * (s0 ceildiv 2), (s3 * (s0 ceildiv 2)) * 2 - 2)>
#set = affine_set<()[s0, s1, s2, s3, s4, s5, s6, s7] : (-(s0 * s3) + 2147479551 >= 0, s0 * s3 - s7 >= 0, s7 mod 2 == 0)>
module attributes {cupilot.format = 7 : i64} {
  cupilot.variant @v_036d64fd genome(<[<@vectorized_access, {width = 2 : i64}>]>) plan(<[<symbol = "_Z4geluPKfPfi", grid = #map, block = #map1, shared = #map2>]>) guard(<"sm_90", #set align[<pointer = <param = 0>, bytes = 8>, <pointer = <param = 1>, bytes = 8>]>) domain(<[<seen(gate) ranges #map3 in[[0, 8388608], [1, 32768], [1, 1], [1, 1], [29, 1024], [1, 1], [1, 1], [-9223372036854775808, 8388608], [-9223372036854775808, 4194304], [-9223372036854775808, 2147483647]] nulls[<pointer = <param = 0>>, <pointer = <param = 1>>] align[<pointer = <param = 0>, bytes = 8>, <pointer = <param = 1>, bytes = 8>]>]>) source("v_036d64fd-fb4bba8a.cu") digest("b3:fb4bba8abfc43ad35ea7f8393485b2141e07326b2b0bed3ecc8f297f775da244") fitness(1.1643075221106576) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = modelled, ratio = 1.1643075221106576 : f64, low = 1.1643075221106576 : f64, high = 1.1643075221106576 : f64, gate = 6, checks = 165, build = <compiler = "clang-22", arch = "sm_90", digest = "b3:bdb0a6de48c1bc863a18fa03f10c3ddea33989f417ee29a68a223cc5a582bacb">, original = "b3:0ef40ff2e10a1ca9860427fa4eb032f9393f83c92a83f72d9cfbc4800dba341f", contract = "same", domain = <cases = ["w_fc095308d7433bbf"]>>])
}

