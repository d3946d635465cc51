#include <cooperative_groups.h>

// Block tile 128 x 128, depth 32; 4 warps of 64 x 64 each; two stages of 32 KiB in dynamic shared memory.
// A stage holds 128 rows of inp (16 KiB), then 128 rows of weight (16 KiB), in float; a row is 128 bytes, its eight
// 16-byte chunks are permuted by an exclusive or with the low three bits of the row.
//
// Fragments are read as float, scaled by a power of two (one for each operand and warp, found from the first columns),
// rounded to nearest half and multiplied with m16n8k16. Half is used only where it loses nothing against tf32: every
// nonzero operand must be a normal half after scaling. The smallest nonzero magnitude is tracked for that; operands that
// are too large become infinite and show in the sums. If a block finds such operands, it does its tile anew in tf32.
//
// The order of k inside a tile is free as long as both operands use the same: a thread takes chunk 2 * t + ks of its
// rows, which gives it the four values of one k16 step by one 16-byte load without bank conflicts.

__device__ __forceinline__ unsigned smem_u32(const void* p) {
    unsigned r;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(r) : "l"(p));
    return r;
}

__device__ __forceinline__ void cp_async16(unsigned dst, const float* src, unsigned go) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }"
                 :: "r"(dst), "l"(src), "r"(go) : "memory");
}

__device__ __forceinline__ void cp_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void cp_wait_all() {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void lds128(unsigned (&r)[4], unsigned addr) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr) : "memory");
}

__device__ __forceinline__ unsigned pack_half2(unsigned lo, unsigned hi, float s) {
    unsigned d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(__uint_as_float(hi) * s), "f"(__uint_as_float(lo) * s));
    return d;
}

__device__ __forceinline__ unsigned round_tf32(unsigned x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x)));
    return r;
}

__device__ __forceinline__ void mma_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void mma_tf32(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned umin2(unsigned a, unsigned b) {
    return a < b ? a : b;
}

__device__ __forceinline__ unsigned umax2(unsigned a, unsigned b) {
    return a > b ? a : b;
}

// smallest nonzero magnitude, as twice its bits less one; zero wraps round to the largest number
__device__ __forceinline__ unsigned track_min(unsigned m, const unsigned (&r)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        m = umin2(m, (r[k] << 1) - 1u);
    }
    return m;
}

__device__ __forceinline__ unsigned track_max(unsigned m, const unsigned (&r)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        m = umax2(m, r[k] << 1);
    }
    return m;
}

// exponent that the scale is made from; what does not fit goes the way of tf32
__device__ __forceinline__ unsigned clamp_exponent(unsigned e) {
    if (e == 0u) e = 127u;
    if (e < 79u) e = 79u;
    if (e > 175u) e = 175u;
    return e;
}

// Each thread copies 8 chunks of each operand: rows t/8 + 16*r, chunk t%8; part i has r = 2*i and 2*i+1.
__device__ __forceinline__ void copy_part(unsigned dst, const float* a, const float* b, size_t stride, int i, unsigned go) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        const int r = 2 * i + q;
        cp_async16(dst + r * 2048, a + r * stride, go);
        cp_async16(dst + 16384 + r * 2048, b + r * stride, go);
    }
}

__device__ __forceinline__ void copy_tile(unsigned dst, const float* a, const float* b, size_t stride, unsigned go) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        copy_part(dst, a, b, stride, i, go);
    }
    cp_commit();
}

// Piece i of the fragments of one k16 step: row tile i of inp (rows g and g + 8), column tiles 2*i and 2*i+1 of weight.
__device__ __forceinline__ void load_piece(int i, unsigned (&ra0)[4], unsigned (&ra1)[4], unsigned (&rb0)[4], unsigned (&rb1)[4],
                                           unsigned a, unsigned b, unsigned da, unsigned db) {
    const unsigned pa = a + (i < 2 ? 0u : da) + (unsigned)(i & 1) * 2048u;
    const unsigned pb = b + (i < 2 ? 0u : db) + (unsigned)(i & 1) * 2048u;
    lds128(ra0, pa);
    lds128(ra1, pa + 1024u);
    lds128(rb0, pb);
    lds128(rb1, pb + 1024u);
}

