// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/owner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace aotidbg {
namespace {

// The values that can be the start of an array in an operand: its base, or its index where that is
// not scaled ("[rax+rsi]" says nothing about which is which).
struct BaseCandidate {
  std::string register_name;
  std::uint64_t value;
};

std::vector<BaseCandidate> bases_of(const MemoryOperand& operand) {
  std::vector<BaseCandidate> bases;
  const auto displaced = [&](std::uint64_t value) {
    return value + static_cast<std::uint64_t>(operand.displacement);
  };
  if (operand.base) {
    bases.push_back({operand.base_register, *operand.base});
    if (operand.displacement != 0 && operand.index) {
      bases.push_back({operand.base_register, displaced(*operand.base)});
    }
  }
  if (operand.index && operand.scale == 1) {
    bases.push_back({operand.index_register, *operand.index});
  }
  return bases;
}

bool ends_another(std::span<const KnownTensor> tensors, const KnownTensor& owner) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const KnownTensor& other) {
    // Constants lie in one blob, each aligned to 64 bytes (model_base.h, AOTI_CONST_ALIGNMENT).
    constexpr std::uint64_t kAlignment = 64;
    const bool ends_here =
        other.bytes != 0 && other.end() <= owner.data && owner.data - other.end() < kAlignment;
    return &other != &owner && ends_here;
  });
}

// Whether another tensor has its bytes at the same place, so that the address cannot tell them
// apart.
void note_same_place(std::span<const KnownTensor> tensors, Owner& owner) {
  for (const KnownTensor& other : tensors) {
    if (&other == owner.tensor || other.data != owner.tensor->data || other.bytes == 0) continue;
    owner.ambiguous = true;
    owner.evidence += fmt::format("; {} is at the same address, and may be meant", other.name);
  }
}

std::optional<Owner> owner_by_base(const Fault& fault, std::span<const KnownTensor> tensors,
                                   Address address) {
  for (const BaseCandidate& base : bases_of(*fault.operand)) {
    for (const KnownTensor& tensor : tensors) {
      if (tensor.data == 0 || base.value != tensor.data) continue;
      Owner owner = place_in(tensor, address);
      owner.basis = Owner::Basis::base_register;
      owner.evidence =
          fmt::format("register {} holds the address of its first element", base.register_name);
      owner.ambiguous = ends_another(tensors, tensor);
      if (!fault.operand->address) {
        owner.ambiguous = true;
        owner.evidence += "; the lane of the gather that faulted is not known";
      }
      note_same_place(tensors, owner);
      return owner;
    }
  }
  return std::nullopt;
}

std::optional<Owner> owner_by_address(std::span<const KnownTensor> tensors, Address address) {
  std::optional<Owner> owner;
  for (const KnownTensor& tensor : tensors) {
    if (tensor.data == 0 || address < tensor.data || address >= tensor.end()) continue;
    if (owner) {
      owner->ambiguous = true;
      owner->evidence += fmt::format("; so it does inside {}", tensor.name);
      continue;
    }
    owner = place_in(tensor, address);
    owner->basis = Owner::Basis::inside;
    owner->evidence = "the address lies inside it";
  }
  return owner;
}

std::optional<Owner> owner_by_derived_base(const Fault& fault, std::span<const KnownTensor> tensors,
                                           Address address) {
  for (const BaseCandidate& base : bases_of(*fault.operand)) {
    if (base.value == address) continue;  // then it is no base but the whole address
    for (const KnownTensor& tensor : tensors) {
      if (tensor.data == 0 || base.value < tensor.data || base.value >= tensor.end()) continue;
      Owner owner = place_in(tensor, address);
      owner.basis = Owner::Basis::derived_base;
      owner.evidence = fmt::format("register {} points into it", base.register_name);
      return owner;
    }
  }
  return std::nullopt;
}

// Generated kernels read inputs and constants and write buffers, unless something is mutated.
bool is_usual_for(Access access, KnownTensor::Kind kind) {
  const bool is_buffer = kind == KnownTensor::Kind::buffer;
  return access == Access::write ? is_buffer : !is_buffer;
}

