/* A CUDA run time with two devices, of compute capability 90 and 80, that only
   counts: which kernel each device was asked to launch, and whether what comes
   with a plan is right. Programs may use it from several threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { dim3 grid, block; size_t shared; void *stream; void *attributes; unsigned count; } Config;

enum { Kernels = 64, Devices = 2 };
static struct { const void *handle; const char *name; unsigned long launches[Devices], clusters; } Known[Kernels];
static int Count;
static unsigned long Live, Encoded, Asked, Wrong;
static _Thread_local int Device, LastError;
/* For the program to set; Fail: the number of the launch of a variant that
   does. */
int NoMemory, NoDriver, Fail;

int __cudaRegisterFunction(void *m, const void *handle, const char *name) {
  (void)m;
  Known[Count].handle = handle;
  Known[Count++].name = name;
  return 0;
}
static int launch(const void *f, dim3 g, dim3 b, void **args, size_t shared, int cluster) {
  (void)b, (void)shared;
  int i = 0;
  while (i < Count && Known[i].handle != f)
    ++i;
  if (i == Count || g.x == 0)
    return LastError = 98;
  if (Fail && strstr(Known[i].name, "__cupilot_") && --Fail == 0)
    return LastError = 700;
  /* Variants that end in "s" have scratch memory: two parameters, then it. */
  size_t n = strlen(Known[i].name);
  if (strstr(Known[i].name, "__cupilot_") && Known[i].name[n - 1] == 's') {
    char *scratch = *(char **)args[2];
    if (!scratch || (size_t)scratch % 256 || scratch[0] != 77)
      __atomic_fetch_add(&Wrong, 1, __ATOMIC_RELAXED);
  }
  if (strstr(Known[i].name, "__cupilot_") && Known[i].name[n - 1] == 't') {
    void *const *map = args[2];
    if ((size_t)map % 64 || map[0] != *(void **)args[0] || (int)(size_t)map[1] != *(int *)args[1])
      __atomic_fetch_add(&Wrong, 1, __ATOMIC_RELAXED);
  }
  __atomic_fetch_add(&Known[i].launches[Device], 1, __ATOMIC_RELAXED);
  if (cluster)
    __atomic_fetch_add(&Known[i].clusters, 1, __ATOMIC_RELAXED);
  return 0;
}
int cudaLaunchKernel(const void *f, dim3 g, dim3 b, void **args, size_t shared, void *stream) {
  (void)stream;
  return launch(f, g, b, args, shared, 0);
}
int cudaLaunchKernelExC(const Config *c, const void *f, void **args) {
  const unsigned *a = c->attributes;
  return launch(f, c->grid, c->block, args, c->shared, c->count == 1 && a[0] == 4 && a[2] == 2 && a[3] == 1 && a[4] == 1);
}
int cudaStreamIsCapturing(void *s, int *status) {
  (void)s;
  *status = 0;
  return 0;
}
int cudaSetDevice(int d) { Device = d; return 0; }
int cudaGetDevice(int *d) { *d = Device; return 0; }
int cudaGetLastError(void) { int e = LastError; LastError = 0; return e; }
int cudaPeekAtLastError(void) { return LastError; }
int cudaDeviceGetAttribute(int *v, int attribute, int d) {
  (void)d;
  *v = attribute == 97 ? 232448 : 0;
  return 0;
}
int cudaFuncSetAttribute(const void *f, int attribute, int value) {
  (void)f;
  return attribute == 8 && value == 232448 - 1024 ? 0 : (LastError = 1);
}
int cudaFuncGetAttributes(char *a, const void *f) {
  (void)f;
  __atomic_fetch_add(&Asked, 1, __ATOMIC_RELAXED);
  size_t shared = 1024;
  int version = Device ? 80 : 90, threads = 512;
  memcpy(a, &shared, 8);
  memcpy(a + 24, &threads, 4);
  memcpy(a + 32, &version, 4);
  memcpy(a + 36, &version, 4);
  return 0;
}
int cudaDeviceGetMemPool(void **pool, int device) {
  (void)device;
  *pool = 0;
  return 0;
}
int cudaMemPoolGetAttribute(void *pool, int attribute, unsigned long *bytes) {
  *bytes = 0;
  return pool != 0 || attribute != 4;
}
int cudaMemPoolSetAttribute(void *pool, int attribute, unsigned long *bytes) {
  return pool != 0 || attribute != 4 || !*bytes;
}
int cudaMallocAsync(void **p, size_t n, void *stream) {
  (void)stream;
  if (NoMemory)
    return LastError = 2;
  if (posix_memalign(p, 256, n))
    return LastError = 2;
  memset(*p, 77, n);
  __atomic_fetch_add(&Live, 1, __ATOMIC_RELAXED);
  return 0;
}
int cudaFreeAsync(void *p, void *stream) {
  (void)stream;
  free(p);
  __atomic_fetch_sub(&Live, 1, __ATOMIC_RELAXED);
  return 0;
}
static int encode(void **map, int type, unsigned rank, void *address, const unsigned long *extents,
                  const unsigned long *strides, const unsigned *box, const unsigned *steps, int interleave,
                  int swizzle, int promotion, int fill) {
  if ((size_t)map % 64 || (size_t)address % 16 || type != 7 || rank != 2 || strides[0] != extents[0] * 4 ||
      extents[1] != 5 || box[0] != 32 || box[1] != 8 || steps[0] != 1 || steps[1] != 2 || interleave != 0 ||
      swizzle != 3 || promotion != 1 || fill != 1)
    return 1;
  __atomic_fetch_add(&Encoded, 1, __ATOMIC_RELAXED);
  map[0] = address;
  map[1] = (void *)extents[0];
  return 0;
}
int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long flags, int *status) {
  (void)flags;
  *f = !NoDriver && version == 12000 && !strcmp(name, "cuTensorMapEncodeTiled") ? (void *)encode : NULL;
  *status = *f == NULL;
  return *f ? 0 : (LastError = 500);
}
void report(const char *what) {
  printf("%s:", what);
  for (int i = 0; i < Count; ++i)
    for (int d = 0; d < Devices; ++d)
      if (Known[i].launches[d]) {
        const char *name = Known[i].name;
        printf(" %s%s on %d: %lu%s;", strstr(name, "__cupilot_") ? "variant " : "", strrchr(name, '_') ? strrchr(name, '_') + 1 : name, d,
               Known[i].launches[d], Known[i].clusters ? " clusters" : "");
        Known[i].launches[d] = 0;
      }
  printf(" live %lu, encoded %lu, asked %lu, wrong %lu, error %d\n", Live, Encoded, Asked, Wrong, LastError);
  Encoded = Asked = Wrong = 0;
}
