// SPDX-License-Identifier: BSD-3-Clause
#include "debug_info.h"

#include <dwarf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace aotidbg::layoutgen {
namespace {

constexpr std::string_view kProbe = "aotidbg_layoutgen::LayoutProbe";

std::optional<std::uint64_t> unsigned_attribute(Dwarf_Die die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr_integrate(&die, name, &attribute)) return std::nullopt;
  if (dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

std::int64_t signed_attribute(Dwarf_Die die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Sword value = 0;
  if (dwarf_attr(&die, name, &attribute)) dwarf_formsdata(&attribute, &value);
  return value;
}

std::optional<Dwarf_Die> referenced(Dwarf_Die die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (!dwarf_attr_integrate(&die, name, &attribute)) return std::nullopt;
  if (!dwarf_formref_die(&attribute, &target)) return std::nullopt;
  return target;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die die) { return referenced(die, DW_AT_type); }

bool is_class(Dwarf_Die die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// Past typedefs, const and volatile.
std::optional<Dwarf_Die> stripped(std::optional<Dwarf_Die> die) {
  while (die) {
    const int tag = dwarf_tag(&*die);
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) break;
    die = type_of(*die);
  }
  return die;
}

template <class Visit>
void for_each_child(Dwarf_Die die, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::string declared_in(Dwarf_Die die) {
  const char* file = dwarf_decl_file(&die);
  return file ? file : "";
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// Arguments between '<' at `open` and its '>'; `close` is set to the latter, or npos.
std::vector<std::string_view> template_arguments(std::string_view name, std::size_t open,
                                                 std::size_t& close) {
  std::vector<std::string_view> arguments;
  std::size_t start = open + 1;
  int depth = 0;
  for (std::size_t i = open; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if ((c == ',' && depth == 1) || depth == 0) {
      arguments.push_back(name.substr(start, i - start));
      start = i + 1;
    }
    if (depth == 0) {
      close = i;
      return arguments;
    }
  }
  close = std::string_view::npos;
  return arguments;
}

bool is_library_name(std::string_view name) {
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

bool is_default_argument(std::string_view argument) {
  constexpr std::array kDefaults = {"c10::detail::intrusive_target_default_null_type<",
                                    "std::allocator<",
                                    "std::default_delete<",
                                    "std::char_traits<",
                                    "std::hash<",
                                    "std::equal_to<",
                                    "std::less<"};
  return std::any_of(kDefaults.begin(), kDefaults.end(),
                     [&](std::string_view name) { return argument.starts_with(name); });
}

}  // namespace

std::string readable_type(const std::string& name) {
  const auto open = name.find('<');
  if (open == std::string::npos) return name;
  std::size_t close = 0;
  auto arguments = template_arguments(name, open, close);
  if (close == std::string::npos) return name;

  std::string kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument = trimmed(arguments[i]);
    if (i > 0 && is_default_argument(argument)) continue;
    kept += fmt::format("{}{}", kept.empty() ? "" : ", ", readable_type(argument));
  }
  std::string head = fmt::format("{}<{}>", name.substr(0, open), kept);
  if (head == "std::__cxx11::basic_string<char>" || head == "std::basic_string<char>") {
    head = "std::string";
  }
  return head + readable_type(name.substr(close + 1));
}

DebugInfo::FileCloser::~FileCloser() {
  if (fd >= 0) close(fd);
}

Result<DebugInfo> DebugInfo::open(const std::string& path) {
  FileCloser file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return fail(fmt::format("cannot open {}", path));
  Dwarf* dwarf = dwarf_begin(file.fd, DWARF_C_READ);
  if (!dwarf) {
    return fail(fmt::format("{} has no debug information: {}", path, dwarf_errmsg(-1)));
  }
  DebugInfo info(std::move(file), dwarf);
  Dwarf_CU* unit = nullptr;
  Dwarf_Die unit_die;
  std::uint8_t unit_type = 0;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &unit_type, &unit_die, nullptr) == 0) {
    info.index(unit_die, "");
  }
  return info;
}

// Names every type below `die`, and remembers complete classes and enumerations by name.
void DebugInfo::index(Dwarf_Die die, const std::string& scope) {
  for_each_child(die, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    const bool is_namespace = tag == DW_TAG_namespace;
    const bool is_record = is_class(child) || tag == DW_TAG_enumeration_type;
    if (!is_namespace && !is_record && tag != DW_TAG_typedef) return;

    const char* own_name = dwarf_diename(&child);
    std::string name = scope;
    if (const auto declaration = referenced(child, DW_AT_specification)) {
      name = qualified_name(*declaration);
    } else if (own_name) {
      name = scope.empty() ? own_name : fmt::format("{}::{}", scope, own_name);
    }
    if (own_name) names_[dwarf_dieoffset(&child)] = name;
    if (is_record && own_name && !dwarf_hasattr(&child, DW_AT_declaration)) {
      complete_.try_emplace(name, child);
    }
    if (tag != DW_TAG_typedef) index(child, name);
    if (name == kProbe) {
      for_each_child(child, [&](Dwarf_Die member) {
        if (dwarf_tag(&member) != DW_TAG_member) return;
        auto type = stripped(type_of(member));
        if (type && dwarf_tag(&*type) == DW_TAG_pointer_type) type = stripped(type_of(*type));
        if (type) probe_types_[dwarf_diename(&member)] = *type;
      });
    }
  });
}

