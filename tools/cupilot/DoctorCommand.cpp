//===- DoctorCommand.cpp - cupilot doctor -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "ProviderOptions.h"
#include "SharedOptions.h"
#include "cupilot/Evolution/ClusterGate.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/LLM/JsonAnswer.h"
#include "cupilot/Mcp/Server.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Slurm/SlurmProbe.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <unistd.h>

using namespace llvm;
using namespace cupilot;

namespace doctor_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  ProviderOptions Providers{Sub, /*Resume=*/false};
  cl::opt<std::string> Device{
      "device", In, cl::value_desc("slurm[:OPTIONS]"),
      cl::desc("Send a short job to each node of a cluster: see whether a "
               "search can use it")};
  cl::opt<std::string> Judge{
      "judge", In, cl::value_desc("slurm[:OPTIONS]"),
      cl::desc("The same for nodes that judge candidates (evolve --judge)")};
  StoreOption StoreDir{Sub};
  cl::opt<unsigned> Nodes{"nodes", In, cl::init(32), cl::value_desc("N"),
                          cl::desc("Ask N nodes at most (default 32)")};
  cl::opt<unsigned> Seconds{
      "seconds", In, cl::init(60), cl::value_desc("N"),
      cl::desc("Wait for their answers for N seconds (default 60)")};
};
} // namespace

static const char Examples[] = "  cupilot doctor\n"
                               "  cupilot doctor --device slurm:partition=gpu  "
                               " # asks each node of a cluster\n"
                               "  cupilot doctor --provider openai,model=NAME  "
                               " # asks it one short question\n\n"
                               "Exit status 1: something that every use needs "
                               "is missing, or a provider does not answer.\n";

namespace {
enum class Health { Good, Missing, Broken };

/// Prints lines, and remembers the worst.
class Report {
public:
  void line(Health H, StringRef What, const Twine &Text, bool Needed = false) {
    static constexpr StringRef Words[] = {"ok", "none", "BROKEN"};
    bool Bad = H == Health::Broken || (H == Health::Missing && Needed);
    outs() << left_justify(H == Health::Missing && Needed
                               ? "MISSING"
                               : Words[static_cast<int>(H)],
                           8)
           << left_justify(What, 12) << Text << "\n";
    Failed += Bad;
  }
  void error(StringRef What, Error E, bool Needed) {
    handleAllErrors(
        std::move(E),
        [&](const ToolError &T) {
          line(Needed ? Health::Broken : Health::Missing, What, T.text());
          if (!T.hint().empty())
            outs() << std::string(20, ' ') << T.hint() << "\n";
        },
        [&](const ErrorInfoBase &Other) {
          line(Needed ? Health::Broken : Health::Missing, What,
               Other.message());
        });
  }
  unsigned Failed = 0;
};
} // namespace

/// The first line of what a program says of its version; "" when it does not
/// run.
static std::string versionOf(const std::string &Program, StringRef Word) {
  Expected<ProcessResult> R = runProcess({Program, "--version"}, 60);
  if (!R) {
    consumeError(R.takeError());
    return "";
  }
  if (R->Status != 0)
    return "";
  for (StringRef Line : split(R->Out, '\n'))
    if (Line.contains(Word))
      return Line.trim().str();
  return "";
}

static void checkTools(Report &R) {
  Expected<Toolchain> Tools = Toolchain::find({});
  if (!Tools) {
    R.error("clang", Tools.takeError(), /*Needed=*/true);
    return;
  }
  std::string Version = versionOf(Tools->Clang, "version");
  if (!StringRef(Version).contains("version " +
                                   std::to_string(CUPILOT_LLVM_MAJOR) + "."))
    R.line(Health::Broken, "clang",
           Tools->Clang + " is not version " + Twine(CUPILOT_LLVM_MAJOR) +
               (Version.empty() ? "; it does not run" : ": " + Version));
  else
    R.line(Health::Good, "clang", Tools->Clang + ": " + Version);
  if (Tools->CudaPath.empty()) {
    R.line(Health::Missing, "toolkit",
           "no CUDA toolkit; install one, set CUDA_PATH, or give --cuda-path=",
           /*Needed=*/true);
    return;
  }
  unsigned Cuda = Tools->headerVersion();
  R.line(
      Cuda ? Health::Good : Health::Broken, "toolkit",
      Tools->CudaPath +
          (Cuda ? formatv(": CUDA {0}.{1}", Cuda / 1000, Cuda % 1000 / 10).str()
                : ": its headers do not state a version"));
  if (Tools->Ptxas.empty())
    R.line(Health::Missing, "ptxas",
           "without it, the cost model estimates registers and spills");
  else
    R.line(Health::Good, "ptxas", Tools->Ptxas);
  ErrorOr<std::string> Nvcc =
      sys::findProgramByName("nvcc", {Tools->CudaPath + "/bin"});
  if (!Nvcc)
    Nvcc = sys::findProgramByName("nvcc");
  std::string NvccVersion = Nvcc ? versionOf(*Nvcc, "release") : "";
  if (!Nvcc)
    R.line(Health::Missing, "nvcc", "cupilot-launch nvcc needs it");
  else
    R.line(NvccVersion.empty() ? Health::Broken : Health::Good, "nvcc",
           *Nvcc + ": " +
               (NvccVersion.empty() ? "it does not run" : NvccVersion));
}

