gpu.module @kernels {
  gpu.func @scale(%a: memref<1024xf32>, %f: f32, %n: index) kernel {
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %a[%i] : memref<1024xf32>
      %p = arith.mulf %v, %f : f32
      %c = func.call @twice(%p) : (f32) -> f32
      memref.store %c, %a[%i] : memref<1024xf32>
    }
    gpu.return
  }
  gpu.func @other(%a: memref<1024xf32>) kernel {
    gpu.return
  }
  func.func @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
}
