// SPDX-License-Identifier: BSD-3-Clause
//
// The dynamic symbol table of a mapped module, read through its image: where its parts are
// (PT_DYNAMIC), how many symbols it has, and one by exact name.
//
// ld.so relocates the pointers of a writable .dynamic (glibc, x86-64: DT_HASH, DT_STRTAB... hold
// addresses of the process); a read-only one (vdso) keeps the file's own. Both are accepted.
//
// Sources: System V gABI, chapter 5; glibc elf/dl-lookup.c and binutils bfd/elflink.c (GNU hash);
// LSB, "Symbol Versioning" (DT_VERSYM).
#pragma once

#include <elf.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/elf/module_image.h"

namespace aotidbg {

class DynamicTable {
 public:
  // Fails when the module has no dynamic section or one that leads out of the module. `image` must
  // outlive the table.
  static Result<DynamicTable> open(const ModuleImage& image);

  // A defined symbol by exact name; of several versions the default one. nullopt: there is none.
  Result<std::optional<Elf64_Sym>> find(std::string_view name) const;

  // Entries of the table as its hash table counts them, never more than the module has room for.
  Result<std::uint64_t> count() const;

  Address symbols() const { return symbols_; }
  Address strings() const { return strings_; }
  std::uint64_t strings_size() const { return strings_size_; }

 private:
  struct GnuHash {
    std::uint32_t buckets;
    std::uint32_t first_symbol;  // symbols before it are not hashed: undefined ones
    std::uint32_t bloom_words;
    std::uint32_t bloom_shift;
  };
  static_assert(sizeof(GnuHash) == 16);

  explicit DynamicTable(const ModuleImage& image) : image_(&image) {}
  Result<GnuHash> gnu_header() const;
  Address bucket_address(const GnuHash& hash, std::uint32_t bucket) const;
  Address chain_address(const GnuHash& hash, std::uint32_t symbol) const;
  Result<std::optional<Elf64_Sym>> find_gnu(std::string_view name) const;
  Result<std::optional<Elf64_Sym>> find_sysv(std::string_view name) const;
  Result<std::uint64_t> count_gnu() const;
  Result<Elf64_Sym> symbol(std::uint32_t index) const;
  Result<bool> is_named(const Elf64_Sym& symbol, std::string_view name) const;
  bool is_default_version(std::uint32_t index) const;

  const ModuleImage* image_;
  Address symbols_ = 0;
  Address strings_ = 0;
  std::uint64_t strings_size_ = 0;
  Address gnu_hash_ = 0;   // 0: there is none
  Address sysv_hash_ = 0;  // 0: there is none
  Address versions_ = 0;   // 0: there is none
};

// True for what has a name and a place in the module: not undefined, thread local, a section or a
// file.
bool is_definition(const Elf64_Sym& symbol);

}  // namespace aotidbg
