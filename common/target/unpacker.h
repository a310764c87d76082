// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of a compressed file, one after the other. Several frames or members in a row are one
// stream, as the tools that wrote them have it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "common/target/file_kind.h"
#include "common/target/result.h"

namespace aotidbg {

class Unpacker {
 public:
  // `descriptor` stays the caller's, and is read from its first byte.
  static std::unique_ptr<Unpacker> make(Packing packing, int descriptor);
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;

  // Fills `out` from its front and answers with how many bytes; 0 is the end, also of a file that
  // ends in the middle of its stream. The error says what is wrong with the stream, without a path.
  virtual Result<std::size_t> next(std::span<std::byte> out) = 0;
};

}  // namespace aotidbg
