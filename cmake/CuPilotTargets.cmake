# Thin wrappers, so that the leaf CMakeLists.txt files are a few lines each.
add_library(cupilotFlags INTERFACE)
target_compile_options(cupilotFlags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter)
# Generated headers are not ours to tidy.
target_include_directories(cupilotFlags SYSTEM INTERFACE
  ${PROJECT_BINARY_DIR}/include ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
target_compile_definitions(cupilotFlags INTERFACE
  _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
set(CUPILOT_SANITIZE "" CACHE STRING "Value for -fsanitize=")
if(CUPILOT_SANITIZE)
  # Shared, because plugins are loaded into programs without it; tests preload it.
  # vptr: LLVM's own classes have no type information in all their parts.
  set(sanitize -fsanitize=${CUPILOT_SANITIZE} -fno-sanitize=vptr -shared-libsan)
  target_compile_options(cupilotFlags INTERFACE ${sanitize} -fno-omit-frame-pointer)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
    OUTPUT_VARIABLE asan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(asan_folder ${asan_runtime} DIRECTORY)
  target_link_options(cupilotFlags INTERFACE ${sanitize} -Wl,-rpath,${asan_folder})
endif()
target_link_options(cupilotFlags INTERFACE -fuse-ld=lld)
# A build for libFuzzer alone: the target cupilot-fuzz and what it links.
option(CUPILOT_FUZZ "Instrument the libraries for libFuzzer and AddressSanitizer" OFF)
if(CUPILOT_FUZZ)
  target_compile_options(cupilotFlags INTERFACE
    -fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer -gline-tables-only
    -ffunction-sections)
endif()

# What most sources include of LLVM and Clang is parsed once. It saves half of
# the build; every source still includes what it uses.
option(CUPILOT_PRECOMPILE "Use a precompiled header of LLVM's and Clang's headers" ON)
if(CUPILOT_FUZZ)
  set(CUPILOT_PRECOMPILE OFF)
endif()
if(CUPILOT_PRECOMPILE)
  # Caches of compilers compare contents, not times.
  function(cupilot_add_precompiled name)
    add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
    target_link_libraries(${name} PRIVATE cupilotFlags)
    target_precompile_headers(${name} PRIVATE ${ARGN}
      <clang/AST/RecursiveASTVisitor.h>
      <clang/Frontend/CompilerInstance.h>
      <clang/Lex/Preprocessor.h>
      <clang/Tooling/Tooling.h>
      <llvm/ADT/STLExtras.h>
      <llvm/ADT/StringExtras.h>
      <llvm/ADT/StringSet.h>
      <llvm/ADT/StringSwitch.h>
      <llvm/Bitcode/BitcodeReader.h>
      <llvm/IR/IRBuilder.h>
      <llvm/IR/InstIterator.h>
      <llvm/IR/IntrinsicInst.h>
      <llvm/IR/IntrinsicsNVPTX.h>
      <llvm/IR/Module.h>
      <llvm/IR/PassManager.h>
      <llvm/Support/CommandLine.h>
      <llvm/Support/Error.h>
      <llvm/Support/FileSystem.h>
      <llvm/Support/FormatVariadic.h>
      <llvm/Support/JSON.h>
      <llvm/Support/MemoryBuffer.h>
      <llvm/Support/Path.h>
      <llvm/Support/raw_ostream.h>
      <array>
      <map>
      <optional>
      <set>
      <string>
      <vector>)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endfunction()
  cupilot_add_precompiled(cupilotPrecompiled)
  # Tests are compiled once and run once: the optimizer would take most of it.
  cupilot_add_precompiled(cupilotPrecompiledTests <gtest/gtest.h>)
  target_link_libraries(cupilotPrecompiledTests PRIVATE GTest::gtest)
  target_compile_options(cupilotPrecompiledTests PRIVATE -O0)
endif()

# Adds the precompiled header header to a target that links LLVM, itself or by
# a library of ours.
function(cupilot_precompile name header)
  set(uses OFF)
  foreach(library ${ARGN})
    if(library MATCHES "^(LLVM|MLIR|clang-cpp)$")
      set(uses ON)
    elseif(TARGET ${library})
      get_target_property(reused ${library} PRECOMPILE_HEADERS_REUSE_FROM)
      if(reused)
        set(uses ON)
      endif()
    endif()
  endforeach()
  if(CUPILOT_PRECOMPILE AND uses)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>)
    target_precompile_headers(${name} REUSE_FROM ${header})
    # Programs would be compiled with -fPIE, which the header is not.
    get_target_property(type ${name} TYPE)
    if(type STREQUAL EXECUTABLE)
      target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)
    endif()
  endif()
