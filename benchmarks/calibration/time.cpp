//===- time.cpp - Times and counters of variants, on a GPU --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// calibration-time FOLDER OUT.json: times each variant that
// calibration-variants wrote into FOLDER, with an empty L2, variants
// interleaved, and collects counters for kernels of known class. Knows the
// driver API and CUPTI only. Each kernel runs in a process of its own: one that
// faults or hangs costs its own times only.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Profile/Metrics.h"
#include "cupilot/Profile/RangeProfiler.h"
#include "cupilot/Runner/Numbers.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using nlohmann::json;
using namespace cupilot;

namespace {
void check(CUresult Code, const std::string &What) {
  if (Code == CUDA_SUCCESS)
    return;
  const char *Name = "";
  cuGetErrorName(Code, &Name);
  throw std::runtime_error(What + ": " + Name);
}

constexpr size_t FlushBytes = 512u << 20; ///< Several times the L2.
constexpr unsigned Rounds = 21;
constexpr unsigned MostSeconds = 60; ///< For one kernel.

struct Launch {
  CUfunction Function = nullptr;
  std::array<unsigned, 3> Grid{}, Block{};
  unsigned Shared = 0;
};

struct Variant {
  std::string Genome;
  CUmodule Module = nullptr;
  std::vector<Launch> Launches;
  std::vector<double> Times;
};

double quantile(std::vector<double> V, double Q) {
  std::sort(V.begin(), V.end());
  return V[size_t(Q * double(V.size() - 1) + 0.5)];
}

class Bench {
public:
  Bench() {
    check(cuInit(0), "cuInit");
    CUdevice Device;
    CUcontext Context;
    check(cuDeviceGet(&Device, 0), "device");
    check(cuDevicePrimaryCtxRetain(&Context, Device), "context");
    check(cuCtxSetCurrent(Context), "context");
    check(cuMemAlloc(&Flush, FlushBytes), "memory");
    check(cuEventCreate(&Start, 0), "event");
    check(cuEventCreate(&Stop, 0), "event");
  }
  json run(const std::filesystem::path &File);

private:
  void launch(const Variant &V);
  double once(const Variant &V);
  json profile(const Variant &V);

  CUdeviceptr Flush = 0;
  CUevent Start = nullptr, Stop = nullptr;
  std::vector<std::vector<uint8_t>> Args;
};
} // namespace

void Bench::launch(const Variant &V) {
  std::vector<void *> Pointers;
  Pointers.reserve(Args.size());
  for (std::vector<uint8_t> &Arg : Args)
    Pointers.push_back(Arg.data());
  for (const Launch &L : V.Launches)
    check(cuLaunchKernel(L.Function, L.Grid[0], L.Grid[1], L.Grid[2],
                         L.Block[0], L.Block[1], L.Block[2], L.Shared, nullptr,
                         Pointers.data(), nullptr),
          "launch of " + V.Genome);
}

double Bench::once(const Variant &V) {
  check(cuMemsetD32Async(Flush, 1, FlushBytes / 4, nullptr), "flush");
  check(cuEventRecord(Start, nullptr), "event");
  launch(V);
  check(cuEventRecord(Stop, nullptr), "event");
  check(cuCtxSynchronize(), "run of " + V.Genome);
  float Milliseconds = 0;
  check(cuEventElapsedTime(&Milliseconds, Start, Stop), "time");
  return double(Milliseconds) * 1e3;
}

json Bench::profile(const Variant &V) {
  std::string WhyNot;
  std::unique_ptr<RangeProfiler> Counters = RangeProfiler::open("", WhyNot);
  if (!Counters)
    return {{"reason", WhyNot}};
  std::vector<std::string> Names;
  for (const ProfileMetric &M : profileSet("all"))
    Names.push_back(M.Name);
  auto Empty = [&] {
    return cuMemsetD32Async(Flush, 1, FlushBytes / 4, nullptr) == CUDA_SUCCESS;
  };
  ProfileResult R = Counters->collect(0, Names, Empty, [&] {
    launch(V);
    return true;
  });
  json Values = json::object();
  for (const ProfileMetric &M : profileSet("all"))
    if (R.Values.count(M.Name))
      Values[M.Key] = R.Values[M.Name];
  return {{"passes", R.Passes},
          {"reason", R.Reason.value_or("")},
          {"unknown", R.Unknown},
          {"values", Values}};
}

