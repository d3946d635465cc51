"""Build identities from source: what changes a kernel, and what does not.

identity_properties.py clang|nvcc FOLDER COMPILER...
    Writes units of many kernels into FOLDER, compiles each once for each set of
    flags, and checks the identities that `cupilot identify` prints. COMPILER is
    nvcc, or the flags for clang.
"""

import pathlib
import re
import subprocess
import sys

BASE = """
struct Pair { int Count; float Scale; };
__device__ __noinline__ float helper(float X, int N) {
  float Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += X / (I + 1.5f);
  return Sum;
}
__global__ void __launch_bounds__(128, 2) KERNEL(float *Out, const float *In, int N, Pair P) {
  __shared__ float Tile[128];
  int At = blockIdx.x * blockDim.x + threadIdx.x;
  Tile[threadIdx.x] = At < N ? In[At] * P.Scale + 3.0f : 0.0f;
  __syncthreads();
  if (At < N) {
    Out[At] = helper(Tile[127 - threadIdx.x], P.Count & 7);
    atomicAdd(&Out[0], sqrtf(Tile[threadIdx.x]));
    if (N < 0)
      printf("negative %d\\n", N);
    asm volatile("membar.gl;" ::: "memory");
  }
}
"""

# Each alone: what it replaces in BASE. None may keep the identity.
CHANGES = {
    "constant": ("3.0f", "3.5f"),
    "integer": ("Count & 7", "Count & 15"),
    "operator": ("* P.Scale + 3", "* P.Scale - 3"),
    "compare": ("At < N ? ", "At <= N ? "),
    "condition": ("if (N < 0)", "if (N > 0)"),
    "callee": ("helper(Tile[127", "-helper(Tile[127"),
    "callee_body": ("I + 1.5f", "I + 2.5f"),
    "callee_loop": ("I < N; ++I", "I < N; I += 2"),
    "callee_type": ("float Sum = 0", "double Sum = 0"),
    "other_call": ("sqrtf", "rsqrtf"),
    "bounds": ("(128, 2)", "(256, 2)"),
    "min_blocks": ("(128, 2)", "(128, 4)"),
    "no_bounds": (" __launch_bounds__(128, 2)", ""),
    "param_type": ("int N, Pair P", "long N, Pair P"),
    "param_order": ("int N, Pair P", "Pair P, int N"),
    "unsigned": ("int N, Pair P", "unsigned N, Pair P"),
    "restrict": ("const float *In", "const float *__restrict__ In"),
    "volatile": ("const float *In", "const volatile float *In"),
    "field_order": ("int Count; float Scale;", "float Scale; int Count;"),
    "field": ("float Scale;", "float Scale; int More;"),
    "tile": ("Tile[128];", "Tile[129];"),
    "tile_align": ("__shared__ float", "__shared__ __align__(32) float"),
    "barrier": ("__syncthreads();", "__syncwarp();"),
    "atomic": ("atomicAdd(", "atomicAdd_block("),
    "atomic_other": ("atomicAdd(&Out[0], sqrtf", "atomicExch(&Out[0], sqrtf"),
    "index": ("127 - threadIdx.x", "126 - threadIdx.x"),
    "dimension": ("blockIdx.x *", "blockIdx.y *"),
    "text": ("negative %d", "Negative %d"),
    "assembly": ("membar.gl", "membar.sys"),
    "division": ("X / (I + 1.5f)", "__fdividef(X, I + 1.5f)"),
    "contraction": ("In[At] * P.Scale + 3.0f", "__fadd_rn(In[At] * P.Scale, 3.0f)"),
}

