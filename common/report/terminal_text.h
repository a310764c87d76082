// SPDX-License-Identifier: BSD-3-Clause
//
// Strings from a dead process on a living terminal: made harmless, measured in columns, cut and
// wrapped. Nothing here depends on the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace aotidbg {

// `text` with everything that could steer a terminal or reorder a line written as an escape:
// control characters ("\n", "\x1b"), bytes that are no UTF-8 ("\xff"), bidirectional and zero-width
// format characters ("\u{202e}"). The other functions here take text that came out of this one.
std::string printable(std::string_view text);

// Terminal columns that `text` takes: 2 for wide East Asian characters and emoji, 0 for combining
// marks, 1 for the rest.
std::size_t display_width(std::string_view text);

// `text` in at most `width` columns. What is too long loses its middle ("cb3i...wrapper.so"), for
// both ends of names and paths tell them apart.
std::string cut_middle(std::string_view text, std::size_t width);

// The same, and the end is lost: for sentences.
std::string cut_end(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at spaces; a word that is longer than a line is broken
// anywhere. At least one line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace aotidbg
