//===- ClusterGate.cpp - The gate on a cluster's nodes --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search has a folder: problem.mlir, problem.json, kernel.cu, contents of
// workloads, and in refused/ a file for each node that judges otherwise. In it
// each round has a folder: N.json is a candidate, N.verdict what was said of
// it, slurm/ what SlurmWork needs. A folder is named after its content, so that
// a search which goes on finds what it had.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/ClusterGate.h"
#include "GateHost.h"
#include "JournalJson.h"
#include "JudgeAhead.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Slurm/SlurmQueue.h"
#include "cupilot/Slurm/SlurmWork.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <nlohmann/json.hpp>
#include <thread>

using namespace llvm;

namespace cupilot {

Expected<std::optional<SlurmOptions>> gatePlace(StringRef Spec,
                                                StringRef Store) {
  if (Spec == "here")
    return std::nullopt;
  StringRef Given = Spec;
  if (Spec != "slurm" && !Given.consume_front("slurm:"))
    return usageError("unknown place '" + Spec + "' for the gate",
                      "here, or slurm[:OPTIONS]");
  SlurmOptions O;
  O.Gres = "none";
  O.PerTask = 1;
  if (const std::string File = slurmFileBeside(Store); sys::fs::exists(File))
    if (Error E = O.addFile(File, "judge"))
      return std::move(E);
  if (Spec != "slurm")
    if (Error E = O.add(Given))
      return std::move(E);
  if (Error E = O.placeIn(((Store.empty() ? StringRef(".cupilot") : Store) +
                           "/journal.sqlite.batches")
                              .str()))
    return std::move(E);
  return O;
}

//===----------------------------------------------------------------------===//
// What a node needs to know
//===----------------------------------------------------------------------===//

static json::Array stringsJson(ArrayRef<std::string> Texts) {
  json::Array List;
  for (const std::string &Text : Texts)
    List.push_back(Text);
  return List;
}

static std::vector<std::string> stringsIn(const json::Object &O,
                                          StringRef Key) {
  std::vector<std::string> All;
  if (const json::Array *List = O.getArray(Key))
    for (const json::Value &V : *List)
      All.push_back(V.getAsString().value_or("").str());
  return All;
}

static json::Object toJSON(const NvccUse &N) {
  return json::Object{{"nvcc", N.Nvcc},
                      {"unit_flags", stringsJson(N.UnitFlags)},
                      {"flags", stringsJson(N.Device.Flags)},
                      {"ptxas", stringsJson(N.Device.Ptxas)},
                      {"named", N.Named}};
}

static NvccUse nvccIn(const json::Object &O) {
  return {textIn(O, "nvcc"),
          stringsIn(O, "unit_flags"),
          {stringsIn(O, "flags"), stringsIn(O, "ptxas")},
          O.getBoolean("named").value_or(false)};
}

/// All but the kernel and the workloads, which are MLIR.
static json::Object toJSON(const SearchProblem &P) {
  json::Object O{{"flags", stringsJson(P.Flags)},
                 {"compiler", P.Compiler},
                 {"arch", P.Arch},
                 {"gpu", toJson(P.Gpu).dump()},
                 {"seed", utostr(P.Seed)},
                 {"margin", P.Margin},
                 {"accept_estimates", P.AcceptEstimates},
                 {"cpu_seconds", P.Compilation.CpuSeconds},
                 {"address_bytes", int64_t(P.Compilation.AddressBytes)},
                 {"wall_seconds", P.Compilation.WallSeconds},
                 {"on_gpu", P.OnGpu},
                 {"large_bytes", int64_t(P.LargeBytes)}};
  if (P.Nvcc)
    O["nvcc"] = toJSON(*P.Nvcc);
  return O;
}

static Error damaged(const Twine &Path) {
  return resourceError("'" + Path + "' is damaged",
                       "delete the folder, and continue with --resume");
}

static Error readProblem(const json::Object &O, const std::string &Path,
                         SearchProblem &P) {
  P.Flags = stringsIn(O, "flags");
  P.Compiler = textIn(O, "compiler");
  P.Arch = textIn(O, "arch");
  try {
    P.Gpu = readGpuDescription(textIn(O, "gpu"), Path);
  } catch (const Failure &F) {
    return resourceError(F.what());
  }
  if (StringRef(textIn(O, "seed")).getAsInteger(10, P.Seed))
    return damaged(Path);
  P.Margin = numberIn(O, "margin");
  P.AcceptEstimates = O.getBoolean("accept_estimates").value_or(false);
  P.Compilation.CpuSeconds = unsigned(O.getInteger("cpu_seconds").value_or(60));
  P.Compilation.AddressBytes =
      uint64_t(O.getInteger("address_bytes").value_or(0));
  P.Compilation.WallSeconds =
      unsigned(O.getInteger("wall_seconds").value_or(0));
  P.OnGpu = O.getBoolean("on_gpu").value_or(false);
  P.LargeBytes = uint64_t(O.getInteger("large_bytes").value_or(0));
  if (const json::Object *N = O.getObject("nvcc"))
    P.Nvcc = nvccIn(*N);
  return Error::success();
}

/// Puts the content of \p B into \p Folder. A link does where both lie on one
/// file system.
static Error bring(WorkloadBuffer &B, StringRef From, StringRef Folder,
                   std::map<std::string, std::string> &Names) {
  if (B.File.empty())
    return Error::success();
  auto [Known, IsNew] = Names.try_emplace(B.File, "");
  if (IsNew) {
    Known->second = "data-" + utostr(Names.size());
    const std::string Source = (From + "/" + B.File).str(),
                      To = (Folder + "/" + Known->second).str();
    if (!sys::fs::exists(To) && sys::fs::create_hard_link(Source, To))
      if (std::error_code EC = sys::fs::copy_file(Source, To))
        return resourceError("cannot copy '" + Source + "' to '" + To +
                             "': " + EC.message());
  }
  B.File = Known->second;
  return Error::success();
}

static std::string objectText(json::Object O) {
  return formatv("{0}", json::Value(std::move(O))).str();
}

Expected<std::unique_ptr<ClusterGate>>
ClusterGate::create(SlurmOptions Options, const SearchProblem &Problem,
                    Teller Tell) {
  if (Error E = SlurmQueue::checkHere())
    return std::move(E);
  Expected<json::Object> Host = gateHost(Problem.Flags, Problem.Nvcc);
  if (!Host)
    return Host.takeError();
  json::Object Other = toJSON(Problem);
  Other["host"] = std::move(*Host);
  SmallString<256> Here;
  if (std::error_code EC = sys::fs::current_path(Here))
    return resourceError("the current folder has no path: " + EC.message());
  Other["folder"] = Here.str().str();
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  loadDialect(C);
  auto moduleOf = [&](ArrayRef<Workload> Workloads) {
    mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
    mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
    addKernel(B, Problem.K, "kernel.cu");
    for (const Workload &W : Workloads)
      addWorkload(B, W);
    return printModule(*M);
  };
  const std::string Text = objectText(std::move(Other));
  DigestBuilder Name;
  Name.add(Text).add(Problem.K.Slice).add(moduleOf(Problem.Workloads));
  const std::string Folder =
      Options.Folder + "/gate-" + shortDigest(Name.str(), 16);
  // A node that was refused may have been mended.
  sys::fs::remove_directories(Folder + "/refused");
  if (Error E = ensureDirectory(Folder + "/refused"))
    return std::move(E);
  std::vector<Workload> Brought = Problem.Workloads;
  std::map<std::string, std::string> Names;
  for (Workload &W : Brought) {
    for (WorkloadBuffer &B : W.Buffers)
      if (Error E = bring(B, Problem.DataFolder, Folder, Names))
        return std::move(E);
    for (WorkloadGlobal &G : W.Globals)
      if (Error E = bring(G.Content, Problem.DataFolder, Folder, Names))
        return std::move(E);
  }
  for (const auto &[File, Content] :
       {std::pair<const char *, std::string>("kernel.cu", Problem.K.Slice),
        {"problem.mlir", moduleOf(Brought)},
        {"problem.json", Text}})
    if (Error E = writeFileAtomic(Folder + "/" + File, Content))
      return std::move(E);
  return std::unique_ptr<ClusterGate>(
      new ClusterGate(std::move(Options), Folder, std::move(Tell)));
}

//===----------------------------------------------------------------------===//
// Where the search runs
//===----------------------------------------------------------------------===//

/// Whether a verdict is there. A listing makes a network file system look.
static std::string verdictPath(StringRef Step, unsigned Piece) {
  return (Step + "/" + utostr(Piece) + ".verdict").str();
}

/// Leaves out the nodes that found themselves to be different.
Error ClusterGate::noteRefusals(function_ref<void(StringRef)> LeaveOut) {
  Expected<std::vector<std::string>> Files =
      filesIn(Folder + "/refused", ".txt");
  if (!Files)
    return Files.takeError();
  bool News = false;
  for (const std::string &Path : *Files) {
    const std::string Node = sys::path::stem(Path).str();
    if (Refused.count(Node))
      continue;
    Expected<std::string> Why = readFile(Path);
    if (!Why)
      return Why.takeError();
    Refused[Node] = *Why;
    News = true;
    if (Tell)
      Tell("node " + Node + " judges nothing: " + *Why);
    LeaveOut(Node);
  }
  if (!News)
    return Error::success();
  Expected<std::map<std::string, bool>> Nodes = SlurmQueue::nodes(O);
  if (!Nodes) { // It is away for a moment.
    consumeError(Nodes.takeError());
    return Error::success();
  }
  for (const auto &[Node, Takes] : *Nodes)
    if (!Refused.count(Node))
      return Error::success();
  return resourceError(
      "no node judges as this machine does; on " + Refused.begin()->first +
          " " + Refused.begin()->second,
      "install the same software there, or name it: --judge "
      "slurm:prefix=DIR or container=IMAGE; 'cupilot doctor --judge slurm' "
      "with the same options asks all nodes");
}

/// The verdict on a candidate that \p R describes; nothing where judge() failed
/// there, which \p Why then says.
static std::optional<CandidateRecord>
readVerdictFile(StringRef Text, CandidateRecord R, std::string &Why) {
  if (readVerdict(Text, R))
    return R;
  Expected<json::Value> V = parseJson(Text);
  if (!V) {
    consumeError(V.takeError());
    Why = "its verdict is damaged";
  } else if (const json::Object *O = V->getAsObject()) {
    Why = textIn(*O, "error");
  }
  return std::nullopt;
}

Expected<std::vector<std::optional<CandidateRecord>>>
ClusterGate::judge(ArrayRef<const Candidate *> Candidates,
                   std::optional<std::chrono::steady_clock::time_point> Until) {
  std::vector<std::string> Texts;
  DigestBuilder Name;
  for (const Candidate *C : Candidates) {
    const CandidateRecord &R = C->Record;
    Texts.push_back(
        objectText(json::Object{{"genome", R.Genome},
                                {"source", json::fixUTF8(R.Code->Source)},
                                {"plan", planText(R.Code->Plan)},
                                {"guard", guardText(R.Code->When)},
                                {"device", R.DeviceDigest},
                                {"by_rules", C->IsByRules}}));
    Name.add(Texts.back());
  }
  const std::string Step = Folder + "/" + shortDigest(Name.str(), 16);
  if (Error E = ensureDirectory(Step))
    return std::move(E);
  for (auto [I, Text] : enumerate(Texts))
    if (Error E = writeFileAtomic(Step + "/" + utostr(I) + ".json", Text))
      return std::move(E);
  std::vector<std::string> Words = O.onNode("cupilot");
  Words.insert(Words.end(), {"gate-task", Step});
  auto NameOf = [&](unsigned P) {
    return "'" + Candidates[P]->Record.Genome + "'";
  };
  Expected<std::unique_ptr<SlurmWork>> Work = SlurmWork::create(
      O, Step + "/slurm", shellQuoted(Words) + " \"$piece\"", NameOf);
  if (!Work)
    return Work.takeError();
  for (const auto &[Node, Why] : Refused)
    (*Work)->leaveOut(Node);
  std::vector<unsigned> Open;
  std::chrono::milliseconds Pause(100);
  for (bool First = true;; First = false) {
    Expected<std::vector<std::string>> There = filesIn(Step, ".verdict");
    if (!There)
      return There.takeError();
    Open.clear();
    for (unsigned P = 0; P < Candidates.size(); ++P)
      if (!is_contained(*There, verdictPath(Step, P)))
        Open.push_back(P);
    if (Open.empty() || (Until && std::chrono::steady_clock::now() >= *Until))
      break;
    if (First && Tell)
      Tell(Twine(Open.size()) +
           " candidate(s) are judged by Slurm ('squeue --me' lists the jobs " +
           (*Work)->jobPrefix() + "*)");
    if (Error E = noteRefusals([&](StringRef N) { (*Work)->leaveOut(N); }))
      return std::move(E);
    if (Error E = (*Work)->step(Open, Tell, [](unsigned) {}))
      return std::move(E);
    std::this_thread::sleep_for(Pause);
    Pause = std::min(Pause * 3 / 2, std::chrono::milliseconds(5000));
  }
  if (Open.empty())
    (*Work)->finish();
  std::vector<std::optional<CandidateRecord>> Records(Candidates.size());
  for (auto [I, C] : enumerate(Candidates)) {
    if (is_contained(Open, unsigned(I)))
      continue;
    Expected<std::string> Text = readFile(verdictPath(Step, unsigned(I)));
    if (!Text)
      return Text.takeError();
    std::string Why;
    Records[I] = readVerdictFile(*Text, C->Record, Why);
    if (!Records[I] && Tell)
      Tell(NameOf(unsigned(I)) +
           " is judged here, since a node could not: " + Why);
  }
  return Records;
}

//===----------------------------------------------------------------------===//
// On a node
//===----------------------------------------------------------------------===//

static Expected<json::Object> readObject(const std::string &Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = parseJson(*Text);
  if (!V)
    return V.takeError();
  if (json::Object *O = V->getAsObject())
    return std::move(*O);
  return damaged(Path);
}

/// This node judges nothing of the search in \p Folder.
static Error refuse(StringRef Folder, const std::string &Why) {
  const std::string Node =
      sys::Process::GetEnv("SLURMD_NODENAME").value_or("this node");
  if (Error E =
          writeFileAtomic((Folder + "/refused/" + Node + ".txt").str(), Why))
    return E;
  return resourceError("on " + Node + " " + Why);
}

static Expected<Candidate> candidateIn(const std::string &Path,
                                       const CandidateEvaluator &Evaluator,
                                       const json::Object &O) {
  std::optional<Genome> G = parseGenome(textIn(O, "genome"));
  std::optional<Translation> T =
      readCode(textIn(O, "source"), textIn(O, "plan"), textIn(O, "guard"),
               textIn(O, "language"));
  if (!G || !T)
    return damaged(Path);
  Expected<Candidate> C = Evaluator.prepare(*G, std::move(*T));
  if (C)
    C->IsByRules = O.getBoolean("by_rules").value_or(false);
  return C;
}

Error judgeOnNode(StringRef Step, unsigned Piece) {
  if (sys::fs::exists(verdictPath(Step, Piece)))
    return Error::success();
  const std::string Folder = sys::path::parent_path(Step).str();
  Expected<json::Object> Known = readObject(Folder + "/problem.json");
  if (!Known)
    return Known.takeError();
  // Flags may name files from there.
  if (std::error_code EC = sys::fs::set_current_path(textIn(*Known, "folder")))
    return refuse(Folder, "there is no folder '" + textIn(*Known, "folder") +
                              "': " + EC.message());
  SearchProblem P;
  if (Error E = readProblem(*Known, Folder + "/problem.json", P))
    return E;
  const json::Object *Other = Known->getObject("host");
  Expected<json::Object> Mine = gateHost(P.Flags, P.Nvcc);
  if (!Mine || !Other)
    return refuse(Folder, Mine ? "" : toString(Mine.takeError()));
  if (std::string Why = differenceOf(*Mine, *Other); !Why.empty())
    return refuse(Folder, Why);
  Expected<std::vector<Kernel>> Kernels = loadKernels(Folder + "/problem.mlir");
  if (!Kernels)
    return Kernels.takeError();
  P.K = std::move(Kernels->front());
  if (Error E = loadWorkloads(Folder + "/problem.mlir").moveInto(P.Workloads))
    return E;
  P.DataFolder = Folder;
  const std::string Path = (Step + "/" + utostr(Piece) + ".json").str();
  Expected<json::Object> Asked = readObject(Path);
  if (!Asked)
    return Asked.takeError();
  Expected<std::unique_ptr<CandidateEvaluator>> Evaluator =
      CandidateEvaluator::create(P);
  Expected<Candidate> C = Evaluator
                              ? candidateIn(Path, **Evaluator, *Asked)
                              : Expected<Candidate>(Evaluator.takeError());
  if (C && C->Record.DeviceDigest != textIn(*Asked, "device"))
    return refuse(Folder, "other device code is made of the same text");
  Error Failed = C ? (*Evaluator)->judge(*C) : C.takeError();
  std::string Verdict;
  if (Failed)
    Verdict = objectText(
        json::Object{{"error", json::fixUTF8(toString(std::move(Failed)))}});
  else
    Verdict = verdictText(C->Record);
  return writeFileAtomic(verdictPath(Step, Piece), Verdict);
}

Expected<std::string> gateHostText() {
  Expected<json::Object> Host = gateHost({}, std::nullopt);
  if (!Host)
    return Host.takeError();
  return objectText(std::move(*Host));
}

Expected<NodeQuestion> aboutGate() {
  Expected<json::Object> Here = gateHost({}, std::nullopt);
  if (!Here)
    return Here.takeError();
  auto Read = [Here = std::make_shared<json::Object>(std::move(*Here))](
                  StringRef Text) -> Expected<std::string> {
    Expected<json::Value> There = parseJson(Text);
    const json::Object *O = There ? There->getAsObject() : nullptr;
    if (!O)
      return resourceError("its answer is none: " + Text.rtrim(),
                           There ? "" : toString(There.takeError()));
    if (std::string Why = differenceOf(*O, *Here); !Why.empty())
      return resourceError(Why);
    return textIn(*O, "clang") + ", and judges as this machine does";
  };
  return NodeQuestion{"cupilot",
                      "cupilot " CUPILOT_VERSION " (LLVM " CUPILOT_LLVM_VERSION
                      ")",
                      {"gate-task", "--facts"},
                      Read};
}

} // namespace cupilot
