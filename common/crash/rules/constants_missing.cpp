// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/crash/rules/rules.h"

namespace aotidbg {
namespace {

constexpr std::size_t kNamed = 4;  // names in the sentence; the rest is counted

std::string names_of(const std::vector<const Constant*>& constants) {
  std::string names;
  for (std::size_t i = 0; i < std::min(constants.size(), kNamed); ++i) {
    const Constant& constant = *constants[i];
    if (i > 0) names += ", ";
    names += constant.fqn.empty() ? constant.name : constant.fqn;
  }
  if (constants.size() > kNamed) names += fmt::format(" and {} more", constants.size() - kNamed);
  return names;
}

bool has_null_input(const Crash& crash) {
  return std::any_of(
      crash.tensors.inputs.begin(), crash.tensors.inputs.end(),
      [](const CallInput& input) { return input.tensor && input.tensor->data() == 0; });
}

}  // namespace

// A null base inside a model that has constants without handle or data. Excluded: null bases where
// every constant is loaded. That the null pointer was one of those constants is inferred, so this
// is never certain.
std::optional<Verdict> constants_missing(const Target&, const Crash& crash) {
  if (!crash.has_null_base() || !crash.container) return std::nullopt;
  std::vector<const Constant*> missing;
  for (const Constant& constant : crash.constants) {
    if (constant.is_missing()) missing.push_back(&constant);
  }
  if (missing.empty()) return std::nullopt;
  Verdict verdict;
  verdict.code = "constants_missing";
  verdict.confidence = has_null_input(crash) ? Confidence::possible : Confidence::likely;
  const bool all = missing.size() == crash.constants.size();
  verdict.text =
      fmt::format("{} used a constant that was never loaded: {} of {} constants {} no data ({})",
                  say_kernel(crash), missing.size(), crash.constants.size(),
                  missing.size() == 1 ? "has" : "have", names_of(missing));
  verdict.evidence.push_back(fmt::format("the operand's base is null ({})", say_stop(crash)));
  verdict.evidence.emplace_back(all ? "no constant of the active buffer has a handle or data"
                                    : "the other constants of the active buffer are loaded");
  verdict.evidence.emplace_back(
      "inferred: that the null pointer is one of them; no other null tensor was found");
  if (has_null_input(crash)) {
    verdict.evidence.back() = "an input has no data either, so it may have been that one";
  }
  verdict.next.emplace_back(
      "load the weights before run(): load_constants() in Python, update_constant_buffer() in C++");
  verdict.next.emplace_back(
      "call it with check_full_update on, so that a missing name is an error at once");
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
