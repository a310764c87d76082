// SPDX-License-Identifier: BSD-3-Clause
//
// One core taken through everything that a user can ask of it, and what must hold of every answer,
// whatever the core holds.
#pragma once

#include <string>
#include <vector>

#include "common/target/result.h"
#include "tests/fuzz/mutator.h"

namespace aotidbg {

struct Examined {
  bool opened = false;  // the core was not refused
  std::string verdict;  // code; empty when refused
  std::size_t models = 0;
  std::size_t constants = 0;  // whose values were read
  std::size_t frames = 0;     // of the first thread in the report
  bool has_owner = false;     // the fault was traced to a tensor
};

// How much is asked of one core.
enum class Depth {
  everything,
  // Its regions, modules and threads, and what `doctor` says of them: what headers and notes
  // decide.
  target,
};

// The error says which answer broke which rule: one that is no JSON, that would send control
// characters to a terminal, or that says that the tool itself failed. `random` chooses the
// command lines. Never throws.
Result<Examined> examine_core(const std::string& path, const std::vector<std::string>& tensors,
                              Random& random, Depth depth);

}  // namespace aotidbg
