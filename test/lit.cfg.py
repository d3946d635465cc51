# lit configuration: features say what this machine can test, substitutions name
# the tools. A test that needs more than the machine has is UNSUPPORTED, visibly.
import os
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "cuPilot"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".cu", ".test", ".ll", ".td"]
config.excludes = ["Inputs", "unit", "Unit", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.cupilot_source_dir, "test")
config.test_exec_root = os.path.join(config.cupilot_binary_dir, "test")

bin_dir = os.path.join(config.cupilot_binary_dir, "bin")
lib_dir = os.path.join(config.cupilot_binary_dir, "lib")
llvm = config.llvm_tools_dir
mlir_lib = os.path.join(os.path.dirname(llvm), "lib")
config.environment["PATH"] = os.pathsep.join([bin_dir, llvm, config.environment["PATH"]])
# Each run has its own machine cache: tests must not see a user's.
# Without a GPU nothing is measured; test/Evolution/interval.test is about that.
config.environment["CUPILOT_BASIS"] = "modelled"
config.environment["CUPILOT_CACHE_DIR"] = os.path.join(config.test_exec_root, "machine-cache")
for name in ("HOME", "TMPDIR", "CUDA_PATH", "NODE_EXTRA_CA_CERTS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
for name in ("CUPILOT_STORE", "CUPILOT_DISABLE", "CUPILOT_LOG", "CUPILOT_RUNTIME", "CUPILOT_STATS_FILE"):
    config.environment.pop(name, None)

cuda = config.cuda_path
clang_cuda = f"{llvm}/clang++ -Wno-unknown-cuda-version --cuda-path={cuda}"
# As the tools do: clang looks into the system's folders before --cuda-path.
for folder in ("/usr/local/include", "/usr/include"):
    if os.path.exists(f"{folder}/cuda_runtime.h"):
        if cuda and not os.path.samefile(f"{folder}/cuda_runtime.h", f"{cuda}/include/cuda_runtime.h"):
            clang_cuda += f" -isystem {cuda}/include"
        break
if cuda and os.path.isdir(f"{cuda}/include/cccl"):
    clang_cuda += f" -I{cuda}/include/cccl"

config.substitutions += [
    # Searches here go by the model's estimate; test/Evolution/interval.test, which names the tool by %cupilot_bin, is about more.
    (r"(?<![/\w])cupilot evolve\b", "cupilot evolve --accept-estimates"),
    ("%cupilot_plugin", f"{lib_dir}/cupilot.so"),
    ("%cupilot_mlir_plugin", f"{lib_dir}/cupilot-mlir.so"),
    ("%cupilot_llvm_plugin", f"{lib_dir}/cupilot-llvm.so"),
    ("%cupilot_lib", lib_dir),
    ("%cupilot_bin", bin_dir),
    ("%cuda_path", cuda),
    # A driver without a GPU, for what records launches (test/Capture).
    ("%fake", os.path.join(config.cupilot_binary_dir, "test", "Capture", "fake")),
    ("%ptx_against_bitcode",
     os.path.join(config.cupilot_binary_dir, "test", "CpuDevice", "ptx-against-bitcode")),
    ("%ptx_rows_on_cpu",
     os.path.join(config.cupilot_binary_dir, "test", "CpuDevice", "ptx-rows-on-cpu")),
    ("%ptx_round_trip", os.path.join(config.cupilot_binary_dir, "test", "Ptx", "ptx-round-trip")),
    ("%slurm_work", os.path.join(config.cupilot_binary_dir, "test", "Slurm", "slurm-work")),
    ("%mlir_lib", mlir_lib),
    ("%python", sys.executable),
    ("%nvcc", config.nvcc),
    ("%cudart11_include", config.cudart11_include),
    ("%clang_cuda", clang_cuda),
    ("%clang", f"{llvm}/clang"),
    ("%strategies", os.path.join(config.cupilot_source_dir, "strategies")),
    ("%examples", os.path.join(config.cupilot_source_dir, "examples")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%src_root", config.cupilot_source_dir),
]

if cuda:
    config.available_features.add("cuda-toolkit")
    # Hopper's instructions, fp8 and tensor maps came with CUDA 12.
    with open(f"{cuda}/include/cuda_runtime_api.h", errors="replace") as header:
        version = re.search(r"define CUDART_VERSION\s+(\d+)", header.read())
    version = int(version.group(1)) if version else 0
    config.available_features.add(f"cuda-{version // 1000}.{version % 1000 // 10}")
    if version >= 12000:
        config.available_features.add("cuda-12")
    if os.path.exists(f"{bin_dir}/cupilot-capture"):
        config.available_features.add("cupti")
if cuda and config.cudart11_include:
    config.available_features.add("cudart-11")
if config.nvcc and os.path.exists(config.nvcc):
    # Debian's needs a host compiler that is not Debian's own.
    probe = [config.nvcc, "-arch=sm_90", "-c", "-x", "cu", os.devnull, "-o", os.path.join(config.test_exec_root, "probe.o")]
    try:
        if subprocess.run(probe, capture_output=True, timeout=120).returncode == 0:
            config.available_features.add("nvcc")
    except (OSError, subprocess.TimeoutExpired):
        pass
for tool in ("ccache", "sccache", "dpkg-deb", "chromium"):
    if shutil.which(tool):
        config.available_features.add(tool)
# MLIR programs, and the libraries that they print with.
if os.path.exists(f"{llvm}/mlir-runner") and os.path.exists(f"{mlir_lib}/libmlir_c_runner_utils.so") and os.path.exists(f"{lib_dir}/libcupilot-mgpu.so"):
    config.available_features.add("mlir-runner")
if os.path.exists(f"{llvm}/clangd"):
    config.available_features.add("clangd")
# Its daemons are not on everybody's path.
if all(shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin") for name in ("sbatch", "slurmctld", "slurmd", "munged")):
    config.available_features.add("slurm")
if any(name.startswith("libclang_rt.tsan-") for _, _, names in os.walk(os.path.join(os.path.dirname(llvm), "lib", "clang")) for name in names):
    config.available_features.add("tsan")
# A device node tells of no GPU; the driver does.
probe = [sys.executable, "-c", "import ctypes, sys; driver = ctypes.CDLL('libcuda.so.1'); number = ctypes.c_int(); "
         "sys.exit(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(number)) or number.value < 1)"]
try:
    if subprocess.run(probe, capture_output=True, timeout=60).returncode == 0:
        config.available_features.add("cuda-device")
except (OSError, subprocess.TimeoutExpired):
    pass
if os.environ.get("CUPILOT_TEST_NETWORK"):
    config.available_features.add("network")
# The official client of the Model Context Protocol: installed once, where its registry answers. It takes minutes: who
# wants it sets CUPILOT_TEST_NPM.
npm = os.path.join(config.test_exec_root, "Mcp", "npm")
config.substitutions.append(("%npm", npm))
if os.environ.get("CUPILOT_TEST_NPM") and shutil.which("node") and shutil.which("npm"):
    probe = ["npm", "view", "@modelcontextprotocol/client@2.4.0", "version", "--fetch-retries=0", "--fetch-timeout=5000"]
    try:
        if os.path.isdir(f"{npm}/node_modules/@modelcontextprotocol/client") or \
                subprocess.run(probe, capture_output=True, timeout=20).returncode == 0:
            config.available_features.add("npm")
    except (OSError, subprocess.TimeoutExpired):
        pass
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
if os.geteuid() == 0:
    config.available_features.add("root")
# A small or read-only disk for one test, in name spaces of its own.
probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"]
try:
    if subprocess.run(probe, capture_output=True, timeout=30).returncode == 0:
        config.available_features.add("private-mounts")
except OSError:
    pass
if config.sanitizer:
    # Clang and opt load our plugins, and are themselves built without it; what LLVM's
    # allocators poison in our code, its libraries do not unpoison.
    runtime = subprocess.run([f"{llvm}/clang", "-print-file-name=libclang_rt.asan-x86_64.so"],
                             capture_output=True, text=True).stdout.strip()
    config.environment["LD_PRELOAD"] = runtime
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=0:allow_user_poisoning=0"
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    config.available_features.add("asan")
