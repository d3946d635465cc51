module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"cumsum(const float *, float *, int)" symbol("_Z6cumsumPKfPfi") digest("b3:677c7a198732ce92d93f5f3c8dc1af6c08214e5c2ac1717d542614f3b9858e2b") source("original.cu") params([#cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Y", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Columns", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

