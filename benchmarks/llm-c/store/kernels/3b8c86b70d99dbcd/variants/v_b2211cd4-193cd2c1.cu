#include <cooperative_groups.h>

__device__ __forceinline__ float4 ld_vec(const float* address) {
    return *reinterpret_cast<const float4*>(address);
}

__device__ __forceinline__ float4 ldg_vec(const float* address) {
    return __ldg(reinterpret_cast<const float4*>(address));
}

__device__ __forceinline__ void st_vec(float* address, float4 val) {
    *reinterpret_cast<float4*>(address) = val;
}

// writes four consecutive k of one row into four k-rows of a tile
__device__ __forceinline__ void st_transposed(float* dst, float4 v) {
    dst[0] = v.x;
    dst[128] = v.y;
    dst[256] = v.z;
    dst[384] = v.w;
}

// reads the eight operands of a thread for one k: four at p, four 64 columns further
__device__ __forceinline__ void ld_frag(float (&f)[8], const float* p) {
    float4 u = ld_vec(p);
    float4 v = ld_vec(p + 64);
    f[0] = u.x; f[1] = u.y; f[2] = u.z; f[3] = u.w;
    f[4] = v.x; f[5] = v.y; f[6] = v.z; f[7] = v.w;
}

__global__ void __launch_bounds__(256, 2) matmul_forward_kernel4(float* out,
                                                                 const float* inp, const float* weight, const float* bias,
                                                                 int C, int OC) {
    // Two stages of 4160 floats, each: lhs tile at 0, rhs tile at 2080, both k-major.
    // Column m of row k stands at 128 * k + 8 * (k / 4) + m: the padding of 8 floats behind each four rows
    // keeps transposing stores free of bank conflicts, and all offsets in the loop are constants.
    __shared__ __align__(16) float tiles[2 * 4160];

    const int tid = 16 * (int)threadIdx.y + (int)threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;

    // 4 x 8 lanes; lhs address does not depend on lane bit 0, rhs address not on lane bit 1
    const int lm = ((lane >> 1) & 1) | ((lane >> 3) & 2);
    const int ln = (lane & 1) | ((lane >> 1) & 6);

    // global loads: four threads per row, 64 rows at once
    const int kq = tid & 3;
    const int lrow = tid >> 2;

    inp += 128 * blockIdx.x * C;
    weight += 128 * blockIdx.y * C;
    out += 128 * blockIdx.x * OC + 128 * blockIdx.y;

    // these pointers only ever advance by one tile
    const float* ga0 = inp + (lrow * C + 4 * kq);
    const float* ga1 = ga0 + 64 * C;
    const float* gb0 = weight + (lrow * C + 4 * kq);
    const float* gb1 = gb0 + 64 * C;

    int ws = 520 * kq + lrow;                         // where this thread stores
    int ra = 16 * (warp & 3) + 4 * lm;                // where it reads lhs: rows ra + 0..3 and ra + 64 + 0..3
    int rb = 2080 + 32 * (warp >> 2) + 4 * ln;        // where it reads rhs: columns rb - 2080 + 0..3 and 64 further
    int flip = 4160;                                  // from the present stage to the other one

    float acc[8][8];

    {
        float4 p0 = ldg_vec(ga0);
        float4 p1 = ldg_vec(ga1);
        float4 q0 = ldg_vec(gb0);
        float4 q1 = ldg_vec(gb1);

        float4 b0 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 b1 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (bias != NULL) {
            const float* bp = bias + 128 * blockIdx.y + (rb - 2080);
            b0 = ldg_vec(bp);
            b1 = ldg_vec(bp + 64);
        }

        st_transposed(tiles + ws, p0);
        st_transposed(tiles + ws + 64, p1);
        st_transposed(tiles + ws + 2080, q0);
        st_transposed(tiles + ws + 2080 + 64, q1);

        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            acc[i][0] = b0.x; acc[i][1] = b0.y; acc[i][2] = b0.z; acc[i][3] = b0.w;
            acc[i][4] = b1.x; acc[i][5] = b1.y; acc[i][6] = b1.z; acc[i][7] = b1.w;
        }
    }
    __syncthreads();

    // C >= 32: there is a second tile
    ga0 += 16;
    ga1 += 16;
    gb0 += 16;
    gb1 += 16;
    ws += flip;

    float fa[2][8];
    float fb[2][8];
    ld_frag(fa[0], tiles + ra);
    ld_frag(fb[0], tiles + rb);

    // left: elements of a row behind the next tile
    #pragma unroll 1
    for (int left = C - 32; left > -32; left -= 16) {
        // the pointers stop at the last tile; it is loaded once more and not used
        const int step = (left > 0) ? 16 : 0;

        // next lhs tile: under way during the first half of this tile
        float4 s0 = ldg_vec(ga0);
        float4 s1 = ldg_vec(ga1);
        ga0 += step;
        ga1 += step;

        #pragma unroll
        for (int kk = 0; kk < 16; ++kk) {
            if (kk == 7) {
                st_transposed(tiles + ws, s0);
                st_transposed(tiles + ws + 64, s1);
                // next rhs tile: under way during the second half of this tile
                s0 = ldg_vec(gb0);
                s1 = ldg_vec(gb1);
                gb0 += step;
                gb1 += step;
            }
            if (kk == 14) {
                st_transposed(tiles + ws + 2080, s0);
                st_transposed(tiles + ws + 2080 + 64, s1);
            }
            if (kk == 15) {
                // all operands of this tile are in registers; the next tile is complete behind the barrier
                __syncthreads();
                ra += flip;
                rb += flip;
                ws -= flip;
                flip = -flip;
                ld_frag(fa[0], tiles + ra);
                ld_frag(fb[0], tiles + rb);
            } else {
                const int off = 128 * (kk + 1) + 8 * ((kk + 1) >> 2);
                ld_frag(fa[(kk + 1) & 1], tiles + ra + off);
                ld_frag(fb[(kk + 1) & 1], tiles + rb + off);
            }
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                #pragma unroll
                for (int jj = 0; jj < 8; ++jj) {
                    // to and fro, so that neighbouring instructions share an operand
                    const int j = (i & 1) ? 7 - jj : jj;
                    acc[i][j] = fmaf(fa[kk & 1][i], fb[kk & 1][j], acc[i][j]);
                }
            }
        }
    }

    // C is a multiple of 32, the number of tiles is even: ra and rb are back in the first stage,
    // and are the thread's first row and (behind 2080) its first column
    float* o = out + (ra * OC + (rb - 2080));
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int r = 4 * h + i;
            st_vec(o, make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]));
            st_vec(o + 64, make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]));
            if (r < 7) {
                o += OC;
            }
        }
        if (h == 0) {
            o += 60 * OC;
        }
    }
}
