// kernel: dead
// workload: grid=1, block=32, args=[buffer i32 n=32 iota, buffer i32 n=32 output]
// What nobody uses is not in the optimised code, mutated or not.
__global__ void dead(const int *in, int *out) {
  int unused = in[0] & 12;
  out[threadIdx.x] = in[threadIdx.x];
  unused = unused | 3;
}
