//===- NvccOptions.td - nvcc's options -*- tablegen -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: "NVIDIA CUDA Compiler Driver NVCC", chapter 4, and nvcc --help. Names
// stand behind one or two dashes; values behind "=" or in the next argument,
// and of options of one letter directly behind it.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

// What a translation for the cpu device leaves out, and says so.
def Ignored : OptionFlag;
// What clang does anyway.
def Silent : OptionFlag;

// They change device code; variants are compiled with them.
def DeviceGroup : OptionGroup<"device">;
// The command makes something else than an object, or nothing.
def NoObjectGroup : OptionGroup<"no object">;
// They ask for relocatable device code.
def RelocatableGroup : OptionGroup<"relocatable">;
// Device code becomes machine code, or is completed, at the device link.
def DeviceLinkGroup : OptionGroup<"device link">;
// They say where outputs go, and that these are made.
def OutputGroup : OptionGroup<"output">;
// They are cuPilot's own.
def OwnGroup : OptionGroup<"own">;
// They keep temporary files.
def KeepGroup : OptionGroup<"keep">;

class NvccFlag<string name> : Flag<["-", "--"], name>;
class NvccValue<string name> : Separate<["-", "--"], name>;

multiclass Switch<string name, list<string> names = []> {
  def NAME : NvccFlag<name>;
  foreach each = [name] # names in
    def NAME # "_EQ_" # !subst("-", "_", each)
        : Joined<["-", "--"], each # "=">, Alias<!cast<Option>(NAME)>;
  foreach each = names in
    def NAME # "_" # !subst("-", "_", each)
        : NvccFlag<each>, Alias<!cast<Option>(NAME)>;
}

multiclass Value<string name, list<string> names = []> {
  def NAME : NvccValue<name>;
  foreach each = [name] # names in
    def NAME # "_EQ_" # !subst("-", "_", each)
        : Joined<["-", "--"], each # "=">, Alias<!cast<Option>(NAME)>;
  foreach each = names in
    def NAME # "_" # !subst("-", "_", each)
        : NvccValue<each>, Alias<!cast<Option>(NAME)>;
}

// A value that may also stand directly behind a letter.
multiclass Letter<string name, string letter> : Value<name> {
  def NAME # "_EQ_" # letter
      : Joined<["-", "--"], letter # "=">, Alias<!cast<Option>(NAME)>;
  def NAME # "_" # letter
      : JoinedOrSeparate<["-", "--"], letter>, Alias<!cast<Option>(NAME)>;
}

// Names of other parts: cuPilot's own arguments, and clang's.
def fplugin : Joined<["-"], "fplugin=">;
let Group = OwnGroup in {
def fplugin_arg : Joined<["-"], "fplugin-arg-cupilot-">;
def rpass : Joined<["-"], "Rpass=">;
def rpass_missed : Joined<["-"], "Rpass-missed=">;
}
let Group = RelocatableGroup in
def fgpu_rdc : Flag<["-"], "fgpu-rdc">;

// What is made.
let Group = OutputGroup in
defm compile : Switch<"compile", ["c"]>;
let Group = NoObjectGroup in {
defm arch_ls : Switch<"list-gpu-arch", ["arch-ls"]>;
defm clean : Switch<"clean-targets", ["clean"]>;
defm code_ls : Switch<"list-gpu-code", ["code-ls"]>;
defm cubin : Switch<"cubin">;
defm cuda : Switch<"cuda">;
defm device_link : Switch<"device-link", ["dlink"]>;
defm dryrun : Switch<"dryrun">;
defm fatbin : Switch<"fatbin">;
defm fdevice_syntax_only : Switch<"fdevice-syntax-only">;
defm generate_dependencies : Switch<"generate-dependencies", ["M"]>;
defm generate_nonsystem_dependencies
    : Switch<"generate-nonsystem-dependencies", ["MM"]>;
defm help : Switch<"help", ["h"]>;
defm lib : Switch<"lib">;
defm link : Switch<"link">;
defm ltoir : Switch<"ltoir">;
defm optix_ir : Switch<"optix-ir">;
defm preprocess : Switch<"preprocess", ["E"]>;
defm ptx : Switch<"ptx">;
defm relocatable_link : Switch<"relocatable-link", ["r"]>;
defm run : Switch<"run">;
defm version : Switch<"version", ["V"]>;
}
let Group = RelocatableGroup in
defm device_c : Switch<"device-c", ["dc"]>;
let Group = OutputGroup in
defm device_w : Switch<"device-w", ["dw"]>;
let Group = DeviceLinkGroup in {
defm dlink_time_opt : Switch<"dlink-time-opt", ["dlto"]>;
defm extensible_whole_program : Switch<"extensible-whole-program", ["ewp"]>;
defm gen_opt_lto : Switch<"gen-opt-lto">;
defm lto : Switch<"lto">;
}
defm relocatable_device_code : Value<"relocatable-device-code", ["rdc"]>;

// Files.
let Group = OutputGroup in {
defm dependency_output : Value<"dependency-output", ["MF"]>;
defm dependency_target_name : Value<"dependency-target-name", ["MT", "MQ"]>;
defm generate_dependencies_with_compile
    : Switch<"generate-dependencies-with-compile",
             ["MD", "generate-nonsystem-dependencies-with-compile", "MMD"]>;
defm generate_dependency_targets
    : Switch<"generate-dependency-targets", ["MP"]>;
defm output_directory : Value<"output-directory", ["odir"]>;
defm output_file : Value<"output-file", ["o"]>;
}
let Group = KeepGroup, Flags = [Ignored] in {
defm keep : Switch<"keep">;
defm keep_dir : Value<"keep-dir">;
}
let Group = KeepGroup in
defm save_temps : Switch<"save-temps">;
defm language : Value<"language", ["x"]>;
defm objdir_as_tempdir : Switch<"objdir-as-tempdir", ["objtemp"]>;
defm options_file : Value<"options-file", ["optf"]>;

