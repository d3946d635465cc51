# Thin wrappers, so that the leaf CMakeLists.txt files are a few lines each.
add_library(cupilotFlags INTERFACE)
target_compile_options(cupilotFlags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter)
target_include_directories(cupilotFlags SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
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

# cupilot_add_library(<name> SOURCES ... [LINK ...] [DEPENDS ...])
# A static, position independent library; the plugins are made of these too.
function(cupilot_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  if(CUPILOT_FUZZ) # The fuzzer links the static ones.
    list(REMOVE_ITEM ARG_LINK LLVM MLIR clang-cpp)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC cupilotFlags ${ARG_LINK})
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
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${LLVM_LIBRARY_DIRS}"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/Unit)
  set_property(GLOBAL APPEND PROPERTY CUPILOT_TEST_DEPENDS ${name})
endfunction()
