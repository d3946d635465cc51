// Steps of a five-point stencil on device memory; tokens order the copies and
// the launches. README.md has the commands.
module attributes {gpu.container_module} {
  // One step: each inner point becomes a mean of itself and its neighbours.
  func.func @step(%from: memref<?x?xf32>, %to: memref<?x?xf32>) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %tile = arith.constant 16 : index
    %half = arith.constant 0.5 : f32
    %eighth = arith.constant 0.125 : f32
    %rows = memref.dim %from, %c0 : memref<?x?xf32>
    %columns = memref.dim %from, %c1 : memref<?x?xf32>
    %lastRow = arith.subi %rows, %c1 : index
    %lastColumn = arith.subi %columns, %c1 : index
    %down = arith.ceildivui %rows, %tile : index
    %across = arith.ceildivui %columns, %tile : index
    %start = gpu.wait async
    %done = gpu.launch async [%start] blocks(%bx, %by, %bz) in (%gx = %across, %gy = %down, %gz = %c1)
                                      threads(%tx, %ty, %tz) in (%sx = %tile, %sy = %tile, %sz = %c1) {
      %left = arith.muli %bx, %tile : index
      %top = arith.muli %by, %tile : index
      %j = arith.addi %left, %tx : index
      %i = arith.addi %top, %ty : index
      %afterFirst = arith.cmpi uge, %i, %c1 : index
      %beforeLast = arith.cmpi ult, %i, %lastRow : index
      %afterLeft = arith.cmpi uge, %j, %c1 : index
      %beforeRight = arith.cmpi ult, %j, %lastColumn : index
      %vertical = arith.andi %afterFirst, %beforeLast : i1
      %horizontal = arith.andi %afterLeft, %beforeRight : i1
      %inside = arith.andi %vertical, %horizontal : i1
      scf.if %inside {
        %above = arith.subi %i, %c1 : index
        %below = arith.addi %i, %c1 : index
        %west = arith.subi %j, %c1 : index
        %east = arith.addi %j, %c1 : index
        %x = memref.load %from[%i, %j] : memref<?x?xf32>
        %n = memref.load %from[%above, %j] : memref<?x?xf32>
        %s = memref.load %from[%below, %j] : memref<?x?xf32>
        %w = memref.load %from[%i, %west] : memref<?x?xf32>
        %e = memref.load %from[%i, %east] : memref<?x?xf32>
        %ns = arith.addf %n, %s : f32
        %we = arith.addf %w, %e : f32
        %around = arith.addf %ns, %we : f32
        %own = arith.mulf %x, %half : f32
        %others = arith.mulf %around, %eighth : f32
        %mean = arith.addf %own, %others : f32
        memref.store %mean, %to[%i, %j] : memref<?x?xf32>
      }
      gpu.terminator
    }
    gpu.wait [%done]
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

  // The same step on the host.
  func.func private @hostStep(%from: memref<?x?xf32>, %to: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %half = arith.constant 0.5 : f32
    %eighth = arith.constant 0.125 : f32
    %rows = memref.dim %from, %c0 : memref<?x?xf32>
    %columns = memref.dim %from, %c1 : memref<?x?xf32>
    %lastRow = arith.subi %rows, %c1 : index
    %lastColumn = arith.subi %columns, %c1 : index
    scf.for %i = %c1 to %lastRow step %c1 {
      scf.for %j = %c1 to %lastColumn step %c1 {
        %above = arith.subi %i, %c1 : index
        %below = arith.addi %i, %c1 : index
        %west = arith.subi %j, %c1 : index
        %east = arith.addi %j, %c1 : index
        %x = memref.load %from[%i, %j] : memref<?x?xf32>
        %n = memref.load %from[%above, %j] : memref<?x?xf32>
        %s = memref.load %from[%below, %j] : memref<?x?xf32>
        %w = memref.load %from[%i, %west] : memref<?x?xf32>
        %e = memref.load %from[%i, %east] : memref<?x?xf32>
        %ns = arith.addf %n, %s : f32
        %we = arith.addf %w, %e : f32
        %around = arith.addf %ns, %we : f32
        %own = arith.mulf %x, %half : f32
        %others = arith.mulf %around, %eighth : f32
        %mean = arith.addf %own, %others : f32
        memref.store %mean, %to[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 37 : index
    %columns = arith.constant 50 : index
    %pairs = arith.constant 3 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %zero = arith.constant 0.0 : f32
    %bound = arith.constant 1.0e-6 : f32
    %a = memref.alloc(%rows, %columns) : memref<?x?xf32>
    %b = memref.alloc(%rows, %columns) : memref<?x?xf32>
    %result = memref.alloc(%rows, %columns) : memref<?x?xf32>
    func.call @fill(%a, %c7, %c3) : (memref<?x?xf32>, index, index) -> ()
    func.call @fill(%b, %c7, %c3) : (memref<?x?xf32>, index, index) -> ()

    // Two streams: their tokens meet before the first step.
    %start1 = gpu.wait async
    %d1, %there1 = gpu.alloc async [%start1] (%rows, %columns) : memref<?x?xf32>
    %filled1 = gpu.memcpy async [%there1] %d1, %a : memref<?x?xf32>, memref<?x?xf32>
    %start2 = gpu.wait async
    %d2, %there2 = gpu.alloc async [%start2] (%rows, %columns) : memref<?x?xf32>
    %filled2 = gpu.memcpy async [%there2] %d2, %b : memref<?x?xf32>, memref<?x?xf32>
    %both = gpu.wait async [%filled1, %filled2]
    gpu.wait [%both]
    scf.for %i = %c0 to %pairs step %c1 {
      func.call @step(%d1, %d2) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
      func.call @step(%d2, %d1) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
    }
    %last = gpu.wait async
    %back = gpu.memcpy async [%last] %result, %d1 : memref<?x?xf32>, memref<?x?xf32>
    %freed1 = gpu.dealloc async [%back] %d1 : memref<?x?xf32>
    %freed2 = gpu.dealloc async [%freed1] %d2 : memref<?x?xf32>
    gpu.wait [%freed2]

    scf.for %i = %c0 to %pairs step %c1 {
      func.call @hostStep(%a, %b) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
      func.call @hostStep(%b, %a) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
    }
    %error = scf.for %i = %c0 to %rows step %c1 iter_args(%worst = %zero) -> f32 {
      %row = scf.for %j = %c0 to %columns step %c1 iter_args(%most = %worst) -> f32 {
        %want = memref.load %a[%i, %j] : memref<?x?xf32>
        %got = memref.load %result[%i, %j] : memref<?x?xf32>
        %difference = arith.subf %got, %want : f32
        %size = math.absf %difference : f32
        %larger = arith.maximumf %most, %size : f32
        scf.yield %larger : f32
      }
      scf.yield %row : f32
    }
    %right = arith.cmpf ole, %error, %bound : f32
    scf.if %right {
      vector.print str "stencil: right\n"
    } else {
      vector.print str "stencil: wrong by "
      vector.print %error : f32
    }
    memref.dealloc %a : memref<?x?xf32>
    memref.dealloc %b : memref<?x?xf32>
    memref.dealloc %result : memref<?x?xf32>
    return
  }
}
