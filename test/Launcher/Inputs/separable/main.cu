// Runs each kernel once and compares with the host: one line for each, and 1 as
// the exit status if a result is wrong.
#include "separable.h"
#include <cstdio>
#include <functional>

static __global__ void twist(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = ~p[i];
}
__global__ void harden(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = soften(soften(p[i]));
}

static const int n = 1000;
static bool good = true;

static void check(const char *name, const std::function<void(unsigned *)> &run,
                  const std::function<unsigned(unsigned, int)> &want) {
  std::vector<unsigned> in(n), out(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 2654435761u;
  unsigned *p = nullptr;
  cudaMalloc(&p, n * sizeof(unsigned));
  cudaMemcpy(p, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  run(p);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaMemcpy(out.data(), p, n * sizeof(unsigned),
                       cudaMemcpyDeviceToHost);
  cudaFree(p);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += out[i] != want(in[i], i);
  bool right = error == cudaSuccess && wrong == 0;
  good &= right;
  std::printf("%s: %s%s%s\n", name, right ? "right" : "WRONG",
              error == cudaSuccess ? "" : ", ",
              error == cudaSuccess ? "" : cudaGetErrorString(error));
}

int main() {
  auto step = [](unsigned x) { return x * 1664525u + 1013904223u; };
  auto soften = [](unsigned x) { return x - (x >> 3); };
  const unsigned table[4] = {2, 3, 5, 7};
  const int blocks = (n + 127) / 128;
  using U = unsigned;
  check("scale", [](U *p) { runScale(p, n); },
        [](U x, int) { return x * 5 + 1; });
  check("polish", [](U *p) { runPolish(p, n); },
        [&](U x, int) { return step(step(x)); });
  check("twist", [](U *p) { runTwist(p, n); },
        [](U x, int) { return x ^ 0x55u; });
  check("lookup", [](U *p) { runLookup(p, n); },
        [&](U x, int i) { return x + table[i & 3]; });
  check("bend", [](U *p) { runBend(p, n); },
        [](U x, int) { return x * x + 7; });
  check("amplify", [](U *p) { runAmplify(p, n); },
        [](U x, int) { return x * 3; });
  check("soft", [](U *p) { runSoft(p, n); },
        [&](U x, int) { return soften(x); });
  check("fill", [](U *p) { runFill(p, n); },
        [](U, int i) { return 11u + i; });
  check("own twist", [&](U *p) { twist<<<blocks, 128>>>(p, n); },
        [](U x, int) { return ~x; });
  check("own fill", [&](U *p) { fill<<<blocks, 128>>>(p, 4u, n); },
        [](U, int i) { return 4u + i; });
  check("harden", [&](U *p) { harden<<<blocks, 128>>>(p, n); },
        [&](U x, int) { return soften(soften(x)); });
  return good ? 0 : 1;
}
