// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "common/crash/rules/rules.h"

namespace aotidbg {

// A null base inside a model whose constants are all loaded, or could not be read (then it is at
// most likely). Excluded: constants_missing, which is tried first.
std::optional<Verdict> null_pointer(const Target&, const Crash& crash) {
  if (!crash.has_null_base()) return std::nullopt;
  Verdict verdict;
  verdict.code = "null_pointer";
  verdict.confidence =
      crash.container && crash.fault.operand ? Confidence::certain : Confidence::likely;
  const std::string base = crash.fault.operand && !crash.fault.operand->base_register.empty()
                               ? fmt::format(" (register {})", crash.fault.operand->base_register)
                               : std::string();
  verdict.text = fmt::format("{} {} memory through a null pointer{}", say_kernel(crash),
                             say_access(crash), base);
  if (crash.fault.executes) {
    verdict.text = fmt::format("{} called a null function pointer", say_kernel(crash));
  }
  verdict.evidence.emplace_back(crash.container
                                    ? "every constant of the active buffer has a handle and data"
                                    : "the model's constants could not be read");
  for (const CallInput& input : crash.tensors.inputs) {
    if (!input.tensor || input.tensor->data() != 0) continue;
    verdict.evidence.push_back(
        fmt::format("input {} has {} elements and no data", input.name, input.tensor->elements));
    verdict.next.push_back(
        fmt::format("compare the shape of input {} with the one compiled for", input.name));
  }
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
