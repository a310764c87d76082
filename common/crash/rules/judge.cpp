// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/crash/rules/rules.h"

namespace aotidbg {

namespace {

// What is not in a core that was cut short may have been in the process, so a verdict that rests on
// something being absent is a guess.
void weaken_for_a_cut_core(Verdict& verdict) {
  const bool rests_on_absence = verdict.code == "not_aoti" || verdict.code == "no_fault";
  verdict.evidence.emplace_back("the core file is cut short, so part of the process is missing");
  if (rests_on_absence) {
    verdict.confidence = Confidence::possible;
  } else if (verdict.confidence == Confidence::certain) {
    verdict.confidence = Confidence::likely;
  }
}

}  // namespace

Verdict judge(const Target& target, const Crash& crash) {
  static constexpr Rule kRules[] = {
      no_fault,     uncaught_exception,  not_aoti,      memory_unmapped, constants_missing,
      null_pointer, index_out_of_bounds, out_of_bounds, unexplained};
  for (const Rule rule : kRules) {
    if (auto verdict = rule(target, crash)) {
      for (const std::string& line : crash.stop.evidence) verdict->evidence.push_back(line);
      if (target.process().cut_short) weaken_for_a_cut_core(*verdict);
      return *verdict;
    }
  }
  return {};  // not reached: the last rule always applies
}

std::string say_kernel(const Crash& crash) {
  if (crash.kernel) return crash.kernel->name;
  if (crash.call) return "the model's generated code";
  return crash.has_runner_frame() ? "libtorch's AOTInductor runner" : "the program";
}

std::string say_tensor(const KnownTensor& tensor) {
  switch (tensor.kind) {
    case KnownTensor::Kind::constant:
      return fmt::format("constant {}", tensor.fqn.empty() ? tensor.name : tensor.fqn);
    case KnownTensor::Kind::input:
      return fmt::format("input {}", tensor.name);
    case KnownTensor::Kind::buffer:
      return fmt::format("buffer {} of the running call", tensor.name);
  }
  return tensor.name;
}

std::string say_access(const Crash& crash) {
  if (!crash.fault.operand) return "touched";
  switch (crash.fault.operand->access) {
    case Access::read:
      return "read";
    case Access::write:
      return "wrote";
    default:
      return "touched";
  }
}

std::string say_stop(const Crash& crash) {
  if (!crash.stop.signal) return "a stop without a signal";
  const SignalInfo& signal = *crash.stop.signal;
  std::string words = fmt::format("{} ({})", signal_name(signal.number),
                                  signal_code_name(signal.number, signal.code));
  if (crash.fault.address) words += fmt::format(" at {:#x}", *crash.fault.address);
  return words;
}

void weaken_where_unsure(const Crash& crash, Verdict& verdict) {
  const auto weaken = [&](std::string why) {
    if (verdict.confidence == Confidence::certain) verdict.confidence = Confidence::likely;
    verdict.evidence.push_back(std::move(why));
  };
  if (!crash.has_sure_stack()) {
    weaken("part of the stack was found without call frame information");
  }
  if (crash.owner && crash.owner->tensor != nullptr && crash.owner->tensor->name_assumed) {
    weaken("which input it is was inferred from the order of run_impl's handles");
  }
  if (crash.fault.operand && !crash.fault.operand_agrees) {
    weaken(
        crash.stop.signal && crash.stop.signal->address
            ? "the reported fault address does not fit the instruction; its operand's own address "
              "is used"
            : "the target does not tell the fault address; that of the instruction's operand is "
              "used");
  }
  const bool wrapper_assumed = crash.container && crash.container->wrapper->assumed;
  if (crash.container && (crash.libtorch.assumed || wrapper_assumed)) {
    weaken("objects were read with a layout table that nothing proves to be the right one");
  }
}

}  // namespace aotidbg
