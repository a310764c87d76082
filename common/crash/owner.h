// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensor a faulting address belongs to, and which of its elements it would be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/crash/stop.h"
#include "common/crash/tensors.h"

namespace aotidbg {

struct Owner {
  const KnownTensor* tensor = nullptr;
  enum class Relation { inside, past_end, before_start, null } relation = Relation::inside;
  std::uint64_t bytes = 0;                         // from the nearest end; inside: from the start
  std::optional<std::vector<std::int64_t>> index;  // element, one number a dimension

  enum class Basis {
    base_register,  // the operand's base is the tensor's first byte
    inside,         // the address lies in the tensor
    derived_base,   // the operand's base points into the tensor
    argument,       // nearest of the tensors whose address the running kernel holds
  } basis = Basis::inside;
  std::string evidence;
  // Another tensor fits too: it ends where the base points, or it has its bytes at the same place.
  bool ambiguous = false;

  bool is_exact() const {
    return !ambiguous && (basis == Basis::base_register || basis == Basis::inside);
  }
};

// `kernel_words` are the values that the running kernel holds in registers and on its stack.
std::optional<Owner> find_owner(const Fault& fault, std::span<const KnownTensor> tensors,
                                const std::unordered_set<std::uint64_t>& kernel_words);

// The place of `address` relative to one tensor.
Owner place_in(const KnownTensor& tensor, Address address);

// The element at a signed distance (in elements) from element 0, by its strides, largest first;
// the outermost dimension takes what is left over. Nothing for tensors without usable strides.
std::optional<std::vector<std::int64_t>> element_at(const KnownTensor& tensor,
                                                    std::int64_t distance);

}  // namespace aotidbg
