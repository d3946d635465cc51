#!/usr/bin/env python3
"""Texts that a judge must survive, each with the word of the verdict that is due.

texts.py make SECRET FOLDER   write them to FOLDER/NAME.cu; SECRET is a folder with what none of them may read:
                              a file "key", a pipe "pipe", a link "link" to the key
texts.py unit FOLDER          print a unit with a kernel NAME for each of them
texts.py judged JSON          check the verdicts of 'cupilot judge --json'
texts.py built REPORT         check a build's report
texts.py secret PATH...       fail where a file in PATH holds a line of the secret
"""
import json
import os
import sys

LINE = "sk-5f0e-not-for-models"

# "ROWS" becomes a kernel of the original's name that is right.
ROWS = """__global__ void NAME(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + in[i];
}
"""


def body(code, before=""):
    """The kernel with more in it."""
    return before + ROWS.replace("  if (i < n)", code + "\n  if (i < n)")


def doubling(first, step, levels):
    """Macros m0, m1 ... each of which has the one before twice."""
    return f"#define m0 {first}\n" + "".join(
        f"#define m{i} {step.replace('@', f'm{i - 1}')}\n" for i in range(1, levels + 1))


# By name: the text, the rule or reason that is due. "SECRET" stands for the folder of what is secret.
TEXTS = {
    # Contents of other files.
    "absolute": ('#include "SECRET/key"\n' + ROWS, "include"),
    "angled": ("#include <SECRET/key>\n" + ROWS, "include"),
    "upward": ("#include <../../../../../../../../../../../../../../SECRET/key>\n" + ROWS, "include"),
    "behind_prefix": ("#include <cuda/../../../../../../../../../../../SECRET/key>\n" + ROWS, "include"),
    "passwd": ('#include "/etc/passwd"\n' + ROWS, "include"),
    "by_macro": ('#define HEADER "SECRET/key"\n#include HEADER\n' + ROWS, "include"),
    "by_string": ("#define TEXT(x) #x\n#define S(x) TEXT(x)\n#include S(SECRET/key)\n" + ROWS, "include"),
    "digraph": ('%:include "SECRET/key"\n' + ROWS, "include"),
    "digraph_known": ("%:include <cuda_fp16.h>\n" + ROWS, "include"),
    "trigraph": ('??=include "SECRET/key"\n' + ROWS, "spelling"),
    "trigraph_splice": ('// nothing ??/\n#include "SECRET/key"\n' + ROWS, ("spelling", "include")),
    "spliced": ('#inc\\\nlude "SECRET/key"\n' + ROWS, "include"),
    "commented": ('/* */ # /* */ include /* */ "SECRET/key"\n' + ROWS, "include"),
    "next": ("#include_next <SECRET/key>\n" + ROWS, "include"),
    "imported": ('#import "SECRET/key"\n' + ROWS, "include"),
    "in_skipped": ('#if 0\n#include "SECRET/key"\n#endif\n' + ROWS, "include"),
    "in_arguments": ('#define ID(x) x\nID(\n#include "SECRET/key"\n)\n' + ROWS, "include"),
    "a_link": ('#include "SECRET/link"\n' + ROWS, "include"),
    "itself": ('#include "NAME.cu"\n' + ROWS, "include"),
    "beside": ('#include "absolute.cu"\n' + ROWS, "include"),
    "embedded": ('const char x[] = {\n#embed "SECRET/key"\n};\n' + ROWS, "embed"),
    "embedded_bits": ('__constant__ const char x[] = {\n#embed "SECRET/key" limit(4) if_empty(0)\n};\n' + ROWS, "embed"),
    "asks": ('#if __has_include("SECRET/key")\n#endif\n' + ROWS, "environment"),
    "asks_by_macro": ("#define ASK __has_include\n#if ASK(<SECRET/key>)\n#endif\n" + ROWS, "environment"),
    "asks_pasted": ('#define G(a, b) a##b\n#if G(__has_, include)("SECRET/key")\n#endif\n' + ROWS, "environment"),
    "asks_embed": ('#if __has_embed("SECRET/key")\n#endif\n' + ROWS, "embed"),
    "dependency": ('#pragma GCC dependency "SECRET/key"\n' + ROWS, "pragma"),
    "alias": ('#pragma include_alias("cuda_fp16.h", "SECRET/key")\n#include "cuda_fp16.h"\n' + ROWS, "pragma"),
    "incbin": ('asm(".incbin \\"SECRET/key\\"");\n' + ROWS, "file-asm"),
    "incbin_inside": (body('asm(".incbin \\"SECRET/key\\"");'), "asm"),
    "module": ('import "SECRET/key";\n' + ROWS, "compile-error"),
    # What never ends to be read.
    "pipe": ('#include "SECRET/pipe"\n' + ROWS, "include"),
    "standard_input": ("#include </dev/stdin>\n" + ROWS, "include"),
    "descriptor": ('#include "/proc/self/fd/0"\n' + ROWS, "include"),
    "zeros": ("#include </dev/zero>\n" + ROWS, "include"),
    "embeds_zeros": ("__constant__ const char x[] = {\n#embed </dev/zero>\n};\n" + ROWS, "embed"),
    # Other places.
    "renames": ('# 7 "SECRET/key"\n' + ROWS, "line"),
    "enters": ('# 1 "SECRET/key" 1\n' + ROWS, "line"),
    "system": ('# 1 "/usr/local/cuda/include/cuda_fp16.h" 1 3\n' + ROWS, "line"),
    "line": ('#line 1 "SECRET/key"\n' + ROWS, "line"),
    # Compilers that are led astray.
    "parentheses": (body("out[0] = " + "(" * 100000 + "1" + ")" * 100000 + ";"), "nesting"),
    "braces": (body("{" * 1000 + "}" * 1000), "nesting"),
    "unary": (body("out[0] = " + "!" * 100000 + "1;"), "nesting"),
    "long_sum": (body("out[0] = 1" + "+1" * 50000 + ";"), "nesting"),
    "macro_sum": (doubling("+1", "@ @", 27) + body("out[0] = 1 m27;"), "nesting"),
    "macro_parentheses": (doubling("(", "@ @", 20) + body("out[0] = m20 1;"), "nesting"),
    "macro_statements": (doubling("out[0] += 1;", "@ @", 24) + body("m24"), ("nesting", "compiler-limits")),
    "else_chain": (body("if (i == 0) ;" + "".join(f"else if(i=={i});" for i in range(1, 12000))), ("nesting", "compiler-limits")),
    "conditions": (body("".join(f"if(i=={i});" for i in range(1, 2100))), "nesting"),
    "templates": ("template <int N> struct G { static const int v = G<N - 1>::v + G<N + 1000>::v; };\n"
                  + body("out[0] = G<1>::v;"), "compile-error"),
    "template_tree": ("template <int N, long I> struct G { static constexpr int v = G<N - 1, 2 * I>::v + "
                      "G<N - 1, 2 * I + 1>::v; };\ntemplate <long I> struct G<0, I> { static constexpr int v = 1; };\n"
                      + body("out[0] = G<24, 0>::v;"), "compiler-limits"),
    "constexpr_loop": ("constexpr int f() { int s = 0; for (long i = 0; i < 1000000000; ++i) s ^= i; return s; }\n"
                       + body("constexpr int x = f(); out[0] = x;"), ("compile-error", "compiler-limits")),
    "constexpr_memory": ("template <int N> struct A { char c[N]; };\nconstexpr auto f() { A<1 << 28> a{}; "
                         "for (int i = 0; i < 1 << 28; ++i) a.c[i] = i; return a; }\n"
                         + body("constexpr auto a = f(); out[0] = a.c[i & 3];"),
                         ("compile-error", "compiler-limits", "compiler-crash")),
    "debug_crash": ("#pragma clang __debug crash\n" + ROWS, "pragma"),
    "debug_overflow": ('#define P(x) _Pra##x("clang __debug overflow_stack")\n' + "P(gma)\n" + ROWS,
                       ("pragma", "compiler-crash")),
    "identifier": (f"__device__ int {'x' * 300000};\n" + ROWS, "size"),
    "long_line": ("/*" + " " * 300000 + "*/" + ROWS, "size"),
    "wide_bits": (body("unsigned _BitInt(8388608) x = n; x = x * x % 12345; out[0] = (float)(int)x;"),
                  ("compile-error", "compiler-crash", "compiler-limits")),
    # Bytes.
    "zero_byte": ('int x;\0\n#include "SECRET/key"\n' + ROWS, ("spelling", "include")),
    "no_utf8": (b"__device__ int \xff\xfe\x80;\n" + ROWS.encode(), "compile-error"),
    "carriage": ('#include "SECRET/key"\r' + ROWS, "include"),
    "byte_order": (b"\xef\xbb\xbf" + b'#include "SECRET/key"\n' + ROWS.encode(), "include"),
    # Memory and state.
    "huge": ("__device__ float enormous[1ull << 33];\n" + ROWS, "device-memory"),
    "huge_together": ("".join(f"__device__ float a{i}[100000];\n" for i in range(4)) + ROWS, "device-memory"),
    "huge_instance": ("template <int N> __device__ float huge[N];\n" + body("if (n < 0) out[0] = huge<1 << 20>[i];"),
                      "device-memory"),
    "huge_table": (body("static const float t[1 << 22] = {1}; if (n < 0) out[0] = t[i];"), "device-memory"),
    "ticket": ("__device__ unsigned ticket;\n" + body(
        "if (atomicAdd(&ticket, 1u) == gridDim.x * blockDim.x - 1) ticket = 0;"), "state"),
    "ticket_by_pointer": ("__device__ unsigned ticket;\n__device__ __noinline__ void add(unsigned *p) { *p += 1; }\n"
                          + body("if (n < 0) add(&ticket);"), "state"),
    # What the program would call.
    "overload": ("#undef cudaMalloc\n__host__ __device__ inline int cudaMalloc(void **, unsigned long, int = 0) "
                 "{ return 0; }\n" + ROWS, ("macro", "overload")),
    "overload_plain": ("__host__ __device__ inline int cudaFree(void *, int = 0) { return 0; }\n" + ROWS, "overload"),
    "overload_libc": ("__host__ __device__ inline void *memcpy(void *a, const void *, int) { return a; }\n" + ROWS,
                      "overload"),
    "prints": (body('if (n < 0) printf("%d\\n", n);'), "output"),
}
assert len(TEXTS) >= 60