static void checkPlugin(Report &R) {
  std::string Plugin = installedPath("lib/cupilot.so");
  if (!sys::fs::exists(Plugin))
    R.line(Health::Missing, "plugin",
           Plugin + " is missing: builds with clang need it", /*Needed=*/true);
  else
    R.line(Health::Good, "plugin", Plugin);
}

/// The driver's own interface, without its headers.
static void checkDriver(Report &R) {
  void *Library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    R.line(Health::Missing, "driver",
           "no libcuda.so.1; variants are judged on the cpu device, or on "
           "another machine (--device spool:DIR)");
    return;
  }
  auto Find = [&]<typename FunctionT>(const char *Name, FunctionT *&F) {
    F = reinterpret_cast<FunctionT *>(::dlsym(Library, Name));
    return F != nullptr;
  };
  int (*Init)(unsigned), (*Version)(int *), (*Count)(int *),
      (*Title)(char *, int, int), (*Attribute)(int *, int, int);
  if (!Find("cuInit", Init) || !Find("cuDriverGetVersion", Version) ||
      !Find("cuDeviceGetCount", Count) || !Find("cuDeviceGetName", Title) ||
      !Find("cuDeviceGetAttribute", Attribute)) {
    R.line(Health::Broken, "driver", "libcuda.so.1 lacks functions");
    return;
  }
  int Status = Init(0), Number = 0, Cuda = 0;
  if (Status != 0 || Count(&Number) != 0 || Number == 0) {
    R.line(Health::Missing, "driver",
           "the driver finds no GPU that it can use (status " + Twine(Status) +
               ")");
    return;
  }
  Version(&Cuda);
  R.line(Health::Good, "driver",
         formatv("CUDA {0}.{1}", Cuda / 1000, Cuda % 1000 / 10).str());
  for (int I = 0; I < Number; ++I) {
    char Text[256] = "";
    int Major = 0, Minor = 0;
    Title(Text, sizeof(Text) - 1, I);
    Attribute(&Major, 75, I); // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    Attribute(&Minor, 76, I);
    R.line(Health::Good, "gpu",
           formatv("{0}: {1}, sm_{2}{3}", I, Text, Major, Minor).str());
  }
  Expected<std::string> Params = readFile("/proc/driver/nvidia/params");
  if (!Params) {
    consumeError(Params.takeError());
    R.line(Health::Missing, "profiler",
           "the driver does not report who may read counters");
    return;
  }
  bool AdminOnly = StringRef(*Params).contains("RmProfilingAdminOnly: 1");
  if (AdminOnly && ::geteuid() != 0)
    R.line(Health::Missing, "profiler",
           "only administrators may read counters (RmProfilingAdminOnly); "
           "cuPilot uses times and the cpu device's counts instead");
  else
    R.line(Health::Good, "profiler", "counters may be read");
}

static void listGpus(Report &R) {
  for (const GpuDescription &G : knownGpus())
    R.line(Health::Good, "--gpu",
           G.OtherNames.front() + ": " + G.Name + ", " + G.Arch +
               (G.derivedFigures()
                    ? formatv(", {0} of {1} figures derived from the {2}'s",
                              G.derivedFigures(), G.SourceOf.size(),
                              defaultGpu().Name)
                          .str()
                    : ""));
}

static void checkPrompts(Report &R, const ProviderOptions &Providers) {
  Expected<PromptLibrary> Prompts = Providers.prompts();
  if (!Prompts)
    return R.error("prompts", Prompts.takeError(), /*Needed=*/true);
  R.line(Health::Good, "prompts",
         Twine(Prompts->names().size()) + " in " +
             PromptLibrary::shippedFolder());
}

static void checkMcp(Report &R) {
  Expected<std::string> Can = tryMcp();
  if (!Can)
    return R.error("mcp", Can.takeError(), /*Needed=*/true);
  R.line(Health::Good, "mcp", *Can);
}

