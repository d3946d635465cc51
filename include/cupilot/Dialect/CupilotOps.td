//===- CupilotOps.td - Operations of the cupilot dialect -*- tablegen -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DIALECT_CUPILOTOPS_TD
#define CUPILOT_DIALECT_CUPILOTOPS_TD

include "cupilot/Dialect/CupilotAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

class Cupilot_Op<string mnemonic, list<Trait> traits = []>
    : Op<Cupilot_Dialect, mnemonic, traits>;

def Cupilot_StrategyOp : Cupilot_Op<"strategy", [Symbol]> {
  let summary = "A strategy of the library";
  let description = [{
    What it does, its parameters with their domains (arrays of integers or of
    strings), the bottleneck it serves, what it needs and excludes, the least
    architecture, and the resources it takes.

    ```mlir
    cupilot.strategy @vectorized_access bottleneck(memory) min_arch(50)
        params({width = [2, 4]}) requires([]) conflicts([@scalar_gather])
        "Load and store several neighbouring elements at once"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Cupilot_Bottleneck:$bottleneck,
      I64Attr:$min_arch, DictionaryAttr:$params, ArrayAttr:$required, ArrayAttr:$conflicts,
      OptionalAttr<DictionaryAttr>:$resources, OptionalAttr<StrAttr>:$origin, StrAttr:$summary);
  let assemblyFormat = [{
    $sym_name `bottleneck` `(` $bottleneck `)` `min_arch` `(` custom<Number>($min_arch) `)`
    `params` `(` $params `)` `requires` `(` $required `)` `conflicts` `(` $conflicts `)`
    (`resources` `(` $resources^ `)`)? (`origin` `(` $origin^ `)`)? $summary attr-dict
  }];
  let hasVerifier = 1;
}

def Cupilot_KernelOp : Cupilot_Op<"kernel", [Symbol, SymbolTable, NoTerminator,
    SingleBlock, NoRegionArguments]> {
  let summary = "A kernel and all that is known of it";
  let description = [{
    The symbol name is the qualified name with parameter types; `symbol` is the
    mangled name; `digest` the source identity; `source` the slice; `tolerance` and
    `norm` the bounds of a relaxed contract, of each number and of a buffer. The body
    holds workloads and variants.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$symbol, StrAttr:$digest,
      OptionalAttr<StrAttr>:$source, OptionalAttr<StrAttr>:$refused, OptionalAttr<StrAttr>:$at,
      ArrayAttr:$params, ArrayAttr:$scalars, ArrayAttr:$pointers, Cupilot_Contract:$contract,
      OptionalAttr<F64Attr>:$tolerance, OptionalAttr<F64Attr>:$norm,
      OptionalAttr<ArrayAttr>:$builds,
      OptionalAttr<Cupilot_RooflineAttr>:$roofline);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbol` `(` $symbol `)` `digest` `(` $digest `)` (`source` `(` $source^ `)`)?
    (`refused` `(` $refused^ `)`)? (`at` `(` $at^ `)`)? `params` `(` $params `)`
    `scalars` `(` $scalars `)` `pointers` `(` $pointers `)` `contract` `(` $contract `)`
    (`tolerance` `(` $tolerance^ `)`)? (`norm` `(` $norm^ `)`)? (`builds` `(` $builds^ `)`)?
    (`roofline` `(` $roofline^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Cupilot_WorkloadOp : Cupilot_Op<"workload", [Symbol]> {
  let summary = "One recorded launch";
  let description = [{
    `args` holds the raw bytes of each argument in hexadecimal; words that are
    pointers are zero there and named in `addresses`. `kernel` is the mangled
    name, `count` how many launches it stands for, `weight` its share of the
    program's kernel time by `basis` ("modelled" or "measured"). `cluster` is
    what the launch names, not what the kernel itself asks for; `after` holds,
    for each buffer, the digest of its content after the launch, or "". `only`
    says who looks at it: "gate": its time does not count; "card": it is too
    large for the cpu device; otherwise everybody.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kernel, DenseI64ArrayAttr:$grid,
      DenseI64ArrayAttr:$block, OptionalAttr<DenseI64ArrayAttr>:$cluster, I64Attr:$shared,
      UnitAttr:$cooperative, StrArrayAttr:$args, ArrayAttr:$addresses, ArrayAttr:$buffers,
      OptionalAttr<StrArrayAttr>:$after, OptionalAttr<ArrayAttr>:$globals, I64Attr:$count,
      F64Attr:$weight, StrAttr:$basis, OptionalAttr<StrAttr>:$only);
  let assemblyFormat = [{
    $sym_name `of` $kernel (`only` $only^)? `grid` $grid `block` $block (`cluster` $cluster^)?
    `shared` custom<Number>($shared) (`cooperative` $cooperative^)?
    `count` custom<Number>($count) `weight` custom<Weight>($weight) $basis
    `args` $args `addresses` $addresses `buffers` $buffers (`after` $after^)?
    (`globals` $globals^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Cupilot_VariantOp : Cupilot_Op<"variant", [Symbol]> {
  let summary = "A variant of a kernel";
  let description = [{
    A genome and, once it has been translated, its launch plan, guard and source;
    once it has been judged, the evidence. `fitness` steers the search. Parents
    are variants of the same kernel. `prompts`, of what a language model wrote,
    are name, version and digest of those that it was asked with.

    ```mlir
    cupilot.variant @g2_v7 parents([@g1_v3, @g1_v5])
        genome(#cupilot.genome<[<@block_size, {x = 128}>]>)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$parents,
      Cupilot_GenomeAttr:$genome, OptionalAttr<Cupilot_PlanAttr>:$plan,
      OptionalAttr<Cupilot_GuardAttr>:$guard, OptionalAttr<StrAttr>:$source,
      OptionalAttr<StrAttr>:$digest, OptionalAttr<F64Attr>:$fitness,
      OptionalAttr<StrAttr>:$outcome, OptionalAttr<ArrayAttr>:$evidence,
      OptionalAttr<StrArrayAttr>:$prompts);
  let assemblyFormat = [{
    $sym_name `parents` `(` $parents `)` `genome` `(` $genome `)` (`plan` `(` $plan^ `)`)?
    (`guard` `(` $guard^ `)`)? (`source` `(` $source^ `)`)? (`digest` `(` $digest^ `)`)?
    (`fitness` `(` $fitness^ `)`)? (`outcome` `(` $outcome^ `)`)?
    (`evidence` `(` $evidence^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // CUPILOT_DIALECT_CUPILOTOPS_TD
