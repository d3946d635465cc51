#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0, 1, 1)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (32, 1, 1)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (0)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (264, 1, 1)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (256, 1, 1)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 ceildiv 8, 1, 1)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (64, (d0 * s0) floordiv 2048 + d0 * 4)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 4)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> ((d0 * s0) * 4)>
#map9 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (s0 * 4)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0] : (d1 - 1 == 0, d2 - 1 == 0, d4 - 1 == 0, d5 - 1 == 0, d3 mod 32 == 0, s0 mod 4 == 0, s0 - 1024 >= 0)>
module attributes {cupilot.format = 6 : i64} {
  cupilot.variant @v_2a484cc2 genome(<[<@persistent_kernel, {blocks_per_sm = 2 : i64}>, <@vectorized_access, {width = 4 : i64}>, <@cache_hints, {policy = "streaming"}>, <@load_hoisting, {}>, <@on_chip_reuse, {place = "registers"}>]>) plan(<[<symbol = "_Z9gemvStartPKfS0_PfiPvS2_", grid = #map, block = #map1, shared = #map2>, <symbol = "_Z9gemvTilesPKfS0_PfiPvS2_", grid = #map3, block = #map4, shared = #map2>, <symbol = "_Z10gemvFinishPKfS0_PfiPvS2_", grid = #map5, block = #map4, shared = #map2>] scratch #map6>) guard(<"sm_90a", #set align[<pointer = <param = 0>, bytes = 16>, <pointer = <param = 1>, bytes = 16>] disjoint[<a = <param = 2>, b = <param = 0>, extent_a = #map7, extent_b = #map8>, <a = <param = 2>, b = <param = 1>, extent_a = #map7, extent_b = #map9>]>) source("v_2a484cc2-3048bcd1.cu") digest("b3:3048bcd12fb677baf8664fa4ba0ccd08a2616a858112523e965b3b82d11fefdc") fitness(1.8842592115181389) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 1.8842592115181389 : f64, low = 1.8744170838660223 : f64, high = 1.892801652676019 : f64, gate = 5, checks = 221, build = <compiler = "clang-22", arch = "sm_90a", digest = "b3:d1056053c1ad70f001eb3f9df7d9b02b6918f4783870ac9c7f15014c369ea877">, original = "b3:84b1e7e9367207cd11b00134e04502196dd1bf38675b0f151fcf45a916b129ed", contract = "same">, #cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 1.8842592115181389 : f64, low = 1.8744170838660223 : f64, high = 1.892801652676019 : f64, gate = 5, checks = 221, build = <compiler = "nvcc-13.0", arch = "sm_90a", digest = "b3:4ec44ac2e99f2d529af7f1b48091ad097d18faca7d20bacd7ce608ac0b1fc2cb">, original = "b3:caaf74aa490579bf257d0eeac01644e715594fb1bce654c75b1ad92736d133a7", contract = "same">]) author(<prompts = ["strategy-translator 3 b3:0828412cc3056daa"]>)
}

