// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace aotidbg {
namespace {

using Json = nlohmann::json;

// No object of PyTorch is near this; a table that says so is corrupt.
constexpr std::uint64_t kMaxClassSize = 1U << 20;

tl::unexpected<Error> malformed(std::string what) {
  return fail(fmt::format("layout table is malformed: {}", what), std::nullopt,
              "write it again with tools/layoutgen");
}

// The object `key` of `parent`, when there is one.
const Json* object_at(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? &*found : nullptr;
}

std::optional<std::string> string_at(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  if (found == parent.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// A number from 0 to `limit`.
std::optional<std::uint32_t> number_at(const Json& parent, const char* key,
                                       std::uint64_t limit = kMaxClassSize) {
  const auto found = parent.find(key);
  if (found == parent.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > limit) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<Member> parse_member(const Json& json, std::size_t class_size) {
  if (!json.is_object()) return std::nullopt;
  const auto offset = number_at(json, "offset");
  const auto size = number_at(json, "size");
  if (!offset || !size || *offset + *size > class_size) return std::nullopt;
  Member member{*offset, *size, 0, 0};
  if (!json.contains("bit_width") && !json.contains("bit_offset")) return member;
  const auto bit_offset = number_at(json, "bit_offset", 7);
  const auto bit_width = number_at(json, "bit_width", 64);
  if (!bit_offset || !bit_width || *bit_width == 0 || *bit_offset + *bit_width > *size * 8 ||
      *size > sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  member.bit_offset = static_cast<std::uint8_t>(*bit_offset);
  member.bit_width = static_cast<std::uint8_t>(*bit_width);
  return member;
}

// "2.13.0+cpu" is "2.13.0".
std::string_view without_suffix(std::string_view version) {
  return version.substr(0, version.find('+'));
}

std::string in_variant(std::string_view variant) {
  return variant.empty() ? std::string() : fmt::format(" (variant {})", variant);
}

}  // namespace

std::optional<Member> ClassLayout::find(std::string_view member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return std::nullopt;
  return found->second.member;
}

std::optional<Member> ClassLayout::find_any(std::initializer_list<std::string_view> names) const {
  for (const std::string_view member : names) {
    if (const auto found = find(member)) return found;
  }
  return std::nullopt;
}

std::optional<std::string_view> ClassLayout::type_of(std::string_view member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return std::nullopt;
  return found->second.type;
}

std::vector<std::string_view> ClassLayout::member_names() const {
  std::vector<std::pair<std::pair<std::uint32_t, std::uint8_t>, std::string_view>> placed;
  placed.reserve(members_.size());
  for (const auto& [member_name, entry] : members_) {
    placed.push_back({{entry.member.offset, entry.member.bit_offset}, member_name});
  }
  std::sort(placed.begin(), placed.end());
  std::vector<std::string_view> names;
  names.reserve(placed.size());
  for (const auto& [place, member_name] : placed) names.push_back(member_name);
  return names;
}

// Fills one Layout from JSON; stops at the first thing that is not as it should be.
struct Layout::Reader {
  static Result<ClassLayout> read_class(const std::string& name, const Json& json) {
    const auto size = json.is_object() ? number_at(json, "size") : std::nullopt;
    const Json* members = json.is_object() ? object_at(json, "members") : nullptr;
    if (!size || *size == 0 || members == nullptr) {
      return malformed(fmt::format("{} needs a size and members", name));
    }
    ClassLayout layout;
    layout.name = name;
    layout.size = *size;
    layout.header = string_at(json, "header").value_or("");
    for (const auto& [member_name, member_json] : members->items()) {
      const auto member = parse_member(member_json, layout.size);
      if (!member) {
        return malformed(fmt::format("{}::{} does not lie inside its class", name, member_name));
      }
      layout.members_[member_name] = {*member, string_at(member_json, "type").value_or("")};
    }
    return layout;
  }

  static Result<ClassTable> read_classes(const Json& json) {
    ClassTable table;
    for (const auto& [name, class_json] : json.items()) {
      auto layout = read_class(name, class_json);
      if (!layout) return tl::unexpected(std::move(layout.error()));
      table.emplace(name, std::move(*layout));
    }
    return table;
  }

  static Result<EnumLayout> read_enum(const std::string& name, const Json& json) {
    const Json* values = json.is_object() ? object_at(json, "values") : nullptr;
    if (values == nullptr) return malformed(fmt::format("{} needs values", name));
    EnumLayout layout;
    layout.name = name;
    layout.header = string_at(json, "header").value_or("");
    for (const auto& [enumerator, value] : values->items()) {
      if (!value.is_number_integer()) {
        return malformed(fmt::format("{}::{} needs a whole number", name, enumerator));
      }
      // Two enumerators can share a value; the first in alphabetical order names it.
      layout.names.try_emplace(value.get<std::int64_t>(), enumerator);
    }
    return layout;
  }

  static Result<void> read_enums(const Json& json, Layout& layout) {
    if (const Json* enums = object_at(json, "enums")) {
      for (const auto& [name, enum_json] : enums->items()) {
        auto read = read_enum(name, enum_json);
        if (!read) return tl::unexpected(std::move(read.error()));
        layout.enums_.emplace(name, std::move(*read));
      }
    }
    if (const Json* sizes = object_at(json, "scalar_type_sizes")) {
      for (const auto& [name, size_json] : sizes->items()) {
        const auto size = number_at(*sizes, name.c_str(), std::numeric_limits<std::uint8_t>::max());
        const auto value = layout.enum_value("c10::ScalarType", name);
        if (!size || *size == 0 || !value) {
          return malformed(fmt::format("scalar type {} needs a value and a size", name));
        }
        layout.scalar_type_sizes_[*value] = *size;
      }
    }
    return {};
  }

  static Result<void> read_variants(const Json& json, Layout& layout) {
    const Json* variants = object_at(json, "variants");
    if (variants == nullptr) return {};
    for (const auto& [name, variant_json] : variants->items()) {
      const Json* classes = variant_json.is_object() ? object_at(variant_json, "classes") : nullptr;
      if (classes == nullptr) return malformed(fmt::format("variant {} needs classes", name));
      auto table = read_classes(*classes);
      if (!table) return tl::unexpected(std::move(table.error()));
      layout.variants_.emplace(name, std::move(*table));
    }
    return {};
  }
};

Result<Layout> Layout::parse(std::string_view json_text) {
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return malformed("it is not JSON");
  const auto version = string_at(json, "torch_version");
  if (!version || version->empty()) return malformed("it names no torch version");
  const Json* classes = object_at(json, "classes");
  if (classes == nullptr) return malformed("it has no classes");

  Layout layout;
  layout.torch_version_ = *version;
  auto table = Reader::read_classes(*classes);
  if (!table) return tl::unexpected(std::move(table.error()));
  layout.classes_ = std::move(*table);
  if (auto read = Reader::read_variants(json, layout); !read) return tl::unexpected(read.error());
  if (auto read = Reader::read_enums(json, layout); !read) return tl::unexpected(read.error());
  return layout;
}

const ClassLayout* Layout::find(std::string_view class_name, std::string_view variant) const {
  if (const auto own = variants_.find(variant); own != variants_.end()) {
    const auto found = own->second.find(class_name);
    if (found != own->second.end()) return &found->second;
  }
  const auto found = classes_.find(class_name);
  return found == classes_.end() ? nullptr : &found->second;
}

const ClassLayout& Layout::at(std::string_view class_name, std::string_view variant) const {
  static const ClassLayout kAbsent;
  const ClassLayout* found = find(class_name, variant);
  return found ? *found : kAbsent;
}

Result<const ClassLayout*> Layout::require(std::string_view class_name,
                                           std::string_view variant) const {
  if (const ClassLayout* found = find(class_name, variant)) return found;
  return fail(fmt::format("the layouts of torch {}{} have no {}", torch_version_,
                          in_variant(variant), class_name));
}

Result<Member> Layout::require_member(std::string_view class_name, std::string_view member,
                                      std::string_view variant) const {
  const auto found = require(class_name, variant);
  if (!found) return tl::unexpected(found.error());
  if (const auto place = (*found)->find(member)) return *place;
  return fail(fmt::format("{} has no member {} in torch {}{}", class_name, member, torch_version_,
                          in_variant(variant)));
}

std::vector<std::string_view> Layout::variants() const {
  std::vector<std::string_view> names;
  names.reserve(variants_.size());
  for (const auto& [name, classes] : variants_) names.push_back(name);
  return names;
}

const EnumLayout* Layout::find_enum(std::string_view enum_type) const {
  const auto found = enums_.find(enum_type);
  return found == enums_.end() ? nullptr : &found->second;
}

std::optional<std::string_view> Layout::enum_name(std::string_view enum_type,
                                                  std::int64_t value) const {
  const EnumLayout* layout = find_enum(enum_type);
  if (layout == nullptr) return std::nullopt;
  const auto found = layout->names.find(value);
  if (found == layout->names.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> Layout::enum_value(std::string_view enum_type,
                                               std::string_view enumerator) const {
  const EnumLayout* layout = find_enum(enum_type);
  if (layout == nullptr) return std::nullopt;
  const auto found = std::find_if(layout->names.begin(), layout->names.end(),
                                  [&](const auto& entry) { return entry.second == enumerator; });
  if (found == layout->names.end()) return std::nullopt;
  return found->first;
}

std::optional<std::size_t> Layout::scalar_type_size(std::int64_t scalar_type) const {
  const auto found = scalar_type_sizes_.find(scalar_type);
  if (found == scalar_type_sizes_.end()) return std::nullopt;
  return found->second;
}

const EmbeddedLayout* find_embedded_layout(std::string_view torch_version) {
  const auto wanted = without_suffix(torch_version);
  const auto all = embedded_layouts();
  const auto found = std::find_if(all.begin(), all.end(), [&](const EmbeddedLayout& layout) {
    return layout.torch_version == wanted;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace aotidbg
