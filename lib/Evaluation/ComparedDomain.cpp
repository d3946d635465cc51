//===- ComparedDomain.cpp - Domains as far as a GPU saw -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindDomain.h"

using namespace llvm;

namespace cupilot {

static Expected<TriedLaunch> triedOnGpu(const Kernel &K, const LargeLaunch &L,
                                        const ComparedLaunch &Said) {
  TriedLaunch T;
  T.Case = L.Case;
  T.Args = placedArguments(L.Launch);
  Expected<Bindings> B = bindLaunch(L.Launch.Shape, K.Scalars, T.Args);
  if (!B)
    return B.takeError();
  T.B = std::move(*B);
  if (!Said.Right) {
    T.Wrong = GateReason::Mismatch;
    T.Evidence = Said.Evidence;
  }
  return T;
}

static Domain derive(const DomainBasis &Basis, ArrayRef<TriedLaunch> Tried) {
  std::vector<DomainEnd> Ends;
  Domain D = deriveDomain(Basis.Frame, Tried, Ends);
  boundNarrowings(Basis.Narrowings, Tried, D);
  return D;
}

/// Whether launches in \p D may run code that no launch here ran.
static bool opensCode(const DomainBasis &Basis, const Domain &D) {
  return any_of(Basis.Missing, [&](const MissingSide &M) {
    return isReason(M) && any_of(D.Boxes, [&](const DomainBox &Box) {
             return !Basis.Taken.cannotHappenIn(M, Box);
           });
  });
}

bool wasWrongIn(const GateVerdict &V, const DomainBox &Box) {
  return V.Basis && any_of(V.Basis->Tried, [&](const TriedLaunch &L) {
           return L.Wrong && *L.Wrong != GateReason::Untested &&
                  contains(Box, L.B, L.Args);
         });
}

Expected<std::optional<Domain>> withCompared(const GateVerdict &V,
                                             ArrayRef<LargeLaunch> Asked,
                                             ArrayRef<ComparedLaunch> All) {
  if (!V.Basis)
    return V.Where;
  const DomainBasis &Basis = *V.Basis;
  std::vector<TriedLaunch> Tried = Basis.Tried, Right;
  for (const ComparedLaunch &Said : All) {
    const auto *L = find_if(Asked, [&](const LargeLaunch &Each) {
      return Each.Launch.Name == Said.Launch;
    });
    if (L == Asked.end())
      continue;
    Expected<TriedLaunch> T = triedOnGpu(*Basis.Frame.K, *L, Said);
    if (!T)
      return T.takeError();
    (Said.Right ? Right : Tried).push_back(std::move(*T));
  }
  Domain Proved = V.Where.value_or(Domain());
  if (Tried.size() != Basis.Tried.size())
    Proved = derive(Basis, Tried);
  Domain Compared;
  for (TriedLaunch &T : Right) {
    Tried.push_back(std::move(T));
    Domain Wider = derive(Basis, Tried);
    if (opensCode(Basis, Wider))
      Tried.pop_back();
    else
      Compared = std::move(Wider);
  }
  erase_if(Compared.Boxes, [&](const DomainBox &Box) {
    return is_contained(Proved.Boxes, Box);
  });
  for (DomainBox &Box : Compared.Boxes)
    Box.Seen = DomainBox::By::Gpu;
  Domain D = unite(std::move(Proved), Compared);
  if (D.Boxes.empty())
    return std::nullopt;
  return D;
}

} // namespace cupilot
