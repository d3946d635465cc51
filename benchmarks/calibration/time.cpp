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
// driver API and CUPTI only.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Profile/Metrics.h"
#include "cupilot/Profile/RangeProfiler.h"
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
#include <random>
#include <sstream>

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

/// "f32 uniform low=0 high=1": the bytes, not the same as on the cpu device.
std::vector<uint8_t> content(const std::string &Text, size_t Size) {
  std::istringstream In(Text);
  std::string Type, Way, Rest;
  In >> Type >> Way;
  double Low = 0, High = 1;
  while (In >> Rest) {
    if (Rest.rfind("low=", 0) == 0)
      Low = std::atof(Rest.c_str() + 4);
    if (Rest.rfind("high=", 0) == 0)
      High = std::atof(Rest.c_str() + 5);
  }
  std::vector<uint8_t> Bytes(Size);
  std::mt19937 Random(7);
  auto Fill = [&](auto Zero) {
    using T = decltype(Zero);
    auto *At = reinterpret_cast<T *>(Bytes.data());
    size_t N = Size / sizeof(T);
    if (Way == "permutation") {
      for (size_t I = 0; I < N; ++I)
        At[I] = T(I);
      std::shuffle(At, At + N, Random);
      return;
    }
    bool Whole = std::is_integral_v<T> && High <= 1;
    for (size_t I = 0; I < N; ++I)
      At[I] = Way == "iota"      ? T(I)
              : Way != "uniform" ? T(0)
              : Whole            ? T(Random())
                                 : T(Low + (High - Low) * (Random() * 0x1p-32));
  };
  if (Type == "f32")
    Fill(0.0f);
  else if (Type == "f64")
    Fill(0.0);
  else if (Type == "i32")
    Fill(int32_t(0));
  else if (Type == "u32")
    Fill(uint32_t(0));
  else if (Type == "u8")
    Fill(uint8_t(0));
  else if (Type == "f16") // Between 1 and 2.
    for (size_t I = 0; I + 1 < Size; I += 2) {
      Bytes[I] = uint8_t(Random());
      Bytes[I + 1] = 0x3c | (Random() & 3);
    }
  return Bytes;
}

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
    Counters = RangeProfiler::open("", WhyNot);
    if (!Counters)
      std::printf("no counters: %s\n", WhyNot.c_str());
  }
  json run(const std::filesystem::path &File);

private:
  void launch(const Variant &V);
  double once(const Variant &V);
  json profile(const Variant &V);

  CUdeviceptr Flush = 0;
  CUevent Start = nullptr, Stop = nullptr;
  std::vector<std::vector<uint8_t>> Args;
  std::unique_ptr<RangeProfiler> Counters;
  std::string WhyNot;
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
    std::vector<uint8_t> Bytes = content(B["content"], B["size"]);
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
  for (const Variant &V : Variants)
    Result["variants"].push_back({{"genome", V.Genome},
                                  {"microseconds", quantile(V.Times, 0.5)},
                                  {"low", quantile(V.Times, 0.1)},
                                  {"high", quantile(V.Times, 0.9)}});
  if (K["class"] != "")
    Result["profile"] = profile(Variants.front());
  for (Variant &V : Variants)
    cuModuleUnload(V.Module);
  for (CUdeviceptr P : Buffers)
    cuMemFree(P);
  return Result;
}

int main(int Argc, char **Argv) {
  if (Argc != 3) {
    std::fprintf(stderr, "usage: calibration-time FOLDER OUT.json\n");
    return 2;
  }
  try {
    Bench B;
    std::vector<std::filesystem::path> Files;
    for (const auto &Entry : std::filesystem::directory_iterator(Argv[1]))
      if (Entry.path().extension() == ".json")
        Files.push_back(Entry.path());
    std::sort(Files.begin(), Files.end());
    json All = json::array();
    for (const auto &File : Files)
      try {
        All.push_back(B.run(File));
        std::printf("%s: %zu variants, original %.2f us\n", File.stem().c_str(),
                    All.back()["variants"].size(),
                    All.back()["variants"][0]["microseconds"].get<double>());
        std::fflush(stdout);
      } catch (const std::exception &E) {
        std::printf("%s: %s\n", File.stem().c_str(), E.what());
        All.push_back({{"name", File.stem().string()}, {"error", E.what()}});
      }
    std::ofstream(Argv[2]) << All.dump(1) << "\n";
  } catch (const std::exception &E) {
    std::fprintf(stderr, "calibration-time: %s\n", E.what());
    return 3;
  }
  return 0;
}
