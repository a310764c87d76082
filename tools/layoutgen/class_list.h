// SPDX-License-Identifier: BSD-3-Clause
//
// What goes into a layout file: each class and enumeration, and where to find it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace aotidbg::layoutgen {

// Which probes/*.cpp describes the class. Only wrapper depends on the variant.
enum class Probe { wrapper, libtorch, proxy_executor };

// One member of a class whose own names are a library's internals: our name for it, and where it
// lies.
struct NestedName {
  std::string name;
  std::string member;             // declared name, at any depth; the outermost, first one is taken
  std::string owner_prefix = {};  // start of the name of the class that declares it; empty: any
  // Where `member` is raw storage: the class that lives there (a DebugInfo::find name), and which
  // member of it is meant.
  std::string stored_class = {};
  std::string stored_member = {};
};

struct ClassSpec {
  std::string name;  // in the layout file
  Probe probe;
  std::string source;                    // DebugInfo::find name
  std::vector<NestedName> members = {};  // empty: all members, under their own names
};

struct EnumSpec {
  std::string name;
  Probe probe;
  std::string source;
};

const std::vector<ClassSpec>& class_specs();
const std::vector<EnumSpec>& enum_specs();

// The enumeration whose values are the sizes of scalar types (probes/libtorch.cpp).
inline constexpr const char* kScalarTypeSizes = "probe:scalar_type_size";

}  // namespace aotidbg::layoutgen
