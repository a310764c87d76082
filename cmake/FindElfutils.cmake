# SPDX-License-Identifier: BSD-3-Clause
# Elfutils::elf and Elfutils::dw (libdw holds libdwfl), always the shared libraries: Debian's static libdw is not position
# independent.
find_path(Elfutils_INCLUDE_DIR elfutils/libdwfl.h)
find_library(Elfutils_elf_LIBRARY libelf.so)
find_library(Elfutils_dw_LIBRARY libdw.so)
if(Elfutils_INCLUDE_DIR)
  file(STRINGS "${Elfutils_INCLUDE_DIR}/elfutils/version.h" version REGEX "#define _ELFUTILS_VERSION[ \t]+[0-9]+")
  string(REGEX REPLACE ".*[ \t]([0-9]+)$" "0.\\1" Elfutils_VERSION "${version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Elfutils
  REQUIRED_VARS Elfutils_dw_LIBRARY Elfutils_elf_LIBRARY Elfutils_INCLUDE_DIR VERSION_VAR Elfutils_VERSION)
if(Elfutils_FOUND AND NOT TARGET Elfutils::dw)
  foreach(part elf dw)
    add_library(Elfutils::${part} SHARED IMPORTED)
    set_target_properties(Elfutils::${part} PROPERTIES
      IMPORTED_LOCATION "${Elfutils_${part}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Elfutils_INCLUDE_DIR}")
  endforeach()
  target_link_libraries(Elfutils::dw INTERFACE Elfutils::elf)
endif()
