// SPDX-License-Identifier: BSD-3-Clause
#include "layout_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

namespace aotidbg::layoutgen {
namespace {

const MemberInfo* find_member(const ClassInfo& info, const std::string& name,
                              const std::string& owner_prefix) {
  const auto found =
      std::find_if(info.members.begin(), info.members.end(), [&](const auto& member) {
        return member.name == name && member.owner.starts_with(owner_prefix);
      });
  return found == info.members.end() ? nullptr : &*found;
}

// The class with the members that `spec` picks out of the depth of it.
ClassInfo pick_nested(const DebugInfo& info, const ClassSpec& spec, const ClassInfo& all,
                      std::vector<std::string>& absent) {
  ClassInfo picked{all.size, all.header, {}};
  for (const NestedName& wanted : spec.members) {
    const MemberInfo* found = find_member(all, wanted.member, wanted.owner_prefix);
    if (!found) {
      absent.push_back(fmt::format("{}: {}", spec.name, wanted.member));
      continue;
    }
    MemberInfo member = *found;
    if (!wanted.stored_class.empty()) {
      const auto stored = info.find(wanted.stored_class);
      const ClassInfo inner = stored ? info.members(*stored) : ClassInfo{};
      const MemberInfo* part = find_member(inner, wanted.stored_member, "");
      if (!part) {
        absent.push_back(fmt::format("{}: {}", wanted.stored_class, wanted.stored_member));
        continue;
      }
      const std::uint64_t storage = member.offset;
      member = *part;
      member.offset += storage;
    }
    member.name = wanted.name;
    picked.members.push_back(std::move(member));
  }
  return picked;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string member_line(const MemberInfo& member) {
  std::string bits;
  if (member.bit_width != 0) {
    bits =
        fmt::format(R"("bit_offset": {}, "bit_width": {}, )", member.bit_offset, member.bit_width);
  }
  return fmt::format(R"({}: {{"offset": {}, "size": {}, {}"type": {}}})", quoted(member.name),
                     member.offset, member.size, bits, quoted(member.type));
}

// Joins `lines` as the body of an object or list that is indented by `indent` spaces.
std::string body(const std::vector<std::string>& lines, std::size_t indent) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("{}\n{:{}}{}", text.empty() ? "" : ",", "", indent + 2, line);
  }
  return text + fmt::format("\n{:{}}", "", indent);
}

std::string classes_json(const ClassTable& classes, std::size_t indent) {
  std::vector<std::string> lines;
  for (const auto& [name, info] : classes) {
    auto members = info.members;
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
      return std::tie(a.offset, a.bit_offset) < std::tie(b.offset, b.bit_offset);
    });
    std::vector<std::string> member_lines;
    member_lines.reserve(members.size());
    for (const MemberInfo& member : members) member_lines.push_back(member_line(member));
    lines.push_back(fmt::format(R"({}: {{"header": {}, "size": {}, "members": {{{}}}}})",
                                quoted(name), quoted(info.header), info.size,
                                body(member_lines, indent + 2)));
  }
  return fmt::format("{{{}}}", body(lines, indent));
}

std::string values_json(const std::vector<std::pair<std::string, std::int64_t>>& values,
                        std::size_t indent) {
  std::vector<std::string> lines;
  lines.reserve(values.size());
  for (const auto& [name, value] : values)
    lines.push_back(fmt::format("{}: {}", quoted(name), value));
  return fmt::format("{{{}}}", body(lines, indent));
}

std::string enums_json(const std::map<std::string, EnumInfo>& enums, std::size_t indent) {
  std::vector<std::string> lines;
  lines.reserve(enums.size());
  for (const auto& [name, info] : enums) {
    lines.push_back(fmt::format(R"({}: {{"header": {}, "values": {}}})", quoted(name),
                                quoted(info.header), values_json(info.values, indent + 2)));
  }
  return fmt::format("{{{}}}", body(lines, indent));
}

}  // namespace

ClassTable read_classes(const DebugInfo& info, Probe probe, std::vector<std::string>& absent) {
  ClassTable classes;
  for (const ClassSpec& spec : class_specs()) {
    if (spec.probe != probe) continue;
    const auto die = info.find(spec.source);
    if (!die) {
      absent.push_back(spec.name);
      continue;
    }
    classes[spec.name] = spec.members.empty()
                             ? info.members(*die)
                             : pick_nested(info, spec, info.nested_members(*die), absent);
  }
  return classes;
}

std::map<std::string, EnumInfo> read_enums(const DebugInfo& info, Probe probe,
                                           std::vector<std::string>& absent) {
  std::map<std::string, EnumInfo> enums;
  for (const EnumSpec& spec : enum_specs()) {
    if (spec.probe != probe) continue;
    if (const auto die = info.find(spec.source)) {
      enums[spec.name] = info.enumerators(*die);
    } else {
      absent.push_back(spec.name);
    }
  }
  return enums;
}

void split_variants(std::map<std::string, ClassTable> by_variant, LayoutTable& table) {
  if (by_variant.empty()) return;
  const ClassTable first = by_variant.begin()->second;
  for (const auto& [name, info] : first) {
    const bool same = std::all_of(by_variant.begin(), by_variant.end(), [&](const auto& variant) {
      const auto found = variant.second.find(name);
      return found != variant.second.end() && found->second == info;
    });
    if (!same) continue;
    table.classes[name] = info;
    for (auto& [unused, classes] : by_variant) classes.erase(name);
  }
  table.variants = std::move(by_variant);
}

std::string to_json(const LayoutTable& table) {
  std::vector<std::string> variants;
  for (const auto& [name, classes] : table.variants) {
    const auto macros = table.variant_macros.find(name);
    const nlohmann::json list = macros == table.variant_macros.end()
                                    ? nlohmann::json::array()
                                    : nlohmann::json(macros->second);
    variants.push_back(fmt::format(R"({}: {{"macros": {}, "classes": {}}})", quoted(name),
                                   list.dump(), classes_json(classes, 4)));
  }
  const std::vector<std::string> sections = {
      fmt::format("\"torch_version\": {}", quoted(table.torch_version)),
      fmt::format(R"("generator": {{"compiler": {}, "string_abi": {}}})", quoted(table.compiler),
                  quoted(table.string_abi)),
      fmt::format("\"classes\": {}", classes_json(table.classes, 2)),
      fmt::format("\"variants\": {{{}}}", body(variants, 2)),
      fmt::format("\"enums\": {}", enums_json(table.enums, 2)),
      fmt::format("\"scalar_type_sizes\": {}", values_json(table.scalar_type_sizes, 2)),
  };
  return fmt::format("{{{}}}\n", body(sections, 0));
}

}  // namespace aotidbg::layoutgen
