# SPDX-License-Identifier: BSD-3-Clause
# Lz4::lz4, the shared library with the frame format (lz4frame.h).
find_path(Lz4_INCLUDE_DIR lz4frame.h)
find_library(Lz4_LIBRARY liblz4.so)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lz4 REQUIRED_VARS Lz4_LIBRARY Lz4_INCLUDE_DIR)
if(Lz4_FOUND AND NOT TARGET Lz4::lz4)
  add_library(Lz4::lz4 SHARED IMPORTED)
  set_target_properties(Lz4::lz4 PROPERTIES
    IMPORTED_LOCATION "${Lz4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Lz4_INCLUDE_DIR}")
endif()
