// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "common/crash/rules/rules.h"

namespace aotidbg {

// The fault is in AOTInductor code and no other rule explains it. Saying so is better than a guess.
std::optional<Verdict> unexplained(const Target&, const Crash& crash) {
  Verdict verdict;
  verdict.code = "unexplained";
  verdict.confidence = Confidence::possible;
  verdict.text = fmt::format("{} in {}, and nothing that was read explains it", say_stop(crash),
                             say_kernel(crash));
  if (!crash.container && !crash.container_problem.empty()) {
    verdict.evidence.push_back("the model could not be read: " + crash.container_problem);
  }
  if (crash.fault.address && !crash.owner) {
    verdict.evidence.emplace_back("the address belongs to no constant, input or live buffer");
  }
  if (!crash.call && crash.others.empty()) {
    verdict.evidence.emplace_back(
        "the runner is on the stack, and no model in memory is whole: it may have been deleted");
    verdict.next.emplace_back("make sure that the package loader outlives every run()");
  }
  verdict.next.emplace_back("`aoti doctor` lists what is missing for a fuller answer");
  return verdict;
}

}  // namespace aotidbg
