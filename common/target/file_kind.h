// SPDX-License-Identifier: BSD-3-Clause
//
// What a file is that somebody gave as a core, told by its first bytes and never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/target/result.h"

namespace aotidbg {

// As many first bytes as these functions look at.
constexpr std::size_t kKindBytes = 64;

// Those that are unpacked (packed_core.h); other ways of packing are refused by name.
enum class Packing { none, zstd, gzip, lz4 };
Packing packing_of(std::span<const std::byte> start);

// Passes the 64-bit little-endian ELF core of an x86-64 process. Anything else is an error that
// begins with `path`, says what the file is, and what to give instead. `start` may be shorter than
// kKindBytes when the file is.
Result<void> refuse_other_files(const std::string& path, std::span<const std::byte> start);

}  // namespace aotidbg
