// A variant that can be told from its original: it adds 100.
gpu.module @mine {
  gpu.func @scale(%x: memref<?xf32>, %n: index, %f: f32) kernel {
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %hundred = arith.constant 100.0 : f32
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %hundred : f32
      memref.store %w, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