json Bench::run(const std::filesystem::path &File) {
  json K = json::parse(std::ifstream(File));
  Args.clear();
  for (const json &Arg : K["args"]) {
    const auto &Hex = Arg.get_ref<const std::string &>();
    std::vector<uint8_t> Bytes;
    for (size_t I = 0; I + 1 < Hex.size(); I += 2)
      Bytes.push_back(uint8_t(std::stoul(Hex.substr(I, 2), nullptr, 16)));
    Args.push_back(std::move(Bytes));
  }
  std::vector<CUdeviceptr> Buffers;
  for (const json &B : K["buffers"]) {
    std::vector<uint8_t> Bytes =
        runner::generate(B["content"].get<std::string>(), B["size"]);
    CUdeviceptr &P = Buffers.emplace_back();
    check(cuMemAlloc(&P, Bytes.size()), "memory");
    check(cuMemcpyHtoD(P, Bytes.data(), Bytes.size()), "copy");
    std::memcpy(Args[B["param"]].data(), &P, sizeof(P));
  }
  std::vector<Variant> Variants;
  for (const json &J : K["variants"]) {
    Variant &V = Variants.emplace_back();
    V.Genome = J["genome"];
    std::string Cubin = File.parent_path() / J["cubin"].get<std::string>();
    check(cuModuleLoad(&V.Module, Cubin.c_str()), Cubin);
    for (const json &JL : J["launches"]) {
      Launch &L = V.Launches.emplace_back();
      std::string Symbol = JL["symbol"];
      check(cuModuleGetFunction(&L.Function, V.Module, Symbol.c_str()), Symbol);
      const json &S = JL["shape"];
      for (unsigned I = 0; I < 3; ++I) {
        L.Grid[I] = S["grid"][I];
        L.Block[I] = S["block"][I];
      }
      L.Shared = S["shared"];
      if (L.Shared > 48 * 1024)
        check(cuFuncSetAttribute(
                  L.Function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  int(L.Shared)),
              Symbol);
    }
  }
  for (unsigned R = 0; R < Rounds + 2; ++R)
    for (size_t I = 0; I < Variants.size(); ++I) {
      // Forth and back, so that no variant always follows the same one.
      Variant &V = Variants[R % 2 ? Variants.size() - 1 - I : I];
      double Time = once(V);
      if (R >= 2)
        V.Times.push_back(Time);
    }
  json Result = {{"name", K["name"]}, {"class", K["class"]}};
  const std::vector<double> &Original = Variants.front().Times;
  for (const Variant &V : Variants) {
    std::vector<double> Ratios;
    for (size_t R = 0; R < V.Times.size(); ++R)
      Ratios.push_back(Original[R] / V.Times[R]);
    Result["variants"].push_back({{"genome", V.Genome},
                                  {"microseconds", quantile(V.Times, 0.5)},
                                  {"low", quantile(V.Times, 0.1)},
                                  {"high", quantile(V.Times, 0.9)},
                                  {"ratio", quantile(Ratios, 0.5)}});
  }
  if (K["class"] != "")
    Result["profile"] = profile(Variants.front());
  return Result;
}

/// What run() says of \p File, from a process of its own.
static json runApart(const std::filesystem::path &File) {
  int Pipe[2];
  if (pipe(Pipe) != 0)
    throw std::runtime_error("no pipe");
  pid_t Child = fork();
  if (Child < 0)
    throw std::runtime_error("no process");
  if (Child == 0) {
    close(Pipe[0]);
    alarm(MostSeconds);
    json Result;
    try {
      Result = Bench().run(File);
    } catch (const std::exception &E) {
      Result = {{"name", File.stem().string()}, {"error", E.what()}};
    }
    std::string Text = Result.dump();
    for (size_t At = 0; At < Text.size();) {
      ssize_t N = write(Pipe[1], Text.data() + At, Text.size() - At);
      if (N <= 0)
        _exit(1);
      At += size_t(N);
    }
    _exit(0);
  }
  close(Pipe[1]);
  std::string Text;
  char Part[4096];
  for (ssize_t N; (N = read(Pipe[0], Part, sizeof(Part))) > 0;)
    Text.append(Part, size_t(N));
  close(Pipe[0]);
  waitpid(Child, nullptr, 0);
  json Result = json::parse(Text, nullptr, false);
  if (Result.is_discarded())
    return {{"name", File.stem().string()}, {"error", "ended early"}};
  return Result;
}

int main(int Argc, char **Argv) {
  if (Argc != 3) {
    std::fprintf(stderr, "usage: calibration-time FOLDER OUT.json\n");
    return 2;
  }
  try {
    std::vector<std::filesystem::path> Files;
    for (const auto &Entry : std::filesystem::directory_iterator(Argv[1]))
      if (Entry.path().extension() == ".json")
        Files.push_back(Entry.path());
    std::sort(Files.begin(), Files.end());
    json All = json::array();
    for (const auto &File : Files) {
      const json &One = All.emplace_back(runApart(File));
      if (One.contains("error"))
        std::printf("%s: %s\n", File.stem().c_str(),
                    One["error"].get<std::string>().c_str());
      else
        std::printf("%s: %zu variants, original %.2f us\n", File.stem().c_str(),
                    One["variants"].size(),
                    One["variants"][0]["microseconds"].get<double>());
      std::fflush(stdout);
    }
    std::ofstream(Argv[2]) << All.dump(1) << "\n";
  } catch (const std::exception &E) {
    std::fprintf(stderr, "calibration-time: %s\n", E.what());
    return 3;
  }
  return 0;
}
