//===- cupilot-nvcc.h - What nvcc has built in and clang has not -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every parse that cuPilot starts reads this file before the source, and so
// does cupilot-cpucc. Nothing of it is part of a slice. Everything here gives
// way to what the program defines itself, and is only what clang's own headers
// lack: a source that clang takes alone means the same with it.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_NVCC_H
#define CUPILOT_NVCC_H
#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus)
#pragma clang system_header

// What the run time's headers include for nvcc alone.
#include <assert.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// nvcc's has a value: #if __CUDACC__
#undef __CUDACC__
#define __CUDACC__ 1

namespace cupilot_nvcc {
template <bool Enable, class T> struct If {};
template <class T> struct If<true, T> {
  using Type = T;
};
template <class A, class B>
using Common = typename If<__is_arithmetic(A) && __is_arithmetic(B),
                           decltype(true ? A() : B())>::Type;
} // namespace cupilot_nvcc

// min and max of host code: nvcc's are for both sides, clang's for device code
// alone. As templates they come after the program's own and std::min.
template <class A, class B>
static inline __attribute__((host, unused)) cupilot_nvcc::Common<A, B>
min(A Left, B Right) {
  using T = cupilot_nvcc::Common<A, B>;
  return T(Right) < T(Left) ? T(Right) : T(Left);
}
template <class A, class B>
static inline __attribute__((host, unused)) cupilot_nvcc::Common<A, B>
max(A Left, B Right) {
  using T = cupilot_nvcc::Common<A, B>;
  return T(Left) < T(Right) ? T(Right) : T(Left);
}

// Declared by clang's headers and defined nowhere: a quiet NaN; what the text
// asks for beyond that is left to the implementation.
inline __attribute__((device)) double nan(const char *) {
  return __builtin_nan("");
}
inline __attribute__((device)) float nanf(const char *) {
  return __builtin_nanf("");
}

// clang has no managed variables. To read the rest of the unit, they are the
// device's here; kernels that use them are refused.
#undef __managed__
#define __managed__ __attribute__((device, annotate("cupilot.managed")))

// CUDA C++ Programming Guide, "Load Functions Using Cache Hints": clang has
// __ldg, and __ldcg, __ldcs, __ldcv and __stwt but for some of long. The
// operators are those of PTX.
#define CUPILOT_LOAD(NAME, OP, TYPE, TEMPORARY, LETTER)                        \
  inline __attribute__((device)) TYPE NAME(const TYPE *From) {                 \
    TEMPORARY Value;                                                           \
    asm("ld.global." OP " %0, [%1];"                                           \
        : "=" LETTER(Value)                                                    \
        : "l"(From)                                                            \
        : "memory");                                                           \
    return (TYPE)(Value);                                                      \
  }
#define CUPILOT_LOAD2(NAME, OP, TYPE, TEMPORARY, LETTER)                       \
  inline __attribute__((device)) TYPE NAME(const TYPE *From) {                 \
    TEMPORARY X, Y;                                                            \
    asm("ld.global." OP " {%0,%1}, [%2];"                                      \
        : "=" LETTER(X), "=" LETTER(Y)                                         \
        : "l"(From)                                                            \
        : "memory");                                                           \
    TYPE Value;                                                                \
    Value.x = decltype(Value.x)(X);                                            \
    Value.y = decltype(Value.y)(Y);                                            \
    return Value;                                                              \
  }
#define CUPILOT_LOAD4(NAME, OP, TYPE, TEMPORARY, LETTER)                       \
  inline __attribute__((device)) TYPE NAME(const TYPE *From) {                 \
    TEMPORARY X, Y, Z, W;                                                      \
    asm("ld.global." OP " {%0,%1,%2,%3}, [%4];"                                \
        : "=" LETTER(X), "=" LETTER(Y), "=" LETTER(Z), "=" LETTER(W)           \
        : "l"(From)                                                            \
        : "memory");                                                           \
    TYPE Value;                                                                \
    Value.x = decltype(Value.x)(X);                                            \
    Value.y = decltype(Value.y)(Y);                                            \
    Value.z = decltype(Value.z)(Z);                                            \
    Value.w = decltype(Value.w)(W);                                            \
    return Value;                                                              \
  }
#define CUPILOT_STORE(NAME, OP, TYPE, TEMPORARY, LETTER)                       \
  inline __attribute__((device)) void NAME(TYPE *To, TYPE Value) {             \
    asm volatile("st.global." OP " [%0], %1;" ::"l"(To),                       \
                 LETTER((TEMPORARY)(Value))                                    \
                 : "memory");                                                  \
  }