/// Asks for one small object, through all that a search would use.
static void checkProvider(Report &R, const ProviderOptions &Providers) {
  if (!Providers.given()) {
    R.line(Health::Missing, "provider",
           "none given; --provider SPEC asks the provider one short question");
    return;
  }
  Expected<SessionOptions> Options = Providers.session();
  if (!Options)
    return R.error("provider", Options.takeError(), /*Needed=*/true);
  Expected<std::unique_ptr<Session>> S = Session::open(*Options);
  if (!S)
    return R.error("provider", S.takeError(), /*Needed=*/true);
  ChatRequest Q;
  Q.System = "Answer with one JSON object that fits the schema you are given, "
             "and with nothing else.";
  Q.Messages.push_back(
      {ChatMessage::Role::User,
       "What is 6 times 7? Answer in JSON, as {\"product\": NUMBER}."});
  Q.Schema = json::Object{
      {"type", "object"},
      {"properties",
       json::Object{{"product", json::Object{{"type", "integer"}}}}},
      {"required", json::Array{"product"}},
      {"additionalProperties", false}};
  Q.MaxTokens = 2000; // Some models think first.
  Q.Step = "doctor";
  Q.Prompt = "doctor 1";
  Expected<ChatAnswer> A = (*S)->ask(Q);
  if (!A)
    return R.error("provider", A.takeError(), /*Needed=*/true);
  Expected<json::Value> V = readAnswer(A->Text, *Q.Schema);
  if (!V) {
    R.line(Health::Broken, "provider",
           A->Provider + " answers, but not in the form asked for: " +
               toString(V.takeError()));
    return;
  }
  R.line(Health::Good, "provider",
         A->Provider + (A->Model.empty() ? "" : " (" + A->Model + ")") +
             formatv(": answered in {0:f1} s; ", A->Seconds).str() +
             (*S)->summary());
}

/// The nodes of a cluster, each by a job.
static void checkNodes(Report &R, const Options &O, const SlurmOptions &Cluster,
                       const NodeQuestion &Question) {
  R.line(Health::Good, "slurm", Cluster.str());
  Expected<std::vector<NodeReport>> Nodes =
      probeNodes(Cluster, Question, O.Nodes, O.Seconds);
  if (!Nodes)
    return R.error("slurm", Nodes.takeError(), /*Needed=*/true);
  bool Works = false;
  for (const NodeReport &N : *Nodes) {
    static constexpr Health Of[] = {Health::Good, Health::Broken,
                                    Health::Missing};
    R.line(Of[static_cast<int>(N.S)], N.Node, N.Text);
    Works |= N.S == NodeReport::State::Works;
  }
  if (!Works)
    R.line(Health::Missing, "slurm",
           "no node has answered; --seconds=N waits longer", /*Needed=*/true);
}

static Error checkDevice(Report &R, const Options &O) {
  Expected<std::string> Spec = GpuDevice::besideStore(O.Device, O.StoreDir);
  if (!Spec)
    return Spec.takeError();
  StringRef Given = *Spec;
  if (!Given.consume_front("slurm:"))
    return usageError("--device takes slurm[:OPTIONS] here",
                      "other devices need no check");
  SlurmOptions Cluster;
  if (Error E = Cluster.add(Given))
    return E;
  checkNodes(R, O, Cluster, aboutGpus());
  return Error::success();
}

static Error checkJudges(Report &R, const Options &O) {
  Expected<std::optional<SlurmOptions>> Cluster =
      gatePlace(O.Judge, O.StoreDir);
  if (!Cluster)
    return Cluster.takeError();
  if (!*Cluster)
    return usageError("--judge takes slurm[:OPTIONS] here",
                      "this machine needs no job to be checked");
  Expected<NodeQuestion> Question = aboutGate();
  if (!Question)
    return Question.takeError();
  checkNodes(R, O, **Cluster, *Question);
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &) {
  Report R;
  R.line(Health::Good, "cupilot",
         CUPILOT_VERSION ", LLVM " CUPILOT_LLVM_VERSION);
  checkTools(R);
  checkPlugin(R);
  checkDriver(R);
  listGpus(R);
  checkPrompts(R, O.Providers);
  checkMcp(R);
  checkProvider(R, O.Providers);
  if (!O.Device.empty())
    if (Error E = checkDevice(R, O))
      return E;
  if (!O.Judge.empty())
    if (Error E = checkJudges(R, O))
      return E;
  outs().flush(); // Before what is said of it.
  if (R.Failed)
    return findingError(Twine(R.Failed) + " of these must be fixed");
  return Error::success();
}

static const Command
    Registered("doctor",
               "Check compiler, toolkit, driver and provider on this machine",
               "", Examples, run);

} // namespace doctor_command
