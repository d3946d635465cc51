#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (1, 1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (32, 1, 1)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (0)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (132, 1, 1)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (384, 1, 1)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (230400)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (16)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (s2, s0, d2)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (s2 * 4, (s0 * s2) * 4)>
#map9 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (s1, s2, d2)>
#map10 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (s1 * 4, (s1 * s2) * 4)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (((d2 * s0) * s1) * 4)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (((d2 * s0) * s2) * 4)>
#map13 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] -> (((d2 * s2) * s1) * 4)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2] : (d3 - 32 == 0, d4 - 32 == 0, d5 - 1 == 0, s0 - 1 >= 0, s1 - 4 >= 0, s2 - 4 >= 0, s1 mod 4 == 0, s2 mod 4 == 0, d0 * 32 - s1 >= 0, d1 * 32 - s0 >= 0, -s0 + 1073741824 >= 0, -s1 + 1073741824 >= 0, -s2 + 1073741824 >= 0)>
module attributes {cupilot.format = 6 : i64} {
  cupilot.variant @v_21c6fbb8 genome(<[<@bulk_copy, {}>, <@tma_tensor_copy, {swizzle = "128B"}>, <@wgmma, {n = 256 : i64}>, <@warp_specialization, {consumers = 2 : i64}>, <@persistent_kernel, {blocks_per_sm = 1 : i64}>, <@shared_memory_tiling, {tile = 128 : i64}>, <@shared_swizzle, {bits = 2 : i64}>, <@double_buffering, {stages = 4 : i64}>, <@swapped_product, {}>]>) plan(<[<symbol = "_Z18batchedGemmPreparePKfS0_PfiiiPv14CUtensorMap_stS3_", grid = #map, block = #map1, shared = #map2>, <symbol = "_Z21batchedGemmPersistentPKfS0_PfiiiPv14CUtensorMap_stS3_", grid = #map3, block = #map4, shared = #map5>] scratch #map6 tensormaps[<base = <param = 0>, type = f32, extents = #map7, strides = #map8, box = [32, 64, 1], swizzle = "128B">, <base = <param = 1>, type = f32, extents = #map9, strides = #map10, box = [32, 32, 1], swizzle = "128B">]>) guard(<"sm_90a", #set align[<pointer = <param = 0>, bytes = 16>, <pointer = <param = 1>, bytes = 16>, <pointer = <param = 2>, bytes = 16>] disjoint[<a = <param = 2>, b = <param = 0>, extent_a = #map11, extent_b = #map12>, <a = <param = 2>, b = <param = 1>, extent_a = #map11, extent_b = #map13>]>) source("v_21c6fbb8-cdd45034.cu") digest("b3:cdd450345f84cd99bd83c6b70e9fd2f3db090e33efaab93da49b9657c0dfdd09") fitness(39.484471830173213) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 39.484471830173213 : f64, low = 39.310004544132454 : f64, high = 39.645344027160533 : f64, gate = 5, checks = 105, build = <compiler = "clang-22", arch = "sm_90a", digest = "b3:13e86a69368f5e13defce1e37cdd72e34ff8b84662f31c31785e24a5b371449d">, original = "b3:665d934029115c6e223429446238ca43cbe6052851b600fc809455c019b34bd8", contract = "relaxed(0.004)">, #cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 39.484471830173213 : f64, low = 39.310004544132454 : f64, high = 39.645344027160533 : f64, gate = 5, checks = 105, build = <compiler = "nvcc-13.0", arch = "sm_90a", digest = "b3:d7979ba767ab5026b0eccb9e79f970886807900883402113e75f16ae4dc38a48">, original = "b3:f4c450894077e34948e1ca89ee79c4a09bfb2137bdeb4a86efb740f7153b7b47", contract = "relaxed(0.004)">]) author(<prompts = ["strategy-translator 3 b3:0828412cc3056daa"]>)
}

