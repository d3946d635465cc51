// A tile that starts inside a strided matrix comes into shared memory by a tensor
// map, and goes from there into the result.
#space = #gpu.address_space<workgroup>
!group = !nvgpu.mbarrier.group<memorySpace = #space>
!map = !nvgpu.tensormap.descriptor<tensor = memref<4x8xf32, #space>, swizzle = none, l2promo = none, oob = zero, interleave = none>
module attributes {gpu.container_module} {
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %host = memref.alloc() : memref<16x32xf32>
    %result = memref.alloc() : memref<4x8xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %row = arith.muli %i, %c32 : index
        %at = arith.addi %row, %j : index
        %int = arith.index_cast %at : index to i32
        %float = arith.sitofp %int : i32 to f32
        memref.store %float, %host[%i, %j] : memref<16x32xf32>
      }
    }
    %start = gpu.wait async
    %there, %t1 = gpu.alloc async [%start] () : memref<16x32xf32>
    %out, %t2 = gpu.alloc async [%t1] () : memref<4x8xf32>
    %t3 = gpu.memcpy async [%t2] %there, %host : memref<16x32xf32>, memref<16x32xf32>
    gpu.wait [%t3]
    // Rows 2 to 7, columns 4 to 23 of it: the box at row 3, column 16 ends outside.
    %window = memref.subview %there[2, 4] [6, 20] [1, 1] : memref<16x32xf32> to memref<6x20xf32, strided<[32, 1], offset: 68>>
    %any = memref.cast %window : memref<6x20xf32, strided<[32, 1], offset: 68>> to memref<*xf32>
    %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1)
               workgroup(%tile: memref<4x8xf32, #space>) {
      %barrier = nvgpu.mbarrier.create -> !group
      %first = arith.cmpi eq, %tx, %c0 : index
      scf.if %first {
        nvgpu.mbarrier.init %barrier[%c0], %c1 : !group
      }
      gpu.barrier
      scf.if %first {
        %bytes = arith.constant 128 : index
        %x = arith.constant 16 : index
        %y = arith.constant 3 : index
        nvgpu.mbarrier.arrive.expect_tx %barrier[%c0], %bytes : !group
        nvgpu.tma.async.load %map[%x, %y], %barrier[%c0] to %tile : !map, !group -> memref<4x8xf32, #space>
      }
      %ticks = arith.constant 10000000 : index
      %phase = arith.constant false
      nvgpu.mbarrier.try_wait.parity %barrier[%c0], %phase, %ticks : !group
      scf.for %i = %c0 to %c4 step %c1 {
        %v = memref.load %tile[%i, %tx] : memref<4x8xf32, #space>
        memref.store %v, %out[%i, %tx] : memref<4x8xf32>
      }
      gpu.terminator
    }
    %then = gpu.wait async
    %t4 = gpu.memcpy async [%then] %result, %out : memref<4x8xf32>, memref<4x8xf32>
    gpu.wait [%t4]
    %print = memref.cast %result : memref<4x8xf32> to memref<*xf32>
    func.call @printMemrefF32(%print) : (memref<*xf32>) -> ()
    return
  }
}
