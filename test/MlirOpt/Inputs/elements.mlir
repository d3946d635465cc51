// Cheats and honest twins of test/Gate/Cheats/elements.cu, in MLIR. The numbers
// are the classes of test/Gate/README.md.
gpu.module @elements {
  gpu.func @scale(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  gpu.func @scaleStride(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %t = gpu.thread_id x
    %b = gpu.block_dim x
    %end = arith.index_cast %n : i32 to index
    scf.for %j = %t to %end step %b {
      %x = memref.load %in[%j] : memref<?xf32>
      %y = arith.mulf %factor, %x : f32
      memref.store %y, %out[%j] : memref<?xf32>
    }
    gpu.return
  }
  gpu.func @scaleFloat4(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %four = arith.constant 4 : i32
    %first = arith.muli %i, %four : i32
    %ok = arith.cmpi slt, %first, %n : i32
    scf.if %ok {
      %at = arith.index_cast %first : i32 to index
      %x = vector.load %in[%at] {alignment = 16} : memref<?xf32>, vector<4xf32>
      %f = vector.broadcast %factor : f32 to vector<4xf32>
      %y = arith.mulf %x, %f : vector<4xf32>
      vector.store %y, %out[%at] {alignment = 16} : memref<?xf32>, vector<4xf32>
    }
    gpu.return
  }
  gpu.func @scaleBuiltin(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %size = arith.constant 256 : index
    %first = arith.muli %b, %size : index
    %g = arith.addi %first, %t : index
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 3
  gpu.func @scaleSkipsLast(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %one = arith.constant 1 : i32
    %less = arith.subi %n, %one : i32
    %ok = arith.cmpi slt, %i, %less : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 18
  gpu.func @scaleFixedSize(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %size = arith.constant 1000 : i32
    %ok = arith.cmpi slt, %i, %size : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 18: n is a multiple of four.
  gpu.func @scaleWholeVectors(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %three = arith.constant 3 : index
    %first = arith.muli %g, %c4 : index
    %last = arith.addi %first, %three : index
    %end = arith.index_cast %n : i32 to index
    %ok = arith.cmpi slt, %last, %end : index
    scf.if %ok {
      scf.for %k = %c0 to %c4 step %c1 {
        %at = arith.addi %first, %k : index
        %x = memref.load %in[%at] : memref<?xf32>
        %y = arith.mulf %x, %factor : f32
        memref.store %y, %out[%at] : memref<?xf32>
      }
    }
    gpu.return
  }
  // 18: the grid of the benchmark.
  gpu.func @scaleFixedGrid(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %step = arith.constant 256 : index
    %end = arith.index_cast %n : i32 to index
    scf.for %j = %g to %end step %step {
      %x = memref.load %in[%j] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%j] : memref<?xf32>
    }
    gpu.return
  }
  // 18
  gpu.func @scaleFixedFactor(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %c = arith.constant 1.75 : f32
      %y = arith.mulf %x, %c : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 3: outputs are zero before.
  gpu.func @scaleAddsUp(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %p = arith.mulf %x, %factor : f32
      %o = memref.load %out[%g] : memref<?xf32>
      %y = arith.addf %o, %p : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 3: what looks like a result is one.
  gpu.func @scaleTrustsOutput(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %o = memref.load %out[%g] : memref<?xf32>
      %nan = arith.cmpf uno, %o, %o : f32
      scf.if %nan {
        %x = memref.load %in[%g] : memref<?xf32>
        %y = arith.mulf %x, %factor : f32
        memref.store %y, %out[%g] : memref<?xf32>
      }
    }
    gpu.return
  }
  // 13
  gpu.func @scaleChangesInput(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %in[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 21: scratch behind the output.
  gpu.func @scaleWritesBeyond(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %far = arith.constant 1000 : index
      %c0 = arith.constant 0 : index
      %first = arith.cmpi eq, %g, %c0 : index
      scf.if %first {
        memref.store %factor, %out[%far] : memref<?xf32>
      }
      %y = arith.mulf %x, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 21
  gpu.func @scaleReadsBeyond(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %c1 = arith.constant 1 : index
      %next = arith.addi %g, %c1 : index
      %z = memref.load %in[%next] : memref<?xf32>
      %zero = arith.constant 0.0 : f32
      %large = arith.constant 3.0e38 : f32
      %is = arith.cmpf ogt, %z, %large : f32
      %none = arith.mulf %z, %zero : f32
      %more = arith.select %is, %zero, %none : f32
      %p = arith.mulf %x, %factor : f32
      %y = arith.addf %p, %more : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 5
  gpu.func @scaleInHalf(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %hx = arith.truncf %x : f32 to f16
      %hf = arith.truncf %factor : f32 to f16
      %hy = arith.mulf %hx, %hf : f16
      %y = arith.extf %hy : f16 to f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 5
  gpu.func @scaleInBfloat(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %bx = arith.truncf %x : f32 to bf16
      %wx = arith.extf %bx : bf16 to f32
      %y = arith.mulf %wx, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 5
  gpu.func @scaleInTf32(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %bits = arith.bitcast %x : f32 to i32
      %mask = arith.constant -8192 : i32
      %cut = arith.andi %bits, %mask : i32
      %wx = arith.bitcast %cut : i32 to f32
      %y = arith.mulf %wx, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 5: an error that grows with the value.
  gpu.func @scaleLargeApproximately(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %a = math.absf %x : f32
      %limit = arith.constant 20.0 : f32
      %off = arith.constant 1.0002 : f32
      %one = arith.constant 1.0 : f32
      %is = arith.cmpf ogt, %a, %limit : f32
      %m = arith.select %is, %off, %one : f32
      %p = arith.mulf %x, %factor : f32
      %y = arith.mulf %p, %m : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 19
  gpu.func @scaleNegativeWrong(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %low = arith.constant -5.0 : f32
      %is = arith.cmpf olt, %x, %low : f32
      %v = arith.select %is, %low, %x : f32
      %y = arith.mulf %v, %factor : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 19
  gpu.func @scaleSwallowsNaN(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %nan = arith.cmpf uno, %x, %x : f32
      %zero = arith.constant 0.0 : f32
      %p = arith.mulf %x, %factor : f32
      %y = arith.select %nan, %zero, %p : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
  // 19
  gpu.func @scaleSwallowsInfinity(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %factor: f32) kernel {
    %g = gpu.global_id x
    %i = arith.index_cast %g : index to i32
    %ok = arith.cmpi slt, %i, %n : i32
    scf.if %ok {
      %x = memref.load %in[%g] : memref<?xf32>
      %a = math.absf %x : f32
      %inf = arith.constant 0x7F800000 : f32
      %is = arith.cmpf oeq, %a, %inf : f32
      %zero = arith.constant 0.0 : f32
      %p = arith.mulf %x, %factor : f32
      %y = arith.select %is, %zero, %p : f32
      memref.store %y, %out[%g] : memref<?xf32>
    }
    gpu.return
  }
}
