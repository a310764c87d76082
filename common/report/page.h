// SPDX-License-Identifier: BSD-3-Clause
//
// A page of text under construction: sections with their label in the left margin, and in them
// paragraphs, bullets and tables. All text that goes in is made printable; all lines fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "common/report/style.h"
#include "common/report/table.h"

namespace aotidbg {

class Page {
 public:
  explicit Page(TextStyle style) : style_(std::move(style)) {}

  // Starts a section, after an empty line unless it belongs to the one before it. The label stands
  // beside whatever comes next.
  void section(std::string_view label, bool belongs_to_last = false);

  void paragraph(std::string_view text, Emphasis emphasis = Emphasis::none);
  void bullet(std::string_view text, std::string_view mark = "-");
  void table(const Table& table, bool titles = true);

  // The command that answers more: command("constants") is "aoti constants".
  std::string command(std::string_view rest) const;

  const TextStyle& style() const { return style_; }
  std::string take() { return std::move(text_); }

 private:
  std::size_t room() const;
  void emit(std::string_view line);

  TextStyle style_;
  std::string text_;
  std::string label_;  // not written yet
};

}  // namespace aotidbg
