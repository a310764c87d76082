// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <csignal>

#include "common/crash/rules/rules.h"
#include "common/torch/residency.h"

namespace aotidbg {

// The address lies inside what a tensor's own sizes say is its memory, and nothing readable is
// mapped there. Excluded: addresses outside the tensor, whatever is mapped there.
std::optional<Verdict> memory_unmapped(const Target& target, const Crash& crash) {
  const auto& owner = crash.owner;
  if (!owner || owner->relation != Owner::Relation::inside || !crash.fault.address) {
    return std::nullopt;
  }
  const bool is_bus_error = crash.stop.signal && crash.stop.signal->number == SIGBUS;
  if (!is_bus_error && is_readable(target, *crash.fault.address, 1)) return std::nullopt;
  const Place place = place_of(target, *crash.fault.address);
  Verdict verdict;
  verdict.code = "memory_unmapped";
  verdict.confidence = owner->is_exact() ? Confidence::certain : Confidence::likely;
  verdict.text =
      fmt::format("{} {} {} at byte {} of its {}, and that memory is {}", say_kernel(crash),
                  say_access(crash), say_tensor(*owner->tensor), owner->bytes, owner->tensor->bytes,
                  is_bus_error ? "of a file that is shorter than its mapping" : place.where);
  verdict.evidence.push_back(owner->evidence);
  if (is_bus_error) {
    verdict.next.emplace_back("keep the file that this memory is a mapping of at its full length");
  } else if (owner->tensor->kind == KnownTensor::Kind::input) {
    verdict.next.emplace_back(
        "keep the memory of this input alive until run() returns: a tensor made with from_blob "
        "does "
        "not own its memory");
  } else if (owner->tensor->kind == KnownTensor::Kind::constant) {
    verdict.next.emplace_back(
        "keep the memory of this constant alive as long as the model: user-managed constants are "
        "not "
        "copied");
  }
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