std::optional<Owner> owner_by_argument(const Fault& fault, std::span<const KnownTensor> tensors,
                                       const std::unordered_set<std::uint64_t>& kernel_words,
                                       Address address) {
  const KnownTensor* nearest = nullptr;
  std::size_t candidates = 0;
  const auto consider = [&](bool usual) {
    for (const KnownTensor& tensor : tensors) {
      const bool is_argument = tensor.data != 0 && kernel_words.contains(tensor.data);
      if (!is_argument || tensor.data > address) continue;
      if (is_usual_for(fault.operand->access, tensor.kind) != usual) continue;
      const bool never =
          fault.operand->access == Access::write && tensor.kind == KnownTensor::Kind::constant;
      if (never) continue;
      ++candidates;
      if (nearest == nullptr || tensor.data > nearest->data) nearest = &tensor;
    }
  };
  consider(true);
  if (nearest == nullptr) consider(false);
  if (nearest == nullptr) return std::nullopt;
  Owner owner = place_in(*nearest, address);
  owner.basis = Owner::Basis::argument;
  owner.ambiguous = candidates > 1;
  owner.evidence =
      "the compiler folded base and index into one register; of the tensors whose address the "
      "kernel holds, this one starts nearest below";
  if (owner.ambiguous) {
    owner.evidence += fmt::format(" ({} others start below it too)", candidates - 1);
  }
  return owner;
}

}  // namespace

std::optional<std::vector<std::int64_t>> element_at(const KnownTensor& tensor,
                                                    std::int64_t distance) {
  if (tensor.sizes.empty() || tensor.sizes.size() != tensor.strides.size()) return std::nullopt;
  std::vector<std::size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensor.strides[a] > tensor.strides[b];
  });
  std::vector<std::int64_t> index(order.size(), 0);
  std::int64_t left = distance;
  for (const std::size_t dimension : order) {
    const std::int64_t stride = tensor.strides[dimension];
    if (stride <= 0) continue;
    index[dimension] = left / stride;
    left %= stride;
    if (left < 0) {  // towards minus infinity
      --index[dimension];
      left += stride;
    }
  }
  return left == 0 ? std::optional(index) : std::nullopt;
}

Owner place_in(const KnownTensor& tensor, Address address) {
  Owner owner;
  owner.tensor = &tensor;
  const bool before = address < tensor.data;
  // An address below the start by less than half the address space was reached by a negative index.
  if (before) {
    owner.relation = Owner::Relation::before_start;
    owner.bytes = tensor.data - address;
  } else if (address >= tensor.end()) {
    owner.relation = Owner::Relation::past_end;
    owner.bytes = address - tensor.end();
  } else {
    owner.relation = Owner::Relation::inside;
    owner.bytes = address - tensor.data;
  }
  if (tensor.item_size != 0) {
    const auto distance = static_cast<std::int64_t>(address - tensor.data);
    const auto item = static_cast<std::int64_t>(tensor.item_size);
    std::int64_t elements = distance / item;
    if (distance % item < 0) --elements;
    owner.index = element_at(tensor, elements);
  }
  return owner;
}

std::optional<Owner> find_owner(const Fault& fault, std::span<const KnownTensor> tensors,
                                const std::unordered_set<std::uint64_t>& kernel_words) {
  if (!fault.operand) {
    return fault.address ? owner_by_address(tensors, *fault.address) : std::nullopt;
  }
  const auto address = fault.operand->address ? fault.operand->address : fault.address;
  if (!address) return std::nullopt;
  if (auto owner = owner_by_base(fault, tensors, *address)) return owner;
  if (auto owner = owner_by_address(tensors, *address)) return owner;
  if (auto owner = owner_by_derived_base(fault, tensors, *address)) return owner;
  return owner_by_argument(fault, tensors, kernel_words, *address);
}

}  // namespace aotidbg
