// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "common/crash/rules/rules.h"

namespace aotidbg {

// The process was stopped by somebody (a debugger, a breakpoint, kill), not by its own fault.
// Excluded: faults, and abort(), which raises SIGABRT in its own thread.
std::optional<Verdict> no_fault(const Target& target, const Crash& crash) {
  if (crash.stop.is_fault()) return std::nullopt;
  if (crash.stop.signal && crash.stop.signal->number == SIGABRT) return std::nullopt;
  Verdict verdict;
  verdict.code = "no_fault";
  verdict.confidence = Confidence::certain;
  const std::string where = crash.call ? fmt::format(" inside {}", say_kernel(crash))
                                       : std::string(" outside any AOTInductor model");
  verdict.text =
      crash.stop.signal
          ? fmt::format("the process stopped with {}, which is no fault; this thread is{}",
                        signal_name(crash.stop.signal->number), where)
          : fmt::format("the process stopped without a fault; this thread is{}", where);
  if (crash.stop.thread == nullptr) {
    verdict.text = "the target has no thread to explain";
    verdict.confidence = Confidence::possible;
    verdict.evidence.emplace_back(
        "a core always has a thread: this file is damaged, or it is not there");
    return verdict;
  }
  const auto is_driver = [](const Module& module) {
    return module.name().starts_with("libcuda.so");
  };
  if (std::ranges::any_of(target.modules(), is_driver)) {
    verdict.confidence = Confidence::likely;
    verdict.evidence.emplace_back(
        "the process uses a GPU, whose own exceptions are not read: one may have stopped it");
  }
  // The user asked for a thread, and it is another one that died.
  const auto stopped = target.stopped_thread();
  const Thread* const culprit = stopped ? target.thread(*stopped) : nullptr;
  if (culprit != nullptr && culprit != crash.stop.thread && culprit->signal) {
    verdict.text = fmt::format("this thread is{} and has no fault of its own; thread {} took {}",
                               where, culprit->id, signal_name(culprit->signal->number));
    verdict.next.push_back(fmt::format("look at that thread: --thread {}", culprit->id));
  }
  const bool is_sent_fault = crash.stop.signal && is_fault_signal(crash.stop.signal->number) &&
                             crash.stop.signal->number != SIGTRAP;
  if (is_sent_fault) {
    // Sent, not raised by the processor: by kill, or by a handler that hid the true fault.
    verdict.confidence = Confidence::possible;
    verdict.evidence.push_back(
        fmt::format("{} was sent by a process ({}); a handler may have sent it on after a true "
                    "fault, but no signal "
                    "frame of one was found on the stack",
                    signal_name(crash.stop.signal->number),
                    signal_code_name(crash.stop.signal->number, crash.stop.signal->code)));
  }
  return verdict;
}

}  // namespace aotidbg
