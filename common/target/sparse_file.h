// SPDX-License-Identifier: BSD-3-Clause
//
// Writing files whose pages are mostly zero, as cores are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace aotidbg {

// Writes `bytes` at `offset`, a multiple of the page size, and leaves pages of zeros out: they are
// holes, as long as nothing was there before. False with errno set when the file takes no more. The
// caller gives the file its length (ftruncate), for it may end in a hole.
bool write_sparse(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace aotidbg
