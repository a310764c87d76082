// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/object.h"

#include <fmt/format.h>

#include <cstring>

namespace aotidbg {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMaxString = 1U << 20;

}  // namespace

Result<Object> Object::read(Memory& memory, const ClassLayout& layout, Address at) {
  auto bytes = memory.read_bytes(at, layout.size);
  if (!bytes) return tl::unexpected(bytes.error());
  return Object(layout, at, std::move(*bytes));
}

Result<Member> Object::member(std::string_view name) const {
  const auto found = layout_->find(name);
  if (!found) return fail(fmt::format("{} has no member {} in this version", layout_->name, name));
  if (std::uint64_t{found->offset} + found->size > bytes_.size()) {
    return fail(fmt::format("{}::{} lies outside its class", layout_->name, name), at_);
  }
  return *found;
}

Result<std::uint64_t> Object::number(std::string_view name) const {
  const auto found = member(name);
  if (!found) return tl::unexpected(found.error());
  if (found->size > kWord) return fail(fmt::format("{} is no number", name), at_);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + found->offset, found->size);
  return found->is_bit_field() ? found->bits_of(value) : value;
}

Result<std::int64_t> Object::signed_number(std::string_view name) const {
  const auto found = member(name);
  if (!found) return tl::unexpected(found.error());
  return number(name).map([&](std::uint64_t value) {
    const unsigned bits = found->is_bit_field() ? found->bit_width : found->size * 8;
    if (bits == 0 || bits >= 64) return static_cast<std::int64_t>(value);
    const unsigned unused = 64 - bits;
    return static_cast<std::int64_t>(value << unused) >> unused;
  });
}

Result<Address> Object::address_of(std::string_view name) const {
  return member(name).map([&](const Member& found) { return at_ + found.offset; });
}

Result<Object> Object::part(std::string_view name, const ClassLayout& inner) const {
  const auto found = member(name);
  if (!found) return tl::unexpected(found.error());
  if (found->offset + inner.size > bytes_.size()) {
    return fail(fmt::format("{}::{} is too small for a {}", layout_->name, name, inner.name), at_);
  }
  const auto begin = bytes_.begin() + found->offset;
  return Object(inner, at_ + found->offset,
                {begin, begin + static_cast<std::ptrdiff_t>(inner.size)});
}

Result<Object> ObjectReader::read(std::string_view class_name, Address at) const {
  return class_layout(class_name).and_then([&](const ClassLayout* found) {
    return Object::read(*memory_, *found, at);
  });
}

Result<Object> ObjectReader::part(const Object& of, std::string_view member,
                                  std::string_view class_name) const {
  return class_layout(class_name).and_then([&](const ClassLayout* found) {
    return of.part(member, *found);
  });
}

Result<Sequence> ObjectReader::vector(Address at, std::uint64_t element_size) const {
  const auto header = read("std::vector", at);
  if (!header) return tl::unexpected(header.error());
  const auto begin = header->number("begin");
  const auto end = header->number("end");
  const auto capacity = header->number("end_of_storage");
  if (!begin || !end || !capacity) return fail("this layout table cannot read std::vector", at);
  const std::uint64_t bytes = *end - *begin;
  if (*begin > *end || *end > *capacity || bytes % element_size != 0 ||
      bytes / element_size > kMaxElements || (*begin == 0 && bytes != 0)) {
    return fail("no std::vector is here: its bounds are out of order", at);
  }
  return Sequence{*begin, bytes / element_size};
}

Result<Sequence> ObjectReader::vector(const Object& of, std::string_view member,
                                      std::uint64_t element_size) const {
  return of.address_of(member).and_then([&](Address at) { return vector(at, element_size); });
}