// The preprocessor.
defm define_macro : Letter<"define-macro", "D">;
defm include_path : Letter<"include-path", "I">;
defm pre_include : Value<"pre-include", ["include"]>;
defm system_include : Value<"system-include", ["isystem"]>;
defm undefine_macro : Letter<"undefine-macro", "U">;

// Device code.
defm generate_code : Value<"generate-code", ["gencode"]>;
defm gpu_architecture : Value<"gpu-architecture", ["arch"]>;
defm optimize : Letter<"optimize", "O">;
let Flags = [Ignored] in {
defm device_debug : Switch<"device-debug", ["G"]>;
defm gpu_code : Value<"gpu-code", ["code"]>;
defm maxrregcount : Value<"maxrregcount">;
defm ptxas_options : Value<"ptxas-options", ["Xptxas"]>;
}
let Group = DeviceGroup in {
defm allow_unsupported_compiler : Switch<"allow-unsupported-compiler">;
defm default_stream : Value<"default-stream">;
defm device_entity_has_hidden_visibility
    : Value<"device-entity-has-hidden-visibility">;
defm device_stack_protector : Value<"device-stack-protector">;
defm dopt : Value<"dopt">;
defm extra_device_vectorization : Switch<"extra-device-vectorization">;
defm fmad : Value<"fmad">;
defm ftemplate_depth : Value<"ftemplate-depth">;
defm ftz : Value<"ftz">;
defm jump_table_density : Value<"jump-table-density", ["jtd"]>;
defm keep_device_functions : Switch<"keep-device-functions">;
defm libdevice_directory : Value<"libdevice-directory", ["ldir"]>;
defm m64 : Switch<"m64">;
defm machine : Value<"machine", ["m"]>;
defm no_align_double : Switch<"no-align-double">;
defm no_exceptions : Switch<"no-exceptions", ["noeh"]>;
defm no_host_device_initializer_list
    : Switch<"no-host-device-initializer-list", ["nohdinitlist"]>;
defm no_host_device_move_forward
    : Switch<"no-host-device-move-forward", ["nohdmoveforward"]>;
defm ofast_compile : Value<"Ofast-compile", ["Ofc"]>;
defm sanitize : Value<"sanitize">;
defm std : Value<"std">;
defm target_directory : Value<"target-directory", ["target-dir"]>;
defm use_fast_math : Switch<"use_fast_math">;
defm xcicc : Value<"Xcicc">;
}
let Group = DeviceGroup, Flags = [Ignored] in {
defm compiler_bindir : Value<"compiler-bindir", ["ccbin"]>;
defm prec_div : Value<"prec-div">;
defm prec_sqrt : Value<"prec-sqrt">;
defm restrict : Switch<"restrict">;
defm split_compile : Value<"split-compile">;
defm xcudafe : Value<"Xcudafe">;
}
let Group = DeviceGroup, Flags = [Silent] in {
defm expt_relaxed_constexpr : Switch<"expt-relaxed-constexpr">;
defm extended_lambda : Switch<"extended-lambda", ["expt-extended-lambda"]>;
defm generate_line_info : Switch<"generate-line-info", ["lineinfo"]>;
}

// Neither device code nor what the command makes.
let Flags = [Ignored] in {
defm compress_all : Switch<"compress-all">;
defm cudart : Value<"cudart">;
defm diag_suppress : Value<"diag-suppress">;
defm diag_warn : Value<"diag-warn">;
defm nvlink_options : Value<"nvlink-options", ["Xnvlink"]>;
defm resource_usage : Switch<"resource-usage", ["res-usage"]>;
defm source_in_ptx : Switch<"source-in-ptx", ["src-in-ptx"]>;
defm threads : Letter<"threads", "t">;
defm xfatbin : Value<"Xfatbin">;
}
let Flags = [Silent] in
defm forward_unknown_to_host_compiler
    : Switch<"forward-unknown-to-host-compiler">;
defm archive_options : Value<"archive-options", ["Xarchive"]>;
defm archiver_binary : Value<"archiver-binary", ["arbin"]>;
defm aug_hls : Value<"aug-hls">;
defm brief_diagnostics : Value<"brief-diagnostics", ["brief-diag"]>;
defm compiler_options : Value<"compiler-options", ["Xcompiler"]>;
defm compress_mode : Value<"compress-mode">;
defm cudadevrt : Value<"cudadevrt">;
defm dependency_drive_prefix : Value<"dependency-drive-prefix", ["ddp"]>;
defm diag_error : Value<"diag-error">;
defm drive_prefix : Value<"drive-prefix", ["dp"]>;
defm entries : Value<"entries", ["e"]>;
defm fdevice_time_trace : Value<"fdevice-time-trace">;
defm frandom_seed : Value<"frandom-seed">;
defm ftemplate_backtrace_limit : Value<"ftemplate-backtrace-limit">;
defm host_linker_script : Value<"host-linker-script", ["hls"]>;
defm input_drive_prefix : Value<"input-drive-prefix", ["idp"]>;
defm library : Letter<"library", "l">;
defm library_path : Letter<"library-path", "L">;
defm linker_options : Value<"linker-options", ["Xlinker"]>;
defm optimization_info : Value<"optimization-info", ["opt-info"]>;
defm qpp_config : Value<"qpp-config">;
defm run_args : Value<"run-args">;
defm split_compile_extended : Value<"split-compile-extended">;
defm static_global_template_stub : Value<"static-global-template-stub">;
defm time : Value<"time">;
defm werror : Value<"Werror">;
