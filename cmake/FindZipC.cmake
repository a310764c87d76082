# SPDX-License-Identifier: BSD-3-Clause
# Zip::zip, the shared library. Debian's own CMake files for libzip want its programs installed too.
find_path(ZipC_INCLUDE_DIR zip.h)
find_library(ZipC_LIBRARY libzip.so)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZipC REQUIRED_VARS ZipC_LIBRARY ZipC_INCLUDE_DIR)
if(ZipC_FOUND AND NOT TARGET Zip::zip)
  add_library(Zip::zip SHARED IMPORTED)
  set_target_properties(Zip::zip PROPERTIES
    IMPORTED_LOCATION "${ZipC_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ZipC_INCLUDE_DIR}")
endif()
