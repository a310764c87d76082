// SPDX-License-Identifier: BSD-3-Clause
//
// Opening and reading files that nobody vouches for: regular files only, no open that blocks on a
// FIFO or a device, and pread that goes on after short reads and signals.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/target/result.h"

namespace aotidbg {

struct OpenFile {
  int descriptor = -1;  // the caller's, to close
  struct stat status{};
};

// Fails for what is no regular file; `what` is one sentence that begins with the path.
Result<OpenFile> open_regular(const std::string& path);

struct ReadBytes {
  std::size_t bytes = 0;  // read, from the front of `out`
  int error = 0;          // errno when an error ended it; 0 at the end of the file
};

ReadBytes read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> out);

// A file of /proc, whose size stat does not tell: read to its end, at most `limit` bytes.
Result<std::string> read_text(const std::string& path, std::size_t limit);

}  // namespace aotidbg
