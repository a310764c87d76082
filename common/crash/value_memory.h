// SPDX-License-Identifier: BSD-3-Clause
//
// Where the values of tensors are, and which of them the verdict quotes.
#pragma once

#include "common/crash/analysis.h"
#include "common/crash/crash.h"

namespace aotidbg {

// `first` elements of each tensor are listed. Ranges end with the mapping that they begin in.
ValueMemory find_value_memory(Target& target, const Crash& crash, std::size_t first);

}  // namespace aotidbg
