// REQUIRES: cuda-toolkit
// Wrong arguments are errors, not a silent build without the plugin.
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-stroe=x -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: cupilot: unknown argument 'stroe'
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-mode=fast -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: error: cupilot: bad value 'fast' for the argument 'mode'
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%t.gone -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: error: cupilot: there is no store
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-only=[ -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REGEX
// REGEX: error: cupilot: '[' is not a regular expression
// RUN: rm -rf %t.newer && mkdir -p %t.newer && echo 'cupilot-store 8' > %t.newer/FORMAT
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%t.newer -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: cupilot: the store '{{.*}}' has format 8; this cupilot supports formats up to 7
// RUN: %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-version -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: cupilot {{[0-9.]+}} for LLVM 22
// The literal name, with the plugin's folder on the loader path.
// RUN: env LD_LIBRARY_PATH=%cupilot_lib %clang_cuda --cuda-gpu-arch=sm_90 -fplugin=cupilot -c %s -o %t.o
// Without a store, and with one switched off, the object is that of a build without the plugin.
// RUN: %clang_cuda --cuda-gpu-arch=sm_90 -O2 -c %s -o %t.plain.o
// RUN: %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -c %s -o %t.with.o
// RUN: cmp %t.plain.o %t.with.o
__global__ void k(float *p) { p[threadIdx.x] *= 2; }
int main() { k<<<1, 32>>>(nullptr); }
