// SPDX-License-Identifier: BSD-3-Clause
//
// What a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace aotidbg {

// The candidate that `word` begins, or that is few edits away (one for every three characters, a
// swap of neighbours counts as one); the nearest, and the first of those that are equally near.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace aotidbg
