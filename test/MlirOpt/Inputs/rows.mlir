gpu.module @k {
  gpu.func @rows(%x: memref<?x?xf32>, %y: memref<?xf32>, %rows: index, %columns: index, %first: index, %step: index) kernel {
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %rows : index
    scf.if %in {
      scf.for %j = %first to %columns step %step {
        %v = memref.load %x[%i, %j] : memref<?x?xf32>
        %sum = memref.load %y[%i] : memref<?xf32>
        %more = arith.addf %sum, %v : f32
        memref.store %more, %y[%i] : memref<?xf32>
      }
    }
    gpu.return
  }
}
