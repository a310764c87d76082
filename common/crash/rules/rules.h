// SPDX-License-Identifier: BSD-3-Clause
//
// One function a verdict: what it takes for the verdict to hold, and what excludes it. Each answers
// nothing when it does not apply. A verdict is never stronger than its weakest link.
#pragma once

#include <optional>
#include <string>

#include "common/crash/crash.h"

namespace aotidbg {

using Rule = std::optional<Verdict> (*)(const Target& target, const Crash& crash);

std::optional<Verdict> no_fault(const Target& target, const Crash& crash);
std::optional<Verdict> uncaught_exception(const Target& target, const Crash& crash);
std::optional<Verdict> not_aoti(const Target& target, const Crash& crash);
std::optional<Verdict> memory_unmapped(const Target& target, const Crash& crash);
std::optional<Verdict> constants_missing(const Target& target, const Crash& crash);
std::optional<Verdict> null_pointer(const Target& target, const Crash& crash);
std::optional<Verdict> index_out_of_bounds(const Target& target, const Crash& crash);
std::optional<Verdict> out_of_bounds(const Target& target, const Crash& crash);
std::optional<Verdict> unexplained(const Target& target, const Crash& crash);  // always applies

// The verdict of the first rule that applies, in the order above.
Verdict judge(const Target& target, const Crash& crash);

// Words that several rules need.
std::string say_kernel(const Crash& crash);         // "cpp_fused_add_0", "the model"
std::string say_tensor(const KnownTensor& tensor);  // "constant emb.weight"
std::string say_access(const Crash& crash);         // "read", "wrote", "touched"
std::string say_stop(const Crash& crash);           // "SIGSEGV (SEGV_MAPERR) at 0x10"

// Lowers `confidence` to `likely` and says why, when the stack was not found by call frame
// information, or a layout was assumed.
void weaken_where_unsure(const Crash& crash, Verdict& verdict);

}  // namespace aotidbg
