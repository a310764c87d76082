// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace aotidbg {
namespace {

constexpr std::string_view kCut = "...";

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15, EastAsianWidth.txt (W and F), joined where only unassigned characters lie between.
constexpr std::array kWide = {
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x2329, 0x232a},
    Range{0x23e9, 0x23ec},   Range{0x25fd, 0x25fe},   Range{0x2614, 0x2615},
    Range{0x26a1, 0x26a1},   Range{0x2705, 0x2705},   Range{0x274c, 0x274c},
    Range{0x2753, 0x2757},   Range{0x2e80, 0x303e},   Range{0x3041, 0x4dbf},
    Range{0x4e00, 0xa4cf},   Range{0xa960, 0xa97c},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff},
    Range{0x1f900, 0x1faff}, Range{0x20000, 0x3fffd},
};

// Combining marks (Mn, Me) of the scripts that names are written in, and variation selectors.
constexpr std::array kCombining = {
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd},   Range{0x0610, 0x061a},
    Range{0x064b, 0x065f}, Range{0x0e31, 0x0e31}, Range{0x0e34, 0x0e3a},   Range{0x0e47, 0x0e4e},
    Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff}, Range{0x20d0, 0x20ff},   Range{0x3099, 0x309a},
    Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}, Range{0xe0100, 0xe01ef},
};

// C1 controls, and the format characters (Cf) that hide or reorder what follows them.
constexpr std::array kHarmful = {
    Range{0x0080, 0x009f}, Range{0x00ad, 0x00ad},   Range{0x061c, 0x061c}, Range{0x180e, 0x180e},
    Range{0x200b, 0x200f}, Range{0x2028, 0x202e},   Range{0x2060, 0x206f}, Range{0xfeff, 0xfeff},
    Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe007f},
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t character) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), character,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && character <= std::prev(after)->last;
}

struct Character {
  char32_t value = 0;
  std::size_t length = 1;  // bytes
};

// The character that `text` starts with; nothing when its first bytes are not UTF-8 (RFC 3629:
// shortest form, no surrogates, at most U+10FFFF).
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return std::nullopt;
  char32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    return std::nullopt;
  }
  return Character{value, length};
}

std::size_t width_of(char32_t character) {
  if (within(kCombining, character)) return 0;
  return within(kWide, character) ? 2 : 1;
}

// Calls `visit(bytes, width)` for each character, until it answers false.
template <class Visit>
void each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Character character = first_character(text).value_or(Character{U'?', 1});
    if (!visit(text.substr(0, character.length), width_of(character.value))) return;
    text.remove_prefix(character.length);
  }
}

// Bytes of the longest beginning of `text` that fits in `width` columns.
std::size_t bytes_that_fit(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t used = 0;
  each_character(text, [&](std::string_view character, std::size_t columns) {
    if (used + columns > width) return false;
    used += columns;
    bytes += character.size();
    return true;
  });
  return bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::optional<Character> character = first_character(text);
    const std::size_t length = character ? character->length : 1;
    if (!character) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (character->value == U'\n') {
      out += "\\n";
    } else if (character->value == U'\t') {
      out += "\\t";
    } else if (character->value == U'\r') {
      out += "\\r";
    } else if (character->value < 0x20 || character->value == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(character->value));
    } else if (within(kHarmful, character->value)) {
      out += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(character->value));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  each_character(text, [&width](std::string_view, std::size_t columns) {
    width += columns;
    return true;
  });
  return width;
}

std::string cut_middle(std::string_view text, std::size_t width) {
  const std::size_t whole = display_width(text);
  if (whole <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  const std::size_t kept = width - kCut.size();
  const std::size_t left = bytes_that_fit(text, (kept + 1) / 2);
  // The longest end that fits: skip characters until what remains is no wider than its share.
  std::size_t skipped_bytes = 0;
  std::size_t remaining = whole;
  each_character(text, [&](std::string_view character, std::size_t columns) {
    if (remaining <= kept / 2 && columns != 0) return false;
    remaining -= columns;
    skipped_bytes += character.size();
    return true;
  });
  return fmt::format("{}{}{}", text.substr(0, left), kCut, text.substr(skipped_bytes));
}

std::string cut_end(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  return fmt::format("{}{}", text.substr(0, bytes_that_fit(text, width - kCut.size())), kCut);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 2);  // room for one wide character
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  const auto end_line = [&] {
    lines.push_back(std::move(line));
    line.clear();
    used = 0;
  };
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t columns = display_width(word);
    if (used != 0 && used + 1 + columns > width) end_line();
    if (used != 0) {
      line += ' ';
      ++used;
    }
    while (used + display_width(word) > width) {
      const std::size_t bytes = bytes_that_fit(word, width - used);
      line += word.substr(0, bytes);
      word.remove_prefix(bytes);
      end_line();
    }
    line += word;
    used += display_width(word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace aotidbg
