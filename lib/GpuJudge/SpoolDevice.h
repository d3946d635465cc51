//===- SpoolDevice.h - Batches in folders -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_GPUJUDGE_SPOOLDEVICE_H
#define CUPILOT_LIB_GPUJUDGE_SPOOLDEVICE_H

#include "cupilot/GpuJudge/GpuDevice.h"

namespace cupilot {

/// A folder of batches that others evaluate.
class SpoolDevice : public GpuDevice {
public:
  explicit SpoolDevice(std::string Root) : Root(std::move(Root)) {}
  std::string folder(const GpuBatch &B) const override;
  llvm::Expected<std::optional<GpuResults>>
  evaluate(const GpuBatch &B) override;
  bool worksByItself() const override { return false; }
  std::string waiting(const GpuBatch &B) const override;

protected:
  std::string Root;
};

/// The folder of batches in the machine cache.
llvm::Expected<std::string> batchRoot();

} // namespace cupilot

#endif // CUPILOT_LIB_GPUJUDGE_SPOOLDEVICE_H
