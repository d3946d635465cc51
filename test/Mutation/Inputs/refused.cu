// A sum of pointers is none, and what nobody uses is not in the code.

// kernel: refused
// workload: grid=1, block=1, args=[buffer i32 n=1 output]
__global__ void refused(int *out) {
  int unused = 5;
  *out = &out[1] - out;
}
