// SPDX-License-Identifier: BSD-3-Clause
//
// One version's layouts, collected from the probes, and the text of layouts/torch-VERSION.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "class_list.h"
#include "debug_info.h"

namespace aotidbg::layoutgen {

using ClassTable = std::map<std::string, ClassInfo>;

// How a package can be compiled: the macros that move members.
struct Variant {
  std::string name;
  std::vector<std::string> macros;
};

struct LayoutTable {
  std::string torch_version;
  std::string compiler;    // first line of --version
  std::string string_abi;  // "cxx11" or "pre-cxx11"

  ClassTable classes;                          // the same in every variant
  std::map<std::string, ClassTable> variants;  // the others
  std::map<std::string, std::vector<std::string>> variant_macros;
  std::map<std::string, EnumInfo> enums;
  std::vector<std::pair<std::string, std::int64_t>> scalar_type_sizes;
};

// The classes of `probe` in `info`. What is not there is left out and named in `absent`.
ClassTable read_classes(const DebugInfo& info, Probe probe, std::vector<std::string>& absent);
std::map<std::string, EnumInfo> read_enums(const DebugInfo& info, Probe probe,
                                           std::vector<std::string>& absent);

// Moves classes that are equal in all variants to the common table.
void split_variants(std::map<std::string, ClassTable> by_variant, LayoutTable& table);

// One line per member and enumerator, members by offset, so that a diff shows what moved.
std::string to_json(const LayoutTable& table);

}  // namespace aotidbg::layoutgen
