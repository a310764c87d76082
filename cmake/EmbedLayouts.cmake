# SPDX-License-Identifier: BSD-3-Clause
# Builds layouts/torch-*.json into a library, so that a plugin is one file.
#
#   aotidbg_embed_layouts(target)
#     Adds a generated source to `target`; it defines embedded_layouts() of common/torch/layout.h.
#
# The file is also the script that writes that source:
#   cmake -D OUTPUT=layouts.cpp -D LAYOUTS=a.json;b.json -P EmbedLayouts.cmake

set(AOTIDBG_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(aotidbg_embed_layouts target)
  file(GLOB layouts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/layouts/torch-*.json")
  if(NOT layouts)
    message(FATAL_ERROR "no layouts/torch-*.json: write one with tools/layoutgen")
  endif()
  set(output "${PROJECT_BINARY_DIR}/generated/embedded_layouts.cpp")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DLAYOUTS=${layouts}" -P "${AOTIDBG_EMBED_SCRIPT}"
    DEPENDS ${layouts} "${AOTIDBG_EMBED_SCRIPT}"
    COMMENT "Embedding layouts" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

# Minified: the text is one member a line, so every line break and its indentation can go. No string in it holds two blanks.
function(aotidbg_write_embedded_layouts output layouts)
  list(SORT layouts COMPARE NATURAL)  # 2.9 before 2.13
  set(entries "")
  foreach(path IN LISTS layouts)
    file(READ "${path}" text)
    string(JSON version GET "${text}" torch_version)
    string(REGEX REPLACE "\n *" "" text "${text}")
    # One class a line, so that no literal comes near the 65536 characters that a compiler has to take.
    string(REPLACE "}}," "}},)layout\"\n    R\"layout(" text "${text}")
    string(APPEND entries "    {\"${version}\",\n    R\"layout(${text})layout\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
// SPDX-License-Identifier: BSD-3-Clause
// Written by cmake/EmbedLayouts.cmake from layouts/*.json.
#include "common/torch/layout.h"

namespace aotidbg {
namespace {

constexpr EmbeddedLayout kLayouts[] = {
@entries@};

}  // namespace

std::span<const EmbeddedLayout> embedded_layouts() { return kLayouts; }

}  // namespace aotidbg
]])
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  aotidbg_write_embedded_layouts("${OUTPUT}" "${LAYOUTS}")
endif()
