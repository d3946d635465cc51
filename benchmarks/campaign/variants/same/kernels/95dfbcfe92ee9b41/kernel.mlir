module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"gemv(const float *, const float *, float *, int)" symbol("_Z4gemvPKfS0_Pfi") digest("b3:f6c89f1ee67f412d8058efcdfd16738f4dcd4e398cd5e724b47ecf6274cbd7f6") source("original.cu") params([#cupilot.param<name = "A", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Y", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Columns", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 3, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>, #cupilot.pointer<param = 2>]) contract(same) {
  }
}

