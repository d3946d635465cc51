//===- PtxTable.cpp - The PTX instructions that are known -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says which instructions PTX may hold: the first row whose
// pattern fits emits the instruction. Calls, returns and jumps by a table
// belong to functions (FunctionLowering.cpp), branches to all bodies. Modifiers
// other than types may stand in any order, as in "ex2.approx.f32.ftz" of CUDA's
// own headers.
//
//===----------------------------------------------------------------------===//

#include "PtxRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

#define HALF "f16 f16x2 bf16 bf16x2"
#define INTEGER "u16 u32 u64 s16 s32 s64"
#define BITS "b16 b32 b64"
#define SEMANTICS "[relaxed acquire release acq_rel volatile weak mmio]"
#define SCOPE "[cta cluster gpu sys]"
#define HINTS                                                                  \
  "[L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "      \
  "L1::no_allocate] [L2::evict_normal L2::evict_first L2::evict_last] "        \
  "[L2::cache_hint] [L2::64B L2::128B L2::256B]"
#define ANY_TYPE "(b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 b128 f32 f64)"
#define VIDEO "(u32 s32) (u32 s32) (u32 s32) [sat] [add min max]"
#define LANES "(u32 s32) (u32 s32) (u32 s32) [sat add]"
#define COMPARISON                                                             \
  "(eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan)"