# Regular expressions and what they become. All must keep the identity.
SAME = {
    "locals": [(r"\bAt\b", "Position"), (r"\bTile\b", "Cache"), (r"\bSum\b", "Result")],
    "params": [(r"\bOut\b", "Target"), (r"\bIn\b", "From"), (r"\bN\b", "Length"), (r"\bP\b", "Values")],
    "functions": [(r"\bhelper\b", "another_name")],
    "types": [(r"\bPair\b", "Couple"), (r"\bCount\b", "First"), (r"\bScale\b", "Second")],
    "comments": [(r";\n", "; // a comment /* more\n\n"), (r"\+ 3", "/* here */ + /* there */ 3")],
    "spacing": [(r"  +", " "), (r", ", " ,\n\n   ")],
    "constants": [(r"3\.0f", "(1.0f + 2.0f)"), (r"127", "0x7f")],
    "macros": [(r"__launch_bounds__\(128, 2\)", "BOUNDS"), (r"& 7", "MASKED")],
    "typedef": [(r"const float \*In", "Values In"), (r"__device__ __noinline__",
                "using Values = const float *; __device__ __noinline__")],
    "internal": [(r"__device__ __noinline__", "static __device__ __noinline__")],
    "anonymous": [(r"\A", "namespace {"), (r"__global__", "} __global__")],
    "static_kernel": [(r"__global__", "static __global__")],
    "default": [(r"Pair P\)", "Pair P = {1, 2.0f})")],
    "template": [(r"__global__", "template <int Lines> __global__"), (r"\+ 3\.0f", "+ Lines")],
    "macro_kernel": [(r"__global__", "\n#define KERNEL_HEAD __global__\nKERNEL_HEAD")],
}

# Kernels of device variables, one a name: the name counts, so each change is
# one from unit to unit.
VARIABLES = {
    "initialiser": ("__device__ int V_initialiser = 3;", "__device__ int V_initialiser = 4;"),
    "element": ("__constant__ int V_element[3] = {1, 2, 3};", "__constant__ int V_element[3] = {1, 2, 4};"),
    "type": ("__device__ int V_type = 3;", "__device__ unsigned V_type = 3;"),
    "size": ("__device__ int V_size[4];", "__device__ int V_size[5];"),
    "space": ("__device__ int V_space = 3;", "__constant__ int V_space = 3;"),
    "internal": ("static __device__ int V_internal = 1;", "static __device__ int V_internal = 2;"),
    "zero": ("__device__ int V_zero;", "__device__ int V_zero = 1;"),
    "alignment": ("__device__ __align__(4) int V_alignment;", "__device__ __align__(64) int V_alignment;"),
}


def variable_kernel(name):
    use = f"V_{name}[N]" if name in ("element", "size") else f"V_{name}"
    if name == "type":
        use += " / (N + 5)"
    return f"__global__ void variable_{name}(int *Out, int N) {{ Out[0] = {use}; }}\n"


# One kernel for each flag of arithmetic.
ARITHMETIC = """
__global__ void flag_ftz(float *P) { P[0] = P[1] + P[2]; }
__global__ void flag_fmad(float *P) { P[0] = P[1] * P[2] + P[3]; }
__global__ void flag_div(float *P) { P[0] = P[1] / P[2]; }
__global__ void flag_sqrt(float *P) { P[0] = sqrtf(P[1]); }
__global__ void flag_none(int *P) { P[0] = P[1] * P[2] + 3; }
"""


def write(folder, second):
    """The unit; \\p second has other variables, unrelated code and order."""
    parts = {"base": BASE}
    for name, (old, new) in CHANGES.items():
        assert BASE.count(old) == 1, name
        parts[f"change_{name}"] = BASE.replace(old, new)
    for name, rules in SAME.items():
        text = BASE
        for old, new in rules:
            text, count = re.subn(old, new, text)
            assert count, (name, old)
        parts[f"same_{name}"] = text
    kernels = []
    for name, text in parts.items():
        space = "n_" + name
        text = f"namespace {space} {{{text.replace('KERNEL(', name + '(')}}}\n"
        if name in ("same_template", "same_static_kernel"):
            inst = f"{space}::{name}" + ("<3>" if name == "same_template" else "")
            text += f"void launch_{name}(float *P) {{ {inst}<<<1, 1>>>(P, P, 1, {{}}); }}\n"
        kernels.append(text)
    if second:
        kernels.reverse()
    text = "#include <cstdio>\n#define BOUNDS __launch_bounds__(64 * 2, 1 + 1)\n#define MASKED & (1 + 6)\n"
    if second:
        text += ("#include <cmath>\n#include <vector>\ntemplate <class T> __device__ T twice(T X) { return X + X; }\n"
                 "__device__ int Unrelated[77];\n__global__ void unrelated(int *P) { P[0] = twice(Unrelated[P[1]]); printf(\"%d\", P[0]); }\n")
    for name, (first, other) in VARIABLES.items():
        text += (other if second else first) + "\n" + variable_kernel(name)
    text += ARITHMETIC + "".join(kernels)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("second.cu" if second else "first.cu")
    path.write_text(text)
    return path


