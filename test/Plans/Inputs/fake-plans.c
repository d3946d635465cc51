/* What plans need of a CUDA run time beyond launches: says what is asked for.
   FAKE_NO_MEMORY: there is none. */
#include <stdio.h>
#include <stdlib.h>
static _Alignas(256) char memory[4096];
/* FAKE_KEEPS: what the program has its pool keep. */
int cudaDeviceGetMemPool(void **pool, int device) {
  (void)device;
  *pool = memory;
  return getenv("FAKE_NO_POOL") ? 1 : 0;
}
int cudaMemPoolGetAttribute(void *pool, int attribute, unsigned long long *bytes) {
  *bytes = getenv("FAKE_KEEPS") ? strtoull(getenv("FAKE_KEEPS"), 0, 10) : 0;
  return pool != memory || attribute != 4;
}
int cudaMemPoolSetAttribute(void *pool, int attribute, unsigned long long *bytes) {
  printf("keep %llu\n", *bytes);
  return pool != memory || attribute != 4;
}
int cudaMallocAsync(void **p, size_t n, void *stream) {
  (void)stream;
  if (getenv("FAKE_NO_MEMORY"))
    return 2;
  printf("allocate %zu\n", n);
  *p = memory;
  return 0;
}
int cudaFreeAsync(void *p, void *stream) {
  (void)stream;
  printf("free %s\n", p == memory ? "it" : "another");
  return 0;
}
int cudaMallocAsync_ptsz(void **p, size_t n, void *stream) {
  printf("ptsz ");
  return cudaMallocAsync(p, n, stream);
}
int cudaFreeAsync_ptsz(void *p, void *stream) {
  printf("ptsz ");
  return cudaFreeAsync(p, stream);
}
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  (void)attribute, (void)device;
  *value = 232448;
  return 0;
}
static int encode(void *map, int type, unsigned rank, void *address, const unsigned long *extents,
                  const unsigned long *strides, const unsigned *box) {
  (void)map, (void)address;
  printf("encode type %d rank %u extents %lu %lu stride %lu box %u %u\n", type, rank, extents[0], extents[1], strides[0],
         box[0], box[1]);
  return 0;
}
int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long flags, int *status) {
  (void)name, (void)version, (void)flags;
  *f = (void *)encode;
  *status = 0;
  return 0;
}
extern void launchScale(float *, int), launchTotal(float *, int), launchDoubled(float *, int);
int main(void) {
  static _Alignas(256) float x[65536];
  launchTotal(x, 20000);
  launchTotal(x, 4000);
  launchDoubled(x, 256);
  launchDoubled(x, 256);
  launchScale(x, 4096);
  launchScale(x + 2, 4096);
  launchScale(x, 4098);
  launchScale(x, 4097);
  return 0;
}
