//===- Parcel.h - Messages between processes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_PARCEL_H
#define CUPILOT_SUPPORT_PARCEL_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace cupilot {

/// A message: any bytes, since texts and bitcode are.
using Parcel = std::vector<std::string>;

/// False when the other end is gone.
bool sendParcel(int FD, const Parcel &P);

enum class ParcelEnd { Whole, Closed, Late };
/// Waits \p Seconds at most for the next bytes; 0 is for ever.
ParcelEnd receiveParcel(int FD, Parcel &P, unsigned Seconds);

/// Adds a list, with its length.
void addList(Parcel &P, const std::vector<std::string> &List);

/// Takes a parcel apart, in the order in which it was made.
class ParcelReader {
public:
  explicit ParcelReader(const Parcel &P) : P(P) {}
  std::string text() {
    if (At < P.size())
      return P[At++];
    Broken = true;
    return "";
  }
  uint64_t number() {
    uint64_t Number = 0;
    Broken |= llvm::StringRef(text()).getAsInteger(10, Number);
    return Number;
  }
  std::vector<std::string> list() {
    std::vector<std::string> All(std::min<uint64_t>(number(), P.size()));
    for (std::string &Each : All)
      Each = text();
    return All;
  }
  /// Whether all was there, and nothing is left.
  bool isGood() const { return !Broken && At == P.size(); }

private:
  const Parcel &P;
  size_t At = 0;
  bool Broken = false;
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_PARCEL_H
