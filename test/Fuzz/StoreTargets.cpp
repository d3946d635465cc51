//===- StoreTargets.cpp - Readers of the store's text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Store/ProjectStore.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot::fuzz {

/// Evaluates plan, guard and domain for a launch, as the gate does, and says
/// them.
static void evaluateAll(const LaunchPlan &Plan, const Guard &When,
                        const std::optional<Domain> &Where,
                        const LaunchNames &Names) {
  LaunchShape Shape;
  Shape.Grid = {7, 3, 1};
  Shape.Block = {128, 2, 1};
  Shape.Shared = 1024;
  std::vector<std::vector<uint8_t>> Args(8, std::vector<uint8_t>(16, 0x41));
  Expected<Bindings> B = bindLaunch(Shape, Names.Scalars, Args);
  if (!B)
    return consumeError(B.takeError());
  admits(When, *B, Args);
  guardText(When, Names);
  if (Where) {
    require(contains(*Where, *B, Args) !=
                clauseOutside(*Where, *B, Args).has_value(),
            "a launch is inside of a domain, or a clause keeps it out");
    domainText(*Where, Names);
  }
  for (const Launch &L : Plan.Launches)
    planShape(L, *B);
}

static std::string render(const BuildRecord &R) {
  return formatv("{0:2}", toJSON(R)).str();
}

void runRecord(StringRef Bytes) {
  Expected<BuildRecord> R = parseBuildRecord(Bytes, "input.json");
  if (!R)
    return consumeError(R.takeError());
  for (const BuildVariant &V : R->Variants)
    evaluateAll(V.Plan, V.When, V.Where, R->names());
  std::string Text = render(*R);
  Expected<BuildRecord> Again = parseBuildRecord(Text, "again.json");
  if (!Again)
    consumeError(Again.takeError());
  require(bool(Again), "a record that was written is not read again");
  require(render(*Again) == Text, "a record reads as another one");
}

void runModule(StringRef Bytes) {
  mlir::MLIRContext C(mlir::MLIRContext::Threading::DISABLED);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M =
      parseModule(C, Bytes, "input.mlir");
  if (!M)
    return consumeError(M.takeError());
  (*M)->walk([](WorkloadOp Op) { toWorkload(Op); });
  strategiesOf((*M).get());
  for (KernelOp Op : (*M)->getOps<KernelOp>()) {
    StoredKernel S;
    S.K = toKernel(Op);
    S.Builds = buildsOf(Op);
    for (VariantOp V : Op.getBody().getOps<VariantOp>()) {
      S.Variants.push_back(toVariant(V));
      const Variant &Read = S.Variants.back();
      if (Read.Plan && Read.When)
        evaluateAll(*Read.Plan, *Read.When, Read.Where, launchNames(S.K));
    }
    // What the module says of a build must be a record that builds can read.
    for (const BuildRecord &R : buildRecords(S))
      runRecord(render(R));
  }
}

void runCounts(StringRef Bytes) {
  Expected<GateCounts> C = parseGateCounts(Bytes, "input.txt");
  if (!C)
    consumeError(C.takeError());
}

} // namespace cupilot::fuzz
