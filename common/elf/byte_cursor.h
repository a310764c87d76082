// SPDX-License-Identifier: BSD-3-Clause
//
// Reads little-endian numbers, LEB128 and strings out of a span, never past its end. The first
// failure sticks: from then on every value is 0 and `good()` is false, so that a parser may read a
// whole structure and test once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace aotidbg {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  std::size_t position() const { return position_; }
  bool at_end() const { return !good_ || position_ == bytes_.size(); }
  std::span<const std::byte> rest() const { return bytes_.subspan(position_); }

  template <class T>
  T number() {
    T value{};
    if (auto from = take(sizeof(T)); !from.empty()) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::uint8_t u8() { return number<std::uint8_t>(); }

  // LEB128 of at most 10 bytes (DWARF 5, section 7.6); bits beyond 64 are dropped.
  std::uint64_t uleb() { return leb(false); }
  std::int64_t sleb() { return static_cast<std::int64_t>(leb(true)); }

  // Up to and without the NUL, which is consumed.
  std::string_view c_string() {
    const auto left = rest();
    const void* end = left.empty() ? nullptr : std::memchr(left.data(), 0, left.size());
    if (!good_ || end == nullptr) return fail_with(std::string_view{});
    const auto* begin = reinterpret_cast<const char*>(left.data());
    const std::string_view text(begin,
                                static_cast<std::size_t>(static_cast<const char*>(end) - begin));
    position_ += text.size() + 1;
    return text;
  }

  // `size` bytes; empty on failure (and for size 0).
  std::span<const std::byte> take(std::uint64_t size) {
    if (!good_ || size > bytes_.size() - position_) {
      return fail_with(std::span<const std::byte>{});
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += taken.size();
    return taken;
  }

  void skip(std::uint64_t size) { (void)take(size); }

  // Moves by a signed distance inside the span (DW_OP_skip, DW_OP_bra).
  void jump(std::int64_t distance) {
    const auto target = static_cast<std::int64_t>(position_) + distance;
    if (!good_ || target < 0 || target > static_cast<std::int64_t>(bytes_.size())) {
      good_ = false;
      return;
    }
    position_ = static_cast<std::size_t>(target);
  }

 private:
  template <class T>
  T fail_with(T value) {
    good_ = false;
    return value;
  }

  std::uint64_t leb(bool is_signed) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const std::uint8_t byte = u8();
      if (!good_) return 0;
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) {
        if (is_signed && (byte & 0x40U) != 0 && shift + 7 < 64) {
          value |= ~std::uint64_t{0} << (shift + 7);
        }
        return value;
      }
    }
    return fail_with(std::uint64_t{0});
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
};

}  // namespace aotidbg
