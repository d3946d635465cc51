gpu.module @anything {
  gpu.func @scale(%a: memref<1024xf32>, %f: f32, %n: index) kernel {
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %n : index
    cf.cond_br %in, ^do, ^end
  ^do:
    %two = arith.constant 2.0 : f32
    %g = func.call @product(%f, %two) : (f32, f32) -> f32
    %v = memref.load %a[%i] : memref<1024xf32>
    %p = arith.mulf %v, %g : f32
    memref.store %p, %a[%i] : memref<1024xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
  func.func private @product(%x: f32, %z: f32) -> f32 {
    %y = arith.mulf %x, %z : f32
    return %y : f32
  }
}
