//===- DriverApiTest.cpp - The driver's interface as we declare it -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverApi.h"
#include "gtest/gtest.h"
#include <string>

#if __has_include(<cuda.h>)
#include <cuda.h>

using namespace cupilot::runner;

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, Bytes) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, Shared) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, Stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, Attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, AttributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(EncodedTensorMap) == sizeof(CUtensorMap));
static_assert(sizeof(DeviceAddress) == sizeof(CUdeviceptr));

TEST(DriverApi, NumbersAreThoseOfTheHeader) {
  EXPECT_EQ(int(DriverStatus::OutOfMemory), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(int(DriverStatus::NoDevice), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(int(DriverStatus::StubLibrary), CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(int(DriverStatus::InvalidImage), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(int(DriverStatus::NoBinary), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(int(DriverStatus::InvalidPtx), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(int(DriverStatus::NoJit), CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  EXPECT_EQ(int(DriverStatus::UnsupportedPtx),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(int(DriverStatus::NotFound), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(int(DriverStatus::IllegalAddress), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(int(DriverStatus::OutOfResources),
            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(int(DriverStatus::LaunchTimeout), CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(int(DriverStatus::Assert), CUDA_ERROR_ASSERT);
  EXPECT_EQ(int(DriverStatus::StackError), CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(int(DriverStatus::IllegalInstruction),
            CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(int(DriverStatus::MisalignedAddress),
            CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(int(DriverStatus::InvalidAddressSpace),
            CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(int(DriverStatus::InvalidPc), CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(int(DriverStatus::LaunchFailed), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(int(DriverStatus::CooperativeTooLarge),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(int(DriverStatus::InvalidClusterSize),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(int(DeviceAttribute::Multiprocessors),
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(int(DeviceAttribute::L2Bytes), CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(int(DeviceAttribute::MajorCapability),
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(int(DeviceAttribute::SharedPerBlockOptin),
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(MaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(LaunchAttribute::Cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  EXPECT_EQ(LaunchAttribute::ClusterDimension,
            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
}

// The suffixes that the current versions of functions have.
TEST(DriverApi, NamesAreTheHeaders) {
  std::string Names;
#define CUPILOT_NAME(Member, Name, Params) Names += std::string(Name) + " ";
  CUPILOT_DRIVER_FUNCTIONS(CUPILOT_NAME)
  CUPILOT_DRIVER_NEWER_FUNCTIONS(CUPILOT_NAME)
#undef CUPILOT_NAME
#define CUPILOT_STRING2(X) #X
#define CUPILOT_STRING(X) CUPILOT_STRING2(X)
  // The header's macros tell which version of a function is current.
  for (const char *Name :
       {CUPILOT_STRING(cuMemGetInfo), CUPILOT_STRING(cuMemAlloc),
        CUPILOT_STRING(cuMemFree), CUPILOT_STRING(cuMemcpyHtoD),
        CUPILOT_STRING(cuMemcpyDtoH), CUPILOT_STRING(cuMemcpyDtoDAsync),
        CUPILOT_STRING(cuModuleGetGlobal), CUPILOT_STRING(cuDeviceGetUuid),
        CUPILOT_STRING(cuMemsetD16Async), CUPILOT_STRING(cuLaunchKernelEx)})
    EXPECT_NE(Names.find(std::string(Name) + " "), std::string::npos) << Name;
}
#endif
