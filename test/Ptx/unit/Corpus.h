//===- Corpus.h - PTX of each kind ------------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_PTX_CORPUS_H
#define CUPILOT_TEST_PTX_CORPUS_H

/// A module that has each directive and each form of statement.
inline constexpr const char *EverythingPtx = R"(
.version 8.8
.target sm_90a, debug
.address_size 64
	.file	1 "a folder/a \"file\".cu", 1700000000, 1234
.pragma "nounroll", "used";
.extern .func (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.extern .func __assertfail (.param .b64 a, .param .b32 b)
.noreturn;
.visible .global .align 4 .u32 Counter = -3;
.weak .const .align 16 .b8 Bytes[8] = {0, 0x7f, 017, 0b101, 5U, 1 << 3, (2+3)*4, ~0};
.common .global .align 8 .b64 Shared64;
.global .align 8 .u64 Places[2][2] = {{Counter, generic(Bytes)+4}, {generic(Bytes + 8), vprintf}};
.global .align 1 .b8 Taken[4] = {0xff(Counter), 0xff00(Counter), 0xFF0000(generic(Counter)+8), 1};
.global .attribute(.managed) .align 4 .b32 Managed;
.global .attribute(.unified(1, 2)) .v4 .f32 Vector4 = {0f3F800000, 1.5, -2.5e-3, 0d4000000000000000};
.global .texref Texture;
.global .samplerref Sampler = { addr_mode_0 = clamp_to_border, filter_mode = nearest };
.extern .shared .align 16 .b8 Dynamic[];
.func (.param .b32 func_retval0) helper(.param .b32 helper_param_0, .param .align 8 .b8 helper_param_1[16])
{
	.reg .b32 	%r<3>;
	ld.param.b32 	%r1, [helper_param_0];
	st.param.b32 	[func_retval0+0], %r1;
	ret;
}
.alias other, helper;
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .align 64 .b8 kernel_param_1[128]
)
.maxntid 128, 1, 1
.reqntid 64
.minnctapersm 2
.maxnreg 32
.explicitcluster
.reqnctapercluster 2, 1
.maxclusterrank 8
.pragma "nounroll";
{
	.local .align 8 .b8 	__local_depot0[88];
	.reg .pred 	%p<3>;
	.reg .b32 	%r<20>, single, %two;
	.reg .b64 	%rd<9>;
	.reg .f32 %f<5>;
	.reg.v2.b32 pair;
	.shared .align 4 .b8 tile[64]; // demoted variable
	.loc	1 20 5
	.loc	1 30 9, function_name $L__info_string0+12, inlined_at 1 20 5
$L__BB1_1:
	mov.u32 	%r1, %tid.x;
	mov.b64 	%rd1, Counter+8;
	mov.b64 	{%r2, _}, %rd1;
	mov.b32 %r3, WARP_SZ;
	mov.u32 %r4, pair.y;
	ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1 + -16];
	ld.shared::cta.b32 %r5, [tile+4];
	st.global.b32 [4096], -1;
	@%p1 st.shared.b32 [%r1-4], 0xFFFFFFFF;
	@!%p2 bra.uni 	$L__BB1_1;
	setp.lt.and.s32 	%p1|%p2, %r1, 0x10, !%p2;
	shfl.sync.idx.b32 %r6|%p1, %r1, 0, 31, -1;
	vadd.s32.s32.s32.sat %r7, -%r1, %r2;
	mov.b64 %rd2, 0xFFFFFFFFFFFFFFFF;
	mov.b64 %rd2, -9223372036854775808;
	mov.b32 %r8, 1 ? 2 : 3;
	fma.rn.ftz.f32 %f1, %f2, 0f3F800000, -1.0;
	tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [Texture, {%f1, %f2}];
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
	tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1 + 16], %rd1, %rd2, %r3, [%r4], [%r5], %p1;
	wgmma.fence.sync.aligned;
	{ // callseq 0
	.param .b32 param0;
	.param .b32 retval0;
	st.param.b32 	[param0+0], %r1;
	call.uni (retval0), helper, (param0, param0);
	ld.param::func.b32 	%r1, [retval0+0];
	} // callseq 0
	prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
	call (retval0), %rd1, (param0), prototype_0;
	call.uni helper;
jumps:
	.branchtargets $L__BB1_1,
		$L__BB1_2;
	brx.idx %r1, jumps;
callees: .calltargets helper, other;
$L__BB1_2:
	/* a comment
	   of two lines */ .pragma "nounroll";
	{ .reg .b16 %r1; { .reg .b16 %deep; } }
	trap;;
	exit;
$L__func_end0:
}
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
.b32 $L__func_end0-Ltext
Ltext:
.b64 .debug_info
	}
)";

#endif // CUPILOT_TEST_PTX_CORPUS_H
