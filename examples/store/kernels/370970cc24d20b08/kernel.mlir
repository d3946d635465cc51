module attributes {cupilot.format = 6 : i64} {
  cupilot.kernel @"forces(const float4 *, float *, float *, int, int)" symbol("_Z6forcesPK6float4PfS2_ii") digest("b3:e6bd45b1c6098b243eb59d88870ae5cdc9a2e292293879ee0696b2e85c248c7a") source("original.cu") params([#cupilot.param<name = "bodies", type = "const float4 *", size = 8, pointee = "float4", pointee_size = 16, is_const = true, is_restrict = true>, #cupilot.param<name = "ax", type = "float *", size = 8, pointee = "float", pointee_size = 4, is_restrict = true>, #cupilot.param<name = "ay", type = "float *", size = 8, pointee = "float", pointee_size = 4, is_restrict = true>, #cupilot.param<name = "count", type = "int", size = 4>, #cupilot.param<name = "sources", type = "int", size = 4>]) scalars([#cupilot.scalar<param = 3, bits = 32, is_signed = true>, #cupilot.scalar<param = 4, bits = 32, is_signed = true>]) pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>, #cupilot.pointer<param = 2>]) contract(same) {
  }
}