endfunction()

# A target sees the public headers of its own folder of lib, and of the folders
# of the targets that it links: include/cupilot/X is reached through a link in a
# folder of its own. A header of a part that is not linked is not found.
function(cupilot_include_folder name)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/lib ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX MATCH "^[A-Za-z]+" part "${path}")
  if(part AND EXISTS ${PROJECT_SOURCE_DIR}/include/cupilot/${part})
    set(folder ${PROJECT_BINARY_DIR}/headers/${part})
    file(MAKE_DIRECTORY ${folder}/cupilot)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/cupilot/${part} ${folder}/cupilot/${part} SYMBOLIC)
    target_include_directories(${name} PUBLIC ${folder})
  endif()
endfunction()

# cupilot_add_library(<name> SOURCES ... [LINK ...] [DEPENDS ...])
# A static, position independent library; the plugins are made of these too.
function(cupilot_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  if(CUPILOT_FUZZ) # The fuzzer links the static ones.
    list(REMOVE_ITEM ARG_LINK LLVM MLIR clang-cpp)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC cupilotFlags ${ARG_LINK})
  cupilot_include_folder(${name})
  cupilot_precompile(${name} cupilotPrecompiled ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# cupilot_add_tool(<name> SOURCES ... [LINK ...] [NO_INSTALL])
# An executable in build/bin. libMLIR is only in LLVM's own folder, hence the RPATH.
function(cupilot_add_tool name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cupilotFlags ${ARG_LINK})
  cupilot_precompile(${name} cupilotPrecompiled ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "${LLVM_LIBRARY_DIRS}" INSTALL_RPATH "$ORIGIN/../lib;${LLVM_LIBRARY_DIRS}")
  set_property(GLOBAL APPEND PROPERTY CUPILOT_TEST_DEPENDS ${name})
  if(NOT ARG_NO_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION bin)
  endif()
endfunction()

# cupilot_add_plugin(<name> SOURCES ... [LINK ...])
# A loadable module build/lib/<name>.so.
function(cupilot_add_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cupilotFlags ${ARG_LINK})
  cupilot_include_folder(${name})
  if(NOT CUPILOT_SANITIZE) # The sanitizers' run time is the program's.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  cupilot_precompile(${name} cupilotPrecompiled ${ARG_LINK})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so"
    BUILD_RPATH "${LLVM_LIBRARY_DIRS}" INSTALL_RPATH "${LLVM_LIBRARY_DIRS}")
  set_property(GLOBAL APPEND PROPERTY CUPILOT_TEST_DEPENDS ${name})
  install(TARGETS ${name} LIBRARY DESTINATION lib)
endfunction()

# cupilot_add_unittest(<name> SOURCES ... [LINK ...])
# A GoogleTest program <name> in build/test/Unit; lit runs it case by case.
function(cupilot_add_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cupilotFlags ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0)
  cupilot_precompile(${name} cupilotPrecompiledTests ${ARG_LINK})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${LLVM_LIBRARY_DIRS}"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/Unit)
  set_property(GLOBAL APPEND PROPERTY CUPILOT_TEST_DEPENDS ${name})
endfunction()
