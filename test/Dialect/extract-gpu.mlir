// RUN: cupilot-opt %s --cupilot-extract-gpu | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%cupilot_mlir_plugin --load-pass-plugin=%cupilot_mlir_plugin --pass-pipeline='builtin.module(cupilot-extract-gpu)' %s | FileCheck %s

// CHECK: cupilot.kernel @"scale({{.*}})" symbol("scale")
// CHECK-SAME: roofline(<bottleneck = memory, basis = static
gpu.module @kernels {
  gpu.func @scale(%a: memref<1024xf32>, %n: i32) kernel {
    %i = gpu.global_id x
    %v = memref.load %a[%i] : memref<1024xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %a[%i] : memref<1024xf32>
    gpu.return
  }
  gpu.func @helper(%a: f32) -> f32 {
    gpu.return %a : f32
  }
}
// CHECK-NOT: cupilot.kernel @"helper
// CHECK: cupilot.kernel @"dense
// CHECK-SAME: roofline(<bottleneck = middle
llvm.func ptx_kernelcc @dense(%v: f32, %n: i64) {
  %0 = llvm.fmul %v, %v : f32
  %1 = llvm.fmul %0, %v : f32
  %2 = llvm.fadd %1, %v : f32
  %3 = llvm.fmul %2, %2 : f32
  %4 = llvm.fadd %3, %v : f32
  %5 = llvm.fmul %4, %2 : f32
  %6 = llvm.fadd %5, %v : f32
  llvm.return
}
