#map = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d6)>
#set = affine_set<(d0, d1, d2, d3, d4, d5, d6)[s0] : (0 == 0)>
module attributes {cupilot.format = 6 : i64} {
  cupilot.variant @v_a2d24a49 genome(<[<@unroll, {factor = 4 : i64}>]>) plan(<[<symbol = "_ZN7gravity10accelerateEPKNS_4BodyEPfS3_S3_if", grid = #map, block = #map1, shared = #map2>]>) guard(<"sm_90", #set>) source("v_a2d24a49-9fb03508.cu") digest("b3:9fb03508c2c9e7fd4069715ec20007c7b9e3c31a6922240fe4894cf51bed1b0c") fitness(1.7332395180159859) outcome("accepted") evidence([#cupilot.measurement<device = "NVIDIA H200", basis = modelled, ratio = 1.7332395180159859 : f64, low = 1.7332395180159859 : f64, high = 1.7332395180159859 : f64, gate = 4, checks = 203, build = <compiler = "clang-22", arch = "sm_90", digest = "b3:5b03b51a0a7fafa668d7ee7b2109beca4f85a20735b3b543e8734926182abb6f">, original = "b3:5b03b51a0a7fafa668d7ee7b2109beca4f85a20735b3b543e8734926182abb6f", contract = "same">])
}

