// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/crash/rules/rules.h"

namespace aotidbg {

// The operand is based on a tensor and leaves it; which index did so is not known. Excluded:
// addresses inside the tensor, and index_out_of_bounds, which is tried first.
std::optional<Verdict> out_of_bounds(const Target&, const Crash& crash) {
  const auto& owner = crash.owner;
  if (!owner || owner->relation == Owner::Relation::inside ||
      owner->relation == Owner::Relation::null) {
    return std::nullopt;
  }
  Verdict verdict;
  verdict.code = "out_of_bounds";
  verdict.confidence = owner->is_exact() ? Confidence::certain : Confidence::likely;
  const bool past = owner->relation == Owner::Relation::past_end;
  verdict.text =
      fmt::format("{} {} {} bytes {} {}, which has {} bytes", say_kernel(crash), say_access(crash),
                  owner->bytes, past ? "past the end of" : "before the start of",
                  say_tensor(*owner->tensor), owner->tensor->bytes);
  verdict.evidence.push_back(owner->evidence);
  if (owner->ambiguous && owner->basis == Owner::Basis::argument) {
    verdict.confidence = Confidence::possible;
  } else if (owner->ambiguous) {
    verdict.evidence.emplace_back(
        "another tensor fits too: it ends where this one starts, or lies at the same place");
  }
  const auto& strides = owner->tensor->strides;
  if (std::find(strides.begin(), strides.end(), 0) != strides.end()) {
    verdict.next.emplace_back(
        "this tensor is expanded (a stride is 0), and code compiled for a contiguous one walks "
        "past its "
        "memory: pass x.contiguous()");
  }
  if (owner->tensor->kind == KnownTensor::Kind::input) {
    verdict.next.push_back(
        fmt::format("compare the shape of input {} with the one that the model was compiled for; "
                    "AOTI_RUNTIME_CHECK_INPUTS=1 does so at every run",
                    owner->tensor->name));
  } else {
    verdict.next.emplace_back("`aoti inputs`: compare the shapes passed with those compiled for");
  }
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
