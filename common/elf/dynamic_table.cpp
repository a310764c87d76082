// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/dynamic_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotidbg {
namespace {

constexpr std::uint64_t kMostDynamicEntries = 4096;  // libtorch has 40
constexpr std::uint32_t kBucketsAtOnce = 64U << 10;

// bfd_elf_gnu_hash: h * 33 + c.
std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

// System V gABI, figure 5-13.
std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000U;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

}  // namespace

bool is_definition(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         symbol.st_shndx != SHN_COMMON && symbol.st_name != 0 &&
         (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC);
}

Result<DynamicTable> DynamicTable::open(const ModuleImage& image) {
  const ElfSegment* segment = image.segment(PT_DYNAMIC);
  if (segment == nullptr) return fail("the module has no dynamic section");
  DynamicTable table(image);
  const Address start = image.address_of(segment->address);
  const std::uint64_t entries =
      std::min({segment->memory_size / sizeof(Elf64_Dyn), image.room(start) / sizeof(Elf64_Dyn),
                kMostDynamicEntries});
  std::vector<Elf64_Dyn> dynamic(entries);
  if (auto done = image.read(start, std::as_writable_bytes(std::span(dynamic))); !done) {
    return tl::unexpected(done.error());
  }
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_NULL) break;
    const auto pointer = image.resolve(entry.d_un.d_ptr);
    switch (entry.d_tag) {
      case DT_SYMTAB:
        table.symbols_ = pointer.value_or(0);
        break;
      case DT_STRTAB:
        table.strings_ = pointer.value_or(0);
        break;
      case DT_STRSZ:
        table.strings_size_ = entry.d_un.d_val;
        break;
      case DT_GNU_HASH:
        table.gnu_hash_ = pointer.value_or(0);
        break;
      case DT_HASH:
        table.sysv_hash_ = pointer.value_or(0);
        break;
      case DT_VERSYM:
        table.versions_ = pointer.value_or(0);
        break;
      default:
        break;
    }
  }
  table.strings_size_ = std::min(table.strings_size_, image.room(table.strings_));
  if (table.symbols_ == 0 || table.strings_size_ == 0) {
    return fail("the module's dynamic section names no symbol table inside the module", start);
  }
  return table;
}

Result<std::optional<Elf64_Sym>> DynamicTable::find(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  if (gnu_hash_ != 0) return find_gnu(name);
  if (sysv_hash_ != 0) return find_sysv(name);
  return fail("the module has no hash table of its symbols");
}

Result<std::uint64_t> DynamicTable::count() const {
  const std::uint64_t room = image_->room(symbols_) / sizeof(Elf64_Sym);
  if (sysv_hash_ != 0) {
    // nbucket, nchain; one chain entry a symbol.
    auto chains = image_->read_value<std::uint32_t>(sysv_hash_ + 4);
    if (!chains) return tl::unexpected(chains.error());
    return std::min<std::uint64_t>(*chains, room);
  }
  if (gnu_hash_ == 0) return fail("the module has no hash table of its symbols");
  auto counted = count_gnu();
  if (!counted) return counted;
  return std::min(*counted, room);
}

Result<DynamicTable::GnuHash> DynamicTable::gnu_header() const {
  auto hash = image_->read_value<GnuHash>(gnu_hash_);
  if (!hash) return tl::unexpected(hash.error());
  const std::uint64_t room = image_->room(gnu_hash_);
  const std::uint64_t size =
      sizeof(GnuHash) + std::uint64_t{hash->bloom_words} * 8 + std::uint64_t{hash->buckets} * 4;
  if (hash->buckets == 0 || hash->bloom_words == 0 || size > room) {
    return fail(
        fmt::format("the symbol hash table at {:#x} is damaged: {} buckets, {} filter words",
                    gnu_hash_, hash->buckets, hash->bloom_words),
        gnu_hash_);
  }
  return *hash;
}

Address DynamicTable::bucket_address(const GnuHash& hash, std::uint32_t bucket) const {
  return gnu_hash_ + sizeof(GnuHash) + std::uint64_t{hash.bloom_words} * 8 +
         std::uint64_t{bucket} * 4;
}

Address DynamicTable::chain_address(const GnuHash& hash, std::uint32_t symbol) const {
  return bucket_address(hash, hash.buckets) + std::uint64_t{symbol - hash.first_symbol} * 4;
}

