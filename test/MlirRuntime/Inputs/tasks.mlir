// Tasks of the async dialect, which run on threads: two fill and change memory of
// their own, and one joins them. Their streams are tied by events.
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    %three = arith.constant 3 : i32
    %result = memref.alloc(%n) : memref<?xi32>
    %any = memref.cast %result : memref<?xi32> to memref<*xi32>
    gpu.host_register %any : memref<*xi32>
    scf.for %i = %c0 to %n step %c1 {
      %v = arith.index_cast %i : index to i32
      memref.store %v, %result[%i] : memref<?xi32>
    }
    %start, %first = async.execute -> !async.value<memref<?xi32>> {
      %a = gpu.alloc(%n) : memref<?xi32>
      gpu.memcpy %a, %result : memref<?xi32>, memref<?xi32>
      async.yield %a : memref<?xi32>
    }
    %done1, %second = async.execute [%start] (%first as %a : !async.value<memref<?xi32>>) -> !async.value<memref<?xi32>> {
      %b = gpu.alloc(%n) : memref<?xi32>
      gpu.memcpy %b, %a : memref<?xi32>, memref<?xi32>
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
        %v = memref.load %b[%tx] : memref<?xi32>
        %w = arith.muli %v, %three : i32
        memref.store %w, %b[%tx] : memref<?xi32>
        gpu.terminator
      }
      async.yield %b : memref<?xi32>
    }
    %done2, %third = async.execute [%start] (%first as %a : !async.value<memref<?xi32>>) -> !async.value<memref<?xi32>> {
      %b = gpu.alloc(%n) : memref<?xi32>
      gpu.memcpy %b, %a : memref<?xi32>, memref<?xi32>
      async.yield %b : memref<?xi32>
    }
    %joined = async.execute [%done1, %done2] (%second as %x : !async.value<memref<?xi32>>, %third as %y : !async.value<memref<?xi32>>) {
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
        %v = memref.load %x[%tx] : memref<?xi32>
        %w = memref.load %y[%tx] : memref<?xi32>
        %sum = arith.addi %v, %w : i32
        memref.store %sum, %result[%tx] : memref<?xi32>
        gpu.terminator
      }
      async.yield
    }
    async.await %joined : !async.token
    func.call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}