#define CUPILOT_STORE2(NAME, OP, TYPE, TEMPORARY, LETTER)                      \
  inline __attribute__((device)) void NAME(TYPE *To, TYPE Value) {             \
    asm volatile("st.global." OP " [%0], {%1,%2};" ::"l"(To),                  \
                 LETTER((TEMPORARY)(Value.x)), LETTER((TEMPORARY)(Value.y))    \
                 : "memory");                                                  \
  }
#define CUPILOT_STORE4(NAME, OP, TYPE, TEMPORARY, LETTER)                      \
  inline __attribute__((device)) void NAME(TYPE *To, TYPE Value) {             \
    asm volatile("st.global." OP " [%0], {%1,%2,%3,%4};" ::"l"(To),            \
                 LETTER((TEMPORARY)(Value.x)), LETTER((TEMPORARY)(Value.y)),   \
                 LETTER((TEMPORARY)(Value.z)), LETTER((TEMPORARY)(Value.w))    \
                 : "memory");                                                  \
  }
// USE is LOAD or STORE, HINT the cache operator.
#define CUPILOT_HINT(USE, NAME, HINT)                                          \
  CUPILOT_##USE(NAME, HINT ".s8", char, int, "r") CUPILOT_##USE(               \
      NAME, HINT ".s8", signed char, int,                                      \
      "r") CUPILOT_##USE(NAME, HINT ".s16", short, short,                      \
                         "h") CUPILOT_##USE(NAME, HINT ".s32", int, int, "r")  \
      CUPILOT_##USE(NAME, HINT ".s64", long, long, "l") CUPILOT_##USE(         \
          NAME, HINT ".s64", long long, long long,                             \
          "l") CUPILOT_##USE(NAME, HINT ".u8", unsigned char, unsigned,        \
                             "r") CUPILOT_##USE(NAME, HINT ".u16",             \
                                                unsigned short,                \
                                                unsigned short, "h")           \
          CUPILOT_##USE(NAME, HINT ".u32", unsigned, unsigned,                 \
                        "r") CUPILOT_##USE(NAME, HINT ".u64", unsigned long,   \
                                           unsigned long, "l")                 \
              CUPILOT_##USE(                                                   \
                  NAME, HINT ".u64", unsigned long long, unsigned long long,   \
                  "l") CUPILOT_##USE(NAME, HINT ".f32", float, float,          \
                                     "f") CUPILOT_##USE(NAME, HINT ".f64",     \
                                                        double, double, "d")   \
                  CUPILOT_##USE##2(NAME, HINT ".v2.s8", char2, int,            \
                                   "r")CUPILOT_##USE##2(NAME, HINT ".v2.s16",  \
                                                        short2, short, "h")    \
                      CUPILOT_##USE##2(                                        \
                          NAME, HINT ".v2.s32", int2, int,                     \
                          "r")CUPILOT_##USE##2(NAME, HINT ".v2.s64",           \
                                               longlong2, long long,           \
                                               "l")CUPILOT_##USE##2(NAME,      \
                                                                    HINT       \
                                                                    ".v2.u8",  \
                                                                    uchar2,    \
                                                                    unsigned,  \
                                                                    "r")       \
                          CUPILOT_##USE##2(                                    \
                              NAME, HINT ".v2.u16", ushort2, unsigned short,   \
                              "h")CUPILOT_##USE##2(NAME, HINT ".v2.u32",       \
                                                   uint2, unsigned, "r")       \
                              CUPILOT_##USE##2(                                \
                                  NAME, HINT ".v2.u64", ulonglong2,            \
                                  unsigned long long,                          \
                                  "l")CUPILOT_##USE##2(NAME, HINT ".v2.f32",   \
                                                       float2, float, "f")     \
                                  CUPILOT_##USE##2(                            \
                                      NAME, HINT ".v2.f64", double2, double,   \
                                      "d")CUPILOT_##USE##4(NAME,               \
                                                           HINT ".v4.s8",      \
                                                           char4, int, "r")    \
                                      CUPILOT_##USE##4(                        \
                                          NAME, HINT ".v4.s16", short4, short, \
                                          "h")CUPILOT_##USE##4(NAME,           \
                                                               HINT ".v4.s32", \
                                                               int4, int, "r") \
                                          CUPILOT_##USE##4(                    \
                                              NAME, HINT ".v4.u8", uchar4,     \
                                              unsigned, "r")                   \
                                              CUPILOT_##USE##4(                \
                                                  NAME, HINT ".v4.u16",        \
                                                  ushort4, unsigned short,     \
                                                  "h")                         \
                                                  CUPILOT_##USE##4(            \
                                                      NAME, HINT ".v4.u32",    \
                                                      uint4, unsigned, "r")    \
                                                      CUPILOT_##USE##4(        \
                                                          NAME,                \
                                                          HINT ".v4.f32",      \
                                                          float4, float, "f")
