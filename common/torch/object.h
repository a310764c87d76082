// SPDX-License-Identifier: BSD-3-Clause
//
// Reading one object of the examined process by the names of its members. An Object is one bulk
// read; every access after that is bounds-checked against the layout table and costs nothing.
// A member that the torch version does not have is an error, never an offset of 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/memory.h"
#include "common/torch/layout.h"

namespace aotidbg {

class Object {
 public:
  static Result<Object> read(Memory& memory, const ClassLayout& layout, Address at);

  Address address() const { return at_; }
  const ClassLayout& layout() const { return *layout_; }
  bool has(std::string_view member) const { return layout_->find(member).has_value(); }

  // The member as an unsigned number, zero-extended; bit fields are cut out.
  Result<std::uint64_t> number(std::string_view member) const;
  // The same, sign-extended from the member's own size.
  Result<std::int64_t> signed_number(std::string_view member) const;
  Result<Address> address_of(std::string_view member) const;

  // A member that is an object itself, out of the bytes at hand.
  Result<Object> part(std::string_view member, const ClassLayout& inner) const;

 private:
  Object(const ClassLayout& layout, Address at, std::vector<std::byte> bytes)
      : layout_(&layout), at_(at), bytes_(std::move(bytes)) {}
  Result<Member> member(std::string_view name) const;

  const ClassLayout* layout_;
  Address at_;
  std::vector<std::byte> bytes_;
};

// The elements of a std::vector.
struct Sequence {
  Address begin = 0;
  std::uint64_t count = 0;
};

// What is needed to read the objects of one build: the process, the layout table of the torch
// version that compiled it, and the variant (see layout.h) where that matters.
class ObjectReader {
 public:
  ObjectReader(Memory& memory, const Layout& layout, std::string variant = {})
      : memory_(&memory), layout_(&layout), variant_(std::move(variant)) {}

  Memory& memory() const { return *memory_; }
  const Layout& layout() const { return *layout_; }
  const std::string& variant() const { return variant_; }

  Result<const ClassLayout*> class_layout(std::string_view name) const {
    return layout_->require(name, variant_);
  }
  Result<Object> read(std::string_view class_name, Address at) const;
  Result<Object> part(const Object& of, std::string_view member, std::string_view class_name) const;

  // libstdc++'s containers, as members of `of`. Bounds are checked for order, alignment and size;
  // the elements are not read.
  Result<Sequence> vector(const Object& of, std::string_view member,
                          std::uint64_t element_size) const;
  Result<Sequence> vector(Address at, std::uint64_t element_size) const;
  Result<std::vector<Address>> pointers(const Object& of, std::string_view member) const;
  Result<std::vector<std::int64_t>> integers(const Object& of, std::string_view member) const;
  Result<std::vector<Address>> deque_of_pointers(const Object& of, std::string_view member) const;
  Result<std::string> string(Address at) const;
  Result<std::vector<std::string>> strings(const Object& of, std::string_view member) const;
  Result<Address> shared_pointer(const Object& of, std::string_view member) const;
  Result<Address> unique_pointer(const Object& of, std::string_view member,
                                 std::string_view class_name = "std::unique_ptr") const;

  // More elements than this in any container means that it is no container.
  static constexpr std::uint64_t kMaxElements = 1U << 20;

 private:
  Result<std::vector<std::uint64_t>> words(const Sequence& sequence) const;

  Memory* memory_;
  const Layout* layout_;
  std::string variant_;
};

}  // namespace aotidbg
