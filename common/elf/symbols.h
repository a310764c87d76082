// SPDX-License-Identifier: BSD-3-Clause
//
// Symbols of a mapped module, without loading a symbol table: names are looked up in the module's
// own GNU hash table, read through the target's memory (which fills in from the proven file), and
// addresses in one pass over .symtab or .dynsym.
//
// A snapshot answers what was asked when it was saved (record.h).
//
// Sources: the GNU hash section (binutils bfd/elflink.c, glibc elf/dl-lookup.c), elf.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

struct Symbol {
  std::string name;  // as in the file, mangled
  Address address = 0;
  std::uint64_t size = 0;
};

// A defined dynamic symbol by exact name. An absent symbol is nullopt; an unreadable table an
// error.
Result<std::optional<Symbol>> find_dynamic_symbol(Memory& memory, const Module& module,
                                                  std::string_view name);

// A symbol by exact name in the file's .symtab (local symbols too); nullopt when the file or the
// table is not at hand.
std::optional<Symbol> find_file_symbol(Memory& memory, const Module& module, std::string_view name);

// For each address (inside `module`, any order) the symbol that covers it, or nullopt. One pass
// over the symbol table for all of them; .symtab of the file where it has one, else .dynsym.
std::vector<std::optional<Symbol>> symbols_at(Memory& memory, const Module& module,
                                              std::span<const Address> addresses);

// Every defined symbol whose name starts with `prefix`, from .symtab or .dynsym.
std::vector<Symbol> symbols_with_prefix(Memory& memory, const Module& module,
                                        std::string_view prefix);

// "AOTInductorModel::run_impl(...)" for "_ZN...", the name itself when it is not mangled.
// `brief` leaves out parameter lists and template arguments.
std::string demangle(const std::string& name, bool brief);

// The same brevity for a name that is spelled out already ("call<int>" becomes "call"); the whole
// name where its form is not understood.
std::string brief_name(const std::string& full);

}  // namespace aotidbg