def wrong(*words):
    sys.exit("texts.py: error: " + " ".join(map(str, words)))


# No limit of time holds in a build (docs/Admission.md).
NOT_BUILT = ("template_tree",)


def due(name):
    words = TEXTS[name][1]
    return (words,) if isinstance(words, str) else words


def make(secret, folder):
    os.makedirs(folder, exist_ok=True)
    for name, (text, _) in TEXTS.items():
        text = text if isinstance(text, bytes) else text.encode()
        text = text.replace(b"SECRET", secret.encode()).replace(b"NAME", b"rows")
        with open(f"{folder}/{name}.cu", "wb") as out:
            out.write(text)


def unit(folder):
    for name in TEXTS:
        if name in NOT_BUILT:
            continue
        print(ROWS.replace("NAME", name).replace("in[i] + in[i]", "in[i] * 2.0f"))
        with open(f"{folder}/{name}.cu", "rb") as file:
            text = file.read().replace(b"void rows(", f"void {name}(".encode())
        with open(f"{folder}/{name}.cu", "wb") as file:
            file.write(text)
    print("int main() {}")


def judged(path):
    with open(path) as file:
        verdicts = json.load(file)["verdicts"]
    seen = {}
    for v in verdicts:
        name = os.path.basename(v["variant"])[:-3]
        word = "passed"
        if v["verdict"] != "passed":
            word = v["reason"]
            if word == "inadmissible":
                word = v["evidence"].split(",")[0].split(":")[0]
        seen[name] = word
    if seen.get("honest") != "passed":
        wrong("the honest text at the end:", seen.get("honest"))
    for name in TEXTS:
        if name not in seen:
            wrong(name, "has no verdict")
        if due(name) and seen[name] not in due(name):
            wrong(name, "is", seen[name], "and should be", due(name))
    print(len(TEXTS), "texts judged")


