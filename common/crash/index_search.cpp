// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/index_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/crash/owner.h"
#include "common/target/answers.h"

namespace aotidbg {
namespace {

// A search as it is written: tensors by their place in the lists that were searched.
struct Findings {
  bool partial = false;
  std::optional<IndexMatch> match;
  std::uint64_t owner = 0;
  std::uint64_t input = 0;
};

}  // namespace

template <>
struct Codec<Findings> {
  static nlohmann::json write(const Findings& findings) {
    if (!findings.match) return nlohmann::json::array({findings.partial});
    const IndexMatch& match = *findings.match;
    return nlohmann::json::array({findings.partial, findings.owner, findings.input, match.position,
                                  match.value, match.dimension, match.element, match.others});
  }
  static std::optional<Findings> read(const nlohmann::json& json) {
    constexpr std::size_t kWithMatch = 8;
    AnswerList list(json, json.size() == kWithMatch ? kWithMatch : 1);
    Findings findings;
    findings.partial = list.next<bool>();
    if (json.size() != kWithMatch) return list.good() ? std::optional(findings) : std::nullopt;
    IndexMatch& match = findings.match.emplace();
    findings.owner = list.next<std::uint64_t>();
    findings.input = list.next<std::uint64_t>();
    match.position = list.next<std::vector<std::int64_t>>();
    match.value = list.next<std::int64_t>();
    match.dimension = list.next<std::uint64_t>();
    match.element = list.next<std::vector<std::int64_t>>();
    match.others = list.next<std::uint64_t>();
    return list.good() ? std::optional(std::move(findings)) : std::nullopt;
  }
};

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

// `count_from_end`: a negative index is moved up by the dimension's size, as PyTorch's own indexing
// does; generated code without checks does not.
std::optional<IndexMatch> match_value(const KnownTensor& owner, std::int64_t value,
                                      std::uint64_t distance, bool count_from_end) {
  for (std::size_t d = 0; d < owner.sizes.size(); ++d) {
    const std::int64_t size = owner.sizes[d];
    const bool is_valid = value >= -size && value < size;
    if (is_valid || owner.strides[d] == 0 || (count_from_end && value >= 0)) continue;
    auto element = explains(owner, d, count_from_end ? value + size : value, distance);
    if (!element) continue;
    IndexMatch match;
    match.owner = &owner;
    match.value = value;
    match.dimension = d;
    match.element = std::move(*element);
    return match;
  }
  return std::nullopt;
}

// Matches of one way of counting: the first, and how many other values lead to the address too.
struct Matches {
  std::optional<IndexMatch> first;
  std::size_t others = 0;

  void add(IndexMatch match, const KnownTensor& input, std::uint64_t at) {
    if (first) {
      if (first->value != match.value) ++others;
      return;
    }
    const auto linear = static_cast<std::int64_t>(at);
    match.input = &input;
    match.position = element_at(input, linear).value_or(std::vector<std::int64_t>{linear});
    first = std::move(match);
  }
};

struct Search {
  Memory& memory;
  std::vector<const KnownTensor*> owners;
  Address address = 0;
  Matches as_it_is;
  Matches from_end;
  bool partial = false;

  void look_in(const KnownTensor& input);
};

void Search::look_in(const KnownTensor& input) {
  const std::uint64_t elements = input.bytes / input.item_size;
  const std::uint64_t read = std::min(elements, kMaxIndexValues);
  if (read < elements) partial = true;
  const auto bytes = memory.read_bytes(input.data, read * input.item_size);
  if (!bytes) {
    partial = true;
    return;
  }
  std::optional<std::int64_t> last;
  for (std::uint64_t i = 0; i < read; ++i) {
    const std::int64_t value =
        integer_at(std::span(*bytes).subspan(i * input.item_size, input.item_size), input);
    if (last == value) continue;
    last = value;
    for (const KnownTensor* owner : owners) {
      const std::uint64_t distance = address - owner->data;
      if (auto match = match_value(*owner, value, distance, false)) {
        as_it_is.add(std::move(*match), input, i);
      } else if (auto counted = match_value(*owner, value, distance, true)) {
        from_end.add(std::move(*counted), input, i);
      }
    }
  }
}

// The values themselves are not kept: what they led to is the answer.
Findings search_values(Memory& memory, std::span<const KnownTensor* const> owners,
                       std::span<const KnownTensor> tensors, Address address) {
  Search search{memory, {}, address, {}, {}, false};
  std::copy_if(owners.begin(), owners.end(), std::back_inserter(search.owners),
               [](const KnownTensor* owner) {
                 return owner->data != 0 && owner->item_size != 0 && owner->bytes != 0 &&
                        owner->sizes.size() == owner->strides.size();
               });
  for (const KnownTensor& input : tensors) {
    const bool may_hold_indices = input.kind == KnownTensor::Kind::input && is_integer(input) &&
                                  input.item_size != 0 && input.data != 0;
    if (may_hold_indices) search.look_in(input);
  }
  Findings findings;
  findings.partial = search.partial;
  Matches& matches = search.as_it_is.first ? search.as_it_is : search.from_end;
  if (!matches.first) return findings;
  matches.first->others = matches.others;
  findings.match = std::move(matches.first);
  const auto owner = std::find(owners.begin(), owners.end(), findings.match->owner);
  findings.owner = static_cast<std::uint64_t>(owner - owners.begin());
  findings.input = static_cast<std::uint64_t>(findings.match->input - tensors.data());
  return findings;
}

// Whether a written match fits the tensors at hand.
bool fits(const Findings& findings, std::span<const KnownTensor* const> owners,
          std::span<const KnownTensor> tensors) {
  if (findings.owner >= owners.size() || findings.input >= tensors.size()) return false;
  const KnownTensor& owner = *owners[findings.owner];
  const KnownTensor& input = tensors[findings.input];
  return findings.match->dimension < owner.sizes.size() &&
         findings.match->element.size() == owner.sizes.size() && owner.item_size != 0 &&
         input.kind == KnownTensor::Kind::input;
}

}  // namespace

IndexSearch search_index(Memory& memory, std::span<const KnownTensor* const> owners,
                         std::span<const KnownTensor> tensors, Address address) {
  std::string question = fmt::format("index that leads to {:x} from", address);
  for (const KnownTensor* owner : owners) question += fmt::format(" {:x}", owner->data);
  auto findings = answered<Findings>(
      memory, question, [&] { return search_values(memory, owners, tensors, address); });
  IndexSearch result;
  result.partial = findings.partial;
  if (!findings.match || !fits(findings, owners, tensors)) return result;
  findings.match->owner = owners[findings.owner];
  findings.match->input = &tensors[findings.input];
  result.match = std::move(findings.match);
  return result;
}

}  // namespace aotidbg