def identify(kind, compiler, path, flags):
    if kind == "nvcc":
        ptx = path.with_suffix(".ptx")
        subprocess.run([*compiler, "-w", "-arch=sm_90", "-ptx", "-o", ptx, path, *flags], check=True,
                       stdout=subprocess.DEVNULL)
        command = ["cupilot", "identify", ptx]
    else:
        command = ["cupilot", "identify", path, "--", "-O2", *compiler, *flags]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in out.splitlines():
        symbol, digest = line.split(" ", 1)
        for name in re.findall(r"(?:(?:same|change|variable|flag)_[a-z_]+|4base)", symbol)[-1:]:
            found[name.removeprefix("4")] = digest
    return found


def main():
    kind, folder, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    problems, checks = [], 0

    def expect(holds, text):
        nonlocal checks
        checks += 1
        if not holds:
            problems.append(text)

    first = write(folder / "a", False)
    second = write(folder / "another" / "folder", True)
    base = identify(kind, compiler, first, [])
    wanted = {"base", *("change_" + n for n in CHANGES), *("same_" + n for n in SAME),
              *("variable_" + n for n in VARIABLES), "flag_ftz", "flag_fmad", "flag_div", "flag_sqrt", "flag_none"}
    expect(set(base) == wanted, f"kernels: {set(base) ^ wanted}")
    for name, digest in base.items():
        expect(digest.startswith("b3:"), f"{name}: {digest}")
        if name.startswith("change_"):
            expect(digest != base["base"], f"{name} keeps the identity")
        if name.startswith("same_"):
            expect(digest == base["base"], f"{name} changes the identity")
    distinct = [d for n, d in base.items() if n.startswith("change_")]
    expect(len(set(distinct)) == len(distinct), "two changes have one identity")

    other = identify(kind, compiler, second, [])
    for name in wanted:
        if name.startswith("variable_"):
            expect(other[name] != base[name], f"{name}: another variable keeps the identity")
        else:
            expect(other[name] == base[name], f"{name}: unrelated code or a folder changes the identity")

    neutral, semantic = FLAGS[kind]
    for flags in neutral:
        now = identify(kind, compiler, first, flags)
        for name in wanted:
            expect(now[name] == base[name], f"{name}: {' '.join(flags)} changes the identity")
    for flags, touched in semantic.items():
        now = identify(kind, compiler, first, flags.split())
        for name in wanted if touched == "all" else [touched]:
            expect(now[name] != base[name], f"{name}: {flags} keeps the identity")
        if touched != "all" and kind == "nvcc":
            expect(now["flag_none"] == base["flag_none"], f"flag_none: {flags} changes the identity")
    print("\n".join(problems[:20]))
    print(f"{checks} checks, {len(problems)} failed")
    return bool(problems)


# Flags that change nothing; flags that change something, and where.
FLAGS = {
    "nvcc": ([["-lineinfo", "-O1", "-DNOTHING=1", "-Xcompiler", "-O2,-Wall"], ["-O3", "-g", "-std=c++17", "-t2"]],
             {"-ftz=true": "flag_ftz", "-fmad=false": "flag_fmad", "-prec-div=false": "flag_div",
              "-prec-sqrt=false": "flag_sqrt", "-arch=sm_80": "all"}),
    "clang": ([["-O1", "-g", "-DNOTHING=1"], ["-O3", "-gline-tables-only", "-std=c++17", "-Wall"]],
              {"-fcuda-flush-denormals-to-zero": "flag_ftz", "-ffp-contract=off": "flag_fmad",
               "-mllvm -nvptx-prec-divf32=0": "all", "-ffast-math": "flag_sqrt",
               "--cuda-gpu-arch=sm_80": "all"}),
}

sys.exit(main())
