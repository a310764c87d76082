// SPDX-License-Identifier: BSD-3-Clause
//
// How a text is to look: width, colours, and what the reader types to get more.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aotidbg {

struct TextStyle {
  std::size_t columns = 100;  // no line is longer, down to kNarrowest
  bool color = false;
  std::string prompt = "aoti";  // what comes before a command's name: "aoti", "aotidbg"

  static constexpr std::size_t kNarrowest = 40;
};

enum class Emphasis { none, strong, bad, good, faint };

// `text` in the colour (ECMA-48 SGR) of its meaning. A colour repeats what words or marks say.
inline std::string paint(std::string_view text, Emphasis emphasis, const TextStyle& style) {
  if (!style.color || emphasis == Emphasis::none || text.empty()) return std::string(text);
  const char* code = "";
  switch (emphasis) {
    case Emphasis::none:
      break;
    case Emphasis::strong:
      code = "\x1b[1m";
      break;
    case Emphasis::bad:
      code = "\x1b[1;31m";
      break;
    case Emphasis::good:
      code = "\x1b[32m";
      break;
    case Emphasis::faint:
      code = "\x1b[2m";
      break;
  }
  return std::string(code).append(text).append("\x1b[0m");
}

}  // namespace aotidbg