std::optional<Dwarf_Die> DebugInfo::find(const std::string& name) const {
  constexpr std::string_view kPrefix = "probe:";
  const bool of_probe = name.starts_with(kPrefix);
  const auto& table = of_probe ? probe_types_ : complete_;
  const auto found = table.find(of_probe ? name.substr(kPrefix.size()) : name);
  if (found == table.end()) return std::nullopt;
  Dwarf_Die die = found->second;
  if (dwarf_hasattr(&die, DW_AT_declaration)) return std::nullopt;
  return die;
}

std::string DebugInfo::qualified_name(Dwarf_Die die) const {
  const auto found = names_.find(dwarf_dieoffset(&die));
  if (found != names_.end()) return found->second;
  const char* name = dwarf_diename(&die);
  return name ? name : "";
}

std::string DebugInfo::type_name(Dwarf_Die die) const {
  const auto target = type_of(die);
  std::string inner = target ? type_name(*target) : "void";
  switch (dwarf_tag(&die)) {
    case DW_TAG_pointer_type:
      return inner.ends_with("()") ? inner : inner + "*";
    case DW_TAG_reference_type:
      return inner + "&";
    case DW_TAG_const_type:
      return inner.ends_with('*') ? inner + " const" : "const " + inner;
    case DW_TAG_volatile_type:
      return "volatile " + inner;
    case DW_TAG_subroutine_type:
      return inner + " (*)()";
    case DW_TAG_array_type: {
      std::string counts;
      for_each_child(die, [&](Dwarf_Die range) {
        if (const auto upper = unsigned_attribute(range, DW_AT_upper_bound)) {
          counts += fmt::format("[{}]", *upper + 1);
        } else if (const auto count = unsigned_attribute(range, DW_AT_count)) {
          counts += fmt::format("[{}]", *count);
        }
      });
      return inner + counts;
    }
    case DW_TAG_typedef:
      // The C++ library's own names for a type ("_Map_pointer") say less than the type.
      if (is_library_name(qualified_name(die))) return inner;
      [[fallthrough]];
    default:
      return readable_type(qualified_name(die));
  }
}

void DebugInfo::collect_member(Dwarf_Die member, const std::string& owner, std::uint64_t base,
                               bool nested, std::vector<MemberInfo>& out) const {
  const auto declared = type_of(member);
  const auto type = stripped(declared);
  if (!type) return;
  const auto location = unsigned_attribute(member, DW_AT_data_member_location);
  const auto first_bit = unsigned_attribute(member, DW_AT_data_bit_offset);
  const std::uint64_t offset = base + location.value_or(first_bit.value_or(0) / 8);

  const char* name = dwarf_diename(&member);
  // Anonymous unions and structures: their members are the class's own.
  if (!name) {
    if (is_class(*type)) collect(*type, offset, nested, out);
    return;
  }

  MemberInfo info;
  info.name = std::string_view(name).starts_with("_vptr") ? "vptr" : name;
  info.type = type_name(*declared);
  if (info.name == "vptr") info.type = "void**";
  info.owner = owner;
  info.offset = offset;
  Dwarf_Die measured = *type;
  Dwarf_Word size = 0;
  if (dwarf_aggregate_size(&measured, &size) == 0) info.size = size;
  if (const auto width = unsigned_attribute(member, DW_AT_bit_size)) {
    info.bit_width = *width;
    info.bit_offset = first_bit.value_or(0) % 8;
    info.size = (info.bit_offset + info.bit_width + 7) / 8;
  }
  out.push_back(std::move(info));
  if (nested && is_class(*type)) collect(*type, offset, nested, out);
}

void DebugInfo::collect(Dwarf_Die die, std::uint64_t base, bool nested,
                        std::vector<MemberInfo>& out) const {
  const std::string owner = qualified_name(die);
  for_each_child(die, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inheritance) {
      const auto location = unsigned_attribute(child, DW_AT_data_member_location);
      const auto parent = stripped(type_of(child));
      // Without a constant location the base is virtual, and its place is not the class's to say.
      if (parent && location) collect(*parent, base + *location, nested, out);
    } else if (tag == DW_TAG_member && !dwarf_hasattr(&child, DW_AT_external) &&
               !dwarf_hasattr(&child, DW_AT_declaration)) {
      collect_member(child, owner, base, nested, out);
    }
  });
}

ClassInfo DebugInfo::members(Dwarf_Die die) const {
  ClassInfo info{unsigned_attribute(die, DW_AT_byte_size).value_or(0), declared_in(die), {}};
  collect(die, 0, false, info.members);
  return info;
}

ClassInfo DebugInfo::nested_members(Dwarf_Die die) const {
  ClassInfo info{unsigned_attribute(die, DW_AT_byte_size).value_or(0), declared_in(die), {}};
  collect(die, 0, true, info.members);
  return info;
}

EnumInfo DebugInfo::enumerators(Dwarf_Die die) const {
  EnumInfo info{declared_in(die), {}};
  for_each_child(die, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_enumerator) return;
    info.values.emplace_back(dwarf_diename(&child), signed_attribute(child, DW_AT_const_value));
  });
  return info;
}

}  // namespace aotidbg::layoutgen
