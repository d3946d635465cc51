// The sum of a vector: each block writes a part, and one block adds up the parts.
// README.md has the commands.
module attributes {gpu.container_module} {
  // out[b] = the sum of what block b of `blocks` visits.
  func.func private @sums(%in: memref<?xf32>, %out: memref<?xf32>, %blocks: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 128 : index
    %half = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %in, %c0 : memref<?xf32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
               workgroup(%tree: memref<128xf32, #gpu.address_space<workgroup>>) {
      %before = arith.muli %bx, %threads : index
      %first = arith.addi %before, %tx : index
      %stride = arith.muli %gx, %threads : index
      %mine = scf.for %i = %first to %n step %stride iter_args(%sum = %zero) -> f32 {
        %x = memref.load %in[%i] : memref<?xf32>
        %next = arith.addf %sum, %x : f32
        scf.yield %next : f32
      }
      memref.store %mine, %tree[%tx] : memref<128xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %end = scf.while (%width = %half) : (index) -> index {
        %more = arith.cmpi ugt, %width, %c0 : index
        scf.condition(%more) %width : index
      } do {
      ^bb0(%width: index):
        %adds = arith.cmpi ult, %tx, %width : index
        scf.if %adds {
          %other = arith.addi %tx, %width : index
          %x = memref.load %tree[%tx] : memref<128xf32, #gpu.address_space<workgroup>>
          %y = memref.load %tree[%other] : memref<128xf32, #gpu.address_space<workgroup>>
          %sum = arith.addf %x, %y : f32
          memref.store %sum, %tree[%tx] : memref<128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %narrower = arith.divui %width, %c2 : index
        scf.yield %narrower : index
      }
      %writes = arith.cmpi eq, %tx, %c0 : index
      scf.if %writes {
        %sum = memref.load %tree[%c0] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %sum, %out[%bx] : memref<?xf32>
      }
      gpu.terminator
    }
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 5000 : index
    %blocks = arith.constant 8 : index
    %c17 = arith.constant 17 : index
    %eight = arith.constant 8.0 : f32
    %zero = arith.constant 0.0 : f32
    %in = memref.alloc(%n) : memref<?xf32>
    %parts = memref.alloc(%blocks) : memref<?xf32>
    %out = memref.alloc(%c1) : memref<?xf32>
    // Multiples of 1/8: the sum is exact in any order.
    %want = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
      %mod = arith.remui %i, %c17 : index
      %int = arith.index_cast %mod : index to i32
      %float = arith.sitofp %int : i32 to f32
      %value = arith.divf %float, %eight : f32
      memref.store %value, %in[%i] : memref<?xf32>
      %next = arith.addf %sum, %value : f32
      scf.yield %next : f32
    }
    %uin = memref.cast %in : memref<?xf32> to memref<*xf32>
    %uparts = memref.cast %parts : memref<?xf32> to memref<*xf32>
    %uout = memref.cast %out : memref<?xf32> to memref<*xf32>
    gpu.host_register %uin : memref<*xf32>
    gpu.host_register %uparts : memref<*xf32>
    gpu.host_register %uout : memref<*xf32>
    func.call @sums(%in, %parts, %blocks) : (memref<?xf32>, memref<?xf32>, index) -> ()
    func.call @sums(%parts, %out, %c1) : (memref<?xf32>, memref<?xf32>, index) -> ()
    gpu.host_unregister %uin : memref<*xf32>
    gpu.host_unregister %uparts : memref<*xf32>
    gpu.host_unregister %uout : memref<*xf32>
    %got = memref.load %out[%c0] : memref<?xf32>
    %right = arith.cmpf oeq, %got, %want : f32
    scf.if %right {
      vector.print str "reduction: right\n"
    } else {
      vector.print str "reduction: wrong, it is "
      vector.print %got : f32
    }
    memref.dealloc %in : memref<?xf32>
    memref.dealloc %parts : memref<?xf32>
    memref.dealloc %out : memref<?xf32>
    return
  }
}
