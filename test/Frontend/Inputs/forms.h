#include <cassert>
#include <cstdio>
namespace later {
struct Unused {};
} // namespace later
// Kernels and what they use come from headers as well.
template <typename T> __device__ T twice(T x) { return x + x; }
template <int N> struct Power {
  enum { value = (N & (N - 1)) == 0 };
};
struct Large {
  int v[64];
};
__device__ inline int perArchitecture(int x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
  return x * 9;
#else
  return x;
#endif
}
__device__ inline void trace(const char *file, int line) {
  printf("%s:%d\n", file, line);
}
#define TRACE(p, condition)                                                    \
  do {                                                                         \
    if (!(condition))                                                          \
      trace(__FILE__, __LINE__);                                               \
  } while (0)
inline __global__ void fromHeader(int *p) { TRACE(p, p[0]); }
