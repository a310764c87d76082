// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/variable_path.h"

#include <algorithm>

namespace aotidbg {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <class Fits>
bool take_run(std::string_view& text, const Fits& fits) {
  const auto end = std::find_if_not(text.begin(), text.end(), fits);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

bool take_name(std::string_view& text) {
  if (text.empty() || !is_letter(text.front())) return false;
  return take_run(text, [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace

bool is_variable_path(std::string_view text) {
  take_run(text, [](char c) { return c == '*' || c == '&'; });
  take(text, "::");
  if (!take_name(text)) return false;
  while (!text.empty()) {
    if (take(text, ".") || take(text, "->") || take(text, "::")) {
      if (!take_name(text)) return false;
    } else if (take(text, "[")) {
      if (!take_run(text, is_digit) || !take(text, "]")) return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace aotidbg
