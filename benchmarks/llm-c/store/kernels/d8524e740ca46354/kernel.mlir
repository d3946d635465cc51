module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"gelu_forward_kernel(float *, const float *, int)" symbol("_Z19gelu_forward_kernelPfPKfi") digest("b3:b06e5f771cb25f355056a87eec6c7e0c0b71af556d22ca3e8909d7ad6dafc972") source("original.cu") params([#cupilot.param<name = "out", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "inp", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "N", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