CUPILOT_HINT(LOAD, __ldca, "ca")
CUPILOT_HINT(LOAD, __ldlu, "lu")
CUPILOT_HINT(STORE, __stwb, "wb")
CUPILOT_HINT(STORE, __stcg, "cg")
CUPILOT_HINT(STORE, __stcs, "cs")
CUPILOT_LOAD(__ldcg, "cg.u64", unsigned long, unsigned long, "l")
CUPILOT_LOAD(__ldcs, "cs.u64", unsigned long, unsigned long, "l")
CUPILOT_LOAD(__ldcv, "cv.u64", unsigned long, unsigned long, "l")
CUPILOT_STORE(__stwt, "wt.s64", long, long, "l")
CUPILOT_STORE(__stwt, "wt.u64", unsigned long, unsigned long, "l")
#undef CUPILOT_HINT
#undef CUPILOT_LOAD
#undef CUPILOT_LOAD2
#undef CUPILOT_LOAD4
#undef CUPILOT_STORE
#undef CUPILOT_STORE2
#undef CUPILOT_STORE4

// CUDA C++ Programming Guide, "Atomic Functions": __nv_atomic_*. The scope may
// be left out; here every atomic operation is one of the whole system.
#ifndef __NV_ATOMIC_RELAXED
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
// Functions, so that a slice has their names also where a macro of the program
// calls them.
#define CUPILOT_ATOMIC(RESULT)                                                 \
  template <class T, class U>                                                  \
  static inline __attribute__((device, always_inline, unused)) RESULT
template <class T>
static inline __attribute__((device, always_inline, unused)) __remove_cv(T)
__nv_atomic_load_n(T *From, int Order, int = 0) {
  return __atomic_load_n(From, Order);
}
CUPILOT_ATOMIC(void) __nv_atomic_load(T *From, U *To, int Order, int = 0) {
  __atomic_load(From, To, Order);
}
CUPILOT_ATOMIC(void) __nv_atomic_store_n(T *To, U Value, int Order, int = 0) {
  __atomic_store_n(To, Value, Order);
}
CUPILOT_ATOMIC(void) __nv_atomic_store(T *To, U *From, int Order, int = 0) {
  __atomic_store(To, From, Order);
}
CUPILOT_ATOMIC(__remove_cv(T))
__nv_atomic_exchange_n(T *At, U Value, int Order, int = 0) {
  return __atomic_exchange_n(At, Value, Order);
}
CUPILOT_ATOMIC(void)
__nv_atomic_exchange(T *At, U *From, U *To, int Order, int = 0) {
  __atomic_exchange(At, From, To, Order);
}
CUPILOT_ATOMIC(bool)
__nv_atomic_compare_exchange_n(T *At, __remove_cv(T) *Expected, U Value,
                               bool Weak, int Success, int Failure, int = 0) {
  return __atomic_compare_exchange_n(At, Expected, Value, Weak, Success,
                                     Failure);
}
CUPILOT_ATOMIC(bool)
__nv_atomic_compare_exchange(T *At, __remove_cv(T) *Expected, U *From,
                             bool Weak, int Success, int Failure, int = 0) {
  return __atomic_compare_exchange(At, Expected, From, Weak, Success, Failure);
}
#define CUPILOT_FETCH(OP)                                                      \
  CUPILOT_ATOMIC(__remove_cv(T))                                               \
  __nv_atomic_fetch_##OP(T *At, U Value, int Order, int = 0) {                 \
    return __atomic_fetch_##OP(At, Value, Order);                              \
  }                                                                            \
  CUPILOT_ATOMIC(void)                                                         \
  __nv_atomic_##OP(T *At, U Value, int Order, int = 0) {                       \
    __atomic_fetch_##OP(At, Value, Order);                                     \
  }
CUPILOT_FETCH(add)
CUPILOT_FETCH(sub)
CUPILOT_FETCH(and)
CUPILOT_FETCH(or)
CUPILOT_FETCH(xor)
CUPILOT_FETCH(min)
CUPILOT_FETCH(max)
#undef CUPILOT_FETCH
#undef CUPILOT_ATOMIC
static inline __attribute__((device, always_inline, unused)) void
__nv_atomic_thread_fence(int Order, int = 0) {
  __atomic_thread_fence(Order);
}
#endif

#endif
#endif // CUPILOT_NVCC_H
