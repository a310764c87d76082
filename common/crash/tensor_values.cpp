// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/tensor_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "common/crash/report_parts.h"

namespace aotidbg {
namespace {

// One element as a number; integers beyond 2^53 lose digits here and are printed exactly elsewhere.
struct Value {
  double number = 0;
  std::string text;
};

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

float from_half(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  float value = 0;
  if (exponent == 0x1f) {
    value = fraction == 0 ? HUGE_VALF : std::nanf("");
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return negative ? -value : value;
}

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T>
Value integer(std::span<const std::byte> bytes) {
  const T value = load<T>(bytes);
  return {static_cast<double>(value), fmt::format("{}", value)};
}

Value real(double value) { return {value, fmt::format("{:.6g}", value)}; }

using Reader = Value (*)(std::span<const std::byte>);

// Null for element types whose values are not shown (complex, quantised, 8-bit floats).
Reader reader_of(const std::string& dtype) {
  if (dtype == "float32") return [](auto bytes) { return real(load<float>(bytes)); };
  if (dtype == "float64") return [](auto bytes) { return real(load<double>(bytes)); };
  if (dtype == "float16")
    return [](auto bytes) { return real(from_half(load<std::uint16_t>(bytes))); };
  if (dtype == "bfloat16") {
    return [](auto bytes) { return real(from_bfloat16(load<std::uint16_t>(bytes))); };
  }
  if (dtype == "int64") return integer<std::int64_t>;
  if (dtype == "int32") return integer<std::int32_t>;
  if (dtype == "int16") return integer<std::int16_t>;
  if (dtype == "int8") return [](auto bytes) { return integer<std::int8_t>(bytes); };
  if (dtype == "uint8") return integer<std::uint8_t>;
  if (dtype == "uint16") return integer<std::uint16_t>;
  if (dtype == "uint32") return integer<std::uint32_t>;
  if (dtype == "uint64") return integer<std::uint64_t>;
  if (dtype == "bool") {
    return [](auto bytes) {
      const bool value = load<std::uint8_t>(bytes) != 0;
      return Value{value ? 1.0 : 0.0, value ? "True" : "False"};
    };
  }
  return nullptr;
}

// Collects what TensorValues reports, one element after the other.
class Summary {
 public:
  explicit Summary(std::size_t first) : wanted_(first) {}

  void add(Value value) {
    ++read_;
    if (std::isnan(value.number)) {
      ++nan_;
    } else {
      if (std::isinf(value.number)) ++inf_;
      if (!lowest_ || value.number < lowest_->number) lowest_ = value;
      if (!highest_ || value.number > highest_->number) highest_ = value;
    }
    if (first_.size() < wanted_) first_.push_back(std::move(value.text));
  }

  void store(TensorValues& result) {
    result.first = std::move(first_);
    result.read = read_;
    if (read_ == 0) return;
    if (lowest_) result.min = lowest_->text;
    if (highest_) result.max = highest_->text;
    result.nan_count = nan_;
    result.inf_count = inf_;
  }

 private:
  std::size_t wanted_;
  std::vector<std::string> first_;
  std::optional<Value> lowest_, highest_;
  std::uint64_t nan_ = 0, inf_ = 0, read_ = 0;
};

// The offset, in elements from element 0, of the linear element `i` in index order. Strides are
// read from memory and may be anything: arithmetic wraps, as addresses do.
std::uint64_t offset_of(const Tensor& tensor, std::uint64_t i) {
  std::uint64_t offset = 0;
  for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
    const auto size = static_cast<std::uint64_t>(tensor.sizes[d]);
    offset += i % size * static_cast<std::uint64_t>(tensor.strides[d]);
    i /= size;
  }
  return offset;
}

}  // namespace

Address element_address(const Tensor& tensor, std::uint64_t number) {
  return tensor.data() + offset_of(tensor, number) * tensor.item_size;
}

TensorValues read_values(Target& target, const Tensor& tensor, std::size_t first,
                         std::uint64_t most) {
  TensorValues result;
  result.tensor = report_tensor(target, tensor);
  result.elements = static_cast<std::uint64_t>(tensor.elements);
  const Reader read_one = reader_of(tensor.dtype);
  if (read_one == nullptr || tensor.data() == 0 || tensor.elements == 0) return result;
  Summary summary(first);
  // One chunk of memory serves many elements of a dense tensor; the page that a strided one needs
  // next is read when it is reached. Unreadable elements end the walk.
  constexpr std::uint64_t kChunk = 64U << 10;
  std::vector<std::byte> chunk;
  Address chunk_at = 0;
  const std::uint64_t largest = std::min<std::uint64_t>(kChunk, most * tensor.item_size);
  const std::uint64_t count = std::min<std::uint64_t>(result.elements, most);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Address at = element_address(tensor, i);
    const bool is_cached =
        chunk.size() >= tensor.item_size && at - chunk_at <= chunk.size() - tensor.item_size;
    if (!is_cached) {
      if (target.interrupted()) break;
      const Address end = tensor.data() + tensor.extent();
      const std::uint64_t size = std::max<std::uint64_t>(
          std::min<std::uint64_t>(largest, end > at ? end - at : 0), tensor.item_size);
      auto bytes = target.read_bytes(at, size);
      if (!bytes) bytes = target.read_bytes(at, tensor.item_size);
      if (!bytes) break;
      chunk = std::move(*bytes);
      chunk_at = at;
    }
    summary.add(read_one(std::span(chunk).subspan(at - chunk_at, tensor.item_size)));
  }
  summary.store(result);
  return result;
}

}  // namespace aotidbg