static constexpr PtxRule Rules[] = {
    // Integers.
    {"add [sat] (u16x2 s16x2 " INTEGER ") [cc]", ptxAddSub},
    {"sub [sat] (" INTEGER ") [cc]", ptxAddSub},
    {"addc [cc] (u32 s32 u64 s64)", ptxAddSub},
    {"subc [cc] (u32 s32 u64 s64)", ptxAddSub},
    {"mul (lo hi wide) (" INTEGER ")", ptxMultiply},
    {"mad (lo hi wide) [sat] [cc] (" INTEGER ")", ptxMultiply},
    {"madc (lo hi) [cc] (u32 s32 u64 s64)", ptxMultiply},
    {"mul24 (lo hi) (u32 s32)", ptxMultiply24},
    {"mad24 (lo hi) (u32 s32)", ptxMultiply24},
    {"mad24 hi sat s32", ptxMultiply24},
    {"div (" INTEGER ")", ptxDivide},
    {"rem (" INTEGER ")", ptxDivide},
    {"sad (" INTEGER ")", ptxSad},
    {"min [relu] (u16x2 s16x2 " INTEGER ")", ptxMinMax},
    {"max [relu] (u16x2 s16x2 " INTEGER ")", ptxMinMax},
    {"abs (s16 s32 s64)", ptxUnary},
    {"neg (s16 s32 s64)", ptxUnary},
    {"popc (b32 b64)", ptxUnary},
    {"clz (b32 b64)", ptxUnary},
    {"brev (b32 b64)", ptxUnary},
    {"not (pred " BITS ")", ptxUnary},
    {"cnot (" BITS ")", ptxUnary},
    {"and (pred " BITS ")", ptxLogic},
    {"or (pred " BITS ")", ptxLogic},
    {"xor (pred " BITS ")", ptxLogic},
    {"lop3 [or and] b32", ptxLop3},
    {"shl (" BITS ")", ptxShift},
    {"shr (" BITS " " INTEGER ")", ptxShift},
    {"shf (l r) (clamp wrap) b32", ptxFunnelShift},
    {"bfind [shiftamt] (u32 s32 u64 s64)", ptxFindBit},
    {"fns b32", ptxFindNthSet},
    {"bfe (u32 s32 u64 s64)", ptxExtractField},
    {"bfi (b32 b64)", ptxInsertField},
    {"bmsk (clamp wrap) b32", ptxBitMask},
    {"szext (clamp wrap) (u32 s32)", ptxExtend},
    {"prmt b32 [f4e b4e rc8 ecl ecr rc16]", ptxPermute},
    {"dp4a (u32 s32) (u32 s32)", ptxDotProduct},
    {"dp2a (lo hi) (u32 s32) (u32 s32)", ptxDotProduct},
    {"vadd " VIDEO, ptxVideo},
    {"vsub " VIDEO, ptxVideo},
    {"vabsdiff " VIDEO, ptxVideo},
    {"vmin " VIDEO, ptxVideo},
    {"vmax " VIDEO, ptxVideo},
    {"vshl (u32 s32) (u32 s32) u32 [sat] (clamp wrap) [add min max]", ptxVideo},
    {"vshr (u32 s32) (u32 s32) u32 [sat] (clamp wrap) [add min max]", ptxVideo},
    {"vset (u32 s32) (u32 s32) (eq ne lt le gt ge) [add min max]", ptxVideo},
    {"vmad (u32 s32) (u32 s32) (u32 s32) [po] [sat] [shr7 shr15]",
     ptxVideoMultiply},
    {"vadd2 " LANES, ptxVideoLanes},
    {"vadd4 " LANES, ptxVideoLanes},
    {"vsub2 " LANES, ptxVideoLanes},
    {"vsub4 " LANES, ptxVideoLanes},
    {"vavrg2 " LANES, ptxVideoLanes},
    {"vavrg4 " LANES, ptxVideoLanes},
    {"vabsdiff2 " LANES, ptxVideoLanes},
    {"vabsdiff4 " LANES, ptxVideoLanes},
    {"vmin2 " LANES, ptxVideoLanes},
    {"vmin4 " LANES, ptxVideoLanes},
    {"vmax2 " LANES, ptxVideoLanes},
    {"vmax4 " LANES, ptxVideoLanes},
    {"vset2 (u32 s32) (u32 s32) (eq ne lt le gt ge) [add]", ptxVideoLanes},
    {"vset4 (u32 s32) (u32 s32) (eq ne lt le gt ge) [add]", ptxVideoLanes},

    // Floating point.
    {"add [rn rz rm rp] [ftz] [sat] f32", ptxFloatArithmetic},
    {"add [rn rz rm rp] f64", ptxFloatArithmetic},
    {"add [rn] [ftz] [sat] (" HALF ")", ptxFloatArithmetic},
    {"sub [rn rz rm rp] [ftz] [sat] f32", ptxFloatArithmetic},
    {"sub [rn rz rm rp] f64", ptxFloatArithmetic},
    {"sub [rn] [ftz] [sat] (" HALF ")", ptxFloatArithmetic},
    {"mul [rn rz rm rp] [ftz] [sat] f32", ptxFloatArithmetic},
    {"mul [rn rz rm rp] f64", ptxFloatArithmetic},
    {"mul [rn] [ftz] [sat] (" HALF ")", ptxFloatArithmetic},
    {"fma (rn rz rm rp) [ftz] [sat] f32", ptxFloatArithmetic},
    {"fma (rn rz rm rp) f64", ptxFloatArithmetic},
    {"fma rn [ftz] [sat relu] (" HALF ")", ptxFloatArithmetic},
    {"mad (rn rz rm rp) [ftz] [sat] f32", ptxFloatArithmetic},
    {"mad (rn rz rm rp) f64", ptxFloatArithmetic},
    {"div (rn rz rm rp approx full) [ftz] f32", ptxFloatArithmetic},
    {"div (rn rz rm rp) f64", ptxFloatArithmetic},
    {"rcp (rn rz rm rp approx) [ftz] f32", ptxFloatArithmetic},
    {"rcp (rn rz rm rp) f64", ptxFloatArithmetic},
    {"sqrt (rn rz rm rp approx) [ftz] f32", ptxFloatArithmetic},
    {"sqrt (rn rz rm rp) f64", ptxFloatArithmetic},
    {"abs [ftz] (f32 f64 " HALF ")", ptxFloatUnary},
    {"neg [ftz] (f32 f64 " HALF ")", ptxFloatUnary},
    {"min [ftz] [NaN] [xorsign] [abs] (f32 f64 " HALF ")", ptxFloatMinMax},
    {"max [ftz] [NaN] [xorsign] [abs] (f32 f64 " HALF ")", ptxFloatMinMax},
    {"rcp approx ftz f64", ptxFloatArithmetic},
    {"rsqrt approx [ftz] (f32 f64)", ptxFloatApprox},
    {"sin approx [ftz] f32", ptxFloatApprox},
    {"cos approx [ftz] f32", ptxFloatApprox},
    {"lg2 approx [ftz] f32", ptxFloatApprox},
    {"ex2 approx [ftz] (f32 " HALF ")", ptxFloatApprox},
    {"tanh approx (f32 " HALF ")", ptxFloatApprox},
    {"copysign (f32 f64)", ptxCopySign},
    {"testp (finite infinite number notanumber normal subnormal) (f32 f64)",
     ptxTestProperty},

    // Comparison and selection.
    {"set " COMPARISON " [ftz] [and or xor] (u32 s32 f32 u16 s16 " HALF
     ") (b16 b32 b64 f32 f64 " HALF " " INTEGER ")",
     ptxSet},
    {"setp " COMPARISON " [ftz] [and or xor] (b16 b32 b64 f32 f64 " HALF
     " " INTEGER ")",
     ptxSetPredicate},
    {"selp (b16 b32 b64 f32 f64 " INTEGER ")", ptxSelect},
    {"slct [ftz] (b16 b32 b64 f32 f64 " INTEGER ") (s32 f32)", ptxSelectBySign},

    // Moves and conversions.
    {"mov (pred b16 b32 b64 b128 f32 f64 f16 bf16 " INTEGER ")", ptxMove},
    {"cvt [sat] (u8 s8 " INTEGER ") (u8 s8 " INTEGER ")", ptxConvertInteger},
    {"cvt (rni rzi rmi rpi) [ftz] [sat] (u8 s8 " INTEGER ") (f16 bf16 f32 f64)",
     ptxConvertToInteger},
    {"cvt [rn rz rm rp rni rzi rmi rpi] [ftz] [sat] [relu] [satfinite] "
     "(f16 bf16 f32 f64) (f16 bf16 f32 f64 u8 s8 " INTEGER ")",
     ptxConvertToFloat},
    {"cvt (rn rz) [relu] [satfinite] (f16x2 bf16x2) f32", ptxConvertPair},
    {"cvt (rn rz rp) [satfinite] [relu] (e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 "
     "ue8m0x2) (f32 f16x2 bf16x2)",
     ptxConvertToNarrow},
    {"cvt rn [relu] (f16x2 bf16x2) (e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 "
     "ue8m0x2)",
     ptxConvertFromNarrow},
    {"cvt (rn rz rna) [relu] [satfinite] tf32 f32", ptxConvertTf32},
    {"cvt pack sat (u16 s16 u8 s8 u4 s4 u2 s2) s32 [b32]", ptxConvertPack},

    // Memory.
    {"ld " SEMANTICS " " SCOPE
     " [global shared shared::cta shared::cluster local const param "
     "param::entry param::func] "
     "[ca cg cs lu cv] [nc] " HINTS " [v2 v4 v8] " ANY_TYPE,
     ptxLoad},
    {"ld mmio relaxed sys [global] " ANY_TYPE, ptxLoad},
    {"ldu [global] [v2 v4] " ANY_TYPE, ptxLoad},
    {"st " SEMANTICS " " SCOPE
     " [global shared shared::cta shared::cluster local param param::func] "
     "[wb cg cs wt] " HINTS " [v2 v4 v8] " ANY_TYPE,
     ptxStore},
    {"st mmio relaxed sys [global] " ANY_TYPE, ptxStore},
    {"atom " SEMANTICS " " SCOPE " [global shared shared::cta shared::cluster] "
     "(add inc dec min max and or xor exch cas) [noftz] [L2::cache_hint] "
     "[v2 v4 v8] (b16 b32 b64 b128 u32 s32 u64 s64 f32 f64 " HALF ")",
     ptxAtomic},
    {"red " SEMANTICS " " SCOPE " [global shared shared::cta shared::cluster] "
     "(add inc dec min max and or xor) [noftz] [L2::cache_hint] [v2 v4 v8] "
     "(b32 b64 u32 s32 u64 s64 f32 f64 " HALF ")",
     ptxAtomic},
    {"prefetch [global local] (L1 L2 L2::evict_last L2::evict_normal)",
     ptxHint},
    {"prefetchu L1", ptxHint},
    {"discard [global] L2", ptxHint},
    {"applypriority [global] L2::evict_normal", ptxHint},
    {"createpolicy (fractional range) [global] (L2::evict_last "
     "L2::evict_normal L2::evict_first L2::evict_unchanged) [L2::evict_first "
     "L2::evict_unchanged] b64",
     ptxPolicy},
    {"cvta [to] (global shared shared::cta shared::cluster local const param) "
     "(u32 u64)",
     ptxConvertAddress},
    {"isspacep (global shared shared::cta shared::cluster local const)",
     ptxIsSpace},
    {"mapa [shared::cluster] (u32 u64)", ptxMapAddress},
    {"getctarank [shared::cluster] (u32 u64)", ptxBlockRank},

    // Other threads.
    {"shfl sync (idx up down bfly) b32", ptxShuffle},
    {"shfl (idx up down bfly) b32", ptxShuffle},
    {"vote [sync] (all any uni) pred", ptxVote},
    {"vote [sync] ballot b32", ptxVote},
    {"match sync (any all) (b32 b64)", ptxMatch},
    {"redux sync (add min max) (u32 s32)", ptxReduce},
    {"redux sync (and or xor) b32", ptxReduce},
    {"redux sync (min max) [abs] [NaN] f32", ptxReduce},
    {"activemask b32", ptxActiveMask},
    {"elect sync", ptxElect},
    {"barrier cluster arrive [release relaxed] [aligned]", ptxClusterBarrier},
    {"barrier cluster wait [acquire] [aligned]", ptxClusterBarrier},
    {"bar warp sync", ptxWarpBarrier},
    {"bar [cta] (sync arrive)", ptxBarrier},
    {"barrier [cta] (sync arrive) [aligned]", ptxBarrier},
    {"bar [cta] red (popc and or) (u32 pred)", ptxBarrierReduce},
    {"barrier [cta] red (popc and or) [aligned] (u32 pred)", ptxBarrierReduce},
    {"membar (cta gl sys)", ptxFence},
    {"fence [sc acq_rel acquire release] (cta cluster gpu sys)", ptxFence},
    {"fence proxy alias", ptxFence},
    {"fence proxy async [global shared::cta shared::cluster]", ptxFence},
    {"fence mbarrier_init release cluster", ptxFence},
    {"fence proxy tensormap::generic (acquire release) (cta cluster gpu sys)",
     ptxFence},
    {"nanosleep u32", ptxSleep},
    {"pmevent [mask]", ptxHint},
    {"griddepcontrol (launch_dependents wait)", ptxHint},
    {"trap", ptxStop},
    {"brkpt", ptxStop},
    {"exit", ptxStop},
};

