#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0, 1, 1)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (32, 1, 1)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (0)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (128, 1, 1)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (512, 1, 1)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (231552)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (8, 1, 1)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (64)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> ((d0 * s0) * 4)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0] : (s0 mod 4 == 0, s0 - 4096 >= 0, -s0 + 393216 >= 0, d3 - 256 == 0, d4 - 1 == 0, d5 - 1 == 0, d1 - 1 == 0, d2 - 1 == 0)>
module attributes {cupilot.format = 6 : i64} {
  cupilot.variant @v_de72f6af genome(<[<@unroll, {factor = 4 : i64}>, <@online_reduction, {}>, <@vectorized_access, {width = 4 : i64}>, <@cache_hints, {policy = "streaming"}>, <@shared_memory_tiling, {tile = 128 : i64}>, <@on_chip_reuse, {place = "cluster"}>]>) plan(<[<symbol = "_Z12softmaxSetupPKfPfiPv", grid = #map, block = #map1, shared = #map2>, <symbol = "_Z11softmaxRowsPKfPfiPv", grid = #map3, block = #map4, shared = #map5, cluster = #map6>] scratch #map7>) guard(<"sm_90a", #set align[<pointer = <param = 0>, bytes = 16>, <pointer = <param = 1>, bytes = 16>] disjoint[<a = <param = 0>, b = <param = 1>, extent_a = #map8, extent_b = #map8>]>) source("v_de72f6af-8c2386bf.cu") digest("b3:8c2386bf0f1c3ea8d41b578d9f1e86858aaaa327d5179c99d82075f6cfa875b3") fitness(2.8305777952738906) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 2.8305777952738906 : f64, low = 2.8288843873888982 : f64, high = 2.8323233773910355 : f64, gate = 5, checks = 1258, build = <compiler = "clang-22", arch = "sm_90a", digest = "b3:9643fe3efe0146503466645ac9fe31ed2f6de48ddd5c74f4186000fdd5391707">, original = "b3:84a5a0bf8bdf95a363ad1b69464664ab3df2ca10e542a190ab7e8333d0fd073f", contract = "same">, #cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 2.8305777952738906 : f64, low = 2.8288843873888982 : f64, high = 2.8323233773910355 : f64, gate = 5, checks = 1258, build = <compiler = "nvcc-13.0", arch = "sm_90a", digest = "b3:52441f6c1adf4473e5a95f457d425a1e48788ddd53db25af91eadae1eb24b0a2">, original = "b3:ddc3958d3db789b3b8d04825790934f2c7485ca1250cd846cf9c837d583225a4", contract = "same">]) author(<prompts = ["strategy-translator 3 b3:0828412cc3056daa"]>)
}

