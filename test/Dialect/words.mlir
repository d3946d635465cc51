// Words of closed sets stand bare, and what is empty need not be written. Text of
// older versions, with quotes and empty lists, means the same.
// RUN: cupilot-opt %s | FileCheck %s
// RUN: cupilot-opt %s | cupilot-opt | FileCheck %s
// RUN: cupilot-opt %s > %t.new && sed -e 's/ modelled/ "modelled"/' -e 's/only gate/only "gate"/' -e 's/basis = measured/basis = "measured"/' -e 's/= f32/= "f32"/' -e 's/fill = nan/fill = "nan"/' -e 's/min_arch(50) "s"/min_arch(50) params({}) requires([]) conflicts([]) "s"/' -e 's/ contract(same)/ params([]) scalars([]) pointers([]) contract(same)/' -e 's/@v genome/@v parents([]) genome/' %t.new > %t.old
// RUN: not diff %t.old %t.new
// RUN: cupilot-opt %t.old | diff - %t.new

// CHECK: cupilot.strategy @plain bottleneck(memory) min_arch(50) "s"
cupilot.strategy @plain bottleneck(memory) min_arch(50) "s"
// CHECK: cupilot.strategy @shown bottleneck(compute) min_arch(50) conflicts([@plain]) shown_by(probe(shared_memory), plan(more_blocks, cluster) or instruction("atom", ".cs")) origin("plain") "s"
cupilot.strategy @shown bottleneck(compute) min_arch(50) conflicts([@plain])
    shown_by(probe(shared_memory), instruction("atom", ".cs") or plan(more_blocks, cluster)) origin("plain") "s"
// CHECK: cupilot.strategy @read bottleneck(compute) min_arch(90) params({n = [64, 128], swizzle = ["64B"]}) shown_by(instruction("wgmma.mma_async")) evident reads(n = columns, swizzle = swizzle) "s"
cupilot.strategy @read bottleneck(compute) min_arch(90) params({n = [64, 128], swizzle = ["64B"]})
    shown_by(instruction("wgmma.mma_async")) evident reads("n" = columns, swizzle = swizzle) "s"
// CHECK: cupilot.kernel @k symbol("k") digest("b3:{{0+}}") contract(same) {
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") contract(same) {
  // CHECK: cupilot.workload @w of "k" only gate grid [1, 1, 1] {{.*}} weight 5.000000e-01 modelled args
  cupilot.workload @w of "k" only gate grid [1, 1, 1] block [1, 1, 1] shared 0 count 1 weight 0.5 modelled args [] addresses [] buffers []
  // CHECK: cupilot.variant @v genome(<[<@shown, {}>]>) evidence({{.*}}basis = measured, ratio
  cupilot.variant @v genome(<[<@shown, {}>]>)
      evidence([#cupilot.measurement<device = "x", basis = measured, ratio = 1.0, low = 1.0, high = 1.0, gate = 1, checks = 1,
                build = <compiler = "c", arch = "sm_90", digest = "b3:0000000000000000000000000000000000000000000000000000000000000000">>])
}
// CHECK: cupilot.map = #cupilot.tensormap<base = <param = 0>, type = f32, {{.*}} swizzle = "64B", fill = nan>
// CHECK-SAME: cupilot.sign = #cupilot.sign<plan(cluster) or probe(inline_assembly)>
#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
module attributes {cupilot.map = #cupilot.tensormap<base = <param = 0>, type = f32, extents = #map, strides = #one, box = [16, 8], swizzle = "64B", fill = nan>,
                   cupilot.sign = #cupilot.sign<plan(cluster) or probe(inline_assembly)>} {}
