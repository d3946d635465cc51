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

/// A constraint with a description of its own, for the tables of docs/Dialect.md.
class Cupilot_Described<Attr attr, string text> : Attr<attr.predicate, text> {
  let storageType = attr.storageType;
  let returnType = attr.returnType;
  let convertFromStorage = attr.convertFromStorage;
  let constBuilderCall = attr.constBuilderCall;
  let defaultValue = attr.defaultValue;
  let valueType = attr.valueType;
  let isOptional = attr.isOptional;
  let baseAttr = attr;
}

/// An array of \p kind.
class Cupilot_ArrayOf<Attr attr, string kind, string text>
    : TypedArrayAttrBase<attr, text # " (array of " # kind # ")">;

/// One that need not be written when it is empty.
class Cupilot_List<Attr attr, string kind, string text>
    : DefaultValuedAttr<Cupilot_ArrayOf<attr, kind, text>, "{}">;

/// A word of a closed set, bare or in quotes (as older versions wrote it). The
/// diagnostic for another word names the set.
class Cupilot_Word<EnumInfo info, string text, string default = "">
    : AttrParameter<info.cppNamespace # "::" # info.className, text> {
  let parser = "parseWord<" # cppType # ">($_parser, \"" # info.summary # "\")";
  let defaultValue = !if(!empty(default), "", cppType # "::" # default);
}

class Cupilot_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::cupilot";
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

def Cupilot_Bottleneck : Cupilot_Enum<"BottleneckKind", "what limits a kernel", [
    I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Memory", 1, "memory">,
    I32EnumAttrCase<"Latency", 2, "latency">, I32EnumAttrCase<"Middle", 3, "middle">]>;

def Cupilot_Contract : Cupilot_Enum<"ContractKind", "how exact a variant must be", [
    I32EnumAttrCase<"Exact", 0, "exact">, I32EnumAttrCase<"Same", 1, "same">,
    I32EnumAttrCase<"Relaxed", 2, "relaxed">]>;

def Cupilot_Basis : Cupilot_Enum<"BasisKind", "where a figure comes from", [
    I32EnumAttrCase<"Static", 0, "static">, I32EnumAttrCase<"Modelled", 1, "modelled">,
    I32EnumAttrCase<"Measured", 2, "measured">, I32EnumAttrCase<"Declared", 3, "declared">]>;

def Cupilot_Audience : Cupilot_Enum<"AudienceKind", "who uses a workload", [
    I32EnumAttrCase<"Gate", 0, "gate">, I32EnumAttrCase<"Gpu", 1, "gpu">,
    I32EnumAttrCase<"Card", 2, "card">]>; // Before format 6, for "gpu".

// The order of the next three is that of the CUDA driver's enumerators.
def Cupilot_TensorType : Cupilot_Enum<"TensorType", "the element type of a tensor map", [
    I32EnumAttrCase<"U8", 0, "u8">, I32EnumAttrCase<"U16", 1, "u16">,
    I32EnumAttrCase<"U32", 2, "u32">, I32EnumAttrCase<"S32", 3, "s32">,
    I32EnumAttrCase<"U64", 4, "u64">, I32EnumAttrCase<"S64", 5, "s64">,
    I32EnumAttrCase<"F16", 6, "f16">, I32EnumAttrCase<"F32", 7, "f32">,
    I32EnumAttrCase<"F64", 8, "f64">, I32EnumAttrCase<"BF16", 9, "bf16">,
    I32EnumAttrCase<"F32Ftz", 10, "f32_ftz">, I32EnumAttrCase<"TF32", 11, "tf32">,
    I32EnumAttrCase<"TF32Ftz", 12, "tf32_ftz">]>;

def Cupilot_TensorSwizzle : Cupilot_Enum<"TensorSwizzle", "the swizzle of a tensor map", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Bytes32", 1, "32B">,
    I32EnumAttrCase<"Bytes64", 2, "64B">, I32EnumAttrCase<"Bytes128", 3, "128B">]>;

def Cupilot_TensorPromotion : Cupilot_Enum<"TensorPromotion", "the promotion of a tensor map", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Bytes64", 1, "64B">,
    I32EnumAttrCase<"Bytes128", 2, "128B">, I32EnumAttrCase<"Bytes256", 3, "256B">]>;

def Cupilot_TensorFill : Cupilot_Enum<"TensorFill", "what a tensor map reads outside of its buffer", [
    I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"NaN", 1, "nan">]>;

def Cupilot_Seen : Cupilot_Enum<"SeenBy", "who saw a variant in a box", [
    I32EnumAttrCase<"Gate", 0, "gate">, I32EnumAttrCase<"Gpu", 1, "gpu">]>;

