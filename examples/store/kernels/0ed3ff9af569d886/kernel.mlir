module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"gelu(const float *, float *, int)" symbol("_Z4geluPKfPfi") digest("b3:dca14825a57c5a29c1875fa7126c434457bba25e11931ca7396c6807578db60b") source("original.cu") params([#cupilot.param<name = "in", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true, is_restrict = true>, #cupilot.param<name = "out", type = "float *", size = 8, pointee = "float", pointee_size = 4, is_restrict = true>, #cupilot.param<name = "n", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

