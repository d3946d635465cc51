gpu.module @anything {
  gpu.func @scale(%a: memref<1024xf32>, %f: f32) kernel {
    gpu.return
  }
}
