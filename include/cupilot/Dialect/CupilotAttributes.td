//===- CupilotAttributes.td - Attributes of the cupilot dialect -*- tablegen -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DIALECT_CUPILOTATTRIBUTES_TD
#define CUPILOT_DIALECT_CUPILOTATTRIBUTES_TD

include "cupilot/Dialect/CupilotDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"

class Cupilot_Attr<string name, string mnemonicName> : AttrDef<Cupilot_Dialect, name> {
  let mnemonic = mnemonicName;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

def Cupilot_Bottleneck : I32EnumAttr<"BottleneckKind", "what limits a kernel", [
    I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Memory", 1, "memory">,
    I32EnumAttrCase<"Latency", 2, "latency">, I32EnumAttrCase<"Middle", 3, "middle">]> {
  let cppNamespace = "::cupilot";
}

def Cupilot_Contract : I32EnumAttr<"ContractKind", "how exact a variant must be", [
    I32EnumAttrCase<"Exact", 0, "exact">, I32EnumAttrCase<"Same", 1, "same">,
    I32EnumAttrCase<"Relaxed", 2, "relaxed">]> {
  let cppNamespace = "::cupilot";
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

def Cupilot_ParamAttr : Cupilot_Attr<"Param", "param"> {
  let summary = "A parameter of a kernel";
  let description = [{
    Its name and type as the source spells them, its size in bytes, and, for a
    pointer, what it points to.

    ```mlir
    #cupilot.param<name = "x", type = "const float *", size = 8, pointee = "float",
                   pointee_size = 4, is_const = true, is_restrict = false>
    ```
  }];
  let parameters = (ins StringRefParameter<"name in the source">:$name,
      StringRefParameter<"type in the source">:$type, "uint64_t":$size,
      OptionalParameter<"::mlir::StringAttr", "element type of a pointer">:$pointee,
      DefaultValuedParameter<"uint64_t", "0">:$pointee_size,
      DefaultValuedParameter<"bool", "false">:$is_const,
      DefaultValuedParameter<"bool", "false">:$is_restrict);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_ScalarAttr : Cupilot_Attr<"Scalar", "scalar"> {
  let summary = "An integer that a kernel gets";
  let description = [{
    A scalar argument, or an integer field of a by-value argument. A kernel's
    scalars are the symbols of its maps, in order.
  }];
  let parameters = (ins "unsigned":$param, DefaultValuedParameter<"unsigned", "0">:$offset,
      "unsigned":$bits, "bool":$is_signed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_PointerAttr : Cupilot_Attr<"Pointer", "pointer"> {
  let summary = "A pointer that a kernel gets";
  let parameters = (ins "unsigned":$param, DefaultValuedParameter<"unsigned", "0">:$offset);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Strategies in use
//===----------------------------------------------------------------------===//

def Cupilot_GeneAttr : Cupilot_Attr<"Gene", "gene"> {
  let summary = "A strategy with chosen parameters";
  let description = [{
    ```mlir
    #cupilot.gene<@block_size, {x = 128}>
    ```
    Parameter values are integers or strings. Where the strategy is defined in
    the same module, each parameter must be one of the strategy's and its value
    in the domain.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$strategy, "::mlir::DictionaryAttr":$params);
  let assemblyFormat = "`<` $strategy `,` $params `>`";
  let genVerifyDecl = 1;
}

def Cupilot_GenomeAttr : Cupilot_Attr<"Genome", "genome"> {
  let summary = "A set of genes, each strategy at most once";
  let parameters = (ins OptionalArrayRefParameter<"::cupilot::GeneAttr">:$genes);
  let assemblyFormat = "`<` custom<Genes>($genes) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Cupilot_LaunchAttr : Cupilot_Attr<"Launch", "launch"> {
  let summary = "One launch of a plan";
  let description = [{
    The kernel's mangled name in the variant's source, and its grid, block and
    dynamic shared memory over the original launch and the kernel's scalars;
    where it is launched in clusters that its source does not name, their
    blocks, at most 8 together.

    ```mlir
    #cupilot.launch<symbol = "_Z4blurPKfPfi",
        grid = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n ceildiv 1024, gy, gz)>,
        block = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (128, by, bz)>,
        shared = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (shared)>,
        cluster = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (4, 1, 1)>>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$symbol, "::mlir::AffineMapAttr":$grid,
      "::mlir::AffineMapAttr":$block, "::mlir::AffineMapAttr":$shared,
      OptionalParameter<"::mlir::AffineMapAttr", "blocks of a cluster">:$cluster);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_TensorMapAttr : Cupilot_Attr<"TensorMap", "tensormap"> {
  let summary = "A tensor map over a buffer that the kernel gets";
  let description = [{
    The arguments of the driver's `cuTensorMapEncodeTiled`. `base` is one of the
    kernel's pointers; `type` a word such as "f32"; `extents` are in elements,
    innermost first; `strides` in bytes, for each dimension but the innermost;
    `box` and `steps` in elements. Without `steps` all are 1; `swizzle`,
    `promotion` are "none" and `fill` is "zero" where nothing is said.

    ```mlir
    #cupilot.tensormap<base = <param = 0>, type = "f32",
        extents = affine_map<(gx, gy, gz, bx, by, bz, shared)[w, h] -> (w, h)>,
        strides = affine_map<(gx, gy, gz, bx, by, bz, shared)[w, h] -> (w * 4)>,
        box = [32, 8], swizzle = "128B">
    ```
  }];
  let parameters = (ins "::cupilot::PointerAttr":$base, StringRefParameter<>:$type,
      "::mlir::AffineMapAttr":$extents, "::mlir::AffineMapAttr":$strides,
      "::mlir::DenseI64ArrayAttr":$box,
      OptionalParameter<"::mlir::DenseI64ArrayAttr", "element strides">:$steps,
      StringRefParameter<"", "\"none\"">:$swizzle,
      StringRefParameter<"", "\"none\"">:$promotion,
      StringRefParameter<"", "\"zero\"">:$fill);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_PlanAttr : Cupilot_Attr<"Plan", "plan"> {
  let summary = "How the host must launch a variant";
  let description = [{
    A sequence of launches on the original's stream. Declarative, never host code.
    `scratch` is the bytes of buffers that live from the first launch to the last;
    they and the tensor maps are further parameters of each of its kernels: the
    original's, then a pointer for each buffer, then a `CUtensorMap` for each map.

    ```mlir
    #cupilot.plan<[<symbol = "_Z7partialPKfPfiS1_", ...>, <symbol = "_Z5totalPKfPfiS1_", ...>]
        scratch affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx * 4)>
        tensormaps [<base = <param = 0>, ...>]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::cupilot::LaunchAttr">:$launches,
      OptionalParameter<"::mlir::AffineMapAttr", "bytes of scratch buffers">:$scratch,
      OptionalArrayRefParameter<"::cupilot::TensorMapAttr">:$tensormaps);
  let assemblyFormat = [{
    `<` `[` $launches `]` (`scratch` $scratch^)? (`tensormaps` `[` $tensormaps^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Cupilot_AlignAttr : Cupilot_Attr<"Align", "align"> {
  let summary = "A pointer must be a multiple of a power of two";
  let parameters = (ins "::cupilot::PointerAttr":$pointer, "unsigned":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_DisjointAttr : Cupilot_Attr<"Disjoint", "disjoint"> {
  let summary = "Two buffers must not overlap";
  let description = "Extents in bytes, over the original launch and the scalars.";
  let parameters = (ins "::cupilot::PointerAttr":$a, "::cupilot::PointerAttr":$b,
      "::mlir::AffineMapAttr":$extent_a, "::mlir::AffineMapAttr":$extent_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_GuardAttr : Cupilot_Attr<"Guard", "guard"> {
  let summary = "When a variant may run";
  let description = [{
    The compute capability (equal, never at least), an integer set over the
    original launch and the scalars, pointer alignments and disjoint buffers. All
    in 64 bits; an overflow fails the guard, and the original runs. Where the
    attribute stands alone, with its `#cupilot.guard`, write the set as an alias
    (`#set = affine_set<...>`, as MLIR prints it): the `>` of `>=` would end it.
  }];
  let parameters = (ins StringRefParameter<"sm_NN">:$arch, "::mlir::IntegerSetAttr":$set,
      OptionalArrayRefParameter<"::cupilot::AlignAttr">:$align,
      OptionalArrayRefParameter<"::cupilot::DisjointAttr">:$disjoint);
  let assemblyFormat = [{
    `<` $arch `,` $set (`align` `[` $align^ `]`)? (`disjoint` `[` $disjoint^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

def Cupilot_BuildAttr : Cupilot_Attr<"Build", "build"> {
  let summary = "A build identity";
  let description = "The digest of a kernel as one compiler sees it for one architecture.";
  let parameters = (ins StringRefParameter<>:$compiler, StringRefParameter<>:$arch,
      StringRefParameter<>:$digest);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_MeasurementAttr : Cupilot_Attr<"Measurement", "measurement"> {
  let summary = "What is known of a variant's speed and soundness";
  let description = [{
    `basis` is "modelled", "measured", or "declared": nothing was run, and who added
    the variant answers for it. They are never mixed. `ratio` is the
    original's time over the variant's, with the confidence interval [low, high].
    `gate` is the version of the checks passed, `checks` how many launches were
    compared, `build` the identity of the variant's own code.
  }];
  let parameters = (ins StringRefParameter<>:$device, StringRefParameter<>:$basis,
      "::mlir::FloatAttr":$ratio, "::mlir::FloatAttr":$low, "::mlir::FloatAttr":$high,
      "unsigned":$gate, "unsigned":$checks, "::cupilot::BuildAttr":$build);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_RooflineAttr : Cupilot_Attr<"Roofline", "roofline"> {
  let summary = "Where a kernel stands under the roofline";
  let description = [{
    `basis` is "static", "modelled" or "measured"; `intensity` is in
    floating-point operations per byte of global memory.
  }];
  let parameters = (ins EnumParameter<Cupilot_Bottleneck>:$bottleneck,
      StringRefParameter<>:$basis, "::mlir::FloatAttr":$intensity);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

def Cupilot_BufferAttr : Cupilot_Attr<"Buffer", "buffer"> {
  let summary = "A device buffer before a launch";
  let description = [{
    Size and alignment in bytes; the content lies in `file`, or `generator` makes
    it ("f32 uniform seed=1"). Without a generator there is a digest of it.
  }];
  let parameters = (ins "uint64_t":$size, "uint64_t":$align,
      StringRefParameter<"b3:...", [{""}]>:$digest, StringRefParameter<"path", [{""}]>:$file,
      StringRefParameter<"generator", [{""}]>:$generator);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_AddressAttr : Cupilot_Attr<"Address", "address"> {
  let summary = "A pointer in an argument, and where it points";
  let parameters = (ins "unsigned":$param, DefaultValuedParameter<"unsigned", "0">:$offset,
      "unsigned":$buffer, DefaultValuedParameter<"uint64_t", "0">:$at);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_GlobalAttr : Cupilot_Attr<"Global", "global"> {
  let summary = "A device variable that the program had set";
  let parameters = (ins StringRefParameter<>:$symbol, "::cupilot::BufferAttr":$content);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // CUPILOT_DIALECT_CUPILOTATTRIBUTES_TD