Result<std::vector<std::uint64_t>> ObjectReader::words(const Sequence& sequence) const {
  if (sequence.count == 0) return std::vector<std::uint64_t>{};
  const auto bytes = memory_->read_bytes(sequence.begin, sequence.count * kWord);
  if (!bytes) return tl::unexpected(bytes.error());
  std::vector<std::uint64_t> values(sequence.count);
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

Result<std::vector<Address>> ObjectReader::pointers(const Object& of,
                                                    std::string_view member) const {
  return vector(of, member, kWord).and_then([&](const Sequence& found) { return words(found); });
}

Result<std::vector<std::int64_t>> ObjectReader::integers(const Object& of,
                                                         std::string_view member) const {
  return pointers(of, member).map([](const std::vector<std::uint64_t>& values) {
    return std::vector<std::int64_t>(values.begin(), values.end());
  });
}

Result<std::vector<Address>> ObjectReader::deque_of_pointers(const Object& of,
                                                             std::string_view member) const {
  const auto header = part(of, member, "std::deque");
  if (!header) return tl::unexpected(header.error());
  const auto start = part(*header, "start", "std::deque::iterator");
  const auto finish = part(*header, "finish", "std::deque::iterator");
  if (!start || !finish) return tl::unexpected((!start ? start : finish).error());
  const auto field = [](const Object& iterator, std::string_view name) {
    return iterator.number(name).value_or(0);
  };
  std::vector<Address> values;
  Address node = field(*start, "node");
  const Address last_node = field(*finish, "node");
  if (node > last_node || (last_node - node) % kWord != 0 ||
      (last_node - node) / kWord > kMaxElements) {
    return fail("no std::deque is here: its nodes are out of order", header->address());
  }
  // libstdc++ (bits/stl_deque.h): every chunk has the size of the first one.
  const std::uint64_t chunk = field(*start, "last") - field(*start, "first");
  for (Address current = field(*start, "cur");; node += kWord) {
    const bool is_last = node == last_node;
    const auto first = memory_->read_pointer(node);
    if (!first) return tl::unexpected(first.error());
    const Address end = is_last ? field(*finish, "cur") : *first + chunk;
    if (current > end || (end - current) % kWord != 0 ||
        values.size() + (end - current) / kWord > kMaxElements) {
      return fail("no std::deque is here: its elements are out of order", header->address());
    }
    const auto part_of_it = words({current, (end - current) / kWord});
    if (!part_of_it) return tl::unexpected(part_of_it.error());
    values.insert(values.end(), part_of_it->begin(), part_of_it->end());
    if (is_last) return values;
    const auto next = memory_->read_pointer(node + kWord);
    if (!next) return tl::unexpected(next.error());
    current = *next;
  }
}

Result<std::string> ObjectReader::string(Address at) const {
  const auto header = read("std::string", at);
  if (!header) return tl::unexpected(header.error());
  const auto data = header->number("data");
  const auto size = header->number("size");
  if (!data || !size) return fail("this layout table cannot read std::string", at);
  if (*size > kMaxString) return fail("no std::string is here: its length is absurd", at);
  const auto bytes = memory_->read_bytes(*data, *size + 1);
  if (!bytes) return tl::unexpected(bytes.error());
  if (bytes->back() != std::byte{0}) return fail("no std::string is here: it has no end", at);
  return std::string(reinterpret_cast<const char*>(bytes->data()), *size);
}

Result<std::vector<std::string>> ObjectReader::strings(const Object& of,
                                                       std::string_view member) const {
  const auto text = class_layout("std::string");
  if (!text) return tl::unexpected(text.error());
  const auto found = vector(of, member, (*text)->size);
  if (!found) return tl::unexpected(found.error());
  std::vector<std::string> values;
  values.reserve(found->count);
  for (std::uint64_t i = 0; i < found->count; ++i) {
    auto value = string(found->begin + i * (*text)->size);
    if (!value) return tl::unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return values;
}

Result<Address> ObjectReader::shared_pointer(const Object& of, std::string_view member) const {
  return part(of, member, "std::shared_ptr").and_then([](const Object& pointer) {
    return pointer.number("pointer");
  });
}

Result<Address> ObjectReader::unique_pointer(const Object& of, std::string_view member,
                                             std::string_view class_name) const {
  return part(of, member, class_name).and_then([](const Object& pointer) {
    return pointer.number("pointer");
  });
}

}  // namespace aotidbg
