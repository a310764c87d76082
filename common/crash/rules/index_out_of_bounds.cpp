// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "common/crash/rules/rules.h"

namespace aotidbg {
namespace {

std::string position_words(const std::vector<std::int64_t>& position) {
  std::string words;
  for (const std::int64_t part : position) words += fmt::format("[{}]", part);
  return words;
}

// "row 5000 of constant emb.weight, which has 1000 rows", and the like for other ranks.
std::string say_index(const KnownTensor& owner, const IndexMatch& match) {
  const std::int64_t size = owner.sizes[match.dimension];
  const std::string tensor = say_tensor(owner);
  if (owner.sizes.size() == 1) {
    return fmt::format("element {} of {}, which has {}", match.value, tensor, size);
  }
  if (owner.sizes.size() == 2 && match.dimension == 0) {
    return fmt::format("row {} of {}, which has {} rows", match.value, tensor, size);
  }
  return fmt::format("index {} of dimension {} of {}, which has {} there", match.value,
                     match.dimension, tensor, size);
}

}  // namespace

// A value of an integer input that leaves a dimension of the faulting tensor and leads exactly to
// the faulting address. An equal value found by search is an inference: never certain.
std::optional<Verdict> index_out_of_bounds(const Target&, const Crash& crash) {
  const auto& match = crash.index.match;
  if (!match || !crash.owner) return std::nullopt;
  Verdict verdict;
  verdict.code = "index_out_of_bounds";
  verdict.confidence = Confidence::likely;
  const KnownTensor& owner = *match->owner;
  const std::int64_t size = owner.sizes[match->dimension];
  verdict.text =
      fmt::format("{} {} {}: input {}{} holds that index", say_kernel(crash), say_access(crash),
                  say_index(owner, *match), match->input->name, position_words(match->position));
  verdict.evidence.push_back(crash.owner->evidence);
  verdict.evidence.push_back(fmt::format(
      "inferred: {}{} = {} is an equal value, and leads exactly to the faulting address",
      match->input->name, position_words(match->position), match->value));
  if (match->others != 0) {
    verdict.evidence.push_back(
        fmt::format("{} other value(s) would lead there too", match->others));
  }
  verdict.next.push_back(fmt::format("check the values of input {} before run(): 0 <= index < {}",
                                     match->input->name, size));
  verdict.next.emplace_back(
      "compile with assert_indirect_indexing on (the default) to get a message in place of a "
      "crash");
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