def built(path):
    kernels = {}
    with open(path) as file:
        for report in map(json.loads, file):
            if report["half"] == "device":
                kernels.update({k["kernel"].split("(")[0]: k for k in report["kernels"]})
    names = [name for name in TEXTS if name not in NOT_BUILT]
    for name in names:
        outcome = kernels.get(name)
        if not outcome or outcome["applied"] or outcome["outcome"] != "VariantStale":
            wrong(name, "in a build:", outcome)
        # Instances without end, and writes, are found by other means there.
        if all(word not in ("state", "compile-error", "compiler-crash", "compiler-limits") for word in due(name) or ("state",)):
            if outcome["reason"] != "inadmissible":
                wrong(name, "in a build:", outcome)
    print(len(names), "texts kept out of a build")


def secret(paths):
    files = 0
    for path in paths:
        if not os.path.exists(path):
            wrong(path, "is not there")
        for at in [path] if os.path.isfile(path) else [
                os.path.join(d, f) for d, _, names in os.walk(path) for f in names]:
            with open(at, "rb") as file:
                content = file.read()
            files += 1
            for line in (LINE.encode(), b"root:x:0:0"):
                if line in content:
                    wrong(at, "holds a line of another file")
    if not files:
        wrong("there is nothing to look into")
    print("nothing got out")


def main():
    command, args = sys.argv[1], sys.argv[2:]
    if command == "make":
        make(*args)
    elif command == "unit":
        unit(*args)
    elif command == "judged":
        judged(*args)
    elif command == "built":
        built(*args)
    elif command == "secret":
        secret(args)


main()
