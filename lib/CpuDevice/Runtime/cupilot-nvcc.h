//===- cupilot-nvcc.h - What nvcc has built in and clang has not -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cupilot-cpucc includes this file before each CUDA source. Everything here
// gives way to what the program defines itself.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_NVCC_H
#define CUPILOT_NVCC_H
#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus)

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
#define __nv_atomic_load_n(P, ORDER, ...) __atomic_load_n(P, ORDER)
#define __nv_atomic_load(P, TO, ORDER, ...) __atomic_load(P, TO, ORDER)
#define __nv_atomic_store_n(P, V, ORDER, ...) __atomic_store_n(P, V, ORDER)
#define __nv_atomic_store(P, V, ORDER, ...) __atomic_store(P, V, ORDER)
#define __nv_atomic_exchange_n(P, V, ORDER, ...)                               \
  __atomic_exchange_n(P, V, ORDER)
#define __nv_atomic_exchange(P, V, TO, ORDER, ...)                             \
  __atomic_exchange(P, V, TO, ORDER)
#define __nv_atomic_compare_exchange_n(P, E, V, WEAK, SUCCESS, FAILURE, ...)   \
  __atomic_compare_exchange_n(P, E, V, WEAK, SUCCESS, FAILURE)
#define __nv_atomic_compare_exchange(P, E, V, WEAK, SUCCESS, FAILURE, ...)     \
  __atomic_compare_exchange(P, E, V, WEAK, SUCCESS, FAILURE)
#define __nv_atomic_fetch_add(P, V, ORDER, ...) __atomic_fetch_add(P, V, ORDER)
#define __nv_atomic_fetch_sub(P, V, ORDER, ...) __atomic_fetch_sub(P, V, ORDER)
#define __nv_atomic_fetch_and(P, V, ORDER, ...) __atomic_fetch_and(P, V, ORDER)
#define __nv_atomic_fetch_or(P, V, ORDER, ...) __atomic_fetch_or(P, V, ORDER)
#define __nv_atomic_fetch_xor(P, V, ORDER, ...) __atomic_fetch_xor(P, V, ORDER)
#define __nv_atomic_fetch_min(P, V, ORDER, ...) __atomic_fetch_min(P, V, ORDER)
#define __nv_atomic_fetch_max(P, V, ORDER, ...) __atomic_fetch_max(P, V, ORDER)
#define __nv_atomic_add(...) ((void)__nv_atomic_fetch_add(__VA_ARGS__))
#define __nv_atomic_sub(...) ((void)__nv_atomic_fetch_sub(__VA_ARGS__))
#define __nv_atomic_and(...) ((void)__nv_atomic_fetch_and(__VA_ARGS__))
#define __nv_atomic_or(...) ((void)__nv_atomic_fetch_or(__VA_ARGS__))
#define __nv_atomic_xor(...) ((void)__nv_atomic_fetch_xor(__VA_ARGS__))
#define __nv_atomic_min(...) ((void)__nv_atomic_fetch_min(__VA_ARGS__))
#define __nv_atomic_max(...) ((void)__nv_atomic_fetch_max(__VA_ARGS__))
#define __nv_atomic_thread_fence(ORDER, ...) __atomic_thread_fence(ORDER)
#endif

// clang ignores the attribute of __cluster_dims__; the run time reads this one.
#ifdef __cluster_dims__
#undef __cluster_dims__
#define __cluster_dims__(...)                                                  \
  __attribute__((annotate("cupilot.cluster_dims", __VA_ARGS__)))
#endif

#endif
#endif // CUPILOT_NVCC_H
