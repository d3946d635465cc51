// As more.mlir, by way of shared memory and of the stack.
gpu.module @mine {
  gpu.func @scale(%x: memref<?xf32>, %n: index, %f: f32)
      workgroup(%shared: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %stack = memref.alloca() : memref<1xf32>
    %t = gpu.thread_id x
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %hundred = arith.constant 100.0 : f32
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %hundred : f32
      memref.store %w, %stack[%c0] : memref<1xf32>
      memref.store %w, %shared[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.if %in {
      %w = memref.load %shared[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      %z = memref.load %stack[%c0] : memref<1xf32>
      %s = arith.addf %w, %z : f32
      %half = arith.constant 0.5 : f32
      %m = arith.mulf %s, %half : f32
      memref.store %m, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
