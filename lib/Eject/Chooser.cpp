//===- Chooser.cpp - What ejected launches call -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

/// What every attempt asks for first; see docs/LaunchPlans.md for the order.
static const char CommonHelpers[] = R"(
// A launch that could be made, of a program without a pending error, on a
// stream that is not under capture: a graph may be launched with other
// arguments.
static inline bool isPlain(dim3 grid, dim3 block, cudaStream_t stream) {
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > 2147483647 ||
      grid.y > 65535 || grid.z > 65535 || block.x < 1 || block.y < 1 ||
      block.z < 1 || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.x * block.y * block.z > 1024 ||
      cudaPeekAtLastError() != cudaSuccess)
    return false;
  cudaStreamCaptureStatus status;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
    return status == cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return false;
}

// Whether the GPU runs the kernel's code for compute capability arch / 10, with
// that many threads and bytes of dynamic shared memory in a block.
static inline bool fits(const void *kernel, int arch, long long threads,
                        long long bytes) {
  cudaFuncAttributes facts;
  if (cudaFuncGetAttributes(&facts, kernel) == cudaSuccess) {
    if (facts.binaryVersion != arch || facts.ptxVersion != arch ||
        threads > facts.maxThreadsPerBlock)
      return false;
    if (bytes <= facts.maxDynamicSharedSizeBytes)
      return true;
    if (bytes <= 2147483647 &&
        cudaFuncSetAttribute(kernel,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)) == cudaSuccess)
      return true;
  }
  cudaGetLastError(); // That one was ours: none was pending.
  return false;
}
)";

/// Integers that fail where 64 bits do not suffice, or a divisor is not
/// positive: such a launch runs the original. Friends, so that no compiler
/// warns of those that are not used.
static const char CheckedInteger[] = R"(
// A 64-bit integer that remembers whether its value is right.
struct Checked {
  long long value;
  bool right;
  Checked(long long v, bool r = true) : value(v), right(r) {}
  friend Checked operator+(Checked a, Checked b) {
    Checked r(0, a.right && b.right);
    r.right &= !__builtin_add_overflow(a.value, b.value, &r.value);
    return r;
  }
  friend Checked operator*(Checked a, Checked b) {
    Checked r(0, a.right && b.right);
    r.right &= !__builtin_mul_overflow(a.value, b.value, &r.value);
    return r;
  }
  friend Checked modulo(Checked a, Checked b) {
    bool right = a.right && b.right && b.value > 0;
    long long rest = right ? a.value % b.value : 0;
    return Checked(rest < 0 ? rest + b.value : rest, right);
  }
  friend Checked floorDivide(Checked a, Checked b) {
    bool right = a.right && b.right && b.value > 0;
    return Checked(right ? (a.value - modulo(a, b).value) / b.value : 0, right);
  }
  friend Checked ceilDivide(Checked a, Checked b) {
    Checked rest = modulo(a, b), quotient = floorDivide(a, b);
    return Checked(quotient.value + (rest.value != 0), quotient.right);
  }
  friend bool isAtLeast(Checked a, long long least) {
    return a.right && a.value >= least;
  }
  friend bool isZero(Checked a) { return a.right && a.value == 0; }
};
)";

static const char FieldAt[] = R"(
// The bytes of a member that is not public.
template <class Field, class Whole>
static inline Field fieldAt(const Whole &whole, size_t offset) {
  Field field;
  __builtin_memcpy(&field, &reinterpret_cast<const char &>(whole) + offset,
                   sizeof(field));
  return field;
}
)";

static const char AddressOf[] = R"(
template <class Argument> static inline void *addressOf(Argument &argument) {
  return const_cast<char *>(&reinterpret_cast<const volatile char &>(argument));
}
)";

static const char Cluster[] = R"(
static inline cudaError_t launchCluster(const void *kernel, dim3 grid,
                                        dim3 block, dim3 cluster, void **args,
                                        size_t shared, cudaStream_t stream) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, kernel, args);
}
)";

static const char TensorMap[] = R"(
// Asks the driver for a tensor map; false where it gives none.
static inline bool encode(CUtensorMap &map, int type, unsigned rank,
                          unsigned long long base,
                          const unsigned long long *extents,
                          const unsigned long long *strides,
                          const unsigned *box, const unsigned *steps,
                          int swizzle, int promotion, bool nan) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  cudaError_t status = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
