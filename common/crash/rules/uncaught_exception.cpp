// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "common/crash/rules/rules.h"

namespace aotidbg {
namespace {

const NamedFrame* frame_of(const NamedStack& stack, std::span<const std::string_view> names) {
  for (const NamedFrame& frame : stack.frames) {
    if (!frame.symbol) continue;
    const bool matches = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return frame.symbol->name.find(name) != std::string::npos;
    });
    if (matches) return &frame;
  }
  return nullptr;
}

}  // namespace

// std::terminate on a stack that an AOTInductor model or its runner is on. Excluded: abort() that
// no exception led to, and exceptions of code that no model called.
std::optional<Verdict> uncaught_exception(const Target&, const Crash& crash) {
  static constexpr std::array<std::string_view, 2> kTerminate = {"_ZSt9terminatev", "__terminate"};
  const bool aborted = crash.stop.signal && crash.stop.signal->number == SIGABRT;
  if (!aborted || frame_of(crash.stack, kTerminate) == nullptr) return std::nullopt;
  if (!crash.is_inside_aoti() && !crash.has_runner_frame()) return std::nullopt;
  Verdict verdict;
  verdict.code = "uncaught_exception";
  verdict.confidence = Confidence::likely;
  verdict.text = fmt::format(
      "a C++ exception that nobody caught left {}, and std::terminate ended the process",
      crash.kernel ? crash.kernel->name : "the run of a model");
  verdict.evidence.emplace_back("std::terminate and AOTInductor frames are on the aborting stack");
  verdict.next.emplace_back("read the exception's text on the process's standard error");
  return verdict;
}

}  // namespace aotidbg
