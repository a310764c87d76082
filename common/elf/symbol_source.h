// SPDX-License-Identifier: BSD-3-Clause
//
// A symbol table with its names, wherever it lies: .symtab of a file, or the dynamic one in memory.
// libtorch's has 500,000 entries and 76 MB of names, so both are read a chunk at a time and a name
// only when it is asked for.
#pragma once

#include <elf.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/elf/module_image.h"

namespace aotidbg {

class SymbolSource {
 public:
  // .symtab of the module's file; nullopt when the file is not at hand or has none.
  static std::optional<SymbolSource> of_file(const Module& module);
  // The dynamic symbols, through memory. `image` must outlive the source.
  static Result<SymbolSource> of_memory(const ModuleImage& image);

  // Calls `visit` for each definition, until it returns false or the table cannot be read further.
  void each(const std::function<bool(const Elf64_Sym&)>& visit) const;

  // Offsets in the string table where `text` stands, sorted. Linkers share tails, so it may stand
  // inside a longer name. Never more than `limit`.
  std::vector<std::uint32_t> offsets_of(std::string_view text, std::size_t limit) const;

  // The name at an offset; nullopt when it is unterminated, unreadable or longer than 64 KiB.
  std::optional<std::string> name(std::uint32_t offset) const;

 private:
  using Read = std::function<bool(std::uint64_t offset, std::span<std::byte> out)>;
  struct Table {
    Read read;
    std::uint64_t size = 0;
  };
  SymbolSource(Table symbols, Table strings)
      : symbols_(std::move(symbols)), strings_(std::move(strings)) {}

  Table symbols_;
  Table strings_;
};

}  // namespace aotidbg