ArrayRef<PtxRule> ptxRules() { return Rules; }

bool matchesPtxPattern(StringRef Pattern, const PtxStatement &S) {
  struct Group {
    SmallVector<StringRef, 16> Words;
    bool Required = true, Used = false;
  };
  StringRef Base = Pattern.take_until(isSpace);
  if (Base != S.base())
    return false;
  SmallVector<Group, 12> Groups;
  StringRef Rest = Pattern.drop_front(Base.size()).ltrim();
  while (!Rest.empty()) {
    Group &G = Groups.emplace_back();
    StringRef Words;
    char Open = Rest.front();
    if (Open == '[' || Open == '(') {
      size_t End = Rest.find(Open == '[' ? ']' : ')');
      Words = Rest.substr(1, End - 1);
      G.Required = Open == '(';
      Rest = Rest.drop_front(End + 1).ltrim();
    } else {
      Words = Rest.take_until(isSpace);
      Rest = Rest.drop_front(Words.size()).ltrim();
    }
    Words.split(G.Words, ' ', -1, /*KeepEmpty=*/false);
  }
  // Types keep their order: cvt.f16.f32 is not cvt.f32.f16.
  auto *NextType = Groups.begin();
  for (StringRef Modifier : S.modifiers()) {
    bool IsType = ptxTypeBits(Modifier) != 0;
    auto *Fits = std::find_if(
        IsType ? NextType : Groups.begin(), Groups.end(), [&](const Group &G) {
          return !G.Used && is_contained(G.Words, Modifier);
        });
    if (Fits == Groups.end())
      return false;
    Fits->Used = true;
    if (IsType)
      NextType = Fits + 1;
  }
  return all_of(Groups, [](const Group &G) { return G.Used || !G.Required; });
}

const PtxRule *findPtxRule(const PtxStatement &S) {
  for (const PtxRule &Rule : Rules)
    if (matchesPtxPattern(Rule.Pattern, S))
      return &Rule;
  return nullptr;
}

} // namespace cupilot
