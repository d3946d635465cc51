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

class Cupilot_Name<string text> : Cupilot_Described<SymbolNameAttr, text>;
class Cupilot_Text<string text> : Cupilot_Described<StrAttr, text>;
class Cupilot_OptText<string text> : OptionalAttr<Cupilot_Text<text>>;
class Cupilot_Int<string text> : Cupilot_Described<I64Attr, text>;
class Cupilot_Float<string text> : Cupilot_Described<F64Attr, text>;
class Cupilot_Dims<string text> : Cupilot_Described<DenseI64ArrayAttr, text>;

def Cupilot_StrategyOp : Cupilot_Op<"strategy", [Symbol]> {
  let summary = "A strategy of the library";
  let description = [{
    What can be done to a kernel, as data: parameters with their domains, the
    bottleneck that it serves, what it needs and excludes, the least architecture
    and what it takes. Genomes are made of strategies and are valid by
    construction, because the operators know `requires`, `conflicts` and the
    domains; how a strategy becomes code is the affair of rules and models.

    `shown_by` says how the strategy shows in code. After a model has written a
    variant, each gene that its code does not show is taken out of its genome, so
    that statistics and offspring go by what was done and not by what was asked
    for. All signs must be there; of the alternatives of a sign (joined by `or`,
    see `#cupilot.sign`) one is enough. Name only what code with the strategy
    cannot lack: a gene that is denied wrongly costs a success. A strategy
    without signs counts as carried out when the model says so.

    `evident` says that code without the strategy cannot show these signs, either.
    Such a gene is added to the genome of a variant whose code shows it and whose
    original does not, whether or not somebody asked for it. `reads` says which of
    its parameters the code tells, and how (see `#cupilot.reading`). A strategy
    that is evident reads all of its parameters.

    The text behind it is what models read, in the imperative. `origin` is for
    people: where the strategy comes from.

    ```mlir
    cupilot.strategy @vectorized_access bottleneck(memory) min_arch(50)
        params({width = [2, 4]}) conflicts([@thread_coarsening]) resources({registers = 8})
        shown_by(probe(wider_access)) origin("paper")
        "Load and store several neighbouring elements at once"

    cupilot.strategy @privatized_atomics bottleneck(latency) min_arch(50)
        params({copies = [1, 2, 4]})
        shown_by(probe(shared_memory), instruction("atom", "red."))
        "Count into private copies in shared memory and merge them at the end"

    cupilot.strategy @thread_block_cluster bottleneck(memory) min_arch(90)
        params({size = [2, 4, 8]})
        shown_by(plan(cluster) or instruction(".reqnctapercluster")) evident reads(size = cluster_blocks)
        "Launch blocks in clusters that share each other's shared memory"
    ```
  }];
  let arguments = (ins Cupilot_Name<"name, by which genes and rules refer to it">:$sym_name,
      Cupilot_Described<Cupilot_Bottleneck, "the bottleneck that it serves">:$bottleneck,
      Cupilot_Int<"least compute capability, times ten">:$min_arch,
      DefaultValuedAttr<Cupilot_Described<DictionaryAttr,
          "parameters: for each the array of its values, integers or strings">, "{}">:$params,
      Cupilot_List<FlatSymbolRefAttr, "@name", "strategies that a genome with it must have, too">:$required,
      Cupilot_List<FlatSymbolRefAttr, "@name", "strategies that a genome with it must not have">:$conflicts,
      OptionalAttr<Cupilot_Described<DictionaryAttr,
          "about what it takes: registers (of a thread), shared_bytes (of a block), ...">>:$resources,
      Cupilot_List<Cupilot_SignAttr, "#cupilot.sign", "signs of it in code; all must be there">:$shown_by,
      UnitAttr:$evident,
      Cupilot_List<Cupilot_ReadingAttr, "#cupilot.reading", "parameters that code tells">:$reads,
      Cupilot_OptText<"where it comes from">:$origin,
      Cupilot_Text<"what to do, a sentence in the imperative">:$summary);
  let assemblyFormat = [{
    $sym_name `bottleneck` `(` $bottleneck `)` `min_arch` `(` custom<Number>($min_arch) `)`
    (`params` `(` $params^ `)`)? (`requires` `(` $required^ `)`)?
    (`conflicts` `(` $conflicts^ `)`)? (`resources` `(` $resources^ `)`)?
    (`shown_by` `(` custom<Signs>($shown_by)^ `)`)? (`evident` $evident^)?
    (`reads` `(` custom<Readings>($reads)^ `)`)? (`origin` `(` $origin^ `)`)?
    $summary attr-dict
  }];
  let hasVerifier = 1;
}

