/* Stands in for CUDA's run time where there is no GPU: says which kernel would
   be launched, and how. FAKE_CAPABILITY is that of the only device (90 when
   not set), FAKE_REFUSE the part of a kernel's name whose launches fail, and
   FAKE_CAPTURE says that streams are under capture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned x, y, z; } dim3_t;
typedef struct { const void *host; const char *name; } kernel_t;

static kernel_t kernels[256];
static int count;
static int last_error;
static dim3_t grid, block;
static size_t shared;
static void *stream;

void **__cudaRegisterFatBinary(void *wrapper) { return (void **)wrapper; }
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
char __cudaInitModule(void **handle) { (void)handle; return 1; }
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                       int ext, size_t size, int constant, int global) {
  (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}
void __cudaRegisterFunction(void **handle, const char *host, char *fun, const char *name,
                            int limit, void *tid, void *bid, void *bd, void *gd, int *size) {
  (void)handle, (void)fun, (void)limit, (void)tid, (void)bid, (void)bd, (void)gd, (void)size;
  kernels[count++] = (kernel_t){host, name};
}

static kernel_t *find(const void *host) {
  for (int i = 0; i < count; ++i)
    if (kernels[i].host == host || (const void *)&kernels[i] == host)
      return &kernels[i];
  return NULL;
}

int __cudaGetKernel(void **kernel, const void *host) {
  *kernel = find(host);
  return *kernel ? 0 : 98;
}
int __cudaPushCallConfiguration(dim3_t g, dim3_t b, size_t s, void *t) {
  grid = g, block = b, shared = s, stream = t;
  return 0;
}
int __cudaPopCallConfiguration(dim3_t *g, dim3_t *b, size_t *s, void **t) {
  *g = grid, *b = block, *s = shared, *t = stream;
  return 0;
}

static int launch(const char *entry, const void *kernel, dim3_t g, dim3_t b, size_t s) {
  kernel_t *k = find(kernel);
  const char *refuse = getenv("FAKE_REFUSE");
  if (!k || (refuse && strstr(k->name, refuse)))
    return last_error = 98;
  int variant = !strncmp(k->name, "__cupilot_", 10);
  printf("%s %s%s <%u,%u,%u> <%u,%u,%u> %zu\n", entry, variant ? "variant of " : "",
         variant ? k->name + 10 + 17 : k->name, g.x, g.y, g.z, b.x, b.y, b.z, s);
  return 0;
}
#define ENTRY(NAME)                                                                \
  int NAME(const void *k, dim3_t g, dim3_t b, void **a, size_t s, void *t) {       \
    (void)a, (void)t;                                                              \
    return launch(#NAME, k, g, b, s);                                              \
  }
ENTRY(cudaLaunchKernel)
ENTRY(cudaLaunchKernel_ptsz)
ENTRY(__cudaLaunchKernel)
ENTRY(__cudaLaunchKernel_ptsz)

typedef struct { dim3_t g, b; size_t s; void *t; void *attributes; unsigned number; } config_t;
#define CONFIG_ENTRY(NAME)                                                         \
  int NAME(const config_t *c, const void *k, void **a) {                           \
    (void)a;                                                                       \
    if (c->number)                                                                 \
      printf("%u attributes: ", c->number);                                        \
    return launch(#NAME, k, c->g, c->b, c->s);                                     \
  }
CONFIG_ENTRY(cudaLaunchKernelExC)
CONFIG_ENTRY(cudaLaunchKernelExC_ptsz)

int cudaFuncGetAttributes(char *attributes, const void *kernel) {
  const char *capability = getenv("FAKE_CAPABILITY");
  int version = capability ? atoi(capability) : 90;
  int threads = 1024, shared = 49152;
  (void)kernel;
  memset(attributes, 0, 48);
  memcpy(attributes + 24, &threads, 4); /* maxThreadsPerBlock */
  memcpy(attributes + 44, &shared, 4);  /* maxDynamicSharedSizeBytes */
  memcpy(attributes + 32, &version, 4); /* ptxVersion */
  memcpy(attributes + 36, &version, 4); /* binaryVersion */
  return 0;
}
int cudaFuncSetAttribute(const void *kernel, int attribute, int value) {
  kernel_t *k = find(kernel);
  int variant = k && !strncmp(k->name, "__cupilot_", 10);
  printf("attribute %d = %d of %s%s\n", attribute, value, variant ? "variant of " : "",
         k ? k->name + (variant ? 10 + 17 : 0) : "no kernel");
  return k ? 0 : 98;
}
int cudaGetDevice(int *device) { *device = 0; return 0; }
int cudaPeekAtLastError(void) { return last_error; }
int cudaGetLastError(void) { int e = last_error; last_error = 0; return e; }
static int capturing(void *t, int *status) { (void)t; *status = getenv("FAKE_CAPTURE") != NULL; return 0; }
int cudaStreamIsCapturing(void *t, int *status) { return capturing(t, status); }
int cudaStreamIsCapturing_ptsz(void *t, int *status) { return capturing(t, status); }
