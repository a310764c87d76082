// SPDX-License-Identifier: BSD-3-Clause
//
// torch::inductor::AOTIModelContainerRunner (torch/csrc/inductor/aoti_runner), which holds the
// container, and the search for it in memory by its vtable.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/torch/container.h"

namespace aotidbg {

struct Runner {
  Address at = 0;
  Address run = 0;  // AOTInductorModelContainerRun of its wrapper
  Address container = 0;
};

// What a runner at this address holds. It is real when `run` lies in a wrapper that is mapped now
// and `container` decodes; neither is checked here.
Result<Runner> read_runner(Memory& memory, const Libtorch& libtorch, Address at);

struct ScanResult {
  std::vector<Address> hits;
  std::uint64_t bytes = 0;    // looked at
  std::uint64_t missing = 0;  // in writable regions but not in the target
  bool complete = true;       // false: interrupted, or over the budget
};

// Aligned words of writable private memory that equal one of `needles`.
ScanResult scan_for_words(
    Target& target, std::span<const Address> needles, std::uint64_t budget_bytes,
    const std::function<void(std::uint64_t done, std::uint64_t of)>& progress);

}  // namespace aotidbg
