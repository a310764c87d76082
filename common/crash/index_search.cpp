// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/index_search.h"

#include <algorithm>
#include <cstring>

#include "common/crash/owner.h"

namespace aotidbg {
namespace {

bool is_integer(const KnownTensor& tensor) {
  return tensor.dtype == "int64" || tensor.dtype == "int32" || tensor.dtype == "int16" ||
         tensor.dtype == "int8" || tensor.dtype == "uint8";
}

std::int64_t integer_at(std::span<const std::byte> bytes, const KnownTensor& tensor) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, bytes.data(), tensor.item_size);
  if (tensor.dtype == "uint8") return static_cast<std::int64_t>(raw);
  const unsigned unused = 64 - static_cast<unsigned>(tensor.item_size) * 8;
  return static_cast<std::int64_t>(raw << unused) >> unused;
}

// The element of `owner` that index `value` in `dimension` leads to when the address is at
// `distance` bytes from its start; nothing when other dimensions cannot make up the difference.
// Arithmetic wraps as the processor's does.
std::optional<std::vector<std::int64_t>> explains(const KnownTensor& owner, std::size_t dimension,
                                                  std::int64_t value, std::uint64_t distance) {
  const std::uint64_t moved = static_cast<std::uint64_t>(value) *
                              static_cast<std::uint64_t>(owner.strides[dimension]) *
                              owner.item_size;
  const std::uint64_t rest = distance - moved;
  if (rest >= owner.bytes) return std::nullopt;
  auto element = element_at(owner, static_cast<std::int64_t>(rest / owner.item_size));
  if (!element) return std::nullopt;
  // What is left over must be a valid place in the other dimensions alone.
  if ((*element)[dimension] != 0) return std::nullopt;
  for (std::size_t d = 0; d < element->size(); ++d) {
    if ((*element)[d] < 0 || (*element)[d] >= owner.sizes[d]) return std::nullopt;
  }
  (*element)[dimension] = value;
  return element;
}

std::optional<IndexMatch> match_value(const KnownTensor& owner, std::int64_t value,
                                      std::uint64_t distance) {
  for (std::size_t d = 0; d < owner.sizes.size(); ++d) {
    const std::int64_t size = owner.sizes[d];
    const bool is_valid = value >= -size && value < size;
    if (is_valid || owner.strides[d] == 0) continue;
    const std::int64_t wrapped = value < 0 ? value + size : value;
    for (const std::int64_t used : {value, wrapped}) {
      auto element = explains(owner, d, used, distance);
      if (!element) continue;
      IndexMatch match;
      match.owner = &owner;
      match.value = value;
      match.dimension = d;
      match.element = std::move(*element);
      return match;
    }
  }
  return std::nullopt;
}

void search_input(Memory& memory, std::span<const KnownTensor* const> owners,
                  const KnownTensor& input, Address address, IndexSearch& search) {
  const std::uint64_t elements = input.bytes / input.item_size;
  const std::uint64_t read = std::min(elements, kMaxIndexValues);
  if (read < elements) search.partial = true;
  const auto bytes = memory.read_bytes(input.data, read * input.item_size);
  if (!bytes) {
    search.partial = true;
    return;
  }
  std::optional<std::int64_t> last;
  for (std::uint64_t i = 0; i < read; ++i) {
    const std::int64_t value =
        integer_at(std::span(*bytes).subspan(i * input.item_size, input.item_size), input);
    if (last == value) continue;
    last = value;
    for (const KnownTensor* owner : owners) {
      auto match = match_value(*owner, value, address - owner->data);
      if (!match) continue;
      if (search.match) {
        if (search.match->value != match->value) ++search.match->others;
        continue;
      }
      match->input = &input;
      match->position = element_at(input, static_cast<std::int64_t>(i))
                            .value_or(std::vector<std::int64_t>{static_cast<std::int64_t>(i)});
      search.match = std::move(match);
    }
  }
}

}  // namespace

IndexSearch search_index(Memory& memory, std::span<const KnownTensor* const> owners,
                         std::span<const KnownTensor> tensors, Address address) {
  IndexSearch search;
  std::vector<const KnownTensor*> indexed;
  std::copy_if(owners.begin(), owners.end(), std::back_inserter(indexed),
               [](const KnownTensor* owner) {
                 return owner->data != 0 && owner->item_size != 0 && owner->bytes != 0 &&
                        owner->sizes.size() == owner->strides.size();
               });
  for (const KnownTensor& input : tensors) {
    const bool may_hold_indices = input.kind == KnownTensor::Kind::input && is_integer(input) &&
                                  input.item_size != 0 && input.data != 0;
    if (may_hold_indices) search_input(memory, indexed, input, address, search);
  }
  return search;
}

}  // namespace aotidbg
