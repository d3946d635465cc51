// A sum of pointers is none.

// kernel: refused
// workload: grid=1, block=1, args=[buffer i32 n=1 output]
__global__ void refused(int *out) { *out = &out[1] - out; }