#else
  cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry,
                                               cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess)
    cudaGetLastError();
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess || !entry)
    return false;
  cuuint64_t sizes[5] = {}, steps64[5] = {};
  for (unsigned i = 0; i < rank; ++i)
    sizes[i] = extents[i];
  for (unsigned i = 0; i + 1 < rank; ++i)
    steps64[i] = strides[i];
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
             &map, static_cast<CUtensorMapDataType>(type), rank,
             reinterpret_cast<void *>(base), sizes, steps64, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             static_cast<CUtensorMapSwizzle>(swizzle),
             static_cast<CUtensorMapL2promotion>(promotion),
             nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                 : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}
)";

std::string ejectParameters(const EjectParams &P, bool Defaults,
                            const std::string *Used) {
  static const char *const Own[][2] = {{"dim3", "grid"},
                                       {"dim3", "block"},
                                       {"size_t", "shared"},
                                       {"cudaStream_t", "stream"}};
  // What nothing reads has no name, for -Wunused-parameter.
  auto Reads = [&](StringRef Name) {
    size_t At = 0;
    while ((At = StringRef(*Used).find(Name, At)) != StringRef::npos) {
      char After =
          At + Name.size() < Used->size() ? (*Used)[At + Name.size()] : ' ';
      bool Begins =
          At == 0 || !(isAlnum((*Used)[At - 1]) || (*Used)[At - 1] == '_');
      if (Begins && !isAlnum(After) && After != '_')
        return true;
      At += Name.size();
    }
    return false;
  };
  std::vector<std::string> All;
  for (const auto &[Type, Name] : Own)
    All.push_back(std::string(Type) +
                  (!Used || Reads(Name) ? std::string(" ") + Name : ""));
  for (auto [Decl, Default] : zip_equal(P.Decls, P.Defaults))
    All.push_back(Decl + (Defaults && !Default.empty() ? " = " + Default : ""));
  return join(All, ", ");
}

namespace {
/// The functions of one group that launches call, for the template and for each
/// instance that has variants.
class ChooserWriter {
public:
  ChooserWriter(const EjectGroup &Group, ArrayRef<EjectMember> Members)
      : Group(Group), Members(Members) {}

  /// Declarations, or definitions.
  std::string all(ArrayRef<EjectForm> Forms, bool Define, bool Defaults) const {
    std::string Text;
    for (EjectForm Form : Forms)
      if (Group.Template.empty()) {
        Text += function(Form, Group.Params, Group.Callee, "", "static inline ",
                         Define ? &Members.front() : nullptr, Define, Defaults);
      } else {
        Text += function(Form, Group.Params, Group.Callee + Group.OwnArgs, "",
                         Group.Template + "\nstatic inline ", nullptr, Define,
                         Defaults);
        for (const EjectMember &M : Members)
          Text += function(Form, M.Host->Params, M.Host->Original, M.Host->Args,
                           "template <>\ninline ", &M, Define, false);
      }
    return Text;
  }

private:
  std::string function(EjectForm Form, const EjectParams &P,
                       const std::string &Original, const std::string &Args,
                       const std::string &Before, const EjectMember *M,
                       bool Define, bool Defaults) const;
  /// "(scale_choice::isPlain(...) && (... || ...))".
  std::string attempt(const EjectMember &M, StringRef Shape,
                      ArrayRef<std::string> Arguments) const {
    std::string Choice = Group.choice() + "::";
    SmallVector<StringRef, 4> Words;
    Shape.split(Words, ", ");
    std::vector<std::string> Each;
    Each.reserve(M.Codes.size());
    for (const EjectCode &C : M.Codes)
      Each.push_back(Choice + "launch_" + C.Id + "(" + Shape.str() +
                     (Arguments.empty() ? "" : ", " + join(Arguments, ", ")) +
                     ")");
    return Choice + "isPlain(" + Words[0].str() + ", " + Words[1].str() + ", " +
           Words[3].str() + ") &&\n      (" + join(Each, " ||\n       ") + ")";
  }

  const EjectGroup &Group;
  ArrayRef<EjectMember> Members;
};
} // namespace

