// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/table.h"

#include <algorithm>

#include "common/report/terminal_text.h"

namespace aotidbg {
namespace {

constexpr std::size_t kGap = 2;    // spaces between columns
constexpr std::size_t kLeast = 8;  // columns of a cell that says anything

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == 0 ? 0 : width + kGap;
  return sum == 0 ? 0 : sum - kGap;
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::fit(std::size_t room, bool titles) const {
  std::vector<std::size_t> wanted(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i].text));
    if (widest == 0) continue;  // empty in every row
    const std::size_t title = titles ? display_width(columns_[i].title) : 0;
    wanted[i] = std::max({widest, title, columns_[i].fixed});
  }
  std::vector<std::size_t> widths = wanted;
  // Cuts, widest column first, as far as `least` allows; true when everything fits then.
  const auto narrow = [&](auto least) {
    while (total(widths) > room) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].narrowest == 0 || widths[i] <= least(columns_[i])) continue;
        if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == columns_.size()) return false;
      --widths[widest];
    }
    return true;
  };
  while (!narrow([](const Column& column) { return column.narrowest; })) {
    std::size_t least = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0 || columns_[i].priority == 0) continue;
      if (least == columns_.size() || columns_[i].priority > columns_[least].priority) least = i;
    }
    if (least == columns_.size()) {
      // Nothing more may go. What is still too long after this is cut at the end of the line.
      narrow([](const Column&) { return kLeast; });
      break;
    }
    wanted[least] = 0;
    widths = wanted;
  }
  return widths;
}

std::string Table::render(const TextStyle& style, std::size_t indent, bool titles) const {
  if (rows_.empty()) return {};
  const std::size_t columns = std::max(style.columns, TextStyle::kNarrowest);
  const std::vector<std::size_t> widths = fit(columns - indent, titles);

  const auto line = [&](auto text_of, auto emphasis_of) {
    std::string out(indent, ' ');
    std::size_t spaces = 0;
    std::size_t used = indent;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0 || used + spaces >= columns) continue;
      const std::size_t room = std::min(widths[i], columns - used - spaces);
      const std::string text = cut_middle(text_of(i), room);
      const std::size_t padding = widths[i] - std::min(widths[i], display_width(text));
      if (columns_[i].right && used + spaces + padding < columns) spaces += padding;
      if (!text.empty()) {
        out.append(spaces, ' ').append(paint(text, emphasis_of(i), style));
        used += spaces + display_width(text);
        spaces = 0;
      }
      spaces += kGap + (columns_[i].right ? 0 : padding);
    }
    return out + "\n";
  };

  std::string out;
  if (titles) {
    out += line([&](std::size_t i) -> std::string_view { return columns_[i].title; },
                [](std::size_t) { return Emphasis::faint; });
  }
  for (const auto& row : rows_) {
    out += line([&](std::size_t i) -> std::string_view { return row[i].text; },
                [&](std::size_t i) { return row[i].emphasis; });
  }
  return out;
}

}  // namespace aotidbg
