//===- RecordedRanges.cpp - Magnitudes in recorded launches ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/RecordedRanges.h"
#include "cupilot/Capture/Pointees.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace cupilot {

Expected<std::vector<RecordedBuffer>> recordedBuffers(ArrayRef<Workload> All,
                                                      StringRef Folder) {
  std::vector<RecordedBuffer> Result;
  for (const Workload &W : All) {
    std::vector<std::optional<capture::Pointee>> Types =
        capture::pointeesOf(W.Symbol);
    for (const WorkloadPointer &P : W.Pointers) {
      if (P.Offset != 0 || P.Param >= Types.size() || !Types[P.Param] ||
          !isFloating(Types[P.Param]->Numbers))
        continue;
      const Layout L{sizeOf(Types[P.Param]->Numbers),
                     {{0, *elementOf(wordOf(Types[P.Param]->Numbers))}}};
      const WorkloadBuffer &B = W.Buffers[P.Buffer];
      if (B.File.empty())
        continue;
      Expected<std::string> Text = readFile((Folder + "/" + B.File).str());
      if (!Text)
        return Text.takeError();
      StringRef From = StringRef(*Text).drop_front(
          std::min<uint64_t>(P.BufferOffset, Text->size()));
      if (std::optional<Magnitudes> Held =
              magnitudesOf(arrayRefFromStringRef<uint8_t>(From), L))
        Result.push_back(
            {W.Name, W.Symbol, P.Param, Types[P.Param]->Const, *Held});
    }
  }
  return Result;
}

static std::string between(double Low, double High) {
  std::string Text;
  raw_string_ostream(Text) << format("%.4g to %.4g", Low, High);
  return Text;
}

std::vector<std::string> describeMagnitudes(ArrayRef<RecordedBuffer> Buffers) {
  std::map<std::pair<std::string, unsigned>, Magnitudes> All;
  for (const RecordedBuffer &B : Buffers) {
    auto [At, New] = All.insert({{B.Symbol, B.Param}, B.Held});
    if (New)
      continue;
    At->second.Least = std::min(At->second.Least, B.Held.Least);
    At->second.Largest = std::max(At->second.Largest, B.Held.Largest);
  }
  std::vector<std::string> Lines;
  for (const auto &[Place, Held] : All)
    Lines.push_back(demangle(withoutUnitName(Place.first)) + ": parameter " +
                    std::to_string(Place.second) + ": magnitudes " +
                    between(Held.Least, Held.Largest));
  return Lines;
}

Expected<std::vector<RangePromise>> readPromises(StringRef Text) {
  std::vector<RangePromise> Promises;
  if (sys::fs::is_directory(Text)) {
    Expected<ProjectStore> Store = ProjectStore::open(Text);
    if (!Store)
      return Store.takeError();
    Expected<std::vector<StoredKernel>> Kernels = Store->kernels();
    if (!Kernels)
      return Kernels.takeError();
    for (const StoredKernel &S : *Kernels) {
      if (S.K.Contract.Ranges.empty())
        continue;
      RangePromise P{S.K.Symbol, {}, S.K.Contract};
      for (const KernelParam &Param : S.K.Params)
        P.ParamNames.push_back(Param.Name);
      Promises.push_back(std::move(P));
    }
    if (Promises.empty())
      return usageError("no kernel of the store '" + Text +
                            "' has a contract with a range",
                        "name a contract, such as 'relaxed(0.004, "
                        "range=0.001..10000)'");
    return Promises;
  }
  Expected<PrecisionContract> C = parseContract(Text);
  if (!C)
    return C.takeError();
  if (C->Ranges.empty())
    return usageError("the contract '" + Text + "' has no range to check",
                      "name one, such as 'relaxed(0.004, "
                      "range=0.001..10000)'");
  for (const MagnitudeRange &R : C->Ranges)
    if (!R.Buffer.empty())
      return usageError("a recording does not have the names of parameters, "
                        "such as '" +
                            R.Buffer + "'",
                        "name the folder of a store, whose kernels have them");
  Promises.push_back({"", {}, std::move(*C)});
  return Promises;
}

std::vector<std::string> findBroken(ArrayRef<RecordedBuffer> Buffers,
                                    ArrayRef<RangePromise> Promises) {
  std::vector<std::string> Lines;
  for (const RecordedBuffer &B : Buffers)
    for (const RangePromise &P : Promises) {
      if (!P.Symbol.empty() && P.Symbol != B.Symbol)
        continue;
      StringRef Name = B.Param < P.ParamNames.size()
                           ? StringRef(P.ParamNames[B.Param])
                           : StringRef();
      const MagnitudeRange *R = P.Contract.rangeOf(Name);
      if (!R || (R->Buffer.empty() && !B.ReadOnly) ||
          (R->Low <= B.Held.Largest && B.Held.Largest <= R->High))
        continue;
      std::string Largest;
      raw_string_ostream(Largest) << format("%.4g", B.Held.Largest);
      Lines.push_back(B.Workload + ": " + demangle(withoutUnitName(B.Symbol)) +
                      ", parameter " + std::to_string(B.Param) +
                      (Name.empty() ? "" : " (" + Name.str() + ")") +
                      ": the largest magnitude is " + Largest + ", not in " +
                      between(R->Low, R->High));
    }
  return Lines;
}

} // namespace cupilot
