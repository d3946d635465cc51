//===- GpuDevice.cpp - Where batches are evaluated -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/GpuDevice.h"
#include "SlurmDevice.h"
#include "SpoolDevice.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/ReadResults.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <nlohmann/json.hpp>

using namespace llvm;

namespace cupilot {

GpuDevice::~GpuDevice() = default;

static Error asError(const Failure &F) {
  return exitStatusOf(F.kind()) == 3 ? resourceError(F.what())
                                     : usageError(F.what());
}

Expected<std::optional<GpuResults>> readResults(StringRef Folder,
                                                const runner::Batch &B) {
  GpuResults Results;
  for (const runner::Request &R : B.Requests) {
    std::optional<nlohmann::json> Found;
    try {
      Found = runner::readResult(Folder.str(), B, R);
    } catch (const Failure &F) {
      return asError(F);
    }
    if (!Found)
      return std::nullopt;
    Expected<json::Value> Value = json::parse(Found->dump());
    if (!Value)
      return Value.takeError();
    Results.push_back(std::move(*Value->getAsObject()));
  }
  return Results;
}

/// cupilot-runner beside this program, else on the path.
static std::string runnerPath() {
  std::string Beside = installedPath("bin/cupilot-runner");
  return sys::fs::can_execute(Beside) ? Beside : "cupilot-runner";
}

Expected<std::string> batchRoot() {
  SmallString<256> Root;
  if (std::optional<std::string> Given =
          sys::Process::GetEnv("CUPILOT_CACHE_DIR"))
    Root = *Given;
  else if (!sys::path::cache_directory(Root))
    return resourceError("cannot determine the folder of the machine cache",
                         "set CUPILOT_CACHE_DIR");
  else
    sys::path::append(Root, "cupilot");
  sys::path::append(Root, "batches");
  return Root.str().str();
}

/// Status 1 is a batch that was done, some of it with faults.
static Error checkRun(const Expected<ProcessResult> &Result,
                      const Twine &What) {
  if (Result->Status == 0 || Result->Status == 1)
    return Error::success();
  return resourceError(What + " ended with status " + Twine(Result->Status) +
                       ":\n" + StringRef(Result->Err).rtrim());
}

/// A runner that a killed search had started still works on the batch.
static bool inUse(const ProcessResult &Result) {
  return Result.Status == 3 && StringRef(Result.Err).contains("[in-use]");
}

std::string SpoolDevice::folder(const GpuBatch &B) const {
  return Root + "/" + B.batch().Id;
}

Expected<std::optional<GpuResults>> SpoolDevice::evaluate(const GpuBatch &B) {
  if (Error E = B.write(folder(B)))
    return std::move(E);
  return readResults(folder(B), B.batch());
}

std::string SpoolDevice::waiting(const GpuBatch &B) const {
  return "cupilot-runner " + shellQuoted({folder(B)}) +
         " on a machine with the GPU, copy the folder's results back, and "
         "run the same command again";
}

namespace {
/// The GPUs of this machine.
class LocalDevice : public SpoolDevice {
public:
  using SpoolDevice::SpoolDevice;
  bool worksByItself() const override { return true; }
  Expected<std::optional<GpuResults>> evaluate(const GpuBatch &B) override {
    Expected<std::optional<GpuResults>> Known = SpoolDevice::evaluate(B);
    if (!Known || *Known)
      return Known;
    Expected<ProcessResult> Result = runProcess({runnerPath(), folder(B)});
    if (!Result)
      return Result.takeError();
    if (inUse(*Result))
      return std::nullopt;
    if (Error E = checkRun(Result, "cupilot-runner"))
      return std::move(E);
    return readResults(folder(B), B.batch());
  }
  std::string waiting(const GpuBatch &B) const override {
    return "cupilot-runner " + shellQuoted({folder(B)});
  }
};

/// A machine that ssh and rsync reach, with cupilot-runner on its path.
class SshDevice : public SpoolDevice {
public:
  SshDevice(std::string Root, std::string Host)
      : SpoolDevice(std::move(Root)), Host(std::move(Host)) {}
  bool worksByItself() const override { return true; }
  Expected<std::optional<GpuResults>> evaluate(const GpuBatch &B) override {
    Expected<std::optional<GpuResults>> Known = SpoolDevice::evaluate(B);
    if (!Known || *Known)
      return Known;
    const std::string There = ".cache/cupilot/batches/" + B.batch().Id;
    if (Error E = run({"ssh", Host, "mkdir -p " + shellQuoted({There})}))
      return std::move(E);
    if (Error E =
            run({"rsync", "-a", folder(B) + "/", Host + ":" + There + "/"}))
      return std::move(E);
    std::vector<std::string> Work = {"ssh", Host,
                                     "cupilot-runner " + shellQuoted({There})};
    Expected<ProcessResult> Done = runProcess(Work);
    if (!Done)
      return Done.takeError();
    if (!inUse(*Done))
      if (Error E = checkRun(Done, "'" + shellQuoted(Work) + "'"))
        return std::move(E);
    if (Error E = run({"rsync", "-a", Host + ":" + There + "/results/",
                       folder(B) + "/results/"}))
      return std::move(E);
    return readResults(folder(B), B.batch());
  }

private:
  static Error run(const std::vector<std::string> &Command) {
    Expected<ProcessResult> Result = runProcess(Command);
    if (!Result)
      return Result.takeError();
    return checkRun(Result, "'" + shellQuoted(Command) + "'");
  }
  std::string Host;
};
} // namespace

/// The options of a cluster; nothing for another device.
static std::optional<StringRef> slurmOptions(StringRef Spec) {
  if (Spec == "slurm")
    return "";
  if (Spec.consume_front("slurm:"))
    return Spec;
  return std::nullopt;
}

bool GpuDevice::isOne(StringRef Spec) {
  return Spec == "cuda" || Spec.starts_with("spool:") ||
         Spec.starts_with("ssh:") || slurmOptions(Spec);
}

Expected<std::string> GpuDevice::besideStore(StringRef Spec, StringRef Store) {
  std::optional<StringRef> Given = slurmOptions(Spec);
  if (!Given)
    return Spec.str();
  Expected<SlurmOptions> O = slurmOptionsFor(*Given, Store);
  if (!O)
    return O.takeError();
  return "slurm:" + O->str();
}

Expected<std::unique_ptr<GpuDevice>> GpuDevice::create(StringRef Spec) {
  StringRef Rest = Spec;
  if (Rest.consume_front("spool:") && !Rest.empty())
    return std::make_unique<SpoolDevice>(Rest.str());
  if (std::optional<StringRef> Given = slurmOptions(Spec)) {
    SlurmOptions O;
    if (Error E = O.add(*Given))
      return std::move(E);
    return makeSlurmDevice(std::move(O));
  }
  bool Local = Spec == "cuda";
  if (!Local &&
      !(Rest.consume_front("ssh:") && !Rest.empty() && !Rest.starts_with("-")))
    return usageError("unknown device '" + Spec + "'", Known);
  Expected<std::string> Root = batchRoot();
  if (!Root)
    return Root.takeError();
  if (Local)
    return std::make_unique<LocalDevice>(std::move(*Root));
  return std::make_unique<SshDevice>(std::move(*Root), Rest.str());
}

} // namespace cupilot
