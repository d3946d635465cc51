# find_package(cuPilot) for users, from the build tree and from the install tree,
# which have the same shape; and packages by CPack.
include(CMakePackageConfigHelpers)
set(cupilot_package ${PROJECT_BINARY_DIR}/lib/cmake/cuPilot)
configure_file(${PROJECT_SOURCE_DIR}/cmake/cuPilotConfig.cmake.in
  ${cupilot_package}/cuPilotConfig.cmake @ONLY)
write_basic_package_version_file(${cupilot_package}/cuPilotConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${cupilot_package}/cuPilotConfig.cmake ${cupilot_package}/cuPilotConfigVersion.cmake
  DESTINATION lib/cmake/cuPilot)

# cpack -G DEB in the build folder. The libraries of LLVM are Debian's, of the
# version that was built against; tools of theirs are run too.
set(CPACK_PACKAGE_NAME cupilot)
set(CPACK_PACKAGE_VENDOR "The cuPilot authors")
set(CPACK_PACKAGE_CONTACT "The cuPilot authors <cupilot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_GENERATOR DEB TGZ)
# There a literal -fplugin=cupilot is on the loader's path.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "clang-${CUPILOT_LLVM_MAJOR}, clang-tools-${CUPILOT_LLVM_MAJOR}, llvm-${CUPILOT_LLVM_MAJOR}, libllvm${CUPILOT_LLVM_MAJOR}, libmlir-${CUPILOT_LLVM_MAJOR}, libclang-cpp${CUPILOT_LLVM_MAJOR}, libboost-context1.74.0, libcurl4, libsqlite3-0, zlib1g, liblz4-1, binutils")
set(CPACK_STRIP_FILES ON)
include(CPack)
