// What a GPU answers where a kernel could tell it from the cpu device: bits of
// NaN, results of approximate instructions, addresses, and the order of blocks.
//
//   nvcc -arch=sm_90 -o device-answers device-answers.cu
//   ./device-answers FOLDER
//
// writes
//   FOLDER/answers.txt   some operands with their answers
//   FOLDER/digests.txt   for each approximate instruction and each binade of
//                        arguments, a digest of all answers
//   FOLDER/NAME.planes   the answers to many arguments in order, from which
//                        device-answers-fit.cpp finds the unit's coefficients

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

static void check(cudaError_t E, const char *What) {
  if (E == cudaSuccess)
    return;
  std::fprintf(stderr, "device-answers: %s: %s\n", What, cudaGetErrorString(E));
  std::exit(1);
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__)

// One type for each instruction; arguments and answers are bits. Of float64
// they are the upper halves, and bit 31 says whether the lower half is not 0.
#define UNARY(Name, Text)                                                      \
  struct Name {                                                                \
    static __device__ uint32_t answer(uint32_t In) {                           \
      float x = __uint_as_float(In), r;                                        \
      asm(Text " %0, %1;" : "=f"(r) : "f"(x));                                 \
      return __float_as_uint(r);                                               \
    }                                                                          \
  };
#define UNARY16(Name, Text)                                                    \
  struct Name {                                                                \
    static __device__ uint32_t answer(uint32_t In) {                           \
      uint16_t x = In, r;                                                      \
      asm(Text " %0, %1;" : "=h"(r) : "h"(x));                                 \
      return r;                                                                \
    }                                                                          \
  };
#define UNARY64(Name, Text)                                                    \
  struct Name {                                                                \
    static __device__ uint32_t answer(uint32_t In) {                           \
      double x = __hiloint2double(In, 0), r;                                   \
      asm(Text " %0, %1;" : "=d"(r) : "d"(x));                                 \
      return __double2hiint(r) | (__double2loint(r) ? 1u << 31 : 0);           \
    }                                                                          \
  };
UNARY(ex2, "ex2.approx.ftz.f32")
UNARY(ex2_subnormal, "ex2.approx.f32")
UNARY(lg2, "lg2.approx.ftz.f32")
UNARY(lg2_subnormal, "lg2.approx.f32")
UNARY(rcp, "rcp.approx.ftz.f32")
UNARY(rcp_subnormal, "rcp.approx.f32")
UNARY(root_inverse, "rsqrt.approx.ftz.f32")
UNARY(root_inverse_subnormal, "rsqrt.approx.f32")
UNARY(square_root, "sqrt.approx.ftz.f32")
UNARY(square_root_subnormal, "sqrt.approx.f32")
UNARY(sine, "sin.approx.ftz.f32")
UNARY(sine_subnormal, "sin.approx.f32")
UNARY(cosine, "cos.approx.ftz.f32")
UNARY(cosine_subnormal, "cos.approx.f32")
UNARY(tangent, "tanh.approx.f32")
UNARY16(ex2_half, "ex2.approx.f16")
UNARY16(tangent_half, "tanh.approx.f16")
UNARY16(ex2_brain, "ex2.approx.ftz.bf16")
UNARY16(tangent_brain, "tanh.approx.bf16")
UNARY64(rcp_double, "rcp.approx.ftz.f64")
UNARY64(root_inverse_double, "rsqrt.approx.ftz.f64")

template <class Instruction>
__global__ void answer(const uint32_t *in, uint32_t *out, uint64_t n) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n;
       i += uint64_t(gridDim.x) * blockDim.x)
    out[i] = Instruction::answer(in[i]);
}

