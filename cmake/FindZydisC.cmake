# SPDX-License-Identifier: BSD-3-Clause
# Zydis::Zydis, the shared library. Debian's own CMake files for it do not say which configuration they belong to.
find_path(ZydisC_INCLUDE_DIR Zydis/Zydis.h)
find_library(ZydisC_LIBRARY libZydis.so)
if(ZydisC_INCLUDE_DIR)
  # #define ZYDIS_VERSION (ZyanU64)0x0004000000000000: 16 bits each for major, minor, patch, build.
  file(STRINGS "${ZydisC_INCLUDE_DIR}/Zydis/Zydis.h" version REGEX "#define ZYDIS_VERSION ")
  string(REGEX REPLACE ".*0x([0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]).*" "0x\\1" version "${version}")
  math(EXPR ZydisC_VERSION "${version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZydisC
  REQUIRED_VARS ZydisC_LIBRARY ZydisC_INCLUDE_DIR VERSION_VAR ZydisC_VERSION)
if(ZydisC_FOUND AND NOT TARGET Zydis::Zydis)
  add_library(Zydis::Zydis SHARED IMPORTED)
  set_target_properties(Zydis::Zydis PROPERTIES
    IMPORTED_LOCATION "${ZydisC_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ZydisC_INCLUDE_DIR}")
endif()
