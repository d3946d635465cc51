# at-once.py CUPILOT CPUCC FOLDER [KERNELS [SECONDS [AT-ONCE [OPTIONS...]]]]: a
# search of KERNELS (12) kernels with a scripted model that takes SECONDS (60) for
# an answer, one after the other and AT-ONCE (all) at a time: the same store, and
# how long both take.
import os
import re
import shutil
import subprocess
import sys
import time

from model import FACTOR, OFFSET, STEPS

here = os.path.dirname(os.path.abspath(__file__))
cupilot, cpucc, folder = [os.path.abspath(p) if os.sep in p else p for p in sys.argv[1:4]]
kernels, seconds = int((sys.argv[4:] or ["12"])[0]), (sys.argv[5:] or ["60"])[0]
at_once = (sys.argv[6:] or [str(kernels)])[0]
options = sys.argv[7:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)

with open("app.cu", "w") as file:
    file.write("#include <cstdio>\n")
    for k in range(kernels):
        # A model can leave its steps out: each is linear, and so are all together.
        file.write(f"""__global__ void step{k}(const unsigned *in, unsigned *out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{
    unsigned h = in[i] + {k};
#pragma unroll 1
    for (int step = 0; step < {STEPS}; ++step)
      h = h * {FACTOR}u + {OFFSET}u;
    out[i] = h;
  }}
}}
""")
    file.write("int main() {\n  unsigned *in, *out, h[4096] = {1};\n  cudaMalloc(&in, sizeof(h));\n  cudaMalloc(&out, sizeof(h));\n"
               "  cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);\n")
    for k in range(kernels):
        file.write(f"  step{k}<<<{4 + 4 * (k % 4)}, 64>>>(in, out, {256 * (1 + k % 4)});\n")
    file.write("  return cudaDeviceSynchronize();\n}\n")
subprocess.run([cpucc, "-O2", "app.cu", "-o", "app"], check=True)
subprocess.run([cupilot, "capture", "-o", "w.mlir", "--", "./app"], check=True, stderr=subprocess.DEVNULL)


def search(store, *more):
    begin = time.time()
    with open(f"{store}.log", "w") as log:
        status = subprocess.run([cupilot, "evolve", "app.cu", "--workloads", "w.mlir", "--store", store, "--translator", "llm",
                                 "--provider", f"exec,jobs=64,total=0:{here}/model.py {seconds}", "--no-retrieval", "--compiler", "clang",
                                 "--population", "2", "--generations", "1", "--tune", "0", "--accept-estimates", *more, *options, "--", "-O2"],
                                stdout=log, stderr=log).returncode
    calls = len(os.listdir(f"{store}/journal.sqlite.calls/llm"))
    print(f"{store}: status {status}, {calls} calls", flush=True)
    for name in os.listdir(store):
        if name.startswith("journal.sqlite"):
            path = os.path.join(store, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    return time.time() - begin


one = search("in-order")
all = search("at-once", "--at-once", at_once)
same = subprocess.run(["diff", "-r", "in-order", "at-once"]).returncode == 0
with open("in-order.log") as log:
    kept = sum(int(n) for n in re.findall(r", (\d+) kept$", log.read(), re.M))
print(f"{kernels} kernels, {'the same store' if same else 'OTHER STORES'}, {kept} variant(s)")
print(f"{seconds} s an answer: {one:.1f} s one after the other, {all:.1f} s with --at-once {at_once}: {all / one:.2f} of the time", file=sys.stderr)
sys.exit(not same)
