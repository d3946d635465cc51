//===- Submit.cpp - A variant that somebody hands in ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Submit.h"
#include "KernelSearch.h"

using namespace llvm;

namespace cupilot {

Expected<Submission> submitVariant(EvolveRequest R, const WorkloadSet &Recorded,
                                   SearchItem &Item, const SubmittedVariant &S,
                                   raw_ostream &Log) {
  R.Submitted = &S;
  R.Models.reset();
  R.Like.clear();
  R.FromStore = false;
  R.Size = {1, 1, false};
  R.Resume = true;
  R.Verbose = true;
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(R.Store);
  if (!Store)
    return Store.takeError();
  Expected<Journal> J = Journal::open(Journal::pathIn(R.Store));
  if (!J)
    return J.takeError();
  KernelSearches Search(R, R.Store, Recorded, std::move(*Store), std::move(*J),
                        nullptr, nulls(), Log);
  Submission Result;
  Result.Row = Item.Row;
  if (Error E = Search.evolveKernel(*Item.Unit, Item.Others, *Item.K,
                                    Result.Row, std::nullopt))
    return std::move(E);
  if (!Search.Judged.empty())
    Result.Judged = Search.Judged.front();
  Result.IsKept = Search.Accepted > 0;
  return Result;
}

} // namespace cupilot
