// SPDX-License-Identifier: BSD-3-Clause
//
// The stages from a stop to a Crash, each once and in one order: libtorch and wrappers, stop and
// fault, stack, call, container, tensors, owner. What a stage cannot find is an entry in
// `unknowns`; the stages after it work with what is there.
#pragma once

#include "common/crash/analysis.h"
#include "common/crash/crash.h"

namespace aotidbg {

Crash examine(Target& target, const AnalysisOptions& options, StackNamer& namer);

// Every container that a runner in memory holds, stack or no stack. Fills crash.others, and adds to
// crash.unknowns when the search was partial.
void scan_for_models(Target& target, const AnalysisOptions& options, Crash& crash);

}  // namespace aotidbg
