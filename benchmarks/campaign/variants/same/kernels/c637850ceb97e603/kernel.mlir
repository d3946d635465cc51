module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"crossEntropy(const float *, const long long *, float *, int)" symbol("_Z12crossEntropyPKfPKxPfi") digest("b3:f6018a38ba26dbc84e14cc95a03ffeec7093b443e77c42356525fef0282685fd") source("original.cu") params([#cupilot.param<name = "X", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Targets", type = "const long long *", size = 8, pointee = "long long", pointee_size = 8, is_const = true>, #cupilot.param<name = "Losses", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Classes", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 3, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>, #cupilot.pointer<param = 2>]) contract(same) {
  }
}