// A chain is a run of hashes, one a symbol, the last with its lowest bit set. Symbols only go up,
// so a chain ends at the latest where the module does.
Result<std::optional<Elf64_Sym>> DynamicTable::find_gnu(std::string_view name) const {
  auto hash = gnu_header();
  if (!hash) return tl::unexpected(hash.error());
  const std::uint32_t wanted = gnu_hash(name);

  const std::uint32_t word = (wanted / 64) % hash->bloom_words;
  auto bloom =
      image_->read_value<std::uint64_t>(gnu_hash_ + sizeof(GnuHash) + std::uint64_t{word} * 8);
  if (!bloom) return tl::unexpected(bloom.error());
  const std::uint64_t mask = (std::uint64_t{1} << (wanted % 64)) |
                             (std::uint64_t{1} << ((wanted >> (hash->bloom_shift % 32)) % 64));
  if ((*bloom & mask) != mask) return std::nullopt;

  auto first = image_->read_value<std::uint32_t>(bucket_address(*hash, wanted % hash->buckets));
  if (!first) return tl::unexpected(first.error());
  if (*first == 0) return std::nullopt;
  if (*first < hash->first_symbol) {
    return fail(
        fmt::format("the symbol hash table at {:#x} is damaged: bucket of '{}'", gnu_hash_, name),
        gnu_hash_);
  }
  std::optional<Elf64_Sym> hidden;
  for (std::uint32_t index = *first;; ++index) {
    const Address at = chain_address(*hash, index);
    if (image_->room(at) < 4) break;
    auto link = image_->read_value<std::uint32_t>(at);
    if (!link) return tl::unexpected(link.error());
    if ((*link | 1U) == (wanted | 1U)) {
      auto candidate = symbol(index);
      if (!candidate) return tl::unexpected(candidate.error());
      auto same = is_named(*candidate, name);
      if (!same) return tl::unexpected(same.error());
      if (*same && is_definition(*candidate)) {
        if (is_default_version(index)) return *candidate;
        if (!hidden) hidden = *candidate;
      }
    }
    if ((*link & 1U) != 0) return hidden;
  }
  return fail(fmt::format("the symbol hash table at {:#x} is damaged: a chain leaves the module",
                          gnu_hash_),
              gnu_hash_);
}

// Chains are linked lists here, so only a count of steps ends a cycle.
Result<std::optional<Elf64_Sym>> DynamicTable::find_sysv(std::string_view name) const {
  auto header = image_->read_value<std::array<std::uint32_t, 2>>(sysv_hash_);
  if (!header) return tl::unexpected(header.error());
  const auto [buckets, chains] = *header;
  const std::uint64_t size = 8 + (std::uint64_t{buckets} + chains) * 4;
  if (buckets == 0 || size > image_->room(sysv_hash_)) {
    return fail(fmt::format("the symbol hash table at {:#x} is damaged", sysv_hash_), sysv_hash_);
  }
  std::uint32_t slot = sysv_hash(name) % buckets;
  for (std::uint64_t steps = 0; steps <= chains; ++steps) {
    auto index = image_->read_value<std::uint32_t>(sysv_hash_ + 8 + std::uint64_t{slot} * 4);
    if (!index) return tl::unexpected(index.error());
    if (*index == STN_UNDEF) return std::nullopt;
    if (*index >= chains) break;
    auto candidate = symbol(*index);
    if (!candidate) return tl::unexpected(candidate.error());
    auto same = is_named(*candidate, name);
    if (!same) return tl::unexpected(same.error());
    if (*same && is_definition(*candidate)) return *candidate;
    slot = buckets + *index;
  }
  return fail(
      fmt::format("the symbol hash table at {:#x} is damaged: a chain does not end", sysv_hash_),
      sysv_hash_);
}

// The last hashed symbol is the end of the chain that starts last.
Result<std::uint64_t> DynamicTable::count_gnu() const {
  auto hash = gnu_header();
  if (!hash) return tl::unexpected(hash.error());
  // In parts: a damaged table claims as many buckets as a module is large, and that may be claimed,
  // too.
  std::vector<std::uint32_t> buckets(std::min(hash->buckets, kBucketsAtOnce));
  std::uint32_t last = 0;
  for (std::uint32_t first = 0; first < hash->buckets;) {
    const auto part = std::span(buckets).first(std::min(kBucketsAtOnce, hash->buckets - first));
    if (auto done = image_->read(bucket_address(*hash, first), std::as_writable_bytes(part));
        !done) {
      return tl::unexpected(done.error());
    }
    last = std::max(last, *std::ranges::max_element(part));
    first += static_cast<std::uint32_t>(part.size());
  }
  if (last < hash->first_symbol) return hash->first_symbol;
  for (;; ++last) {
    const Address at = chain_address(*hash, last);
    if (image_->room(at) < 4) break;
    auto link = image_->read_value<std::uint32_t>(at);
    if (!link) return tl::unexpected(link.error());
    if ((*link & 1U) != 0) return std::uint64_t{last} + 1;
  }
  return fail(fmt::format("the symbol hash table at {:#x} is damaged: a chain leaves the module",
                          gnu_hash_),
              gnu_hash_);
}

Result<Elf64_Sym> DynamicTable::symbol(std::uint32_t index) const {
  const Address at = symbols_ + std::uint64_t{index} * sizeof(Elf64_Sym);
  if (image_->room(at) < sizeof(Elf64_Sym)) {
    return fail(fmt::format("symbol {} lies outside the module", index), at);
  }
  return image_->read_value<Elf64_Sym>(at);
}

Result<bool> DynamicTable::is_named(const Elf64_Sym& symbol, std::string_view name) const {
  if (symbol.st_name >= strings_size_ || name.size() >= strings_size_ - symbol.st_name)
    return false;
  std::string text(name.size() + 1, '\0');
  if (auto done = image_->read(strings_ + symbol.st_name, std::as_writable_bytes(std::span(text)));
      !done) {
    return tl::unexpected(done.error());
  }
  return text.back() == '\0' && std::string_view(text).substr(0, name.size()) == name;
}

// The highest bit of a version index marks one that only old binaries are bound to.
bool DynamicTable::is_default_version(std::uint32_t index) const {
  if (versions_ == 0) return true;
  const auto version = image_->read_value<Elf64_Half>(versions_ + std::uint64_t{index} * 2);
  return !version || (*version & 0x8000U) == 0;
}

}  // namespace aotidbg
