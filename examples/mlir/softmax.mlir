// Softmax over the rows of a matrix: a warp for each row, whose lanes exchange
// their parts. README.md has the commands.
module attributes {gpu.container_module} {
  func.func @softmax(%in: memref<?x?xf32>, %out: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %threads = arith.constant 32 : index
    %lanes = arith.constant 32 : i32
    %lane1 = arith.constant 1 : i32
    %lowest = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %rows = memref.dim %in, %c0 : memref<?x?xf32>
    %columns = memref.dim %in, %c1 : memref<?x?xf32>
    gpu.launch blocks(%row, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
      %mine = scf.for %j = %tx to %columns step %threads iter_args(%most = %lowest) -> f32 {
        %x = memref.load %in[%row, %j] : memref<?x?xf32>
        %larger = arith.maximumf %most, %x : f32
        scf.yield %larger : f32
      }
      %top = scf.for %step = %c0 to %c5 step %c1 iter_args(%most = %mine) -> f32 {
        %word = arith.index_cast %step : index to i32
        %distance = arith.shli %lane1, %word : i32
        %other, %valid = gpu.shuffle xor %most, %distance, %lanes : f32
        %both = arith.maximumf %most, %other : f32
        scf.yield %both : f32
      }
      %part = scf.for %j = %tx to %columns step %threads iter_args(%sum = %zero) -> f32 {
        %x = memref.load %in[%row, %j] : memref<?x?xf32>
        %below = arith.subf %x, %top : f32
        %power = math.exp %below : f32
        memref.store %power, %out[%row, %j] : memref<?x?xf32>
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
      scf.for %j = %tx to %columns step %threads {
        %power = memref.load %out[%row, %j] : memref<?x?xf32>
        %share = arith.divf %power, %total : f32
        memref.store %share, %out[%row, %j] : memref<?x?xf32>
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

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 12 : index
    %columns = arith.constant 300 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %zero = arith.constant 0.0 : f64
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %bound = arith.constant 1.0e-6 : f64
    %in = memref.alloc(%rows, %columns) : memref<?x?xf32>
    %out = memref.alloc(%rows, %columns) : memref<?x?xf32>
    func.call @fill(%in, %c7, %c3) : (memref<?x?xf32>, index, index) -> ()
    %uin = memref.cast %in : memref<?x?xf32> to memref<*xf32>
    %uout = memref.cast %out : memref<?x?xf32> to memref<*xf32>
    gpu.host_register %uin : memref<*xf32>
    gpu.host_register %uout : memref<*xf32>
    func.call @softmax(%in, %out) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
    gpu.host_unregister %uin : memref<*xf32>
    gpu.host_unregister %uout : memref<*xf32>

    // The same in 64 bits on the host.
    %error = scf.for %i = %c0 to %rows step %c1 iter_args(%worst = %zero) -> f64 {
      %top = scf.for %j = %c0 to %columns step %c1 iter_args(%most = %lowest) -> f64 {
        %x = memref.load %in[%i, %j] : memref<?x?xf32>
        %wide = arith.extf %x : f32 to f64
        %larger = arith.maximumf %most, %wide : f64
        scf.yield %larger : f64
      }
      %total = scf.for %j = %c0 to %columns step %c1 iter_args(%sum = %zero) -> f64 {
        %x = memref.load %in[%i, %j] : memref<?x?xf32>
        %wide = arith.extf %x : f32 to f64
        %below = arith.subf %wide, %top : f64
        %power = math.exp %below : f64
        %next = arith.addf %sum, %power : f64
        scf.yield %next : f64
      }
      %row = scf.for %j = %c0 to %columns step %c1 iter_args(%most = %worst) -> f64 {
        %x = memref.load %in[%i, %j] : memref<?x?xf32>
        %wide = arith.extf %x : f32 to f64
        %below = arith.subf %wide, %top : f64
        %power = math.exp %below : f64
        %want = arith.divf %power, %total : f64
        %y = memref.load %out[%i, %j] : memref<?x?xf32>
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
      vector.print str "softmax: right\n"
    } else {
      vector.print str "softmax: wrong by "
      vector.print %error : f64
    }
    memref.dealloc %in : memref<?x?xf32>
    memref.dealloc %out : memref<?x?xf32>
    return
  }
}