def Cupilot_FloatType : Cupilot_Enum<"FloatFormat", "the format of a floating-point argument", [
    I32EnumAttrCase<"Half", 0, "f16">, I32EnumAttrCase<"BFloat", 1, "bf16">,
    I32EnumAttrCase<"Float", 2, "f32">, I32EnumAttrCase<"Double", 3, "f64">]>;

def Cupilot_PlanFact : Cupilot_Enum<"PlanFact", "a fact of a launch plan", [
    I32EnumAttrCase<"MoreLaunches", 0, "more_launches">,
    I32EnumAttrCase<"MoreBlocks", 1, "more_blocks">,
    I32EnumAttrCase<"FewerThreads", 2, "fewer_threads">,
    I32EnumAttrCase<"ResidentBlocks", 3, "resident_blocks">,
    I32EnumAttrCase<"Cluster", 4, "cluster">, I32EnumAttrCase<"Scratch", 5, "scratch">,
    I32EnumAttrCase<"TensorMap", 6, "tensormap">]>;

def Cupilot_CodeProbe : Cupilot_Enum<"CodeProbe", "a probe of code", [
    I32EnumAttrCase<"SharedMemory", 0, "shared_memory">,
    I32EnumAttrCase<"WiderAccess", 1, "wider_access">,
    I32EnumAttrCase<"MoreUnrolled", 2, "more_unrolled">,
    I32EnumAttrCase<"BlockThreads", 3, "block_threads">,
    I32EnumAttrCase<"InlineAssembly", 4, "inline_assembly">]>;

def Cupilot_CodeValue : Cupilot_Enum<"CodeValue", "a value that code shows", [
    I32EnumAttrCase<"Columns", 0, "columns">, I32EnumAttrCase<"Factors", 1, "factors">,
    I32EnumAttrCase<"Matrices", 2, "matrices">, I32EnumAttrCase<"Immediate", 3, "immediate">,
    I32EnumAttrCase<"ClusterBlocks", 4, "cluster_blocks">,
    I32EnumAttrCase<"Swizzle", 5, "swizzle">]>;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

