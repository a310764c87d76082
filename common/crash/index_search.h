// SPDX-License-Identifier: BSD-3-Clause
//
// The index that led outside a tensor, searched for among the values of the call's integer inputs.
// A match is an equal value, not a proof that the kernel read it from there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/crash/tensors.h"

namespace aotidbg {

struct IndexMatch {
  const KnownTensor* owner = nullptr;  // the tensor that was indexed
  const KnownTensor* input = nullptr;  // the input that holds the value
  std::vector<std::int64_t> position;  // of the value in that input
  std::int64_t value = 0;
  std::size_t dimension = 0;          // of `owner`, that the value leaves
  std::vector<std::int64_t> element;  // the whole element of `owner` that was addressed
  std::size_t others = 0;             // further values that would explain the address too
};

struct IndexSearch {
  std::optional<IndexMatch> match;
  bool partial = false;  // an input was too long, or not readable
};

// Looks for a value v and a dimension d of one of `owners` such that v is no valid index of d and
// address = data + (v * stride[d] + an element of the other dimensions) * item size. Only when no
// value does so are negative ones counted from the end of the dimension. At most kMaxValues values
// of each input are read.
IndexSearch search_index(Memory& memory, std::span<const KnownTensor* const> owners,
                         std::span<const KnownTensor> tensors, Address address);

inline constexpr std::uint64_t kMaxIndexValues = 1U << 20;

}  // namespace aotidbg
