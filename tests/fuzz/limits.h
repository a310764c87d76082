// SPDX-License-Identifier: BSD-3-Clause
//
// What one mutant may cost, and what is left of it when it costs the process its life. A mutant
// that takes too long or too much ends the process, as one that crashes does: all three are faults,
// and the mutant is written to a file, whose name is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace aotidbg {

constexpr double kMostSeconds = 2;  // of processor time, under ASan
constexpr std::size_t kMostMemory = 256U << 20;

struct Cost {
  double seconds = 0;      // of processor time
  std::size_t memory = 0;  // the most that was allocated at one time, in bytes
};

// Once, before the first mutant. `folder` is where the file of a fatal one goes.
void guard_process(const std::string& folder);

// Around the work on one mutant. `name` is printed when it is fatal.
void begin_mutant(const std::string& name, std::span<const std::byte> bytes);
Cost end_mutant();

}  // namespace aotidbg
