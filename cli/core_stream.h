// SPDX-License-Identifier: BSD-3-Clause
//
// A core as the kernel hands it to a core_pattern handler: a pipe that gives it once, from its
// first byte on, while the process that died waits (core(5), "Piping core dumps to a program").
// Headers and notes come first; as long as the rest is not taken, /proc/PID can be read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/target/core_notes.h"
#include "common/target/result.h"

namespace aotidbg {

class CoreStream {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CoreStream(int descriptor) : descriptor_(descriptor) {}

  // Headers and notes, which are kept. Fails when they have not come by `deadline`, or are none.
  Result<CoreNotes> read_head(Clock::time_point deadline);

  // The whole core, what was read of it included, into a new file whose pages of zeros are holes,
  // or into the standard input of a command that is waited for. `word[0]` is a path. Each ends with
  // the core; a failure is one sentence.
  Result<void> copy_to_file(const std::string& path);
  Result<void> copy_to_command(std::span<const std::string> words);

 private:
  Result<void> read_until(std::uint64_t size, Clock::time_point deadline);
  std::size_t read_more(std::span<std::byte> out);

  int descriptor_;
  std::vector<std::byte> head_;
};

}  // namespace aotidbg
