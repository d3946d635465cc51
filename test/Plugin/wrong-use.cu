// REQUIRES: cuda-toolkit
// Wrong arguments and environments of the plugin: one error that says what is wrong.
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-limit=x -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A00
// A00: error: cupilot: bad value 'x' for the argument 'limit'; -fplugin-arg-cupilot-help lists the arguments
// A00-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-limit=-1 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A01
// A01: error: cupilot: bad value '-1' for the argument 'limit'
// A01-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-limit= -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A02
// A02: error: cupilot: bad value '' for the argument 'limit'
// A02-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-mode= -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A03
// A03: error: cupilot: bad value '' for the argument 'mode'
// A03-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-strict=2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A04
// A04: error: cupilot: bad value '2' for the argument 'strict'
// A04-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store= -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A05
// A05: error: cupilot: the argument 'store' needs a value: -fplugin-arg-cupilot-store=VALUE
// A05-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-only= -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A06
// A06: error: cupilot: the argument 'only' needs a value: -fplugin-arg-cupilot-only=VALUE
// A06-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-report -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A07
// A07: error: cupilot: the argument 'report' needs a value
// A07-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-dump-dir -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A08
// A08: error: cupilot: the argument 'dump-dir' needs a value
// A08-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-skip=* -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A09
// A09: error: cupilot: '*' is not a regular expression: {{.+}}
// A09-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%s -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A10
// A10: error: cupilot: there is no store '{{.*}}wrong-use.cu'
// A10-NEXT: 1 error generated
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-basis=static -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=A11
// A11: error: cupilot: bad value 'static' for the argument 'basis'; -fplugin-arg-cupilot-help lists the arguments
// A11-NEXT: 1 error generated
// RUN: rm -rf %t && mkdir -p %t/s && echo 'cupilot-store 1' > %t/s/FORMAT
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%t/s -fplugin-arg-cupilot-report=%t/none/report -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: error: cupilot: cannot write the report '{{.*}}none/report': No such file or directory
// RUN: not %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%t/s -fplugin-arg-cupilot-dump-dir=%t/s/FORMAT/x -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: error: cupilot: cannot create the folder '{{.*}}FORMAT/x'
// RUN: not env CUPILOT_STORE=%t/gone %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: error: cupilot: there is no store '{{.*}}gone'
// What is switched off is not looked for.
// RUN: env CUPILOT_STORE=%t/gone CUPILOT_DISABLE=1 %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -c %s -o %t.o
// RUN: env CUPILOT_STORE=%t/gone %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-mode=off -c %s -o %t.o
// A machine cache and a log that cannot be written are no reason to fail.
// RUN: env CUPILOT_CACHE_DIR=%t/s/FORMAT/x CUPILOT_LOG=%t/none/log %clang_cuda --cuda-gpu-arch=sm_90 -O2 -fplugin=%cupilot_plugin -fplugin-arg-cupilot-store=%t/s -c %s -o %t.o
__global__ void k(float *p) { p[threadIdx.x] *= 2; }