def Cupilot_ParamAttr : Cupilot_Attr<"Param", "param"> {
  let summary = "A parameter of a kernel";
  let description = [{
    Name and type as the source spells them, the size, and, for a pointer, what
    it points to. The types are text for people and for prompts; what the tools
    compute with are the sizes, `#cupilot.scalar` and `#cupilot.pointer`.

    ```mlir
    #cupilot.param<name = "x", type = "const float *", size = 8, pointee = "float",
                   pointee_size = 4, is_const = true, is_restrict = false>
    ```
  }];
  let parameters = (ins StringRefParameter<"Name in the source; may be empty.">:$name,
      StringRefParameter<"Type in the source.">:$type,
      AttrParameter<"uint64_t", "Bytes of the argument.">:$size,
      OptionalParameter<"::mlir::StringAttr",
          "Element type of a pointer; absent for other parameters.">:$pointee,
      DefaultValuedParameter<"uint64_t", "0",
          "Bytes of an element; 0 where the element type is incomplete.">:$pointee_size,
      DefaultValuedParameter<"bool", "false",
          "Whether the pointer is to `const` elements.">:$is_const,
      DefaultValuedParameter<"bool", "false",
          "Whether the pointer is `__restrict__`.">:$is_restrict);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_ScalarAttr : Cupilot_Attr<"Scalar", "scalar"> {
  let summary = "An integer that a kernel gets";
  let description = [{
    A scalar argument, or an integer field of a by-value argument. A kernel's
    scalars are the symbols of the maps and sets of its plans and guards, in
    order: by parameter, then by offset. Floating-point arguments are not among
    them, because launches do not depend on them.

    ```mlir
    #cupilot.scalar<param = 2, offset = 8, bits = 32, is_signed = true>
    ```
  }];
  let parameters = (ins AttrParameter<"unsigned", "Index of the parameter.">:$param,
      DefaultValuedParameter<"unsigned", "0", "Byte offset in the argument.">:$offset,
      AttrParameter<"unsigned", "Width: 8, 16, 32 or 64.">:$bits,
      AttrParameter<"bool", "Whether it is sign-extended to 64 bits.">:$is_signed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_PointerAttr : Cupilot_Attr<"Pointer", "pointer"> {
  let summary = "A pointer that a kernel gets";
  let description = [{
    A pointer argument, or a pointer field of a by-value argument. Guards and
    tensor maps name buffers by it, so only pointers that the host passes can be
    named; those that lie in device memory cannot.

    ```mlir
    #cupilot.pointer<param = 0>
    ```
  }];
  let parameters = (ins AttrParameter<"unsigned", "Index of the parameter.">:$param,
      DefaultValuedParameter<"unsigned", "0", "Byte offset in the argument.">:$offset);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Strategies in use
//===----------------------------------------------------------------------===//

def Cupilot_SignAttr : Cupilot_Attr<"Sign", "sign"> {
  let summary = "One thing by which a strategy shows in code";
  let description = [{
    Alternatives, of which one is enough:

    - `instruction(...)`: one of the patterns occurs in the compiled code (PTX).
      A pattern is the start of an instruction (`"cp.async.bulk"`), a modifier
      (`".approx"`, `"multicast::cluster"`) or a directive (`".maxntid"`). Its
      first word must be one that PTX has.
    - `plan(...)`: one of the facts of the launch plan holds.
    - `probe(...)`: one of the named probes of the code succeeds. Probes look at
      what no single instruction shows.

    Facts of the plan. Numbers of blocks and threads are those of the first
    workload whose launches can be computed; where there is none, they deny
    nothing.

    | fact | the plan |
    | --- | --- |
    | `more_launches` | has more than one launch |
    | `more_blocks` | has a launch of more blocks than the original |
    | `fewer_threads` | has no launch of as many threads as the original |
    | `resident_blocks` | launches no more blocks than the GPU holds at once |
    | `cluster` | launches clusters |
    | `scratch` | has scratch buffers |
    | `tensormap` | has tensor maps |

    Probes of the code:

    | probe | succeeds if |
    | --- | --- |
    | `shared_memory` | the code uses shared memory |
    | `wider_access` | an access to global memory is a vector, or wider than all of the original's |
    | `more_unrolled` | the source asks for unrolling, or there are fewer loops or more instructions than in the original |
    | `block_threads` | the blocks have as many threads as the gene's first parameter says; another value of its domain is put right |
    | `inline_assembly` | the source has inline PTX |

    ```mlir
    #cupilot.sign<plan(cluster) or instruction(".reqnctapercluster", ".explicitcluster")>
    ```
  }];
  let parameters = (ins
      OptionalArrayRefParameter<"::cupilot::PlanFact", "Facts of the launch plan.">:$plan,
      OptionalArrayRefParameter<"::cupilot::CodeProbe", "Named probes of the code.">:$probes,
      OptionalArrayRefParameter<"::mlir::StringAttr", "Patterns of PTX.">:$instructions);
  let assemblyFormat = "`<` custom<Sign>($plan, $probes, $instructions) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_ReadingAttr : Cupilot_Attr<"Reading", "reading"> {
  let summary = "How a parameter of a strategy is read from code";
  let description = [{
    | value | is |
    | --- | --- |
    | `columns` | n of the instruction's shape (`m64n256k8`) |
    | `factors` | the element type of the factors (a word): `tf32` of `f32.tf32.tf32.f32` |
    | `matrices` | the number of matrices (`.x4`) |
    | `immediate` | the first operand that is a number |
    | `cluster_blocks` | the blocks of a cluster, in the plan or by `.reqnctapercluster` |
    | `swizzle` | the swizzle of the plan's tensor maps (a word) |

    The first four are read from the instructions that match a pattern in the
    strategy's `shown_by`. Where there are several values, the largest counts. Of
    a domain of integers, the nearest value is taken; a word must be in the domain.

    ```mlir
    #cupilot.reading<"n" = columns>
    ```
  }];
  let parameters = (ins AttrParameter<"::mlir::StringAttr", "The parameter.">:$param,
      Cupilot_Word<Cupilot_CodeValue, "What code shows.">:$value);
  let assemblyFormat = "`<` $param `=` $value `>`";
}

def Cupilot_GeneAttr : Cupilot_Attr<"Gene", "gene"> {
  let summary = "A strategy with chosen parameters";
  let description = [{
    Where the strategy is defined in the same module, each of its parameters has
    a value and each value lies in the domain. A module without the library (a
    store's, say) keeps its genes as they are: libraries change, and what was
    proved stays proved.

    ```mlir
    #cupilot.gene<@block_size, {x = 128}>
    ```
  }];
  let parameters = (ins AttrParameter<"::mlir::FlatSymbolRefAttr", "The strategy.">:$strategy,
      AttrParameter<"::mlir::DictionaryAttr",
          "Values of its parameters: integers (i64) or strings.">:$params);
  let assemblyFormat = "`<` $strategy `,` $params `>`";
  let genVerifyDecl = 1;
}

def Cupilot_GenomeAttr : Cupilot_Attr<"Genome", "genome"> {
  let summary = "A set of genes, each strategy at most once";
  let description = [{
    What a variant is made of. Genomes are crossed and mutated, then translated
    to code; code itself is never merged. The order has no meaning of its own,
    but is kept: the `cupilot-align` pass puts genes into library order, so that
    equal sets are equal attributes.

    ```mlir
    #cupilot.genome<[<@block_size, {x = 128}>, <@unroll, {factor = 4}>]>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"::cupilot::GeneAttr",
      "The genes; none is a genome too: the original.">:$genes);
  let assemblyFormat = "`<` custom<Genes>($genes) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Cupilot_LaunchAttr : Cupilot_Attr<"Launch", "launch"> {
  let summary = "One launch of a plan";
  let description = [{
    A kernel of the variant's source with its launch configuration. All maps are
    over the original launch and the kernel's scalars (see the dialect's
    description for their two forms) and are evaluated on the host in 64 bits; a
    launch that overflows, or that CUDA does not allow, is not made, and the
    original runs.

    A cluster is given here only where the source does not give it
    (`__cluster_dims__`). More than 8 blocks are not portable between GPUs of
    one architecture, so no plan has them.

    ```mlir
    #cupilot.launch<symbol = "_Z4blurPKfPfi",
        grid = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n ceildiv 1024, gy, gz)>,
        block = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (128, by, bz)>,
        shared = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (shared)>,
        cluster = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (4, 1, 1)>>
    ```
  }];
  let parameters = (ins
      StringRefParameter<"Mangled name of the kernel in the variant's source.">:$symbol,
      AttrParameter<"::mlir::AffineMapAttr", "Blocks in x, y and z.">:$grid,
      AttrParameter<"::mlir::AffineMapAttr", "Threads of a block in x, y and z.">:$block,
      AttrParameter<"::mlir::AffineMapAttr", "Bytes of dynamic shared memory.">:$shared,
      OptionalParameter<"::mlir::AffineMapAttr",
          "Blocks of a cluster in x, y and z, at most 8 together.">:$cluster);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_TensorMapAttr : Cupilot_Attr<"TensorMap", "tensormap"> {
  let summary = "A tensor map over a buffer that the kernel gets";
  let description = [{
    The arguments of the driver's `cuTensorMapEncodeTiled`, which the host calls
    before the launch. Verified are the limits that hold for every map: 1 to 5
    dimensions, sides of the box of 1 to 256 elements, an innermost side that is
    a multiple of 16 bytes and that the swizzle allows. What depends on the
    launch (an extent of zero, a stride beyond 2^40) fails the guard, and the
    original runs.

    ```mlir
    #cupilot.tensormap<base = <param = 0>, type = f32,
        extents = affine_map<(gx, gy, gz, bx, by, bz, shared)[w, h] -> (w, h)>,
        strides = affine_map<(gx, gy, gz, bx, by, bz, shared)[w, h] -> (w * 4)>,
        box = [32, 8], swizzle = "128B">
    ```
  }];
  let parameters = (ins
      AttrParameter<"::cupilot::PointerAttr", "The buffer: one of the kernel's pointers.">:$base,
      Cupilot_Word<Cupilot_TensorType, "Element type.">:$type,
      AttrParameter<"::mlir::AffineMapAttr", "Elements of each dimension, innermost first.">:$extents,
      AttrParameter<"::mlir::AffineMapAttr",
          "Bytes from one element to the next, of each dimension but the innermost.">:$strides,
      AttrParameter<"::mlir::DenseI64ArrayAttr", "Elements of a tile, innermost first.">:$box,
      OptionalParameter<"::mlir::DenseI64ArrayAttr",
          "Every how many elements one is copied; absent: all 1.">:$steps,
      Cupilot_Word<Cupilot_TensorSwizzle, "How a tile's rows are permuted in shared memory.", "None">:$swizzle,
      Cupilot_Word<Cupilot_TensorPromotion, "Size of the L2 requests.", "None">:$promotion,
      Cupilot_Word<Cupilot_TensorFill,
          "What lies outside of the buffer reads as; `nan` for floating-point types only.", "Zero">:$fill);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_PlanAttr : Cupilot_Attr<"Plan", "plan"> {
  let summary = "How the host must launch a variant";
  let description = [{
    A sequence of launches on the original's stream, with the memory and the
    tensor maps that they share. Declarative, never host code: a plan can be
    verified, evaluated on a workload, printed as CUDA and emitted as IR.

    Scratch buffers live from the first launch to the last. They and the tensor
    maps are further parameters of each kernel of the plan: the original's, then
    a pointer for each buffer, then a `CUtensorMap` for each map. A plan has at
    most 64 launches, 16 buffers and 16 maps.

    ```mlir
    #cupilot.plan<[<symbol = "_Z7partialPKfPfiS1_", ...>, <symbol = "_Z5totalPKfPfiS1_", ...>]
        scratch affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (gx * 4)>
        tensormaps [<base = <param = 0>, ...>]>
    ```
  }];
  let parameters = (ins
      ArrayRefParameter<"::cupilot::LaunchAttr", "The launches, in order; at least one.">:$launches,
      OptionalParameter<"::mlir::AffineMapAttr",
          "Bytes of each scratch buffer, aligned to 256; absent: there is none.">:$scratch,
      OptionalArrayRefParameter<"::cupilot::TensorMapAttr", "The tensor maps.">:$tensormaps);
  let assemblyFormat = [{
    `<` `[` $launches `]` (`scratch` $scratch^)? (`tensormaps` `[` $tensormaps^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Cupilot_AlignAttr : Cupilot_Attr<"Align", "align"> {
  let summary = "A pointer must be a multiple of a power of two";
  let description = [{
    A condition of a guard, for variants with vector accesses, bulk copies or
    tensor maps. Allocations are aligned to 256 bytes, but programs pass pointers
    into them.

    ```mlir
    #cupilot.align<pointer = <param = 0>, bytes = 16>
    ```
  }];
  let parameters = (ins AttrParameter<"::cupilot::PointerAttr", "One of the kernel's pointers.">:$pointer,
      AttrParameter<"unsigned", "A power of two.">:$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_DisjointAttr : Cupilot_Attr<"Disjoint", "disjoint"> {
  let summary = "Two buffers must not overlap";
  let description = [{
    A condition of a guard, for variants that read what the original reads only
    after a write: [a, a + extent_a) and [b, b + extent_b) have no byte in
    common. Where an extent overflows or is negative, the guard fails.

    ```mlir
    #cupilot.disjoint<a = <param = 0>, b = <param = 1>,
        extent_a = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n * 4)>,
        extent_b = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (n * 4)>>
    ```
  }];
  let parameters = (ins AttrParameter<"::cupilot::PointerAttr", "Where the first buffer begins.">:$a,
      AttrParameter<"::cupilot::PointerAttr", "Where the second begins: another pointer.">:$b,
      AttrParameter<"::mlir::AffineMapAttr",
          "Bytes of the first, over the original launch and the scalars.">:$extent_a,
      AttrParameter<"::mlir::AffineMapAttr", "Bytes of the second.">:$extent_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_GuardAttr : Cupilot_Attr<"Guard", "guard"> {
  let summary = "When a variant may run";
  let description = [{
    All of it must hold, else the original runs. The architecture must be equal
    to the one that the variant was proved on, not just as new: code for a newer
    GPU is other code. The set is over the original launch and the scalars, in 64
    bits; an overflow fails the guard.

    Where the attribute stands alone, with its `#cupilot.guard`, write the set as
    an alias (`#set = affine_set<...>`, as MLIR prints it): the `>` of `>=` would
    end it.

    ```mlir
    #set = affine_set<(gx, gy, gz, bx, by, bz, shared)[n] : (n mod 4 == 0, n - 1 >= 0)>
    #cupilot.guard<"sm_90", #set align[<pointer = <param = 0>, bytes = 16>]>
    ```
  }];
  let parameters = (ins StringRefParameter<"Compute capability: `sm_90`, `sm_90a`.">:$arch,
      AttrParameter<"::mlir::IntegerSetAttr", "What launch and scalars must fulfil.">:$set,
      OptionalArrayRefParameter<"::cupilot::AlignAttr", "Alignments of pointers.">:$align,
      OptionalArrayRefParameter<"::cupilot::DisjointAttr", "Buffers that must not overlap.">:$disjoint);
  let assemblyFormat = [{
    `<` $arch `,` $set (`align` `[` $align^ `]`)? (`disjoint` `[` $disjoint^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

def Cupilot_FloatClassAttr : Cupilot_Attr<"FloatClass", "floats"> {
  let summary = "A floating-point number lies in a class";
  let description = [{
    A floating-point argument of the kernel, or a field of a by-value argument.
    `in` has the ends of intervals, least and most in turn, in the order of the
    format: 0 is +0, -1 is -0, positive numbers are their bits, infinity lies
    above all finite ones and NaN above infinity, and negative numbers mirror
    that (n becomes -n - 1).

    ```mlir
    #cupilot.floats<param = 3, type = f32, in = [-1, 0, 1065353216, 1065353216]>
    ```
  }];
  let parameters = (ins AttrParameter<"unsigned", "Index of the parameter.">:$param,
      DefaultValuedParameter<"unsigned", "0", "Byte offset in the argument.">:$offset,
      Cupilot_Word<Cupilot_FloatType, "Its format.">:$type,
      AttrParameter<"::mlir::DenseI64ArrayAttr", "Ends of intervals, in order.">:$in);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_NullAttr : Cupilot_Attr<"Null", "null"> {
  let summary = "A pointer is null, or it is not";
  let description = [{
    ```mlir
    #cupilot.null<pointer = <param = 2>, is_null = true>
    ```
  }];
  let parameters = (ins AttrParameter<"::cupilot::PointerAttr", "One of the kernel's pointers.">:$pointer,
      DefaultValuedParameter<"bool", "false", "Whether it is null.">:$is_null);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_PairAttr : Cupilot_Attr<"Pair", "pair"> {
  let summary = "Two pointers are equal, or their bytes are apart";
  let description = [{
    With `bytes`, [a + r0, a + r1) and [b + r2, b + r3) have no byte in common,
    where r0 to r3 are its results; null and an empty range are apart from all.
    Without it the pointers are equal.

    ```mlir
    #cupilot.pair<a = <param = 0>, b = <param = 1>,
        bytes = affine_map<(gx, gy, gz, bx, by, bz, shared)[n] -> (0, n * 4, 0, n * 4)>>
    ```
  }];
  let parameters = (ins AttrParameter<"::cupilot::PointerAttr", "One of the kernel's pointers.">:$a,
      AttrParameter<"::cupilot::PointerAttr", "Another one.">:$b,
      OptionalParameter<"::mlir::AffineMapAttr",
          "Begin and end of the bytes behind each, from the pointer; absent: they are equal.">:$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_BoxAttr : Cupilot_Attr<"Box", "box"> {
  let summary = "What was tried together";
  let description = [{
    All of it must hold for a launch to lie in the box:

    - each result of the map `ranges` in one of its intervals, whose ends stand
      in the array of the same place, least and most in turn
    - each result of `residues`, modulo the number at its place in `mod`, among
      the rests in the array of the same place
    - `floats`, `nulls`, `align` and `pairs`, each of them

    An expression that overflows lies nowhere. `seen(gate)`: the gate proved the
    variant there; `seen(gpu)`: a GPU's results were compared with the
    original's.

    ```mlir
    #cupilot.box<seen(gate)
        ranges affine_map<(gx, gy, gz, bx, by, bz, shared)[n, m] -> (n, m)> in [[1, 70000], [0, 0, 2, 8]]
        residues affine_map<(gx, gy, gz, bx, by, bz, shared)[n, m] -> (n)> mod [32] in [[0, 1, 31]]
        nulls [<pointer = <param = 0>>]>
    ```
  }];
  let parameters = (ins Cupilot_Word<Cupilot_Seen, "Who saw the variant there.">:$seen,
      OptionalParameter<"::mlir::AffineMapAttr", "What has ranges.">:$ranges,
      OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr", "Ends of its intervals.">:$bounds,
      OptionalParameter<"::mlir::AffineMapAttr", "What has residues.">:$residues,
      OptionalParameter<"::mlir::DenseI64ArrayAttr", "The moduli.">:$moduli,
      OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr", "The rests.">:$rests,
      OptionalArrayRefParameter<"::cupilot::FloatClassAttr", "Classes of numbers.">:$floats,
      OptionalArrayRefParameter<"::cupilot::NullAttr", "Pointers that are null or not.">:$nulls,
      OptionalArrayRefParameter<"::cupilot::AlignAttr", "Alignments of pointers.">:$align,
      OptionalArrayRefParameter<"::cupilot::PairAttr", "Pairs of pointers.">:$pairs);
  let assemblyFormat = [{
    `<` `seen` `(` $seen `)` (`ranges` $ranges^ `in` `[` $bounds `]`)?
    (`residues` $residues^ `mod` $moduli `in` `[` $rests `]`)?
    (`floats` `[` $floats^ `]`)? (`nulls` `[` $nulls^ `]`)? (`align` `[` $align^ `]`)?
    (`pairs` `[` $pairs^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Cupilot_DomainAttr : Cupilot_Attr<"Domain", "domain"> {
  let summary = "Where a variant may run";
  let description = [{
    A variant runs in one of the boxes, under its guard; elsewhere the original
    does. The guard is the author's, the domain the gate's: boxes around the
    launches that it tried. It says nothing of what lies in memory. One box
    without conditions is everything: what a person has declared.

    ```mlir
    #cupilot.domain<[<seen(gate) nulls [<pointer = <param = 2>, is_null = true>]>,
                     <seen(gate) nulls [<pointer = <param = 2>>]>]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::cupilot::BoxAttr", "At least one.">:$boxes);
  let assemblyFormat = "`<` `[` $boxes `]` `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

def Cupilot_BuildAttr : Cupilot_Attr<"Build", "build"> {
  let summary = "A build identity";
  let description = [{
    The digest of a kernel as one compiler sees it for one architecture (see
    BuildIdentity.md). Builds look kernels up by it, so that a variant runs only
    in place of the code that it was proved against.

    ```mlir
    #cupilot.build<compiler = "clang-22", arch = "sm_90", digest = "b3:...">
    ```
  }];
  let parameters = (ins StringRefParameter<"Name and major version: `clang-22`, `nvcc-13`.">:$compiler,
      StringRefParameter<"The architecture that it was compiled for: `sm_90`.">:$arch,
      StringRefParameter<"BLAKE3 of the canonical code: `b3:` and 64 hexadecimal digits.">:$digest);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_CasesAttr : Cupilot_Attr<"Cases", "cases"> {
  let summary = "The launches that a variant was judged on";
  let description = [{
    `cases` names the recorded launches on which a variant was compared with the
    original: the names of workloads of the store. Where it may run is its
    `#cupilot.domain`.

    ```mlir
    #cupilot.cases<cases = ["w_1a2b3c4d5e6f7081"]>
    ```
  }];
  let parameters = (ins AttrParameter<"::mlir::ArrayAttr", "Names of workloads.">:$cases);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_AuthorAttr : Cupilot_Attr<"Author", "author"> {
  let summary = "The language model that wrote a variant";
  let description = [{
    The provider, the model and its effort as the provider names them, and name,
    version and digest of each prompt; what is not known is left out. A variant
    that rules made has no author.

    ```mlir
    #cupilot.author<provider = "anthropic", model = "m-1", effort = "high",
                    prompts = ["strategy-translator 2 b3:..."]>
    ```
  }];
  let parameters = (ins StringRefParameter<"Who ran the model.", [{""}]>:$provider,
      StringRefParameter<"The model's name.", [{""}]>:$model,
      StringRefParameter<"How much it was to think.", [{""}]>:$effort,
      OptionalParameter<"::mlir::ArrayAttr", "Name, version and digest of each prompt.">:$prompts);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_OtherValuesAttr : Cupilot_Attr<"OtherValues", "other_values"> {
  let summary = "A speed-up on inputs of another kind";
  let description = [{
    The speed of a variant with two code paths depends on the values that it
    computes with. The launch that counts most is timed once more, with all
    floating-point inputs of another kind than the recorded or described ones.

    ```mlir
    #cupilot.other_values<kind = "heavy-tailed", ratio = 1.12, low = 1.11, high = 1.13>
    ```
  }];
  let parameters = (ins StringRefParameter<"As generators of described inputs name it.">:$kind,
      AttrParameter<"::mlir::FloatAttr", "The original's time over the variant's.">:$ratio,
      AttrParameter<"::mlir::FloatAttr", "Lower end of its confidence interval.">:$low,
      AttrParameter<"::mlir::FloatAttr", "Upper end.">:$high);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_MeasurementAttr : Cupilot_Attr<"Measurement", "measurement"> {
  let summary = "What is known of a variant's speed and soundness";
  let description = [{
    A ratio of times on one device, for the code that one compiler made, with the
    gate's result for the same code. Builds choose between variants by it.

    The basis says how far the ratio can be trusted: `modelled` by the cost model
    from counted work, `measured` on a GPU, `declared` where nothing was run and
    whoever added the variant answers for it. Figures of different bases are
    never compared with each other.

    What an evidence is for is part of it: the build identity of the kernel that
    the variant stands in for, the contract, and the launches. Stores of format 5
    and before do not say so.

    ```mlir
    #cupilot.measurement<device = "NVIDIA H200", basis = measured, ratio = 1.83, low = 1.80,
        high = 1.86, gate = 4, checks = 152,
        build = <compiler = "clang-22", arch = "sm_90", digest = "b3:...">,
        original = "b3:...", contract = "same", domain = <cases = ["w_1a2b3c4d5e6f7081"]>>
    ```
  }];
  let parameters = (ins StringRefParameter<"Name of the GPU, as its driver reports it.">:$device,
      Cupilot_Word<Cupilot_Basis, "`modelled`, `measured` or `declared`.">:$basis,
      AttrParameter<"::mlir::FloatAttr", "The original's time over the variant's.">:$ratio,
      AttrParameter<"::mlir::FloatAttr", "Lower end of its confidence interval.">:$low,
      AttrParameter<"::mlir::FloatAttr", "Upper end.">:$high,
      AttrParameter<"unsigned", "Version of the gate that the code passed.">:$gate,
      AttrParameter<"unsigned", "How many launches were compared.">:$checks,
      AttrParameter<"::cupilot::BuildAttr", "Identity of the variant's own code.">:$build,
      StringRefParameter<"Digest of the build identity that it stands in for.", [{""}]>:$original,
      StringRefParameter<"The contract that it was judged under.", [{""}]>:$contract,
      OptionalParameter<"::cupilot::CasesAttr", "The launches that it was judged on.">:$domain,
      OptionalParameter<"::cupilot::OtherValuesAttr", "Its speed-up on other values.">:$others);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_MagnitudesAttr : Cupilot_Attr<"Magnitudes", "magnitudes"> {
  let summary = "How large the numbers of a buffer are, as its author promises";
  let description = [{
    The largest magnitude of the finite numbers in a buffer is 0, or lies in
    `low` to `high`. Without `buffer` it holds for all that have none of their
    own. It belongs to the contract `relaxed`: outside of it a variant need not
    keep the range of float.

    ```mlir
    #cupilot.magnitudes<low = 1.000000e-03, high = 1.000000e+04, buffer = "x">
    ```
  }];
  let parameters = (ins AttrParameter<"::mlir::FloatAttr", "The least.">:$low,
      AttrParameter<"::mlir::FloatAttr", "The largest.">:$high,
      StringRefParameter<"Name of a pointer parameter.", [{""}]>:$buffer);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_RooflineAttr : Cupilot_Attr<"Roofline", "roofline"> {
  let summary = "Where a kernel stands under the roofline";
  let description = [{
    A first opinion on what limits a kernel, such as the `cupilot-extract-gpu`
    pass forms from the operations alone. The search uses counted or measured
    figures where it has them.

    ```mlir
    #cupilot.roofline<bottleneck = memory, basis = static, intensity = 2.500000e-01>
    ```
  }];
  let parameters = (ins Cupilot_Word<Cupilot_Bottleneck, "What limits the kernel.">:$bottleneck,
      Cupilot_Word<Cupilot_Basis, "`static`, `modelled` or `measured`.">:$basis,
      AttrParameter<"::mlir::FloatAttr",
          "Floating-point operations per byte of global memory.">:$intensity);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

def Cupilot_BufferAttr : Cupilot_Attr<"Buffer", "buffer"> {
  let summary = "A device buffer before a launch";
  let description = [{
    The range of device memory that a launch can reach through its arguments. The
    content lies in a file, or a generator makes it; generators serve buffers too
    large to record, and described workloads (see Gate.md). There is a digest of
    the content unless it is generated. With a file and a generator, the gate
    generates, and GPUs use the file where it is there.

    ```mlir
    #cupilot.buffer<size = 4096, align = 256, digest = "b3:...", file = "w.data/1.bin">
    #cupilot.buffer<size = 8589934592, align = 256, generator = "f32 uniform seed=1">
    ```
  }];
  let parameters = (ins AttrParameter<"uint64_t", "Bytes.">:$size,
      AttrParameter<"uint64_t", "Of its address in bytes: a power of two.">:$align,
      StringRefParameter<"Of the content; empty where it is generated.", [{""}]>:$digest,
      StringRefParameter<"Where the content lies, relative to the module's folder.", [{""}]>:$file,
      StringRefParameter<"What makes the content where no file holds it.", [{""}]>:$generator);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cupilot_AddressAttr : Cupilot_Attr<"Address", "address"> {
  let summary = "A pointer in an argument, and where it points";
  let description = [{
    Recorded addresses mean nothing in another process. So pointers are kept as
    places in buffers, and their bytes in the arguments are zero.

    ```mlir
    #cupilot.address<param = 0, buffer = 1, at = 512>
    ```
  }];
  let parameters = (ins AttrParameter<"unsigned", "Index of the argument.">:$param,
      DefaultValuedParameter<"unsigned", "0", "Byte offset in the argument.">:$offset,
      AttrParameter<"unsigned", "Index of the buffer.">:$buffer,
      DefaultValuedParameter<"uint64_t", "0", "Byte offset in the buffer.">:$at);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cupilot_GlobalAttr : Cupilot_Attr<"Global", "global"> {
  let summary = "A device variable that the program had set";
  let description = [{
    A `__device__` or `__constant__` variable that the kernel refers to, with its
    content before the launch, which the initialiser in the slice does not show.

    ```mlir
    #cupilot.global<symbol = "table", content = <size = 64, align = 16, digest = "b3:...", file = "w.data/2.bin">>
    ```
  }];
  let parameters = (ins StringRefParameter<"Mangled name.">:$symbol,
      AttrParameter<"::cupilot::BufferAttr", "Its content.">:$content);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // CUPILOT_DIALECT_CUPILOTATTRIBUTES_TD
