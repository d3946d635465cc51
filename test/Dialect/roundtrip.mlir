// RUN: cupilot-opt %s | cupilot-opt | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%cupilot_mlir_plugin %s | FileCheck %s

// CHECK: affine_map<{{.*}} -> (s0 ceildiv 1024, d1, d2)>
// CHECK: affine_set<{{.*}} : (s0 mod 4 == 0)>
// CHECK: cupilot.strategy @vectorized_access bottleneck(memory) min_arch(50) params({width = [2, 4]}) conflicts([@scalar_gather])
cupilot.strategy @vectorized_access bottleneck(memory) min_arch(50)
    params({width = [2, 4]}) requires([]) conflicts([@scalar_gather])
    resources({registers = 8}) origin("paper") "Load several elements at once"
cupilot.strategy @scalar_gather bottleneck(memory) min_arch(50)
    params({policy = ["a", "b"]}) requires([]) conflicts([]) "Gather one by one"

// CHECK: cupilot.kernel @"blur::rows(const float *, float *, int)" symbol("_ZN4blur4rowsEPKfPfi")
// CHECK-SAME: contract(relaxed) tolerance(1.000000e-03) norm(1.000000e-04
// CHECK-SAME: ranges([#cupilot.magnitudes<low = 1.000000e-03 : f64, high = 1.000000e+04 : f64>, #cupilot.magnitudes<low = 1.000000e+00 : f64, high = 1.000000e+00 : f64, buffer = "in">]) biased
cupilot.kernel @"blur::rows(const float *, float *, int)" symbol("_ZN4blur4rowsEPKfPfi")
    digest("b3:0000000000000000000000000000000000000000000000000000000000000000")
    source("original.cu") at("blur.cu:12")
    params([#cupilot.param<name = "in", type = "const float *", size = 8, pointee = "float", pointee_size = 4, is_const = true>,
            #cupilot.param<name = "out", type = "float *", size = 8, pointee = "float", pointee_size = 4>,
            #cupilot.param<name = "n", type = "int", size = 4>])
    scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>])
    pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>])
    contract(relaxed) tolerance(1.0e-3) norm(1.0e-4)
    ranges([#cupilot.magnitudes<low = 1.0e-3, high = 1.0e4>, #cupilot.magnitudes<low = 1.0, high = 1.0, buffer = "in">]) biased
    builds([#cupilot.build<compiler = "clang-22", arch = "sm_90", digest = "b3:1111111111111111111111111111111111111111111111111111111111111111">]) {
  // CHECK: cupilot.workload @w0 of "_ZN4blur4rowsEPKfPfi" grid [4096, 1, 1] block [256, 1, 1] shared 0 count 7 weight 8.200000e-01 modelled
  cupilot.workload @w0 of "_ZN4blur4rowsEPKfPfi" grid [4096, 1, 1] block [256, 1, 1] shared 0
      count 7 weight 0.82 "modelled" args ["0000000000000000", "0000000000000000", "00040000"]
      addresses [#cupilot.address<param = 0, buffer = 0>]
      buffers [#cupilot.buffer<size = 16, align = 256, digest = "b3:2222222222222222222222222222222222222222222222222222222222222222", file = "d/2.bin">]
  // CHECK: cupilot.workload @w1 of "_ZN4blur4rowsEPKfPfi" grid [4, 1, 1] block [256, 1, 1] cluster [2, 1, 1] shared 0 cooperative count 1
  // CHECK-SAME: after ["b3:3{{3+}}"]
  cupilot.workload @w1 of "_ZN4blur4rowsEPKfPfi" grid [4, 1, 1] block [256, 1, 1] cluster [2, 1, 1] shared 0 cooperative
      count 1 weight 0.82 "measured" args ["0000000000000000", "0000000000000000", "00040000"]
      addresses [#cupilot.address<param = 0, buffer = 0>]
      buffers [#cupilot.buffer<size = 16, align = 256, digest = "b3:2222222222222222222222222222222222222222222222222222222222222222", file = "d/2.bin">]
      after ["b3:3333333333333333333333333333333333333333333333333333333333333333"]
  // CHECK: cupilot.workload @w2 of "_ZN4blur4rowsEPKfPfi" only card grid
  // CHECK-SAME: buffers [#cupilot.buffer<size = 8589934592, align = 256, generator = "f32 rand seed=1">]
  cupilot.workload @w2 of "_ZN4blur4rowsEPKfPfi" only "card" grid [4, 1, 1] block [256, 1, 1] shared 0
      count 1 weight 0.5 "modelled" args ["0000000000000000", "0000000000000000", "00040000"]
      addresses [#cupilot.address<param = 0, buffer = 0>]
      buffers [#cupilot.buffer<size = 8589934592, align = 256, generator = "f32 rand seed=1">]
  // CHECK: cupilot.workload @w3 of "_ZN4blur4rowsEPKfPfi" only gpu grid
  cupilot.workload @w3 of "_ZN4blur4rowsEPKfPfi" only gpu grid [4, 1, 1] block [256, 1, 1] shared 0
      count 1 weight 0.5 modelled args ["0000000000000000", "0000000000000000", "00040000"]
      addresses [#cupilot.address<param = 0, buffer = 0>]
      buffers [#cupilot.buffer<size = 8589934592, align = 256, generator = "f32 rand seed=1">]
  // CHECK: cupilot.variant @g1_v0 genome(
  cupilot.variant @g1_v0 parents([]) genome(#cupilot.genome<[<@vectorized_access, {width = 4}>]>)
  // CHECK: cupilot.variant @g2_v7 parents([@g1_v0])
  // CHECK-SAME: plan(<[<symbol = "_ZN4blur4rowsEPKfPfi", grid = #map
  // CHECK-SAME: guard(<"sm_90", #set
  // CHECK-SAME: align[<pointer = <param = 0>, bytes = 16>]
  // CHECK-SAME: disjoint[<a = <param = 0>, b = <param = 1>
  // CHECK-SAME: basis = modelled, ratio = 1.83
  // CHECK-SAME: {prompts = ["strategy-translator 2 b3:0123456789abcdef", "kernel-revisor 1 b3:fedcba9876543210"]}
  cupilot.variant @g2_v7 parents([@g1_v0])
      genome(#cupilot.genome<[<@vectorized_access, {width = 4}>]>)
      plan(#cupilot.plan<[<symbol = "_ZN4blur4rowsEPKfPfi",
          grid = affine_map<(gx, gy, gz, bx, by, bz, sh)[n] -> (n ceildiv 1024, gy, gz)>,
          block = affine_map<(gx, gy, gz, bx, by, bz, sh)[n] -> (128, by, bz)>,
          shared = affine_map<(gx, gy, gz, bx, by, bz, sh)[n] -> (sh)>>]>)
      guard(<"sm_90", affine_set<(gx, gy, gz, bx, by, bz, sh)[n] : (n mod 4 == 0)>
          align [<pointer = <param = 0>, bytes = 16>]
          disjoint [<a = <param = 0>, b = <param = 1>,
                    extent_a = affine_map<(gx, gy, gz, bx, by, bz, sh)[n] -> (n * 4)>,
                    extent_b = affine_map<(gx, gy, gz, bx, by, bz, sh)[n] -> (n * 4)>>]>)
      source("g2_v7.cu")
      evidence([#cupilot.measurement<device = "NVIDIA H200", basis = "modelled", ratio = 1.83, low = 1.80,
                high = 1.86, gate = 1, checks = 24,
                build = <compiler = "clang-22", arch = "sm_90", digest = "b3:3333333333333333333333333333333333333333333333333333333333333333">>])
      {prompts = ["strategy-translator 2 b3:0123456789abcdef", "kernel-revisor 1 b3:fedcba9876543210"]}
}

// A guard that stands alone names its set.
// CHECK: cupilot.sample = #cupilot.guard<"sm_90", #set
#positive = affine_set<(gx, gy, gz, bx, by, bz, sh)[n] : (n - 1 >= 0)>
module attributes {cupilot.sample = #cupilot.guard<"sm_90", #positive>} {}
