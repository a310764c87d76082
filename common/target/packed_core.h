// SPDX-License-Identifier: BSD-3-Clause
//
// A compressed core (zstd, gzip, lz4, by its first bytes), unpacked into a temporary file that has
// no name and goes away with this object or with the process, whichever ends first. Pages of zeros
// become holes, so it takes as much disk as the core had.
//
// Bounded: it stops at the size that the core's own program headers claim, and before the disk is
// full. What ends in the middle is kept as far as it goes; the core is then cut short, as any is.
//
// Only the command line opens such cores: debuggers take none, and are spared the libraries.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/target/result.h"

namespace aotidbg {

class UnpackedCore {
 public:
  // `progress`, which may be empty, is called about once a second with a sentence.
  static Result<UnpackedCore> open(const std::string& path,
                                   const std::function<void(std::string_view)>& progress);
  UnpackedCore(UnpackedCore&& other) noexcept;
  UnpackedCore& operator=(UnpackedCore&& other) noexcept;
  ~UnpackedCore();

  // The file to read in place of the one that was named; empty when that one is not compressed.
  const std::string& contents() const { return contents_; }

 private:
  UnpackedCore() = default;
  int descriptor_ = -1;
  std::string contents_;
};

}  // namespace aotidbg
