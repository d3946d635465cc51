//===- LoadedProgram.cpp - A program on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedProgram.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Runner/Files.h"
#include <cstring>

namespace cupilot::runner {

LoadedProgram::LoadedProgram(const Gpu &G, const Program &P, const Case &C,
                             const ImageFiles &Images,
                             const std::vector<std::string> &VariableFiles,
                             bool Bare)
    : G(G), P(P), C(C) {
  loadModules(Images);
  for (const KernelLaunch &L : P.Launches)
    findFunction(L, Bare);
  findVariables(VariableFiles);
  for (uint64_t Bytes : P.Scratch)
    Scratch.push_back(std::make_unique<BandedMemory>(G, Bytes, 256, 0, Bare));
}

LoadedProgram::~LoadedProgram() {
  for (auto &[Digest, Module] : Modules)
    G.api().ModuleUnload(Module);
}

void LoadedProgram::loadModules(const ImageFiles &Images) {
  for (const KernelLaunch &L : P.Launches) {
    if (Modules.count(L.Image))
      continue;
    MappedFile Image(Images.at(L.Image));
    Modules[L.Image] = G.loadModule(Image.bytes());
  }
}

void LoadedProgram::findFunction(const KernelLaunch &L, bool Bare) {
  Handle F = G.function(Modules[L.Image], L.Symbol);
  // The driver reads as many bytes as the kernel has parameters: arguments of
  // another kernel must not reach it. (compute-sanitizer would report the
  // question for one parameter too many.)
  if (G.api().ParameterInfo && !Bare) {
    size_t Offset = 0, Size = 0;
    auto Sizes = [&](size_t I) {
      return G.api().ParameterInfo(F, I, &Offset, &Size) ==
             DriverStatus::Success;
    };
    for (size_t I = 0; I < L.Args.size(); ++I)
      if (!Sizes(I) || Size != L.Args[I].size())
        throw Failure(FailureKind::ArgumentsMismatch,
                      "parameter " + std::to_string(I) + " of '" + L.Symbol +
                          "' does not have the " +
                          std::to_string(L.Args[I].size()) +
                          " bytes of its argument");
    if (Sizes(L.Args.size()))
      throw Failure(FailureKind::ArgumentsMismatch,
                    "'" + L.Symbol + "' has more than " +
                        std::to_string(L.Args.size()) + " parameters");
  }
  if (L.Shared > UnrequestedShared)
    G.check(G.api().FunctionSet(F, MaxDynamicShared, int(L.Shared)),
            "giving '" + L.Symbol + "' " + std::to_string(L.Shared) +
                " bytes of shared memory");
  Functions.push_back(F);
}

void LoadedProgram::findVariables(const std::vector<std::string> &Files) {
  for (size_t I = 0; I < C.Variables.size(); ++I) {
    const Variable &V = C.Variables[I];
    FoundVariable Found;
    for (auto &[Digest, Module] : Modules) {
      size_t Size = 0;
      DriverStatus Status =
          G.api().ModuleGlobal(&Found.At, &Size, Module, V.Symbol.c_str());
      if (Status == DriverStatus::NotFound) {
        Found.At = 0;
        continue;
      }
      G.check(Status, "looking for the variable '" + V.Symbol + "'");
      if (Size != V.Value.Size)
        throw Failure(FailureKind::ArgumentsMismatch,
                      "the variable '" + V.Symbol + "' has a different size");
      break;
    }
    if (Found.At && !Files.at(I).empty()) {
      MappedFile Content(Files[I]);
      Found.Pristine = std::make_unique<BandedMemory>(G, V.Value.Size, 256, 0);
      G.synchronize("making room for device variables");
      G.check(G.api().CopyIn(Found.Pristine->begin(), Content.bytes().data(),
                             V.Value.Size),
              "copying device variables");
    }
    Variables.push_back(std::move(Found));
  }
}

BoundProgram LoadedProgram::bind(const DeviceCase &On) const {
  BoundProgram Bound;
  Bound.Launches.resize(P.Launches.size());
  for (size_t I = 0; I < P.Launches.size(); ++I) {
    const KernelLaunch &L = P.Launches[I];
    BoundProgram::Arguments &A = Bound.Launches[I];
    for (const std::vector<uint8_t> &Bytes : L.Args) {
      A.Words.emplace_back((Bytes.size() + 7) / 8 + 1);
      if (!Bytes.empty())
        std::memcpy(A.Words.back().data(), Bytes.data(), Bytes.size());
    }
    for (const Patch &Q : L.Patches) {
      DeviceAddress To =
          (Q.Scratch ? Scratch[Q.Index]->begin() : On.address(Q.Index)) + Q.At;
      std::memcpy(reinterpret_cast<uint8_t *>(A.Words[Q.Arg].data()) + Q.Offset,
                  &To, sizeof(To));
    }
    for (std::vector<uint64_t> &Words : A.Words)
      A.Pointers.push_back(Words.data());
    A.Maps.resize(L.Maps.size());
    for (size_t M = 0; M < L.Maps.size(); ++M) {
      const MapArgument &Q = L.Maps[M];
      if (!G.api().EncodeTensorMap)
        throw Failure(FailureKind::NoTensorMaps,
                      "the driver does not support tensor maps");
      G.check(G.api().EncodeTensorMap(
                  &A.Maps[M], int(Q.Type), unsigned(Q.Extents.size()),
                  reinterpret_cast<void *>(On.address(Q.Buffer) + Q.At),
                  Q.Extents.data(), Q.Strides.data(), Q.Box.data(),
                  Q.Steps.data(), /*Interleave=*/0, int(Q.Swizzle),
                  int(Q.Promotion), Q.FillNan),
              "making a tensor map for '" + L.Symbol + "'");
      A.Pointers[Q.Arg] = &A.Maps[M];
    }
  }
  return Bound;
}

void LoadedProgram::restoreVariables() const {
  for (size_t I = 0; I < Variables.size(); ++I)
    if (Variables[I].Pristine)
      G.check(G.api().CopyAsync(Variables[I].At, Variables[I].Pristine->begin(),
                                C.Variables[I].Value.Size, G.stream()),
              "setting device variables");
}

void LoadedProgram::restore() const {
  restoreVariables();
  for (const auto &Memory : Scratch)
    Memory->poison();
}

void LoadedProgram::launch(const BoundProgram &Bound) const {
  for (size_t I = 0; I < P.Launches.size(); ++I) {
    const KernelLaunch &L = P.Launches[I];
    auto **Arguments = const_cast<void **>(Bound.Launches[I].Pointers.data());
    std::string Doing = "launching '" + L.Symbol + "'";
    bool Cluster = L.Cluster[0] != 0;
    if (!Cluster && !L.Cooperative) {
      G.check(G.api().Launch(Functions[I], unsigned(L.Grid[0]),
                             unsigned(L.Grid[1]), unsigned(L.Grid[2]),
                             unsigned(L.Block[0]), unsigned(L.Block[1]),
                             unsigned(L.Block[2]), unsigned(L.Shared),
                             G.stream(), Arguments, nullptr),
              Doing);
      continue;
    }
    if (!G.api().LaunchExtended)
      throw Failure(FailureKind::LaunchFailed,
                    "the driver is too old for clusters and "
                    "cooperative launches");
    LaunchAttribute Attributes[2] = {};
    unsigned Count = 0;
    if (Cluster) {
      Attributes[Count].Id = LaunchAttribute::ClusterDimension;
      Attributes[Count++].Cluster = {unsigned(L.Cluster[0]),
                                     unsigned(L.Cluster[1]),
                                     unsigned(L.Cluster[2])};
    }
    if (L.Cooperative) {
      Attributes[Count].Id = LaunchAttribute::Cooperative;
      Attributes[Count++].Cooperates = 1;
    }
    LaunchConfig Config{unsigned(L.Grid[0]),  unsigned(L.Grid[1]),
                        unsigned(L.Grid[2]),  unsigned(L.Block[0]),
                        unsigned(L.Block[1]), unsigned(L.Block[2]),
                        unsigned(L.Shared),   G.stream(),
                        Attributes,           Count};
    G.check(G.api().LaunchExtended(&Config, Functions[I], Arguments, nullptr),
            Doing);
  }
}

std::optional<std::string> LoadedProgram::variable(size_t I) const {
  if (!Variables[I].At)
    return std::nullopt;
  std::string Bytes(C.Variables[I].Value.Size, 0);
  G.check(G.api().CopyOut(Bytes.data(), Variables[I].At, Bytes.size()),
          "reading a device variable");
  return Bytes;
}

uint64_t LoadedProgram::strayBytes() const {
  uint64_t Count = 0;
  for (const auto &Memory : Scratch) {
    auto [Before, After] = Memory->strayBytes();
    Count += Before + After;
  }
  return Count;
}

} // namespace cupilot::runner