// Only pieces 0 and 1 are tracked: the order of the pieces differs between the two warps that read the same rows,
// so that together they track all of them.
__device__ __forceinline__ void convert_piece(int i, const unsigned (&ra0)[4], const unsigned (&ra1)[4],
                                              const unsigned (&rb0)[4], const unsigned (&rb1)[4],
                                              unsigned (&na)[4][4], unsigned (&nb)[8][2],
                                              float sa, float sb, unsigned& ma, unsigned& mb) {
    na[i][0] = pack_half2(ra0[0], ra0[1], sa);
    na[i][2] = pack_half2(ra0[2], ra0[3], sa);
    na[i][1] = pack_half2(ra1[0], ra1[1], sa);
    na[i][3] = pack_half2(ra1[2], ra1[3], sa);
    nb[2 * i][0] = pack_half2(rb0[0], rb0[1], sb);
    nb[2 * i][1] = pack_half2(rb0[2], rb0[3], sb);
    nb[2 * i + 1][0] = pack_half2(rb1[0], rb1[1], sb);
    nb[2 * i + 1][1] = pack_half2(rb1[2], rb1[3], sb);
    if (i < 2) {
        ma = track_min(ma, ra0);
        ma = track_min(ma, ra1);
        mb = track_min(mb, rb0);
        mb = track_min(mb, rb1);
    }
}

// One k16 step: multiply the present fragments while the next ones are loaded and the next tile is copied.
template <bool LOAD, bool COPY>
__device__ __forceinline__ void mma_step(float (&acc)[4][8][4],
                                         const unsigned (&ca)[4][4], const unsigned (&cb)[8][2],
                                         unsigned (&na)[4][4], unsigned (&nb)[8][2],
                                         unsigned a, unsigned b, unsigned da, unsigned db,
                                         float sa, float sb, unsigned& ma, unsigned& mb,
                                         unsigned dst, const float* ga, const float* gb, size_t stride, unsigned go) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        unsigned ra0[4], ra1[4], rb0[4], rb1[4];
        if (LOAD) {
            load_piece(i, ra0, ra1, rb0, rb1, a, b, da, db);
        }
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            mma_f16(acc[i][j], ca[i], cb[j]);
        }
        if (COPY) {
            copy_part(dst, ga, gb, stride, i, go);
        }
        if (LOAD) {
            convert_piece(i, ra0, ra1, rb0, rb1, na, nb, sa, sb, ma, mb);
        }
    }
}