// The sum of a hash of argument and answer (the one of SplitMix64), for each
// binade: blockIdx.y.
template <class Instruction> __global__ void digest(unsigned long long *out) {
  uint64_t Sum = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23;
       i += gridDim.x * blockDim.x) {
    uint32_t In = blockIdx.y << 23 | i;
    uint64_t Z =
        (uint64_t(In) << 32 | Instruction::answer(In)) + 0x9e3779b97f4a7c15;
    Z = (Z ^ Z >> 30) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ Z >> 27) * 0x94d049bb133111eb;
    Sum += Z ^ Z >> 31;
  }
  atomicAdd(&out[blockIdx.y], (unsigned long long)Sum);
}

#define BINARY(Name, Text)                                                     \
  __global__ void Name(const uint32_t *in, uint32_t *out, uint64_t n) {        \
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n;  \
         i += uint64_t(gridDim.x) * blockDim.x) {                              \
      float x = __uint_as_float(in[i]), y = __uint_as_float(in[n + i]), r;     \
      asm(Text " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));                     \
      out[i] = __float_as_uint(r);                                             \
    }                                                                          \
  }
BINARY(division, "div.approx.ftz.f32")
BINARY(division_subnormal, "div.approx.f32")
BINARY(division_full, "div.full.f32")

using Kernel = void (*)(const uint32_t *, uint32_t *, uint64_t);

static std::vector<uint32_t> run(Kernel K, const std::vector<uint32_t> &In,
                                 uint64_t N) {
  uint32_t *DeviceIn = nullptr, *DeviceOut = nullptr;
  CHECK(cudaMalloc(&DeviceIn, In.size() * 4));
  CHECK(cudaMalloc(&DeviceOut, N * 4));
  CHECK(cudaMemcpy(DeviceIn, In.data(), In.size() * 4, cudaMemcpyHostToDevice));
  K<<<1024, 256>>>(DeviceIn, DeviceOut, N);
  CHECK(cudaGetLastError());
  std::vector<uint32_t> Out(N);
  CHECK(cudaMemcpy(Out.data(), DeviceOut, N * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(DeviceIn));
  CHECK(cudaFree(DeviceOut));
  return Out;
}

static std::FILE *Answers;
static std::string Folder;

using Digest = void (*)(unsigned long long *);
struct Instruction {
  const char *Name;
  Kernel Answer;
  Digest Sum;
  bool Sampled; // In answers.txt.
};
#define INSTRUCTION(Text, Type, Sampled)                                       \
  {Text, answer<Type>, digest<Type>, Sampled}
static const Instruction Unary[] = {
    INSTRUCTION("ex2.approx.ftz.f32", ex2, true),
    INSTRUCTION("lg2.approx.ftz.f32", lg2, true),
    INSTRUCTION("rcp.approx.ftz.f32", rcp, true),
    INSTRUCTION("rsqrt.approx.ftz.f32", root_inverse, true),
    INSTRUCTION("sqrt.approx.ftz.f32", square_root, true),
    INSTRUCTION("sin.approx.ftz.f32", sine, true),
    INSTRUCTION("tanh.approx.f32", tangent, true),
    INSTRUCTION("cos.approx.ftz.f32", cosine, true),
    INSTRUCTION("ex2.approx.f32", ex2_subnormal, true),
    INSTRUCTION("lg2.approx.f32", lg2_subnormal, true),
    INSTRUCTION("rcp.approx.f32", rcp_subnormal, true),
    INSTRUCTION("rsqrt.approx.f32", root_inverse_subnormal, true),
    INSTRUCTION("sqrt.approx.f32", square_root_subnormal, true),
    INSTRUCTION("sin.approx.f32", sine_subnormal, false),
    INSTRUCTION("cos.approx.f32", cosine_subnormal, false),
    INSTRUCTION("rcp.approx.ftz.f64", rcp_double, false),
    INSTRUCTION("rsqrt.approx.ftz.f64", root_inverse_double, false)};

static void digests() {
  std::FILE *F = std::fopen((Folder + "/digests.txt").c_str(), "w");
  if (!F)
    check(cudaErrorUnknown, "cannot write the digests");
  const uint32_t Binades = 512;
  unsigned long long *Sums = nullptr, Host[Binades];
  CHECK(cudaMalloc(&Sums, sizeof(Host)));
  for (const Instruction &I : Unary) {
    CHECK(cudaMemset(Sums, 0, sizeof(Host)));
    I.Sum<<<dim3(64, Binades), 256>>>(Sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(Host, Sums, sizeof(Host), cudaMemcpyDeviceToHost));
    for (uint32_t B = 0; B < Binades; ++B)
      std::fprintf(F, "%s %08x %016llx\n", I.Name, B << 23, Host[B]);
  }
  CHECK(cudaFree(Sums));
  std::fclose(F);
}

// The differences between neighbours, with the sign in the lowest bit, as four
// planes of bytes: they compress well.
static void plane(const char *Name, Kernel K, const std::vector<uint32_t> &In) {
  const size_t N = In.size();
  std::vector<uint32_t> Out = run(K, In, N);
  std::vector<uint8_t> Planes(4 * N);
  uint32_t Last = 0;
  for (size_t At = 0; At < N; ++At) {
    uint32_t D = Out[At] - Last;
    Last = Out[At];
    D = D << 1 ^ (D >> 31 ? ~0u : 0);
    for (unsigned B = 0; B < 4; ++B)
      Planes[B * N + At] = D >> (8 * B);
  }
  std::FILE *F = std::fopen((Folder + "/" + Name + ".planes").c_str(), "wb");
  if (!F || std::fwrite(Planes.data(), 1, 4 * N, F) != 4 * N)
    check(cudaErrorUnknown, "cannot write the answers");
  std::fclose(F);
}

static std::vector<uint32_t> range(uint32_t First, uint64_t End,
                                   uint32_t Step = 1) {
  std::vector<uint32_t> All;
  for (uint64_t Bits = First; Bits < End; Bits += Step)
    All.push_back(uint32_t(Bits));
  return All;
}

static void planes() {
  // One binade, or two where the exponent's parity counts.
  const std::vector<uint32_t> One = range(0x3f800000, 0x40000000),
                              Two = range(0x3f800000, 0x40800000);
  plane("ex2", answer<ex2>, One);
  plane("lg2", answer<lg2>, One);
  plane("rcp", answer<rcp>, One);
  plane("rsqrt", answer<root_inverse>, Two);
  plane("sqrt", answer<square_root>, Two);
  plane("tanh", answer<tangent>, range(0x3b800000, 0x41000000, 8));
  // A quarter turn in steps of 2^-25 turns.
  std::vector<uint32_t> Quarter;
  for (uint32_t K = 0; K < 1u << 23; ++K) {
    float X = float((K + 0.5) * 0x1p-25 * 6.283185307179586476925);
    uint32_t Bits;
    std::memcpy(&Bits, &X, 4);
    Quarter.push_back(Bits);
  }
  plane("sin", answer<sine>, Quarter);
  const std::vector<uint32_t> Short = range(0, 1 << 16);
  plane("ex2.f16", answer<ex2_half>, Short);
  plane("tanh.f16", answer<tangent_half>, Short);
  plane("ex2.bf16", answer<ex2_brain>, Short);
  plane("tanh.bf16", answer<tangent_brain>, Short);
}

static uint64_t Random = 1;
static uint32_t draw() {
  Random = Random * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(Random >> 32);
}

static void approximations() {
  const std::vector<uint32_t> Special = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
      0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
      0x7fffffff, 0x7fc00000, 0xffc12345, 0x7f812345, 0x42fc0000, 0xc2fc0000,
      0xc3150000, 0xc3160000, 0x43000000, 0xc3000000};
  for (const Instruction &I : Unary) {
    if (!I.Sampled)
      continue;
    std::vector<uint32_t> In = Special;
    while (In.size() < 3072) // Every binade ...
      In.push_back(draw());
    while (In.size() < 6144) // ... and those that programs use.
      In.push_back((draw() & 0x807fffff) | (112 + draw() % 24) << 23);
    std::vector<uint32_t> Out = run(I.Answer, In, In.size());
    for (size_t At = 0; At < In.size(); ++At)
      std::fprintf(Answers, "%s %08x %08x\n", I.Name, In[At], Out[At]);
  }
  for (auto [Name, K] : {std::pair("div.approx.ftz.f32", Kernel(division)),
                         {"div.approx.f32", Kernel(division_subnormal)},
                         {"div.full.f32", Kernel(division_full)}}) {
    const uint64_t N = 8192;
    std::vector<uint32_t> In(2 * N);
    for (uint64_t At = 0; At < 2 * N; ++At) {
      if (At % N < Special.size() * Special.size())
        In[At] =
            Special[At < N ? At / Special.size() : At % N % Special.size()];
      else if (At % 2)
        In[At] = draw();
      else
        In[At] = (draw() & 0x807fffff) | (112 + draw() % 24) << 23;
    }
    std::vector<uint32_t> Out = run(K, In, N);
    for (uint64_t At = 0; At < N; ++At)
      std::fprintf(Answers, "%s %08x %08x %08x\n", Name, In[At], In[N + At],
                   Out[At]);
  }
}

// Bits of NaN: operations on operands that the compiler does not know. Each is
// an instruction with up to three operands of one width.
#define OPERATION3(Name, Width, Class, Text)                                   \
  __global__ void Name(const uint##Width##_t *in, uint##Width##_t *out) {      \
    uint##Width##_t r;                                                         \
    asm volatile("{ " Text " }"                                                \
                 : "=" Class(r)                                                \
                 : Class(in[0]), Class(in[1]), Class(in[2]));                  \
    *out = r;                                                                  \
  }
#define F32(Name, Op)                                                          \
  OPERATION3(Name, 32, "r",                                                    \
             ".reg .f32 x, y, z, d; mov.b32 x, %1; mov.b32 y, %2; "            \
             "mov.b32 z, %3; " Op " mov.b32 %0, d;")
#define F64(Name, Op)                                                          \
  OPERATION3(Name, 64, "l",                                                    \
             ".reg .f64 x, y, z, d; mov.b64 x, %1; mov.b64 y, %2; "            \
             "mov.b64 z, %3; " Op " mov.b64 %0, d;")
#define F16(Name, Op)                                                          \
  OPERATION3(Name, 16, "h",                                                    \
             ".reg .b16 x, y, z, d; mov.b16 x, %1; mov.b16 y, %2; "            \
             "mov.b16 z, %3; " Op " mov.b16 %0, d;")
#define F32S(X)                                                                \
  X(add_f32, "add.f32 d, x, y;")                                               \
  X(sub_f32, "sub.f32 d, x, y;")                                               \
  X(mul_f32, "mul.f32 d, x, y;")                                               \
  X(fma_f32, "fma.rn.f32 d, x, y, z;")                                         \
  X(div_f32, "div.rn.f32 d, x, y;")                                            \
  X(divfull_f32, "div.full.f32 d, x, y;")                                      \
  X(divapprox_f32, "div.approx.f32 d, x, y;")                                  \
  X(rcp_f32, "rcp.rn.f32 d, x;")                                               \
  X(sqrt_f32, "sqrt.rn.f32 d, x;")                                             \
  X(rcpa_f32, "rcp.approx.ftz.f32 d, x;")                                      \
  X(sqrta_f32, "sqrt.approx.ftz.f32 d, x;")                                    \
  X(rsqrta_f32, "rsqrt.approx.ftz.f32 d, x;")                                  \
  X(lg2a_f32, "lg2.approx.ftz.f32 d, x;")                                      \
  X(ex2a_f32, "ex2.approx.ftz.f32 d, x;")                                      \
  X(sina_f32, "sin.approx.ftz.f32 d, x;")                                      \
  X(cosa_f32, "cos.approx.ftz.f32 d, x;")                                      \
  X(tanha_f32, "tanh.approx.f32 d, x;")                                        \
  X(min_f32, "min.f32 d, x, y;")                                               \
  X(max_f32, "max.f32 d, x, y;")                                               \
  X(minnan_f32, "min.NaN.f32 d, x, y;")                                        \
  X(maxnan_f32, "max.NaN.f32 d, x, y;")                                        \
  X(abs_f32, "abs.f32 d, x;")                                                  \
  X(neg_f32, "neg.f32 d, x;")                                                  \
  X(sat_f32, "cvt.sat.f32.f32 d, x;")                                          \
  X(rni_f32, "cvt.rni.f32.f32 d, x;")                                          \
  X(rzi_f32, "cvt.rzi.f32.f32 d, x;")                                          \
  X(viahalf_f32, ".reg .b16 h; cvt.rn.f16.f32 h, x; cvt.f32.f16 d, h;")        \
  X(viabf_f32, ".reg .b16 h; cvt.rn.bf16.f32 h, x; mov.b32 d, {h, h};")        \
  X(half_f32, ".reg .b16 h; cvt.rn.f16.f32 h, x; mov.b32 d, {h, h};")          \
  X(tf32_f32, ".reg .b32 t; cvt.rna.tf32.f32 t, x; mov.b32 d, t;")             \
  X(viadouble_f32, ".reg .f64 w; cvt.f64.f32 w, x; cvt.rn.f32.f64 d, w;")
#define F64S(X)                                                                \
  X(add_f64, "add.f64 d, x, y;")                                               \
  X(sub_f64, "sub.f64 d, x, y;")                                               \
  X(mul_f64, "mul.f64 d, x, y;")                                               \
  X(fma_f64, "fma.rn.f64 d, x, y, z;")                                         \
  X(div_f64, "div.rn.f64 d, x, y;")                                            \
  X(sqrt_f64, "sqrt.rn.f64 d, x;")                                             \
  X(min_f64, "min.f64 d, x, y;")                                               \
  X(max_f64, "max.f64 d, x, y;")                                               \
  X(abs_f64, "abs.f64 d, x;")                                                  \
  X(neg_f64, "neg.f64 d, x;")                                                  \
  X(rni_f64, "cvt.rni.f64.f64 d, x;")                                          \
  X(viafloat_f64, ".reg .f32 s; cvt.rn.f32.f64 s, x; cvt.f64.f32 d, s;")
#define F16S(X)                                                                \
  X(add_f16, "add.f16 d, x, y;")                                               \
  X(sub_f16, "sub.f16 d, x, y;")                                               \
  X(mul_f16, "mul.f16 d, x, y;")                                               \
  X(fma_f16, "fma.rn.f16 d, x, y, z;")                                         \
  X(min_f16, "min.f16 d, x, y;")                                               \
  X(maxnan_f16, "max.NaN.f16 d, x, y;")                                        \
  X(abs_f16, "abs.f16 d, x;")                                                  \
  X(neg_f16, "neg.f16 d, x;")                                                  \
  X(ex2_f16, "ex2.approx.f16 d, x;")                                           \
  X(tanh_f16, "tanh.approx.f16 d, x;")
#define BF16S(X)                                                               \
  X(fma_bf16, "fma.rn.bf16 d, x, y, z;")                                       \
  X(add_bf16, "add.bf16 d, x, y;")                                             \
  X(mul_bf16, "mul.bf16 d, x, y;")                                             \
  X(min_bf16, "min.bf16 d, x, y;")                                             \
  X(maxnan_bf16, "max.NaN.bf16 d, x, y;")                                      \
  X(abs_bf16, "abs.bf16 d, x;")                                                \
  X(neg_bf16, "neg.bf16 d, x;")
F32S(F32)
F64S(F64)
F16S(F16)
BF16S(F16)

template <class T>
static void operation(const char *Name, void (*K)(const T *, T *),
                      const std::vector<T> &Values) {
  T *In = nullptr, *Out = nullptr;
  CHECK(cudaMalloc(&In, 3 * sizeof(T)));
  CHECK(cudaMalloc(&Out, sizeof(T)));
  for (T X : Values)
    for (T Y : Values)
      for (T Z : {Values[0], Values[3]}) {
        T Operands[3] = {X, Y, Z}, Result = 0;
        CHECK(
            cudaMemcpy(In, Operands, sizeof(Operands), cudaMemcpyHostToDevice));
        K<<<1, 1>>>(In, Out);
        CHECK(cudaMemcpy(&Result, Out, sizeof(T), cudaMemcpyDeviceToHost));
        std::fprintf(Answers, "%s %0*llx %0*llx %0*llx %0*llx\n", Name,
                     int(2 * sizeof(T)), (unsigned long long)X,
                     int(2 * sizeof(T)), (unsigned long long)Y,
                     int(2 * sizeof(T)), (unsigned long long)Z,
                     int(2 * sizeof(T)), (unsigned long long)Result);
      }
  CHECK(cudaFree(In));
  CHECK(cudaFree(Out));
}

static void nans() {
  // 1, 0, -1, infinities, quiet and signalling NaN with payloads.
  const std::vector<uint32_t> Single = {0x3f800000, 0,          0xbf800000,
                                        0x7f800000, 0xff800000, 0x7fc12345,
                                        0xffd4321a, 0x7f8abcde, 0x7f800001};
  const std::vector<uint64_t> Double = {0x3ff0000000000000, 0,
                                        0xbff0000000000000, 0x7ff0000000000000,
                                        0xfff0000000000000, 0x7ff8123456789abc,
                                        0xfffa98765432100f, 0x7ff4000012345678};
  const std::vector<uint16_t> Half = {0x3c00, 0,      0xbc00, 0x7c00,
                                      0xfc00, 0x7e12, 0xff21, 0x7d05};
  const std::vector<uint16_t> Brain = {0x3f80, 0,      0xbf80, 0x7f80,
                                       0xff80, 0x7fc5, 0xffd1, 0x7f85};
#define RUN32(Name, Op) operation<uint32_t>(#Name, Name, Single);
#define RUN64(Name, Op) operation<uint64_t>(#Name, Name, Double);
#define RUN16(Name, Op) operation<uint16_t>(#Name, Name, Half);
#define RUNB16(Name, Op) operation<uint16_t>(#Name, Name, Brain);
  F32S(RUN32) F64S(RUN64) F16S(RUN16) BF16S(RUNB16)
}

// Addresses, and who comes first.
__device__ uint32_t Tickets;
__device__ float Variable[100];
__device__ char Byte;

__global__ void addresses(unsigned long long *out) {
  __shared__ char first;
  __shared__ float second[33];
  __shared__ double third[5];
  extern __shared__ char dynamic[];
  volatile int local = threadIdx.x;
  if (threadIdx.x != 0)
    return;
  out[0] = __cvta_generic_to_shared(&first);
  out[1] = __cvta_generic_to_shared(second);
  out[2] = __cvta_generic_to_shared(third);
  out[3] = __cvta_generic_to_shared(dynamic);
  out[4] = (unsigned long long)&first;
  out[5] = (unsigned long long)&local;
  out[6] = __cvta_generic_to_local((const void *)&local);
  out[7] = (unsigned long long)Variable;
  out[8] = (unsigned long long)&Byte;
  first = 1;
  second[0] = 1;
  third[0] = 1;
  dynamic[0] = 1;
}

__global__ void takeTickets(uint32_t *order, uint32_t *sm) {
  if (threadIdx.x != 0)
    return;
  uint32_t Mine = atomicAdd(&Tickets, 1), Sm;
  order[Mine] = blockIdx.x;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(Sm));
  sm[blockIdx.x] = Sm;
}

// Warps of one block, in the order in which they come to an atomic.
__global__ void takeWarpTickets(uint32_t *order) {
  if (threadIdx.x % 32 == 0)
    order[atomicAdd(&Tickets, 1)] = threadIdx.x / 32;
}

static void places() {
  unsigned long long *Out = nullptr, Host[9];
  CHECK(cudaMalloc(&Out, sizeof(Host)));
  for (int Dynamic : {0, 100, 16384}) {
    addresses<<<1, 32, Dynamic + 16>>>(Out);
    CHECK(cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost));
    std::fprintf(Answers, "addresses");
    for (unsigned long long A : Host)
      std::fprintf(Answers, " %llx", A);
    std::fprintf(Answers, "\n");
  }
  for (size_t Size : {1, 100, 256, 513, 4096, 5000, 65536, 1000000, 1 << 20,
                      (1 << 20) + 1, 3 << 20, 100 << 20, 1, 1, 4096}) {
    void *P = nullptr;
    CHECK(cudaMalloc(&P, Size));
    std::fprintf(Answers, "cudaMalloc %zu %p\n", Size, P);
  }
  const unsigned Blocks = 5000;
  uint32_t *Order = nullptr, *Sm = nullptr;
  CHECK(cudaMalloc(&Order, Blocks * 4));
  CHECK(cudaMalloc(&Sm, Blocks * 4));
  std::vector<uint32_t> Got(Blocks), On(Blocks);
  for (unsigned Threads : {32, 256, 1024})
    for (int Turn = 0; Turn < 2; ++Turn) {
      uint32_t Zero = 0;
      CHECK(cudaMemcpyToSymbol(Tickets, &Zero, 4));
      takeTickets<<<Blocks, Threads>>>(Order, Sm);
      CHECK(cudaMemcpy(Got.data(), Order, Blocks * 4, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(On.data(), Sm, Blocks * 4, cudaMemcpyDeviceToHost));
      std::fprintf(Answers, "tickets %u:", Threads);
      for (unsigned I = 0; I < Blocks; ++I)
        std::fprintf(Answers, " %u@%u", Got[I], On[Got[I]]);
      std::fprintf(Answers, "\n");
      CHECK(cudaMemcpyToSymbol(Tickets, &Zero, 4));
      takeWarpTickets<<<1, Threads>>>(Order);
      CHECK(cudaMemcpy(Got.data(), Order, Threads / 32 * 4,
                       cudaMemcpyDeviceToHost));
      std::fprintf(Answers, "warps %u:", Threads);
      for (unsigned I = 0; I < Threads / 32; ++I)
        std::fprintf(Answers, " %u", Got[I]);
      std::fprintf(Answers, "\n");
    }
}

int main(int Argc, char **Argv) {
  if (Argc != 2) {
    std::fprintf(stderr, "usage: device-answers FOLDER\n");
    return 2;
  }
  Folder = Argv[1];
  Answers = std::fopen((Folder + "/answers.txt").c_str(), "w");
  if (!Answers) {
    std::fprintf(stderr, "device-answers: cannot write to %s\n", Argv[1]);
    return 1;
  }
  cudaDeviceProp Device;
  CHECK(cudaGetDeviceProperties(&Device, 0));
  int Driver = 0;
  CHECK(cudaDriverGetVersion(&Driver));
  std::fprintf(Answers, "# %s, sm_%d%d, driver %d, nvcc %d.%d\n", Device.name,
               Device.major, Device.minor, Driver, __CUDACC_VER_MAJOR__,
               __CUDACC_VER_MINOR__);
  approximations();
  digests();
  planes();
  nans();
  places();
  return std::fclose(Answers) == 0 ? 0 : 1;
}
