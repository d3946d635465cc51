module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"meanLoss(const float *, float *, int)" symbol("_Z8meanLossPKfPfi") digest("b3:12a0add812d37df69d15c2dbab65e22392b171215873fd349dc406755420ac45") source("original.cu") params([#cupilot.param<name = "Losses", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>, #cupilot.param<name = "Mean", type = "float *", size = 8, pointee = "float", pointee_size = 4>, #cupilot.param<name = "Rows", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  }
}

