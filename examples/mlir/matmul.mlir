// C = A * B, a linalg operation that becomes loops, and the loops a kernel.
// README.md has the commands.
module attributes {gpu.container_module} {
  func.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
    linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
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
    %m = arith.constant 40 : index
    %n = arith.constant 36 : index
    %k = arith.constant 24 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %zero = arith.constant 0.0 : f32
    %zero64 = arith.constant 0.0 : f64
    %bound = arith.constant 1.0e-5 : f64
    %a = memref.alloc(%m, %k) : memref<?x?xf32>
    %b = memref.alloc(%k, %n) : memref<?x?xf32>
    %c = memref.alloc(%m, %n) : memref<?x?xf32>
    func.call @fill(%a, %c7, %c3) : (memref<?x?xf32>, index, index) -> ()
    func.call @fill(%b, %c5, %c7) : (memref<?x?xf32>, index, index) -> ()
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        memref.store %zero, %c[%i, %j] : memref<?x?xf32>
      }
    }
    %ua = memref.cast %a : memref<?x?xf32> to memref<*xf32>
    %ub = memref.cast %b : memref<?x?xf32> to memref<*xf32>
    %uc = memref.cast %c : memref<?x?xf32> to memref<*xf32>
    gpu.host_register %ua : memref<*xf32>
    gpu.host_register %ub : memref<*xf32>
    gpu.host_register %uc : memref<*xf32>
    func.call @matmul(%a, %b, %c) : (memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) -> ()
    gpu.host_unregister %ua : memref<*xf32>
    gpu.host_unregister %ub : memref<*xf32>
    gpu.host_unregister %uc : memref<*xf32>

    // The same in 64 bits on the host.
    %error = scf.for %i = %c0 to %m step %c1 iter_args(%worst = %zero64) -> f64 {
      %row = scf.for %j = %c0 to %n step %c1 iter_args(%most = %worst) -> f64 {
        %want = scf.for %l = %c0 to %k step %c1 iter_args(%sum = %zero64) -> f64 {
          %x = memref.load %a[%i, %l] : memref<?x?xf32>
          %y = memref.load %b[%l, %j] : memref<?x?xf32>
          %wx = arith.extf %x : f32 to f64
          %wy = arith.extf %y : f32 to f64
          %product = arith.mulf %wx, %wy : f64
          %next = arith.addf %sum, %product : f64
          scf.yield %next : f64
        }
        %got = memref.load %c[%i, %j] : memref<?x?xf32>
        %wide = arith.extf %got : f32 to f64
        %difference = arith.subf %wide, %want : f64
        %size = math.absf %difference : f64
        %larger = arith.maximumf %most, %size : f64
        scf.yield %larger : f64
      }
      scf.yield %row : f64
    }
    %right = arith.cmpf ole, %error, %bound : f64
    scf.if %right {
      vector.print str "matmul: right\n"
    } else {
      vector.print str "matmul: wrong by "
      vector.print %error : f64
    }
    memref.dealloc %a : memref<?x?xf32>
    memref.dealloc %b : memref<?x?xf32>
    memref.dealloc %c : memref<?x?xf32>
    return
  }
}