__global__ void __launch_bounds__(128, 2) matmul_forward_f16(float* out,
                                                             const float* inp, const float* weight, const float* bias,
                                                             int C, int OC) {
    extern __shared__ __align__(1024) unsigned char smem[];
    const unsigned sbase = smem_u32(smem);

    const unsigned tid = threadIdx.x;
    const unsigned lane = tid & 31;
    const unsigned warp = tid >> 5;
    const unsigned wm = warp & 1;
    const unsigned wn = warp >> 1;
    const unsigned g = lane >> 2;
    const unsigned t = lane & 3;

    // order of tiles: groups of 8 column tiles, each swept over all row tiles
    const unsigned pid = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned per_group = 8 * gridDim.x;
    const unsigned first = (pid / per_group) * 8;
    const unsigned left = gridDim.y - first;
    const unsigned gsize = left < 8 ? left : 8;
    const unsigned in_group = pid % per_group;
    const unsigned tile_n = first + in_group % gsize;
    const unsigned tile_m = in_group / gsize;

    // addresses for copying; the pointers stand at the next tile to copy
    const unsigned crow = tid >> 3;
    const unsigned cchunk = tid & 7;
    const float* a_g = inp + ((size_t)tile_m * 128 + crow) * (size_t)C + cchunk * 4;
    const float* b_g = weight + ((size_t)tile_n * 128 + crow) * (size_t)C + cchunk * 4;
    const size_t stride = (size_t)C * 16;
    const unsigned s_off = crow * 128 + ((cchunk ^ (crow & 7)) << 4);

    // addresses of fragments, relative to the stage; pieces 2 and 3 lie 32 rows after or before pieces 0 and 1
    const unsigned swz = ((2 * t) ^ g) << 4;
    const unsigned ax = (wm * 64 + wn * 32 + g) * 128 + swz;
    const unsigned bx = 16384 + (wn * 64 + wm * 32 + g) * 128 + swz;
    const unsigned da = wn ? 0u - 4096u : 4096u;
    const unsigned db = wm ? 0u - 4096u : 4096u;

    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                acc[i][j][k] = 0.0f;
            }
        }
    }

    const int nk = C / 32;

    copy_tile(sbase + s_off, a_g, b_g, stride, 1u);
    a_g += 32;
    b_g += 32;
    cp_wait_all();
    __syncthreads();
    copy_tile(sbase + 32768u + s_off, a_g, b_g, stride, nk > 1 ? 1u : 0u);
    a_g += 32;
    b_g += 32;

    // scales: the largest magnitude of the first columns comes to 2^12 .. 2^13
    float sa, sb;
    {
        unsigned va = 0u;
        unsigned vb = 0u;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            unsigned ra0[4], ra1[4], rb0[4], rb1[4];
            load_piece(i, ra0, ra1, rb0, rb1, sbase + ax, sbase + bx, da, db);
            va = track_max(va, ra0);
            va = track_max(va, ra1);
            vb = track_max(vb, rb0);
            vb = track_max(vb, rb1);
        }
#pragma unroll
        for (int o = 16; o > 0; o >>= 1) {
            va = umax2(va, __shfl_xor_sync(0xffffffffu, va, o));
            vb = umax2(vb, __shfl_xor_sync(0xffffffffu, vb, o));
        }
        sa = __uint_as_float((266u - clamp_exponent(va >> 24)) << 23);
        sb = __uint_as_float((266u - clamp_exponent(vb >> 24)) << 23);
    }

    unsigned ma = 0xffffffffu;
    unsigned mb = 0xffffffffu;
    unsigned fa0[4][4], fb0[8][2];
    unsigned fa1[4][4], fb1[8][2];

#pragma unroll
    for (int i = 0; i < 4; ++i) {
        unsigned ra0[4], ra1[4], rb0[4], rb1[4];
        load_piece(i, ra0, ra1, rb0, rb1, sbase + ax, sbase + bx, da, db);
        convert_piece(i, ra0, ra1, rb0, rb1, fa0, fb0, sa, sb, ma, mb);
    }

#pragma unroll 1
    for (int kt = 0; kt + 1 < nk; ++kt) {
        const unsigned cur = sbase + (unsigned)(kt & 1) * 32768u;
        const unsigned nxt = sbase + (unsigned)((kt + 1) & 1) * 32768u;
        mma_step<true, false>(acc, fa0, fb0, fa1, fb1, cur + (ax ^ 16u), cur + (bx ^ 16u), da, db,
                              sa, sb, ma, mb, 0u, a_g, b_g, stride, 0u);
        // the next tile has arrived, and all warps have read the present one for the last time
        cp_wait_all();
        __syncthreads();
        mma_step<true, true>(acc, fa1, fb1, fa0, fb0, nxt + ax, nxt + bx, da, db,
                             sa, sb, ma, mb, cur + s_off, a_g, b_g, stride, kt + 2 < nk ? 1u : 0u);
        cp_commit();
        a_g += 32;
        b_g += 32;
    }
    {
        const unsigned cur = sbase + (unsigned)((nk - 1) & 1) * 32768u;
        mma_step<true, false>(acc, fa0, fb0, fa1, fb1, cur + (ax ^ 16u), cur + (bx ^ 16u), da, db,
                              sa, sb, ma, mb, 0u, a_g, b_g, stride, 0u);
        mma_step<false, false>(acc, fa1, fb1, fa0, fb0, cur + ax, cur + bx, da, db,
                               sa, sb, ma, mb, 0u, a_g, b_g, stride, 0u);
    }

    // did half hold all operands?
    const unsigned ea = 266u - (__float_as_uint(sa) >> 23);
    const unsigned eb = 266u - (__float_as_uint(sb) >> 23);
    float inv = __uint_as_float((ea + eb - 151u) << 23);
    unsigned top = 0u;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                top = umax2(top, __float_as_uint(acc[i][j][k]) << 1);
            }
        }
    }
    const int bad = (top >= 0xff000000u || ma < ((ea - 26u) << 24) - 1u || mb < ((eb - 26u) << 24) - 1u) ? 1 : 0;

    if (__syncthreads_or(bad)) {
        // rare: the whole tile again in tf32, which has the range of float
        inv = 1.0f;
        a_g -= (size_t)(nk + 1) * 32;
        b_g -= (size_t)(nk + 1) * 32;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    acc[i][j][k] = 0.0f;
                }
            }
        }
        copy_tile(sbase + s_off, a_g, b_g, stride, 1u);
