# Finds what cuPilot stands on. One LLVM major is supported; it is checked here
# and once more when the plugin is loaded.
set(CUPILOT_LLVM_MAJOR 22)

# Debian keeps each LLVM under its own prefix.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-${CUPILOT_LLVM_MAJOR})
find_package(MLIR CONFIG QUIET)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR ${CUPILOT_LLVM_MAJOR} was not found. On Debian: "
    "./build.sh deps, or apt-get install libmlir-22-dev mlir-22-tools llvm-22-dev "
    "llvm-22-tools libclang-22-dev libclang-cpp22-dev clang-22 clang-tools-22; "
    "elsewhere: -DCMAKE_PREFIX_PATH=<prefix of LLVM 22>.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL CUPILOT_LLVM_MAJOR)
  message(FATAL_ERROR "cuPilot needs LLVM ${CUPILOT_LLVM_MAJOR}, found "
    "${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}. Point CMAKE_PREFIX_PATH at LLVM "
    "${CUPILOT_LLVM_MAJOR} (on Debian /usr/lib/llvm-22).")
endif()
find_package(Clang CONFIG REQUIRED)
# The table of clang's options alone: what needs no more of clang starts faster.
set(CUPILOT_CLANG_OPTIONS $<TARGET_FILE:clangOptions>)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
# The archives, where there are some: recording runs on machines without packages.
find_library(CUPILOT_ZSTD NAMES libzstd.a zstd REQUIRED)
# The fat binaries of nvcc before 13.
find_library(CUPILOT_LZ4 NAMES liblz4.a lz4 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
find_program(LLVM_TABLEGEN_EXE llvm-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# MLIR is linked as the one shared library that Debian's mlir-opt is linked to.
set(MLIR_LINK_MLIR_DYLIB ON)

# The CUDA toolkit is found when tools run, so that one build serves several. Of
# what is found here the host run time needs the headers, and tests the rest.
set(CUPILOT_CUDA_PATH "" CACHE PATH "CUDA toolkit that tools use unless told otherwise")
if(NOT CUPILOT_CUDA_PATH)
  foreach(candidate $ENV{CUDA_PATH} $ENV{CUDA_HOME} /usr/local/cuda ${PROJECT_SOURCE_DIR}/.deps/cuda)
    if(EXISTS ${candidate}/include/cuda_runtime.h AND EXISTS ${candidate}/nvvm/libdevice)
      set(CUPILOT_CUDA_PATH ${candidate} CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
# That toolkit's, before another one on the path.
if(CUPILOT_CUDA_PATH)
  find_program(CUPILOT_NVCC nvcc PATHS ${CUPILOT_CUDA_PATH}/bin NO_DEFAULT_PATH)
endif()
find_program(CUPILOT_NVCC nvcc)
set(CUPILOT_CUDART_VERSION 0)
if(CUPILOT_CUDA_PATH)
  file(STRINGS ${CUPILOT_CUDA_PATH}/include/cuda_runtime_api.h CUPILOT_CUDART_VERSION
    REGEX "^#define CUDART_VERSION")
  string(REGEX MATCH "[0-9]+" CUPILOT_CUDART_VERSION "${CUPILOT_CUDART_VERSION}")
  message(STATUS "CUDA toolkit in ${CUPILOT_CUDA_PATH}")
else()
  message(FATAL_ERROR "No CUDA toolkit was found. What programs run at a launch is "
    "compiled with CUDA's own headers (cuda_runtime_api.h, from 11.8 on). Install a "
    "toolkit, or name one with -DCUPILOT_CUDA_PATH=<folder with include/>; "
    "./build.sh --cuda=debian installs Debian's.")
endif()