std::string ChooserWriter::function(EjectForm Form, const EjectParams &P,
                                    const std::string &Original,
                                    const std::string &Args,
                                    const std::string &Before,
                                    const EjectMember *M, bool Define,
                                    bool Defaults) const {
  bool Typed = Form == EjectForm::Chevrons || Form == EjectForm::TypedConfig;
  std::string Head, Shape, Body, Success;
  std::vector<std::string> Given = P.Arguments;
  std::string List = join(P.Arguments, ", ");
  if (!Typed) {
    Given.clear();
    for (auto [I, Type] : enumerate(P.Types))
      Given.push_back("*static_cast<" + Type + " *>(args[" + std::to_string(I) +
                      "])");
  }
  std::string Handle = "reinterpret_cast<const void *>(&" + Original + ")";
  std::string OfConfig = "config->gridDim, config->blockDim, "
                         "config->dynamicSmemBytes, config->stream";
  switch (Form) {
  case EjectForm::Chevrons:
    Head = "void " + Group.chooser() + Args + "(" +
           ejectParameters(P, Defaults) + ")";
    Shape = "grid, block, shared, stream";
    Success = "return;";
    Body =
        "  " + Original + "<<<grid, block, shared, stream>>>(" + List + ");\n";
    break;
  case EjectForm::Array:
    Head = "cudaError_t " + Group.launcher() + Args +
           "(dim3 grid, dim3 block, void **args, size_t shared" +
           (Defaults ? " = 0" : "") + ", cudaStream_t stream" +
           (Defaults ? " = 0" : "") + ")";
    Shape = "grid, block, shared, stream";
    Body = "  return cudaLaunchKernel(" + Handle +
           ", grid, block, args, shared, stream);\n";
    break;
  case EjectForm::Config:
    Head = "cudaError_t " + Group.launcher() + Args +
           "(const cudaLaunchConfig_t *config, void **args)";
    Shape = OfConfig;
    Body = "  return cudaLaunchKernelExC(config, " + Handle + ", args);\n";
    break;
  case EjectForm::TypedConfig: {
    std::string Decls = join(P.Decls, ", ");
    Head = "cudaError_t " + Group.launcher() + Args +
           "(const cudaLaunchConfig_t *config" +
           (Decls.empty() ? "" : ", " + Decls) + ")";
    Shape = OfConfig;
    Body = "  return cudaLaunchKernelEx(config, " + Original +
           (List.empty() ? "" : ", " + List) + ");\n";
    break;
  }
  }
  // Errors of a plan's later launches are still there.
  if (Success.empty())
    Success = "return cudaPeekAtLastError();";
  if (!Define)
    return Before + Head + ";\n";
  std::string Text = "\n";
  if (M) {
    Text += "// Launches a variant of " + Original + ", or the original.\n";
    std::string Plain =
        Shape == OfConfig ? "config->numAttrs == 0 &&\n      " : "";
    Body = "  if (" + Plain + attempt(*M, Shape, Given) + ")\n    " + Success +
           "\n" + Body;
  }
  return Text + Before + Head + " {\n" + Body + "}\n";
}

std::string chooserText(const EjectGroup &Group, ArrayRef<EjectMember> Members,
                        ArrayRef<EjectForm> Forms, bool Declared) {
  EjectHelpers Needs;
  std::string Attempts;
  for (const EjectMember &M : Members)
    for (const EjectCode &Code : M.Codes)
      Attempts += attemptText(Group, *M.Host, Code, Needs);
  std::string Text = "\nnamespace " + Group.choice() + " {\n";
  Text += CommonHelpers;
  if (Needs.Checked)
    Text += CheckedInteger;
  if (Needs.FieldAt)
    Text += FieldAt;
  if (Needs.AddressOf)
    Text += AddressOf;
  if (Needs.Cluster)
    Text += Cluster;
  if (Needs.TensorMap)
    Text += TensorMap;
  Text += Attempts + "\n} // namespace " + Group.choice() + "\n";
  return Text + ChooserWriter(Group, Members).all(Forms, true, !Declared);
}

std::string chooserDeclarations(const EjectGroup &Group,
                                ArrayRef<EjectMember> Members,
                                ArrayRef<EjectForm> Forms) {
  return ChooserWriter(Group, Members).all(Forms, false, true);
}

} // namespace cupilot
