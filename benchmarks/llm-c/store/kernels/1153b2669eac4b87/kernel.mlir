module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"gelu_backward_kernel(float *, const float *, const float *, int)" symbol("_Z20gelu_backward_kernelPfPKfS1_i") digest("b3:92a1f98a40ba08844f34d662a3d8d4c0fadb7b5bc5e4caf7a655d337257c0bec") source("original.cu") params([#cupilot.param<name = "dinp", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "inp", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "dout", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "N", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 3, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>, #cupilot.pointer<param = 2>]) contract(same) {
  }
}

