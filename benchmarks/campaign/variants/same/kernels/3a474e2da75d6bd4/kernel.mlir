module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"maxPool(const float *, float *, int, int)" symbol("_Z7maxPoolPKfPfii") digest("b3:6bc9723b85b7dfb9c7bdbfdf14c5311e50de27f524bed040ea77402c09c943ed") source("original.cu") params([#cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Y", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Height", type = "int", size = 4>, #cupilot.param<name = "Width", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>, #cupilot.scalar<param = 3, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

