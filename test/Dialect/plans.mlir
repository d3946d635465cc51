// Plans of several launches, with clusters, scratch memory and tensor maps.
// RUN: cupilot-opt %s -split-input-file -verify-diagnostics -o %t.mlir
// RUN: cupilot-opt %t.mlir -split-input-file | FileCheck %s

// CHECK: #[[BYTES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 4, 1024)>
// CHECK: plan(<[<symbol = "_Z7partialPKfPfiS1_14CUtensorMap_st", grid = #map{{[0-9]*}}, block = #map{{[0-9]*}}, shared = #map{{[0-9]*}}>,
// CHECK-SAME: <symbol = "_Z7combinePKfPfiS1_14CUtensorMap_st", grid = #map{{[0-9]*}}, block = #map{{[0-9]*}}, shared = #map{{[0-9]*}}, cluster = #map{{[0-9]*}}>]
// CHECK-SAME: scratch #[[BYTES]]
// CHECK-SAME: tensormaps[<base = <param = 0>, type = f32, extents = #map{{[0-9]*}}, strides = #map{{[0-9]*}}, box = [32, 8], steps = [1, 2], swizzle = "128B", promotion = "256B", fill = nan>,
// CHECK-SAME: <base = <param = 1>, type = u8, extents = #map{{[0-9]*}}, strides = #map{{[0-9]*}}, box = [64]>]>)
#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0)>
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000")
    params([#cupilot.param<name = "in", type = "const float *", size = 8, pointee = "float", pointee_size = 4>,
            #cupilot.param<name = "out", type = "float *", size = 8, pointee = "float", pointee_size = 4>,
            #cupilot.param<name = "n", type = "int", size = 4>])
    scalars([#cupilot.scalar<param = 2, bits = 32, is_signed = true>])
    pointers([#cupilot.pointer<param = 0>, #cupilot.pointer<param = 1>]) contract(same) {
  cupilot.variant @v parents([]) genome(#cupilot.genome<[]>)
      plan(#cupilot.plan<[<symbol = "_Z7partialPKfPfiS1_14CUtensorMap_st", grid = #dims, block = #dims, shared = #none>,
                          <symbol = "_Z7combinePKfPfiS1_14CUtensorMap_st", grid = #dims, block = #dims, shared = #none,
                           cluster = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (4, 2, 1)>>]
           scratch affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx * 4, 1024)>
           tensormaps [<base = <param = 0>, type = "f32",
                        extents = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n, gx)>,
                        strides = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n * 4)>,
                        box = [32, 8], steps = [1, 2], swizzle = "128B", promotion = "256B", fill = "nan">,
                       <base = <param = 1>, type = "u8",
                        extents = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n)>,
                        strides = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> ()>, box = [64]>]>)
}

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0)>
// expected-error @+1 {{a cluster has at most 8 blocks, not 16}}
#l = #cupilot.launch<symbol = "k", grid = #dims, block = #dims, shared = #none, cluster = affine_map<(a, b, c, d, e, f, g)[n] -> (4, 4, 1)>>

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0)>
// expected-error @+1 {{a dimension of a cluster is 1 to 8 blocks, not 0}}
#l = #cupilot.launch<symbol = "k", grid = #dims, block = #dims, shared = #none, cluster = affine_map<(a, b, c, d, e, f, g)[n] -> (0, 1, 1)>>

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0)>
// expected-error @+1 {{the cluster of a launch must have 3 result(s), not 1}}
#l = #cupilot.launch<symbol = "k", grid = #dims, block = #dims, shared = #none, cluster = #none>

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0)>
// expected-error @+1 {{a scratch buffer has 1 to 1099511627776 bytes, not 0}}
#p = #cupilot.plan<[<symbol = "k", grid = #dims, block = #dims, shared = #none>] scratch affine_map<(a, b, c, d, e, f, g)[n] -> (0)>>

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
// expected-error @+1 {{no GPU has such a tensor map: the innermost side of its box is a multiple of 16 bytes, not 12}}
#t = #cupilot.tensormap<base = <param = 0>, type = "f32", extents = #map, strides = #one, box = [3, 8]>

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
// expected-error @+1 {{with this swizzle the innermost side of its box is at most 64 bytes, not 128}}
#t = #cupilot.tensormap<base = <param = 0>, type = "f32", extents = #map, strides = #one, box = [32, 8], swizzle = "64B">

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
// expected-error @+1 {{it has a stride for each dimension but the innermost: 1, not 2}}
#t = #cupilot.tensormap<base = <param = 0>, type = "f32", extents = #map, strides = #map, box = [32, 8]>

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
// expected-error @+2 {{failed to parse Cupilot_TensorMapAttr parameter 'type'}}
// expected-error @+1 {{the element type of a tensor map is one of u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, not "float"}}
#t = #cupilot.tensormap<base = <param = 0>, type = "float", extents = #map, strides = #one, box = [32, 8]>

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
// expected-error @+1 {{a side of its box is 1 to 256 elements, not 512}}
#t = #cupilot.tensormap<base = <param = 0>, type = "u8", extents = #map, strides = #one, box = [16, 512]>

// -----

#map = affine_map<(a, b, c, d, e, f, g)[n] -> (n, n)>
#one = affine_map<(a, b, c, d, e, f, g)[n] -> (n)>
// expected-error @+1 {{only numbers of floating-point types can be NaN}}
#t = #cupilot.tensormap<base = <param = 0>, type = "s32", extents = #map, strides = #one, box = [16, 8], fill = "nan">

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[] -> (0)>
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000")
    params([#cupilot.param<name = "n", type = "int", size = 4>]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{a tensor map names #cupilot.pointer<param = 0>, which is none of the kernel's pointers}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[]>)
      plan(#cupilot.plan<[<symbol = "k", grid = #dims, block = #dims, shared = #none>]
           tensormaps [<base = <param = 0>, type = "u8", extents = #none, strides = affine_map<(a, b, c, d, e, f, g)[] -> ()>, box = [16]>]>)
}

// -----

#dims = affine_map<(gx, gy, gz, bx, by, bz, shared)[] -> (gx, gy, gz)>
#none = affine_map<(gx, gy, gz, bx, by, bz, shared)[] -> (0)>
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000")
    params([]) scalars([]) pointers([]) contract(same) {
  // expected-error @+1 {{the scratch memory must have one symbol for each of the kernel's 0 scalars, not 1}}
  cupilot.variant @v parents([]) genome(#cupilot.genome<[]>)
      plan(#cupilot.plan<[<symbol = "k", grid = #dims, block = #dims, shared = #none>]
           scratch affine_map<(a, b, c, d, e, f, g)[n] -> (n)>>)
}
