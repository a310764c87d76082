// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "common/crash/rules/rules.h"

namespace aotidbg {
namespace {

std::string module_of(const NamedFrame& frame) {
  return frame.module != nullptr ? frame.module->name() : std::string("an unknown module");
}

std::optional<std::string> name_of(const NamedFrame& frame) {
  if (!frame.sources.empty() && !frame.sources.front().function.empty()) {
    return fmt::format("{} ({})", frame.sources.front().function, module_of(frame));
  }
  if (frame.symbol)
    return fmt::format("{} ({})", demangle(frame.symbol->name, true), module_of(frame));
  return std::nullopt;
}

// Whose crash it is: the innermost frame, and where that has no name the first caller that has one.
std::string whose_frame(const Crash& crash) {
  if (crash.stack.frames.empty()) return "code that no stack names";
  const NamedFrame& innermost = crash.stack.frames.front();
  if (const auto name = name_of(innermost)) return *name;
  std::string words = fmt::format("a function without a name in {}", module_of(innermost));
  for (const NamedFrame& frame : crash.stack.frames) {
    if (const auto name = name_of(frame)) return fmt::format("{}, called from {}", words, *name);
  }
  return words;
}

}  // namespace

// A fault, or an abort, on a thread that is in no model. Excluded: stacks that end before they
// could show a model, which are said to be unsure.
std::optional<Verdict> not_aoti(const Target&, const Crash& crash) {
  if (crash.is_inside_aoti() || crash.has_runner_frame()) return std::nullopt;
  Verdict verdict;
  verdict.code = "not_aoti";
  verdict.confidence = crash.stack.stopped.empty() ? Confidence::certain : Confidence::likely;
  verdict.text = fmt::format("{} in {}; no AOTInductor frame is on this thread", say_stop(crash),
                             whose_frame(crash));
  if (!crash.stack.stopped.empty()) {
    verdict.evidence.push_back("the stack ends early: " + crash.stack.stopped);
  }
  if (crash.unread_modules != 0) {
    verdict.confidence = Confidence::possible;
    verdict.evidence.push_back(
        fmt::format("the symbols of {} module(s) cannot be read, and one of them may be a wrapper",
                    crash.unread_modules));
  }
  if (crash.wrappers.empty()) {
    verdict.evidence.emplace_back("no module of the process is an AOTInductor wrapper");
  } else {
    verdict.evidence.push_back(fmt::format(
        "{} AOTInductor wrapper(s) are loaded, none of them on this stack", crash.wrappers.size()));
  }
  verdict.next.emplace_back("debug it as any crash: start at the frame that is named above");
  weaken_where_unsure(crash, verdict);
  return verdict;
}

}  // namespace aotidbg
