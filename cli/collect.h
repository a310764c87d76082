// SPDX-License-Identifier: BSD-3-Clause
//
// `aotidbg collect`: what the kernel starts when a process dies (core_pattern). Explains the crash
// from the process itself, before its memory is gone, and hands the core on. docs/collect.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace aotidbg {

extern const std::string_view kCollectSummary;
extern const std::string_view kCollectHelp;

// `words` is what follows "collect". Answers with the exit status: 0 a report was written, 1 the
// process holds no AOTInductor state, 2 nothing could be found out. Whatever comes of the report,
// the core is handed on. Says what it did on standard error and in the system's log.
int collect(std::span<const std::string> words);

}  // namespace aotidbg
