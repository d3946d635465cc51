// Attention of some rows of Q to all rows of K and V: a warp for each row, whose
// scores lie in shared memory. README.md has the commands.
module attributes {gpu.container_module} {
  func.func @attention(%q: memref<?x?xf32>, %k: memref<?x?xf32>, %v: memref<?x?xf32>, %out: memref<?x?xf32>, %scale: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %threads = arith.constant 32 : index
    %lanes = arith.constant 32 : i32
    %lane1 = arith.constant 1 : i32
    %lowest = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %rows = memref.dim %q, %c0 : memref<?x?xf32>
    %width = memref.dim %q, %c1 : memref<?x?xf32>
    %keys = memref.dim %k, %c0 : memref<?x?xf32>
    gpu.launch blocks(%row, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
               workgroup(%scores: memref<1024xf32, #gpu.address_space<workgroup>>) {
      %mine = scf.for %key = %tx to %keys step %threads iter_args(%most = %lowest) -> f32 {
        %dot = scf.for %l = %c0 to %width step %c1 iter_args(%sum = %zero) -> f32 {
          %x = memref.load %q[%row, %l] : memref<?x?xf32>
          %y = memref.load %k[%key, %l] : memref<?x?xf32>
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          scf.yield %next : f32
        }
        %score = arith.mulf %dot, %scale : f32
        memref.store %score, %scores[%key] : memref<1024xf32, #gpu.address_space<workgroup>>
        %larger = arith.maximumf %most, %score : f32
        scf.yield %larger : f32
      }
      %top = scf.for %step = %c0 to %c5 step %c1 iter_args(%most = %mine) -> f32 {
        %word = arith.index_cast %step : index to i32
        %distance = arith.shli %lane1, %word : i32
        %other, %valid = gpu.shuffle xor %most, %distance, %lanes : f32
        %both = arith.maximumf %most, %other : f32
        scf.yield %both : f32
      }
      %part = scf.for %key = %tx to %keys step %threads iter_args(%sum = %zero) -> f32 {
        %score = memref.load %scores[%key] : memref<1024xf32, #gpu.address_space<workgroup>>
        %below = arith.subf %score, %top : f32
        %power = math.exp %below : f32
        memref.store %power, %scores[%key] : memref<1024xf32, #gpu.address_space<workgroup>>
        %next = arith.addf %sum, %power : f32
        scf.yield %next : f32
      }
      %total = scf.for %step = %c0 to %c5 step %c1 iter_args(%sum = %part) -> f32 {
        %word = arith.index_cast %step : index to i32
        %distance = arith.shli %lane1, %word : i32
        %other, %valid = gpu.shuffle xor %sum, %distance, %lanes : f32
        %both = arith.addf %sum, %other : f32
        scf.yield %both : f32
      }
      gpu.barrier
      scf.for %l = %tx to %width step %threads {
        %mix = scf.for %key = %c0 to %keys step %c1 iter_args(%sum = %zero) -> f32 {
          %power = memref.load %scores[%key] : memref<1024xf32, #gpu.address_space<workgroup>>
          %value = memref.load %v[%key, %l] : memref<?x?xf32>
          %product = arith.mulf %power, %value : f32
          %next = arith.addf %sum, %product : f32
          scf.yield %next : f32
        }
        %result = arith.divf %mix, %total : f32
        memref.store %result, %out[%row, %l] : memref<?x?xf32>
      }
      gpu.terminator
    }
    return
  }

  // a[i, j] = ((i * p + j * q) mod 17 - 8) / 8: exact in all formats.
  func.func private @fill(%a: memref<?x?xf32>, %p: index, %q: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c17 = arith.constant 17 : index
    %eight = arith.constant 8.0 : f32
    %rows = memref.dim %a, %c0 : memref<?x?xf32>
    %columns = memref.dim %a, %c1 : memref<?x?xf32>
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %ip = arith.muli %i, %p : index
        %jq = arith.muli %j, %q : index
        %sum = arith.addi %ip, %jq : index
        %mod = arith.remui %sum, %c17 : index
        %int = arith.index_cast %mod : index to i32
        %float = arith.sitofp %int : i32 to f32
        %centred = arith.subf %float, %eight : f32
        %value = arith.divf %centred, %eight : f32
        memref.store %value, %a[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }

  // The score of a key in 64 bits.
  func.func private @score(%q: memref<?x?xf32>, %k: memref<?x?xf32>, %row: index, %key: index, %scale: f32) -> f64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %width = memref.dim %q, %c1 : memref<?x?xf32>
    %dot = scf.for %l = %c0 to %width step %c1 iter_args(%sum = %zero) -> f64 {
      %x = memref.load %q[%row, %l] : memref<?x?xf32>
      %y = memref.load %k[%key, %l] : memref<?x?xf32>
      %wx = arith.extf %x : f32 to f64
      %wy = arith.extf %y : f32 to f64
      %product = arith.mulf %wx, %wy : f64
      %next = arith.addf %sum, %product : f64
      scf.yield %next : f64
    }
    %wide = arith.extf %scale : f32 to f64
    %score = arith.mulf %dot, %wide : f64
    return %score : f64
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 6 : index
    %keys = arith.constant 90 : index
    %width = arith.constant 32 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %scale = arith.constant 0.1767766953 : f32
    %zero = arith.constant 0.0 : f64
    %bound = arith.constant 1.0e-5 : f64
    %q = memref.alloc(%rows, %width) : memref<?x?xf32>
    %k = memref.alloc(%keys, %width) : memref<?x?xf32>
    %v = memref.alloc(%keys, %width) : memref<?x?xf32>
    %out = memref.alloc(%rows, %width) : memref<?x?xf32>
    func.call @fill(%q, %c7, %c3) : (memref<?x?xf32>, index, index) -> ()
    func.call @fill(%k, %c5, %c7) : (memref<?x?xf32>, index, index) -> ()
    func.call @fill(%v, %c3, %c5) : (memref<?x?xf32>, index, index) -> ()
    %uq = memref.cast %q : memref<?x?xf32> to memref<*xf32>
    %uk = memref.cast %k : memref<?x?xf32> to memref<*xf32>
    %uv = memref.cast %v : memref<?x?xf32> to memref<*xf32>
    %uout = memref.cast %out : memref<?x?xf32> to memref<*xf32>
    gpu.host_register %uq : memref<*xf32>
    gpu.host_register %uk : memref<*xf32>
    gpu.host_register %uv : memref<*xf32>
    gpu.host_register %uout : memref<*xf32>
    func.call @attention(%q, %k, %v, %out, %scale) : (memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>, f32) -> ()
    gpu.host_unregister %uq : memref<*xf32>
    gpu.host_unregister %uk : memref<*xf32>
    gpu.host_unregister %uv : memref<*xf32>
    gpu.host_unregister %uout : memref<*xf32>

    // The same in 64 bits on the host; the scores are small.
    %error = scf.for %i = %c0 to %rows step %c1 iter_args(%worst = %zero) -> f64 {
      %row = scf.for %l = %c0 to %width step %c1 iter_args(%most = %worst) -> f64 {
        %total, %mix = scf.for %key = %c0 to %keys step %c1 iter_args(%sum = %zero, %mixed = %zero) -> (f64, f64) {
          %score = func.call @score(%q, %k, %i, %key, %scale) : (memref<?x?xf32>, memref<?x?xf32>, index, index, f32) -> f64
          %power = math.exp %score : f64
          %value = memref.load %v[%key, %l] : memref<?x?xf32>
          %wide = arith.extf %value : f32 to f64
          %product = arith.mulf %power, %wide : f64
          %next = arith.addf %sum, %power : f64
          %more = arith.addf %mixed, %product : f64
          scf.yield %next, %more : f64, f64
        }
        %want = arith.divf %mix, %total : f64
        %y = memref.load %out[%i, %l] : memref<?x?xf32>
        %got = arith.extf %y : f32 to f64
        %difference = arith.subf %got, %want : f64
        %size = math.absf %difference : f64
        %larger = arith.maximumf %most, %size : f64
        scf.yield %larger : f64
      }
      scf.yield %row : f64
    }
    %right = arith.cmpf ole, %error, %bound : f64
    scf.if %right {
      vector.print str "attention: right\n"
    } else {
      vector.print str "attention: wrong by "
      vector.print %error : f64
    }
    memref.dealloc %q : memref<?x?xf32>
    memref.dealloc %k : memref<?x?xf32>
    memref.dealloc %v : memref<?x?xf32>
    memref.dealloc %out : memref<?x?xf32>
    return
  }
}
