# SPDX-License-Identifier: BSD-3-Clause
# How every target of the project is compiled, said once.
#
#   aotidbg_library(target SOURCES a.cpp b.cpp [DEPENDS arch aotidbg_fmt ...])
#     A static, position independent library `aotidbg_target`. DEPENDS takes folders of common/ by their short names and
#     any other CMake target by its own.
#   aotidbg_program(name SOURCES ... [DEPENDS ...])
#     An executable in <build>/bin with the same settings.
#   aotidbg_test(name SOURCES ... [DEPENDS ...] [LABELS ...] [DATA_DIR dir])
#     A GoogleTest program; each of its cases is one ctest test, named <name>.Suite.Case.
#   aotidbg_plugin(name SOURCES ... EXPORTS version.script [DEPENDS ...])
#     A loadable module in <build>/lib that brings its own C++ runtime and exports what the script names, nothing else.

# Interface target with the compiler's settings; everything that the project compiles itself links it.
add_library(aotidbg_options INTERFACE)
target_compile_features(aotidbg_options INTERFACE cxx_std_20)
target_include_directories(aotidbg_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(aotidbg_options INTERFACE AOTIDBG_VERSION="${PROJECT_VERSION}")
target_compile_options(aotidbg_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${AOTIDBG_WERROR}>:-Werror>
  # Names of source files in messages and debug information stay relative to the tree.
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  "-ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(AOTIDBG_SANITIZE)
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(aotidbg_options INTERFACE ${sanitize})
  # An index past a span or a read of an empty optional stops the test.
  target_compile_definitions(aotidbg_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(aotidbg_options INTERFACE ${sanitize})
endif()

# Links `target` with what DEPENDS names: folders of common/ by short name, anything else as it is.
function(aotidbg_link target scope)
  target_link_libraries(${target} ${scope} aotidbg_options)
  foreach(name IN LISTS ARGN)
    if(name IN_LIST AOTIDBG_FOLDERS)
      target_link_libraries(${target} ${scope} aotidbg_${name})
    else()
      target_link_libraries(${target} ${scope} ${name})
    endif()
  endforeach()
endfunction()

function(aotidbg_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  aotidbg_refuse_unparsed("aotidbg_library(${name})" ${arg_UNPARSED_ARGUMENTS})
  add_library(aotidbg_${name} STATIC ${arg_SOURCES})
  aotidbg_link(aotidbg_${name} PUBLIC ${arg_DEPENDS})
endfunction()

function(aotidbg_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  aotidbg_refuse_unparsed("aotidbg_program(${name})" ${arg_UNPARSED_ARGUMENTS})
  add_executable(${name} ${arg_SOURCES})
  aotidbg_link(${name} PRIVATE ${arg_DEPENDS})
endfunction()

function(aotidbg_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DATA_DIR" "SOURCES;DEPENDS;LABELS")
  aotidbg_refuse_unparsed("aotidbg_test(${name})" ${arg_UNPARSED_ARGUMENTS})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_compile_options(${name} PRIVATE -O0)  # checked, not timed
  aotidbg_link(${name} PRIVATE ${arg_DEPENDS} GTest::gtest GTest::gtest_main)
  if(arg_DATA_DIR)
    target_compile_definitions(${name} PRIVATE AOTIDBG_TEST_DATA="${arg_DATA_DIR}")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()

function(aotidbg_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORTS" "SOURCES;DEPENDS")
  aotidbg_refuse_unparsed("aotidbg_plugin(${name})" ${arg_UNPARSED_ARGUMENTS})
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME "${name}"
    LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS}")
  aotidbg_link(${name} PRIVATE ${arg_DEPENDS})
  # The debugger has a C++ runtime of its own and may not meet ours. Its API stays undefined and is bound when the module is
  # loaded; lazily, so that a debugger that lacks one call can still run the others.
  # The compiler refers to __cxa_pure_virtual weakly, which takes nothing out of an archive: -u asks for it.
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,-u,__cxa_pure_virtual
    -Wl,-z,lazy -Wl,--as-needed
    "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS}")
endfunction()

function(aotidbg_refuse_unparsed where)
  if(ARGN)
    message(FATAL_ERROR "${where}: what is '${ARGN}'?")
  endif()
endfunction()
