// What else MLIR programs call: fills, managed memory, strided and shared
// registered memrefs, clusters, large shared memory, empty launches, a second
// stream that waits for the first.
#space = #gpu.address_space<workgroup>
module attributes {gpu.container_module} {
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

  // m[i] += what, for each element of a buffer that the device can reach.
  func.func private @add(%m: memref<?xf32, strided<[?], offset: ?>>, %what: f32, %blocks: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %m, %c0 : memref<?xf32, strided<[?], offset: ?>>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
      %x = memref.load %m[%tx] : memref<?xf32, strided<[?], offset: ?>>
      %y = arith.addf %x, %what : f32
      memref.store %y, %m[%tx] : memref<?xf32, strided<[?], offset: ?>>
      gpu.terminator
    }
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %ten = arith.constant 10.0 : f32
    %half = arith.constant 0.5 : f16
    %device = arith.constant 0 : i32
    gpu.set_default_device %device

    // Every second element of a buffer is registered; then all of it, twice.
    %host = memref.alloc(%c8) : memref<?xf32>
    %uhost = memref.cast %host : memref<?xf32> to memref<*xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %one, %host[%i] : memref<?xf32>
    }
    %odd = memref.subview %host[1] [4] [2] : memref<?xf32> to memref<4xf32, strided<[2], offset: 1>>
    %some = memref.cast %odd : memref<4xf32, strided<[2], offset: 1>> to memref<?xf32, strided<[?], offset: ?>>
    %usome = memref.cast %odd : memref<4xf32, strided<[2], offset: 1>> to memref<*xf32>
    gpu.host_register %usome : memref<*xf32>
    func.call @add(%some, %ten, %c1) : (memref<?xf32, strided<[?], offset: ?>>, f32, index) -> ()
    gpu.host_unregister %usome : memref<*xf32>
    gpu.host_register %uhost : memref<*xf32>
    gpu.host_register %usome : memref<*xf32>
    gpu.host_unregister %usome : memref<*xf32>
    func.call @add(%some, %one, %c1) : (memref<?xf32, strided<[?], offset: ?>>, f32, index) -> ()
    // A loop over nothing.
    func.call @add(%some, %one, %c0) : (memref<?xf32, strided<[?], offset: ?>>, f32, index) -> ()
    gpu.host_unregister %uhost : memref<*xf32>
    func.call @printMemrefF32(%uhost) : (memref<*xf32>) -> ()

    // Memory that host and device share, filled by the device.
    %managed = gpu.alloc host_shared (%c4) : memref<?xf32>
    %strided = memref.cast %managed : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
    %start = gpu.wait async
    %filled = gpu.memset async [%start] %managed, %ten : memref<?xf32>, f32
    gpu.wait [%filled]
    func.call @add(%strided, %one, %c1) : (memref<?xf32, strided<[?], offset: ?>>, f32, index) -> ()
    %umanaged = memref.cast %managed : memref<?xf32> to memref<*xf32>
    func.call @printMemrefF32(%umanaged) : (memref<*xf32>) -> ()

    // Half words, and a stream that waits for another.
    %f16 = memref.alloc(%c2) : memref<?xf16>
    %first = gpu.wait async
    %there, %allocated = gpu.alloc async [%first] (%c2) : memref<?xf16>
    %halves = gpu.memset async [%allocated] %there, %half : memref<?xf16>, f16
    %second = gpu.wait async
    %joined = gpu.wait async [%halves, %second]
    %back = gpu.memcpy async [%joined] %f16, %there : memref<?xf16>, memref<?xf16>
    %gone = gpu.dealloc async [%back] %there : memref<?xf16>
    gpu.wait [%gone]
    %x = memref.load %f16[%c1] : memref<?xf16>
    %wide = arith.extf %x : f16 to f32
    vector.print %wide : f32

    // A cluster of two blocks, and one of sixteen, which must be asked for.
    %c16 = arith.constant 16 : index
    %ranks = memref.alloc(%c16) : memref<?xf32>
    %uranks = memref.cast %ranks : memref<?xf32> to memref<*xf32>
    gpu.host_register %uranks : memref<*xf32>
    gpu.launch clusters(%cx, %cy, %cz) in (%csx = %c2, %csy = %c1, %csz = %c1)
               blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %i = arith.index_cast %cx : index to i32
      %f = arith.sitofp %i : i32 to f32
      memref.store %f, %ranks[%bx] : memref<?xf32>
      gpu.terminator
    }
    %ufour = memref.subview %ranks[0] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1]>>
    %four = memref.cast %ufour : memref<4xf32, strided<[1]>> to memref<*xf32>
    func.call @printMemrefF32(%four) : (memref<*xf32>) -> ()
    gpu.launch clusters(%cx, %cy, %cz) in (%csx = %c16, %csy = %c1, %csz = %c1)
               blocks(%bx, %by, %bz) in (%gx = %c16, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %size = gpu.cluster_dim_blocks x
      %i = arith.index_cast %size : index to i32
      %f = arith.sitofp %i : i32 to f32
      memref.store %f, %ranks[%bx] : memref<?xf32>
      gpu.terminator
    }
    %last = memref.load %ranks[%c8] : memref<?xf32>
    vector.print %last : f32

    // More dynamic shared memory than a kernel has unasked.
    %shared = arith.constant 65536 : i32
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
               dynamic_shared_memory_size %shared {
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #space>
      %at = arith.constant 65000 : index
      %words = memref.view %bytes[%at][] : memref<?xi8, #space> to memref<16xf32, #space>
      memref.store %ten, %words[%c8] : memref<16xf32, #space>
      %f = memref.load %words[%c8] : memref<16xf32, #space>
      memref.store %f, %ranks[%c0] : memref<?xf32>
      gpu.terminator
    }
    %stored = memref.load %ranks[%c0] : memref<?xf32>
    vector.print %stored : f32
    gpu.host_unregister %uranks : memref<*xf32>
    return
  }
}
