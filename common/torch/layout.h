// SPDX-License-Identifier: BSD-3-Clause
//
// Where the members of PyTorch's objects lie, for one torch version.
//
// Release builds carry no type information, so each version's layout is data: tools/layoutgen reads
// it from the debug information of that version's own headers and writes
// layouts/torch-VERSION.json. This file turns such a text into lookups; it holds no offset of its
// own, and no decoder does.
//
// Two versions can live in one process: the one that compiled wrapper.so (container, model,
// constant infos, handles) and the running libtorch (tensors, storages, runners). Each takes its
// own Layout.
//
// A version may lack a class or a member. Absence is an answer, never an offset of 0: find() is
// empty. Which spelling a version uses is found by probing members, not by comparing versions.
//
// Classes go by their C++ names without template arguments ("c10::TensorImpl",
// "torch::aot_inductor::AOTInductorModelBase::ConstInfo"). Members of base classes and of anonymous
// unions are listed in the class itself, at their offset in it. Members of the library's containers
// have plain names ("std::vector": begin, end, end_of_storage; "std::string": data, size). The
// vtable pointer is the member "vptr".
//
// Variants: some objects depend on macros of the compiled package: "cpu" and "cuda", each also with
// "_mmap_self" or "_mmap_external" (weights mapped from wrapper.so, or from a file beside it). A
// class that is the same in all of them is common; one that differs exists only in variants.
//
// All numbers are those of the examined process: bytes, x86-64, libstdc++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

// One member of a class.
struct Member {
  std::uint32_t offset = 0;     // bytes from the object's start
  std::uint32_t size = 0;       // bytes to read; of a bit field, those that hold its bits
  std::uint8_t bit_offset = 0;  // of a bit field: from the least significant bit at `offset`
  std::uint8_t bit_width = 0;   // 0: not a bit field

  bool is_bit_field() const { return bit_width != 0; }

  // The value of a bit field, from the `size` bytes at `offset` read as a little-endian integer.
  std::uint64_t bits_of(std::uint64_t raw) const {
    return bit_width == 0 || bit_width >= 64 ? raw >> bit_offset
                                             : (raw >> bit_offset) & ((1ULL << bit_width) - 1);
  }

  bool operator==(const Member&) const = default;
};

// One class of one torch version (and of one variant).
class ClassLayout {
 public:
  std::string name;
  std::size_t size = 0;  // sizeof, bytes; 0 only for a class that this version does not have
  std::string header;    // where the class is defined: "c10/core/TensorImpl.h"

  // False for what Layout::at returns for a class that this version does not have.
  bool present() const { return size != 0; }

  // Nothing when the class has no such member in this version.
  std::optional<Member> find(std::string_view member) const;

  // The first of `names` that the class has: for members that were renamed, newest name first.
  std::optional<Member> find_any(std::initializer_list<std::string_view> names) const;

  // The member's type as its header spells it, template arguments with defaults left out. A probe,
  // not something to parse: "torch::aot_inductor::MaybeOwningAtenTensorHandle".
  std::optional<std::string_view> type_of(std::string_view member) const;

  // Names of all members, by offset.
  std::vector<std::string_view> member_names() const;

 private:
  friend class Layout;
  struct Entry {
    Member member;
    std::string type;
  };
  std::map<std::string, Entry, std::less<>> members_;
};

// An enumeration of one torch version.
struct EnumLayout {
  std::string name;
  std::string header;
  std::map<std::int64_t, std::string> names;  // value to enumerator
};

class Layout {
 public:
  // Reads one layouts/*.json. The error names the class and member that is malformed. A text is
  // taken whole or not at all: members lie inside their class, bit fields inside their bytes.
  static Result<Layout> parse(std::string_view json_text);

  // "2.13.0".
  const std::string& torch_version() const { return torch_version_; }

  // The class in `variant`, else the common one, else null. Without a variant only common classes
  // are found: a class that differs between variants has no default.
  const ClassLayout* find(std::string_view class_name, std::string_view variant = {}) const;

  // As find, but a class that is not there reads as one with no members and !present().
  const ClassLayout& at(std::string_view class_name, std::string_view variant = {}) const;

  // As find, with an error that names version, class and variant in one sentence.
  Result<const ClassLayout*> require(std::string_view class_name,
                                     std::string_view variant = {}) const;

  // A member that a decoder cannot do without; the error names version, class and member.
  Result<Member> require_member(std::string_view class_name, std::string_view member,
                                std::string_view variant = {}) const;

  // Names of the variants, sorted.
  std::vector<std::string_view> variants() const;
  bool has_variant(std::string_view variant) const { return variants_.contains(variant); }

  // Null when this version's headers do not declare it.
  const EnumLayout* find_enum(std::string_view enum_name) const;

  // enum_name("c10::ScalarType", 6) is "Float". Nothing for a value that has no enumerator.
  std::optional<std::string_view> enum_name(std::string_view enum_type, std::int64_t value) const;

  // The value of an enumerator: enum_value("c10::ScalarType", "Float") is 6.
  std::optional<std::int64_t> enum_value(std::string_view enum_type,
                                         std::string_view enumerator) const;

  // Bytes of one element of a c10::ScalarType value. Nothing for values that are no element type
  // (Undefined, NumOptions, or garbage).
  std::optional<std::size_t> scalar_type_size(std::int64_t scalar_type) const;

 private:
  using ClassTable = std::map<std::string, ClassLayout, std::less<>>;
  struct Reader;  // layout.cpp

  std::string torch_version_;
  ClassTable classes_;
  std::map<std::string, ClassTable, std::less<>> variants_;
  std::map<std::string, EnumLayout, std::less<>> enums_;
  std::map<std::int64_t, std::size_t> scalar_type_sizes_;
};

// A layout text that was built into this program, from layouts/ (cmake/EmbedLayouts.cmake).
struct EmbeddedLayout {
  std::string_view torch_version;  // "2.13.0"
  std::string_view json;           // minified
};

// All of them, oldest version first.
std::span<const EmbeddedLayout> embedded_layouts();

// The text for exactly this version; null when there is none. A local or build suffix
// ("2.13.0+cpu") does not matter. Choosing a neighbour for an unknown version is the caller's
// decision, and has to be marked as assumed.
const EmbeddedLayout* find_embedded_layout(std::string_view torch_version);

}  // namespace aotidbg
