// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/terminal_text.h"

namespace aotidbg {
namespace {

constexpr std::size_t kMargin = 11;  // the longest label, "Constants", and two spaces

}  // namespace

std::size_t Page::room() const { return std::max(style_.columns, TextStyle::kNarrowest) - kMargin; }

void Page::emit(std::string_view line) {
  text_ += paint(label_, Emphasis::strong, style_);
  text_.append(kMargin - label_.size(), ' ').append(line).append("\n");
  label_.clear();
}

void Page::section(std::string_view label, bool belongs_to_last) {
  if (!text_.empty() && !belongs_to_last) text_ += '\n';
  label_ = label.substr(0, kMargin - 1);
}

void Page::paragraph(std::string_view text, Emphasis emphasis) {
  for (const std::string& line : wrap(printable(text), room())) {
    emit(paint(line, emphasis, style_));
  }
}

void Page::bullet(std::string_view text, std::string_view mark) {
  std::string lead = fmt::format("{} ", mark);
  for (const std::string& line : wrap(printable(text), room() - lead.size())) {
    emit(lead + line);
    lead.assign(lead.size(), ' ');
  }
}

void Page::table(const Table& table, bool titles) {
  const std::string lines = table.render(style_, kMargin, titles);
  std::string_view rest = lines;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    emit(rest.substr(kMargin, end - kMargin));
    rest.remove_prefix(end + 1);
  }
}

std::string Page::command(std::string_view rest) const {
  return fmt::format("{} {}", style_.prompt, rest);
}

}  // namespace aotidbg
