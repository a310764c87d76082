// SPDX-License-Identifier: BSD-3-Clause
//
// A table of text that fits a terminal: cells are made printable, columns are as wide as their
// content, and when the line is too long the least important columns are first narrowed (cells lose
// their middle), then left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/style.h"

namespace aotidbg {

struct Column {
  std::string title = {};
  int priority = 0;           // the highest number goes first when room is short; 0 never goes
  std::size_t narrowest = 0;  // cells may be cut down to this; 0: never cut
  bool right = false;         // numbers
  std::size_t fixed = 0;      // counts as this wide whatever it holds: for addresses, so that
                              // no other column moves with the length of an address
};

constexpr std::size_t kAddressWidth = 14;  // "0x7fffffffffff": x86-64 user space

struct Cell {
  std::string text;
  Emphasis emphasis = Emphasis::none;

  Cell(std::string words, Emphasis how = Emphasis::none)  // NOLINT(google-explicit-constructor)
      : text(std::move(words)), emphasis(how) {}
  Cell(std::string_view words) : text(words) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* words) : text(words) {}       // NOLINT(google-explicit-constructor)
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns; missing ones are empty.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  // Lines, each ended by a line feed and begun with `indent` spaces: titles, then rows. A column
  // that is empty in every row is left out.
  std::string render(const TextStyle& style, std::size_t indent, bool titles = true) const;

 private:
  // The width of each column; 0: left out.
  std::vector<std::size_t> fit(std::size_t room, bool titles) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // printable
};

}  // namespace aotidbg