#pragma unroll 1
        for (int kt = 0; kt < nk; ++kt) {
            const unsigned cur = sbase + (unsigned)(kt & 1) * 32768u;
            const unsigned nxt = sbase + (unsigned)((kt + 1) & 1) * 32768u;
            cp_wait_all();
            __syncthreads();
            a_g += 32;
            b_g += 32;
            copy_tile(nxt + s_off, a_g, b_g, stride, kt + 1 < nk ? 1u : 0u);
#pragma unroll 1
            for (unsigned ks = 0; ks < 2; ++ks) {
                const unsigned a = cur + (ax ^ (ks << 4));
                const unsigned b = cur + (bx ^ (ks << 4));
                unsigned fb[8][4];
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    lds128(fb[j], b + (j < 4 ? 0u : db) + (unsigned)(j & 3) * 1024u);
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        fb[j][k] = round_tf32(fb[j][k]);
                    }
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    unsigned ra0[4], ra1[4];
                    const unsigned pa = a + (i < 2 ? 0u : da) + (unsigned)(i & 1) * 2048u;
                    lds128(ra0, pa);
                    lds128(ra1, pa + 1024u);
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        ra0[k] = round_tf32(ra0[k]);
                        ra1[k] = round_tf32(ra1[k]);
                    }
#pragma unroll
                    for (int j = 0; j < 8; ++j) {
                        mma_tf32(acc[i][j], ra0[0], ra1[0], ra0[1], ra1[1], fb[j][0], fb[j][1]);
                    }
#pragma unroll
                    for (int j = 0; j < 8; ++j) {
                        mma_tf32(acc[i][j], ra0[2], ra1[2], ra0[3], ra1[3], fb[j][2], fb[j][3]);
                    }
                }
            }
        }
    }

    // scale back, bias and stores; row tile i stands for i ^ (2 * wn), column tile j for j ^ (4 * wm)
    const size_t row0 = (size_t)tile_m * 128 + wm * 64 + g;
    const size_t col0 = (size_t)tile_n * 128 + wn * 64 + t * 2;
    float* o = out + row0 * (size_t)OC + col0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const unsigned cj = ((unsigned)j ^ (wm << 2)) * 8u;
        float2 bv = make_float2(0.0f, 0.0f);
        if (bias != NULL) {
            bv = *reinterpret_cast<const float2*>(bias + col0 + cj);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const unsigned ri = ((unsigned)i ^ (wn << 1)) * 16u;
            float* q = o + (size_t)ri * (size_t)OC + cj;
            *reinterpret_cast<float2*>(q) = make_float2(acc[i][j][0] * inv + bv.x, acc[i][j][1] * inv + bv.y);
            *reinterpret_cast<float2*>(q + (size_t)8 * (size_t)OC) = make_float2(acc[i][j][2] * inv + bv.x, acc[i][j][3] * inv + bv.y);
        }
    }
}
