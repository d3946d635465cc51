// A kernel that is launched with and without tokens, for 4 and for 5 elements.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%x: memref<?xf32>, %n: index, %f: f32) kernel {
      %i = gpu.global_id x
      %in = arith.cmpi ult, %i, %n : index
      scf.if %in {
        %v = memref.load %x[%i] : memref<?xf32>
        %w = arith.mulf %v, %f : f32
        memref.store %w, %x[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func private @printMemrefF32(memref<*xf32>)
  func.func @run(%n: index, %f: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %m = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %one, %m[%i] : memref<?xf32>
    }
    %any = memref.cast %m : memref<?xf32> to memref<*xf32>
    gpu.host_register %any : memref<*xf32>
    %blocks = arith.ceildivui %n, %c64 : index
    gpu.launch_func @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%m : memref<?xf32>, %n : index, %f : f32)
    call @printMemrefF32(%any) : (memref<*xf32>) -> ()
    %t0 = gpu.wait async
    %t1 = gpu.launch_func async [%t0] @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%m : memref<?xf32>, %n : index, %f : f32)
    %t2 = gpu.launch_func async [%t1] @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%m : memref<?xf32>, %n : index, %f : f32)
    gpu.wait [%t2]
    call @printMemrefF32(%any) : (memref<*xf32>) -> ()
    gpu.host_unregister %any : memref<*xf32>
    memref.dealloc %m : memref<?xf32>
    return
  }
  func.func @main() {
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %two = arith.constant 2.0 : f32
    call @run(%c4, %two) : (index, f32) -> ()
    call @run(%c5, %two) : (index, f32) -> ()
    return
  }
}
