// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers that a compiler left in code: the size that a function hands to operator delete, the
// version that it returns. Code is evidence that no release build can strip.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/target/memory.h"

namespace aotidbg {

// What a function returns when it does nothing but return a constant; nullopt for any other code.
std::optional<std::uint64_t> returned_constant(Memory& memory, Address function);

// The immediates that `size` bytes of code move into registers, in order. At most 64 KiB are read;
// bytes that cannot be read or are no instruction end the list early.
std::vector<std::uint64_t> moved_immediates(Memory& memory, Address function, std::uint64_t size);

}  // namespace aotidbg
