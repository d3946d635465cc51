module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"softmax(const float *, float *, int)" symbol("_Z7softmaxPKfPfi") digest("b3:34ad12373c2c338d9a71a63b619dff22efb4af872b8a9c826e45a9a40b6fefc3") source("original.cu") params([#cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Y", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Columns", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