def Cupilot_KernelOp : Cupilot_Op<"kernel", [Symbol, SymbolTable, NoTerminator,
    SingleBlock, NoRegionArguments]> {
  let summary = "A kernel and all that is known of it";
  let description = [{
    One `__global__` definition, or one instantiation of a template. The name is
    the qualified name with parameter types and template arguments, for people;
    the digest, over the tokens of the kernel and of all that it uses, is what
    identifies it. The contract is part of the digest: the same kernel under two
    contracts is two kernels. The body holds workloads and variants, nothing else;
    in a store these lie in files of their own.

    A kernel that could not be taken out of its translation unit says why
    (`refused`) and has no slice; it is listed so that people see that it was
    found. Bounds belong to the contract `relaxed`: `tolerance` is the largest
    relative error of a number, `norm` that of a buffer, `ranges` what is promised
    of the numbers in buffers, and errors may lean to one side if it is `biased`.

    ```mlir
    cupilot.kernel @"scale(float *, int)" symbol("_Z5scalePfi") digest("b3:...") source("scale.cu")
        at("app.cu:12")
        params([#cupilot.param<name = "x", type = "float *", size = 8, pointee = "float", pointee_size = 4>,
                #cupilot.param<name = "n", type = "int", size = 4>])
        scalars([#cupilot.scalar<param = 1, bits = 32, is_signed = true>])
        pointers([#cupilot.pointer<param = 0>]) contract(relaxed) tolerance(4.0e-3)
        builds([#cupilot.build<compiler = "clang-22", arch = "sm_90", digest = "b3:...">]) {
    }
    ```
  }];
  let arguments = (ins Cupilot_Name<"qualified name with parameter types">:$sym_name,
      Cupilot_Text<"mangled name">:$symbol, Cupilot_Text<"source identity">:$digest,
      Cupilot_OptText<"file of the slice, relative to the module's folder">:$source,
      Cupilot_OptText<"why there is no slice">:$refused,
      Cupilot_OptText<"where it stands in the program: file and line">:$at,
      Cupilot_List<Cupilot_ParamAttr, "#cupilot.param", "its parameters, in order">:$params,
      Cupilot_List<Cupilot_ScalarAttr, "#cupilot.scalar", "its integers: the symbols of maps and sets">:$scalars,
      Cupilot_List<Cupilot_PointerAttr, "#cupilot.pointer", "its pointers">:$pointers,
      Cupilot_Described<Cupilot_Contract, "how exact variants must be">:$contract,
      OptionalAttr<Cupilot_Float<"relative error of a number that `relaxed` allows">>:$tolerance,
      OptionalAttr<Cupilot_Float<"relative error of a buffer's norm that `relaxed` allows">>:$norm,
      OptionalAttr<Cupilot_ArrayOf<Cupilot_MagnitudesAttr, "#cupilot.magnitudes", "how large numbers in buffers are">>:$ranges,
      Cupilot_Described<UnitAttr, "whether errors may lean to one side">:$biased,
      OptionalAttr<Cupilot_ArrayOf<Cupilot_BuildAttr, "#cupilot.build", "build identities of the original">>:$builds,
      OptionalAttr<Cupilot_Described<Cupilot_RooflineAttr, "a first opinion on its bottleneck">>:$roofline);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbol` `(` $symbol `)` `digest` `(` $digest `)` (`source` `(` $source^ `)`)?
    (`refused` `(` $refused^ `)`)? (`at` `(` $at^ `)`)? (`params` `(` $params^ `)`)?
    (`scalars` `(` $scalars^ `)`)? (`pointers` `(` $pointers^ `)`)? `contract` `(` $contract `)`
    (`tolerance` `(` $tolerance^ `)`)? (`norm` `(` $norm^ `)`)?
    (`ranges` `(` $ranges^ `)`)? (`biased` $biased^)? (`builds` `(` $builds^ `)`)?
    (`roofline` `(` $roofline^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Cupilot_WorkloadOp : Cupilot_Op<"workload", [Symbol]> {
  let summary = "One recorded or described launch";
  let description = [{
    All that is needed to launch the kernel again as the program did: the launch
    configuration, the arguments, and the memory that they reach. Variants are
    compared with the original on workloads, timed on them, and weighed by them.

    `args` holds the raw bytes of each argument in hexadecimal. Words that are
    pointers are zero there and named in `addresses`, so that a workload is the
    same on every run. `after` lets a replay check itself: for each buffer the
    digest of its content after the recorded launch, or "".

    `cluster` is what the launch names, not what the kernel itself asks for; at
    most 16 blocks. `only` limits who uses the workload: `gate` runs and compares
    it, but its time does not count; `gpu` means that it is too large for the
    cpu device, so only a GPU runs it (`card` in modules of before format 6).

    ```mlir
    cupilot.workload @w0 of "_Z5scalePfi" grid [64, 1, 1] block [256, 1, 1] shared 0
        count 100 weight 8.200000e-01 measured
        args ["0000000000000000", "00400000"]
        addresses [#cupilot.address<param = 0, buffer = 0>]
        buffers [#cupilot.buffer<size = 65536, align = 256, digest = "b3:...", file = "w.data/0.bin">]
    ```
  }];
  let arguments = (ins Cupilot_Name<"name">:$sym_name, Cupilot_Text<"the kernel's mangled name">:$kernel,
      Cupilot_Dims<"blocks in x, y and z">:$grid, Cupilot_Dims<"threads of a block in x, y and z">:$block,
      OptionalAttr<Cupilot_Dims<"blocks of a cluster in x, y and z">>:$cluster,
      Cupilot_Int<"bytes of dynamic shared memory">:$shared,
      Cupilot_Described<UnitAttr, "whether grids may synchronise (cooperative launch)">:$cooperative,
      Cupilot_ArrayOf<StrAttr, "strings", "bytes of each argument in hexadecimal">:$args,
      Cupilot_ArrayOf<Cupilot_AddressAttr, "#cupilot.address", "pointers in the arguments">:$addresses,
      Cupilot_ArrayOf<Cupilot_BufferAttr, "#cupilot.buffer", "memory that the launch can reach">:$buffers,
      OptionalAttr<Cupilot_ArrayOf<StrAttr, "strings", "digests of the buffers after the launch">>:$after,
      OptionalAttr<Cupilot_ArrayOf<Cupilot_GlobalAttr, "#cupilot.global", "device variables that the program had set">>:$globals,
      Cupilot_Int<"how many launches of the program it stands for">:$count,
      Cupilot_Float<"its share of the program's kernel time, 0 to 1">:$weight,
      Cupilot_Described<Cupilot_Basis, "where the weight comes from: `modelled` or `measured`">:$basis,
      OptionalAttr<Cupilot_Described<Cupilot_Audience, "who uses it; absent: everybody">>:$only);
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
    A member of a population, or of the store. It begins as a genome with its
    parents; translation adds plan, guard and source, the gate and the clock
    outcome, fitness and evidence. Passes and tools tell by what is there how far
    it has come: without an outcome it has not been judged.

    Fitness steers the search and means nothing outside of it; builds choose by
    the evidence. Parents are variants of the same kernel. Plan, guard and domain
    fit the kernel: each map has a symbol for each of its scalars, and they name
    only its pointers and parameters. Where the module defines the strategies, the genome must be valid:
    domains, `requires`, `conflicts`, and no `min_arch` above the guard's
    architecture. A file of a store holds a variant alone; there its maps are
    checked when it is read with its kernel.

    Without a domain it comes from a store of format 6 or before; builds take it
    on request only.

    `author` is there when a language model wrote it. Stores of format 5 and
    before have `prompts` instead.

    ```mlir
    cupilot.variant @g2_v7 parents([@g1_v3, @g1_v5])
        genome(<[<@block_size, {x = 128}>]>) fitness(1.250000e+00) outcome(accepted)
    ```
  }];
  let arguments = (ins Cupilot_Name<"name">:$sym_name,
      Cupilot_List<FlatSymbolRefAttr, "@name", "variants that it descends from">:$parents,
      Cupilot_Described<Cupilot_GenomeAttr, "the strategies that it is made of">:$genome,
      OptionalAttr<Cupilot_Described<Cupilot_PlanAttr, "how it is launched">>:$plan,
      OptionalAttr<Cupilot_Described<Cupilot_GuardAttr, "when it may run">>:$guard,
      OptionalAttr<Cupilot_Described<Cupilot_DomainAttr, "where it was proved">>:$domain,
      Cupilot_OptText<"file of its source, relative to the module's folder">:$source,
      Cupilot_OptText<"digest of that file">:$digest,
      OptionalAttr<Cupilot_Float<"rank in the search; more is better">>:$fitness,
      Cupilot_OptText<"how it was judged, a word of `CandidateOutcome.def`">:$outcome,
      OptionalAttr<Cupilot_ArrayOf<Cupilot_MeasurementAttr, "#cupilot.measurement", "what is known of its speed">>:$evidence,
      OptionalAttr<Cupilot_Described<Cupilot_AuthorAttr, "the model that wrote it">>:$author,
      OptionalAttr<Cupilot_ArrayOf<StrAttr, "strings",
          "name, version and digest of the prompts that a model was asked with">>:$prompts);
  let assemblyFormat = [{
    $sym_name (`parents` `(` $parents^ `)`)? `genome` `(` $genome `)` (`plan` `(` $plan^ `)`)?
    (`guard` `(` $guard^ `)`)? (`domain` `(` $domain^ `)`)?
    (`source` `(` $source^ `)`)? (`digest` `(` $digest^ `)`)? (`fitness` `(` $fitness^ `)`)? (`outcome` `(` $outcome^ `)`)?
    (`evidence` `(` $evidence^ `)`)? (`author` `(` $author^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // CUPILOT_DIALECT_CUPILOTOPS_TD
