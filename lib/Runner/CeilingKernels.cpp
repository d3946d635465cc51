//===- CeilingKernels.cpp - Kernels that reach a GPU's limits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CeilingKernels.h"

namespace cupilot::runner {

static std::string number(unsigned N) { return std::to_string(N); }

/// "%f0, %f1, ..." from \p From on.
static std::string list(const std::string &Prefix, unsigned From,
                        unsigned Count) {
  std::string Text;
  for (unsigned I = 0; I < Count; ++I)
    Text += (I ? ", " : "") + Prefix + number(From + I);
  return Text;
}

static std::string header(const std::string &Target, const std::string &Version,
                          const std::string &Params) {
  return ".version " + Version + "\n.target " + Target +
         "\n.address_size 64\n.visible .entry ceiling(" + Params + ")\n{\n";
}

/// Loads of 16 bytes, \p Unroll of them before the first store.
static CeilingKernel copyKernel(unsigned Unroll, bool Streaming) {
  CeilingKernel K;
  K.Name = "copy-16x" + number(Unroll) + (Streaming ? "-streaming" : "");
  K.What = "copy";
  K.K = CeilingKernel::Kind::Copy;
  K.Bytes = 256.0 * 16 * Unroll;
  std::string &P = K.Ptx;
  P = header("sm_75", "7.0", ".param .u64 to, .param .u64 from");
  P += ".reg .b32 %r<" + number(4 * Unroll + 4) +
       ">;\n.reg .b64 %d<6>;\n"
       "ld.param.u64 %d0, [to];\nld.param.u64 %d1, [from];\n"
       "cvta.to.global.u64 %d0, %d0;\ncvta.to.global.u64 %d1, %d1;\n"
       "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\n"
       "mul.wide.u32 %d2, %r0, " +
       number(256 * 16 * Unroll) +
       ";\n"
       "mul.wide.u32 %d3, %r1, 16;\nadd.u64 %d2, %d2, %d3;\n"
       "add.u64 %d0, %d0, %d2;\nadd.u64 %d1, %d1, %d2;\n";
  std::string Cache = Streaming ? ".cs" : "";
  for (unsigned I = 0; I < Unroll; ++I)
    P += "ld.global" + Cache + ".v4.u32 {" + list("%r", 4 + 4 * I, 4) +
         "}, [%d1+" + number(4096 * I) + "];\n";
  for (unsigned I = 0; I < Unroll; ++I)
    P += "st.global" + Cache + ".v4.u32 [%d0+" + number(4096 * I) + "], {" +
         list("%r", 4 + 4 * I, 4) + "};\n";
  P += "ret;\n}\n";
  return K;
}

/// All threads together read \p bytes, \p times over; what they read decides
/// whether they store, so that the reads stay.
static CeilingKernel readKernel(const std::string &What, unsigned Unroll) {
  CeilingKernel K;
  K.Name = What + "-16x" + number(Unroll);
  K.What = What;
  K.K = CeilingKernel::Kind::Read;
  std::string &P = K.Ptx;
  P = header("sm_75", "7.0",
             ".param .u64 to, .param .u64 from, .param .u64 bytes, "
             ".param .u32 times");
  P += ".reg .b32 %r<" + number(4 * Unroll + 8) +
       ">;\n.reg .b64 %d<10>;\n"
       ".reg .pred %p<3>;\n"
       "ld.param.u64 %d0, [from];\nld.param.u64 %d1, [bytes];\n"
       "ld.param.u32 %r4, [times];\n"
       "cvta.to.global.u64 %d0, %d0;\n"
       "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %nctaid.x;\n"
       "mul.wide.u32 %d2, %r0, " +
       number(4096 * Unroll) +
       ";\n"
       "mul.wide.u32 %d3, %r1, 16;\nadd.u64 %d2, %d2, %d3;\n"
       "mul.wide.u32 %d4, %r2, " +
       number(4096 * Unroll) +
       ";\n"
       "mov.u32 %r3, 0;\n"
       "again:\nmov.u64 %d5, %d2;\n"
       "more:\nsetp.ge.u64 %p0, %d5, %d1;\n@%p0 bra over;\n"
       "add.u64 %d6, %d0, %d5;\n";
  for (unsigned I = 0; I < Unroll; ++I)
    P += "ld.global.cg.v4.u32 {" + list("%r", 8 + 4 * I, 4) + "}, [%d6+" +
         number(4096 * I) + "];\n";
  for (unsigned I = 0; I < 4 * Unroll; ++I)
    P += "or.b32 %r3, %r3, %r" + number(8 + I) + ";\n";
  P +=
      "add.u64 %d5, %d5, %d4;\nbra more;\n"
      "over:\nsub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra again;\n"
      "setp.ne.u32 %p2, %r3, 77;\n@%p2 bra end;\n"
      "ld.param.u64 %d7, [to];\ncvta.to.global.u64 %d7, %d7;\n"
      "st.global.u32 [%d7], %r3;\nend:\nret;\n}\n";
  return K;
}

/// A loop of \p times turns over \p Body; \p End stores where a register that
/// the body wrote, %x0 of type \p Type, has a value that it never gets.
static std::string
computeText(const std::string &Target, const std::string &Version,
            const std::string &Declare, const std::string &Setup,
            const std::string &Body, const std::string &Keep) {
  return header(Target, Version, ".param .u64 to, .param .u32 times") +
         Declare +
         ".reg .b32 %n;\n.reg .b32 %keep;\n.reg .pred %p<3>;\n.reg .b64 "
         "%to;\n" +
         "ld.param.u64 %to, [to];\ncvta.to.global.u64 %to, %to;\n" + Setup +
         "ld.param.u32 %n, [times];\nagain:\n" + Body +
         "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p0, %n, 0;\n@%p0 bra again;\n" +
         Keep +
         "setp.ne.u32 %p1, %keep, 77;\n@%p1 bra end;\n"
         "st.global.u32 [%to], %keep;\nend:\nret;\n}\n";
}

/// A register from memory: of what it knows a compiler leaves things out.
static std::string load(const std::string &Type, const std::string &Register,
                        unsigned At) {
  return "ld.global." + Type + " " + Register + ", [%to+" + number(At) + "];\n";
}

/// Products and sums of scalars in eight chains.
static CeilingKernel fmaKernel(const std::string &What,
                               const std::string &Type) {
  CeilingKernel K;
  K.Name = What + "-fma";
  K.What = What;
  K.Operations = 8 * 16 * 2;
  std::string Declare = ".reg ." + Type + " %x<10>;\n";
  std::string Setup, Body, Keep;
  for (unsigned I = 0; I < 10; ++I)
    Setup += load(Type, "%x" + number(I), 8 * I);
  for (unsigned Turn = 0; Turn < 16; ++Turn)
    for (unsigned I = 0; I < 8; ++I)
      Body += "fma.rn." + Type + " %x" + number(I) + ", %x" + number(I) +
              ", %x8, %x9;\n";
  for (unsigned I = 1; I < 8; ++I)
    Keep += "add.rn." + Type + " %x0, %x0, %x" + number(I) + ";\n";
  Keep += "cvt.rni.s32." + Type + " %keep, %x0;\n";
  K.Ptx = computeText("sm_75", "7.0", Declare, Setup, Body, Keep);
  return K;
}

/// mma.sync in eight chains of each warp.
static CeilingKernel mmaKernel(const std::string &What,
                               const std::string &Shape,
                               const std::string &Types, unsigned ARegisters,
                               unsigned BRegisters, unsigned MNK, int Needs,
                               const std::string &Target,
                               const std::string &Version) {
  const bool Whole = Types.starts_with("s32"),
             Double = Types.starts_with("f64");
  const std::string Accumulator = Whole ? "b32" : Double ? "f64" : "f32";
  const std::string Input = Double ? "f64" : "b32";
  const unsigned Results = Double ? 2 : 4;
  CeilingKernel K;
  K.Name = What + "-mma";
  K.What = What;
  K.Needs = Needs;
  K.Operations = 8 * 4 * 2.0 * MNK / 32;
  std::string Declare = ".reg ." + Accumulator + " %x<" + number(8 * Results) +
                        ">;\n.reg ." + Input + " %a<8>;\n";
  std::string Setup, Body, Keep;
  // Sums that began alike would be alike, and be made once.
  for (unsigned I = 0; I < 8 * Results; ++I)
    Setup += load(Accumulator, "%x" + number(I), 64 + 8 * I);
  for (unsigned I = 0; I < 8; ++I)
    Setup += load(Input, "%a" + number(I), 8 * I);
  for (unsigned Turn = 0; Turn < 4; ++Turn)
    for (unsigned I = 0; I < 8; ++I) {
      std::string X = "{" + list("%x", Results * I, Results) + "}";
      Body += "mma.sync.aligned." + Shape + ".row.col." + Types + " " + X +
              ", {" + list("%a", 0, ARegisters) + "}, {" +
              list("%a", ARegisters, BRegisters) + "}, " + X + ";\n";
    }
  std::string Plus = Whole ? "or.b32" : "add.rn." + Accumulator;
  for (unsigned I = 1; I < 8; ++I)
    Keep += Plus + " %x0, %x0, %x" + number(Results * I) + ";\n";
  Keep += Whole ? "mov.b32 %keep, %x0;\n"
                : "cvt.rni.s32." + Accumulator + " %keep, %x0;\n";
  K.Ptx = computeText(Target, Version, Declare, Setup, Body, Keep);
  return K;
}

/// wgmma of Hopper, both operands from shared memory, two warp groups a block.
static CeilingKernel wgmmaKernel(const std::string &What,
                                 const std::string &Types, unsigned Depth,
                                 const std::string &Immediates) {
  const bool Whole = Types.starts_with("s32");
  CeilingKernel K;
  K.Name = What + "-wgmma";
  K.What = What;
  K.Needs = 90;
  K.Only = true;
  // 128 threads work on each.
  K.Operations = 4 * 2.0 * 64 * 256 * Depth / 128;
  const std::string Register = Whole ? "b32" : "f32";
  std::string Declare = ".shared .align 1024 .b8 tiles[16384];\n.reg ." +
                        Register +
                        " %x<128>;\n.reg .b64 %d<4>;\n"
                        ".reg .b32 %s<2>;\n";
  std::string Setup, Body, Keep;
  for (unsigned I = 0; I < 128; ++I)
    Setup += "mov." + Register + " %x" + number(I) + ", " +
             (Whole ? "0" : "0f00000000") + ";\n";
  // Zeroes in the tiles; a descriptor is an address and two strides, in units
  // of 16 bytes (PTX ISA, "Matrix Descriptor Format"). No swizzling.
  Setup += "mov.u32 %s0, %tid.x;\nshl.b32 %s0, %s0, 6;\n"
           "mov.u32 %s1, tiles;\nadd.u32 %s0, %s0, %s1;\n";
  for (unsigned I = 0; I < 4; ++I)
    Setup += "st.shared.v4.u32 [%s0+" + number(16 * I) +
             "], {0x3c003c00, 0, 0x3c003c00, 0};\n";
  Setup += "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
           "shr.u32 %s1, %s1, 4;\ncvt.u64.u32 %d0, %s1;\n"
           "or.b64 %d0, %d0, 0x0000001000080000;\n"
           "add.u64 %d1, %d0, 128;\nsetp.eq.u32 %p2, %s1, %s1;\n";
  Body = "wgmma.fence.sync.aligned;\n";
  for (unsigned Turn = 0; Turn < 4; ++Turn)
    Body += "wgmma.mma_async.sync.aligned.m64n256k" + number(Depth) + "." +
            Types + " {" + list("%x", 0, 128) + "}, %d0, %d1, %p2" +
            Immediates + ";\n";
  Body += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  Keep = Whole ? "mov.b32 %keep, %x0;\n" : "cvt.rni.s32.f32 %keep, %x0;\n";
  K.Ptx = computeText("sm_90a", "8.0", Declare, Setup, Body, Keep);
  return K;
}

/// Loads of 16 bytes a thread from shared memory, each warp from 512 bytes in a
/// row.
static CeilingKernel sharedKernel() {
  CeilingKernel K;
  K.Name = "shared-16x8";
  K.What = "shared";
  K.Bytes = 8 * 16;
  std::string Body, Keep;
  for (unsigned I = 0; I < 8; ++I) {
    Body += "ld.volatile.shared.v4.u32 {" + list("%x", 4 * I, 4) + "}, [%s0+" +
            number(4096 * (I % 4)) + "];\n";
  }
  for (unsigned I = 1; I < 32; ++I)
    Keep += "or.b32 %x0, %x0, %x" + number(I) + ";\n";
  Keep += "mov.b32 %keep, %x0;\n";
  K.Ptx = computeText("sm_75", "7.0",
                      ".shared .align 16 .b8 tiles[16384];\n"
                      ".reg .b32 %x<32>;\n.reg .b32 %s<2>;\n",
                      "mov.u32 %s0, %tid.x;\nshl.b32 %s0, %s0, 4;\n"
                      "mov.u32 %s1, tiles;\nadd.u32 %s0, %s0, %s1;\n",
                      Body, Keep);
  return K;
}

std::vector<CeilingKernel> ceilingKernels() {
  std::vector<CeilingKernel> All;
  for (unsigned Unroll : {1, 2, 4, 8})
    for (bool Streaming : {false, true})
      All.push_back(copyKernel(Unroll, Streaming));
  for (unsigned Unroll : {2, 4, 8}) {
    All.push_back(readKernel("read", Unroll));
    All.push_back(readKernel("l2", Unroll));
  }
  All.push_back(sharedKernel());
  All.push_back(fmaKernel("fp32", "f32"));
  All.push_back(fmaKernel("fp64", "f64"));
  All.push_back(mmaKernel("fp64", "m8n8k4", "f64.f64.f64.f64", 1, 1, 8 * 8 * 4,
                          80, "sm_80", "7.0"));
  All.push_back(mmaKernel("tf32", "m16n8k8", "f32.tf32.tf32.f32", 4, 2,
                          16 * 8 * 8, 80, "sm_80", "7.0"));
  All.push_back(mmaKernel("bf16", "m16n8k16", "f32.bf16.bf16.f32", 4, 2,
                          16 * 8 * 16, 80, "sm_80", "7.0"));
  All.push_back(mmaKernel("fp16", "m16n8k16", "f32.f16.f16.f32", 4, 2,
                          16 * 8 * 16, 80, "sm_80", "7.0"));
  All.push_back(mmaKernel("int8", "m16n8k32", "s32.s8.s8.s32", 4, 2,
                          16 * 8 * 32, 80, "sm_80", "7.0"));
  // On Hopper the operands of this one show twice the rate that there is: it is
  // Ada's; Hopper's fp8 is wgmma's.
  All.push_back(mmaKernel("fp8", "m16n8k32", "f32.e4m3.e4m3.f32", 4, 2,
                          16 * 8 * 32, 89, "sm_89", "8.4"));
  All.back().Until = 89;
  All.push_back(wgmmaKernel("tf32", "f32.tf32.tf32", 8, ", 1, 1"));
  All.push_back(wgmmaKernel("bf16", "f32.bf16.bf16", 16, ", 1, 1, 0, 0"));
  All.push_back(wgmmaKernel("fp16", "f32.f16.f16", 16, ", 1, 1, 0, 0"));
  All.push_back(wgmmaKernel("int8", "s32.s8.s8", 32, ""));
  All.push_back(wgmmaKernel("fp8", "f32.e4m3.e4m3", 32, ", 1, 1"));
  return All;
}

} // namespace cupilot::runner
