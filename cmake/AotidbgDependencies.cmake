# SPDX-License-Identifier: BSD-3-Clause
# Everything that the project takes from outside, all of it from Debian's packages (tools/packages.txt).
# No C++ symbol crosses into a debugger: fmt is compiled once from its headers, JSON and the rest are headers alone. C libraries
# are dynamic, by soname.
find_package(fmt 9 REQUIRED CONFIG)              # aotidbg_fmt, from its headers
add_library(aotidbg_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/fmt_compiled.cpp")
target_compile_features(aotidbg_fmt PUBLIC cxx_std_20)
find_package(nlohmann_json 3.11 REQUIRED CONFIG) # nlohmann_json::nlohmann_json
find_package(tl-expected 1 REQUIRED CONFIG)      # tl::expected
find_package(CLI11 2 REQUIRED CONFIG)            # CLI11::CLI11
find_package(Elfutils 0.188 REQUIRED)            # Elfutils::dw, Elfutils::elf
find_package(ZydisC 4 REQUIRED)                  # Zydis::Zydis
find_package(zstd 1.4 REQUIRED CONFIG)           # zstd::libzstd_shared; this and the next two for compressed cores
find_package(Lz4 REQUIRED)                       # Lz4::lz4
find_package(ZLIB REQUIRED)                      # ZLIB::ZLIB
find_package(ZipC REQUIRED)                      # Zip::zip, for packages
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter) # tests and tools: the standard library alone
if(BUILD_TESTING)
  find_package(GTest REQUIRED CONFIG)
  include(GoogleTest)
endif()
if(AOTIDBG_BENCH)
  find_package(benchmark REQUIRED CONFIG)
endif()

# Headers alone: the SB API's symbols come from whichever LLDB loads the plugin. LLDB 19's headers serve 14 to 22.
find_path(AOTIDBG_LLDB_INCLUDE_DIR lldb/API/LLDB.h
  PATHS /usr/lib/llvm-19/include /usr/lib/llvm-20/include /usr/lib/llvm-21/include /usr/lib/llvm-22/include
  DOC "Folder that holds lldb/API/LLDB.h")
if(AOTIDBG_LLDB_INCLUDE_DIR)
  add_library(aotidbg_lldb_headers INTERFACE)
  target_include_directories(aotidbg_lldb_headers SYSTEM INTERFACE "${AOTIDBG_LLDB_INCLUDE_DIR}")
elseif(NOT AOTIDBG_SANITIZE)
  message(FATAL_ERROR "LLDB's headers are missing: apt-get install liblldb-19-dev, or set AOTIDBG_LLDB_INCLUDE_DIR")
endif()

# Headers alone: Python's symbols come from whichever GDB loads the module. Those of any Python from 3.8 on serve, for the module
# keeps to the stable ABI of 3.8 (PEP 384).
file(GLOB python_includes /usr/include/python3.*)
list(SORT python_includes COMPARE NATURAL ORDER DESCENDING)
find_path(AOTIDBG_PYTHON_INCLUDE_DIR Python.h PATHS ${python_includes} DOC "Folder that holds Python.h" NO_DEFAULT_PATH)
if(AOTIDBG_PYTHON_INCLUDE_DIR)
  add_library(aotidbg_python_headers INTERFACE)
  target_include_directories(aotidbg_python_headers SYSTEM INTERFACE "${AOTIDBG_PYTHON_INCLUDE_DIR}")
  target_compile_definitions(aotidbg_python_headers INTERFACE Py_LIMITED_API=0x03080000 PY_SSIZE_T_CLEAN)
elseif(NOT AOTIDBG_SANITIZE)
  message(FATAL_ERROR "Python's headers are missing: apt-get install libpython3-dev, or set AOTIDBG_PYTHON_INCLUDE_DIR")
endif()

# A Python that has torch, for what crashes real programs (examples, end to end tests, layoutgen). ./check makes this one.
set(AOTIDBG_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python interpreter that has torch")
