module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"rmsNorm(const float *, float *, int, int, float)" symbol("_Z7rmsNormPKfPfiif") digest("b3:fde37f39e5cd3a46ce3d943e2cabc436e71dfab1f3818d418e31cedbd7638e2b") source("original.cu") params([#cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Y", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Features", type = "int", size = 4>, #cupilot.param<name = "Pixels", type = "int", size = 4>, #cupilot.param<name = "Epsilon", type = "float", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>, #cupilot.scalar<param = 3, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

