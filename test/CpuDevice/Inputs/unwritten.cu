// Reads of one element more than there is, which is right while nothing depends on it.
#include <cstdio>
#include <cstring>
#define BEGIN                                                                                                          \
  __shared__ int s[65];                                                                                                \
  int t = threadIdx.x;                                                                                                 \
  s[t] = 100 - t * 7 % 11;                                                                                             \
  __syncthreads();                                                                                                     \
  int own = s[t], next = s[t + 1]; /* s[64] holds nothing. */
__global__ void both(int *out, int n) {
  BEGIN
  bool p = t < n & own > next;
  out[t] = p;
}
__global__ void either(int *out, int n) {
  BEGIN
  if (t >= n | own > next)
    out[t] = 1;
}
__global__ void chosen(int *out, int n) {
  BEGIN
  out[t] = t < n ? max(own, next) : own;
}
__global__ void merged(int *out, int n) { // Two sorted halves, as CUB merges them.
  __shared__ int s[66];
  for (int i = threadIdx.x; i < n; i += 64)
    s[i] = i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
  __syncthreads();
  if (threadIdx.x > 0)
    return;
  int i = 0, j = n / 2, x = s[i], y = s[j];
  for (int k = 0; k < n; ++k) {
    bool p = j < n && (i >= n / 2 || y < x);
    out[k] = p ? y : x;
    if (p)
      y = s[++j];
    else
      x = s[++i];
  }
}
static bool run(const char *name, void (*kernel)(int *, int), int n) {
  int *out, h[64];
  cudaMalloc(&out, sizeof(h));
  cudaMemset(out, 0, sizeof(h));
  kernel<<<1, 64>>>(out, n);
  cudaError_t e = cudaDeviceSynchronize();
  long sum = cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i)
    sum = (sum * 31 + h[i]) % 1000003;
  long want = 0;
  for (int i = 0; i < 64; ++i) {
    int own = 100 - i * 7 % 11, next = 100 - (i + 1) * 7 % 11, v = 0;
    if (!strcmp(name, "both"))
      v = i < n && own > next;
    else if (!strcmp(name, "either"))
      v = i >= n || own > next;
    else if (!strcmp(name, "chosen"))
      v = i < n && next > own ? next : own;
    else
      v = i;
    want = (want * 31 + v) % 1000003;
  }
  printf("%s: %s, %s\n", name, sum == want ? "right" : "wrong", cudaGetErrorString(e));
  return sum == want && e == cudaSuccess;
}
int main(int argc, char **argv) {
  const char *names[] = {"both", "either", "chosen", "merged"};
  void (*kernels[])(int *, int) = {both, either, chosen, merged};
  bool all = true;
  for (int i = 0; i < 4; ++i)
    if (argc == 1)
      all &= run(names[i], kernels[i], i < 3 ? 63 : 64);
    else if (i < 3 && !strcmp(argv[1], names[i]))
      all &= run(names[i], kernels[i], 64); // One too many.
  return !all;
}
