// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/symbol_source.h"

#include <algorithm>

#include "common/elf/dynamic_table.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kChunk = 256U << 10;
constexpr std::size_t kLongestName = 64U << 10;

// Section headers of a file; empty when it has none that can be read. More than 65,279 sections
// (SHN_LORESERVE) are counted in section 0, and refused here: no linked module has them.
std::vector<Elf64_Shdr> section_headers(const ModuleFile& file) {
  Elf64_Ehdr header;
  if (!file.read(0, std::as_writable_bytes(std::span(&header, 1)))) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!file.read(header.e_shoff, std::as_writable_bytes(std::span(sections)))) return {};
  return sections;
}

}  // namespace

std::optional<SymbolSource> SymbolSource::of_file(const Module& module) {
  if (!module.file) return std::nullopt;
  const std::vector<Elf64_Shdr> sections = section_headers(*module.file);
  const auto symtab = std::ranges::find(sections, SHT_SYMTAB, &Elf64_Shdr::sh_type);
  if (symtab == sections.end() || symtab->sh_link >= sections.size() ||
      symtab->sh_entsize != sizeof(Elf64_Sym)) {
    return std::nullopt;
  }
  const auto table = [&](const Elf64_Shdr& section) {
    const std::uint64_t end = module.file->size();
    Table result;
    result.size = section.sh_offset > end ? 0 : std::min(section.sh_size, end - section.sh_offset);
    result.read = [file = module.file, start = section.sh_offset](std::uint64_t offset,
                                                                  std::span<std::byte> out) {
      return file->read(start + offset, out).has_value();
    };
    return result;
  };
  return SymbolSource(table(*symtab), table(sections[symtab->sh_link]));
}

Result<SymbolSource> SymbolSource::of_memory(const ModuleImage& image) {
  auto dynamic = DynamicTable::open(image);
  if (!dynamic) return tl::unexpected(dynamic.error());
  auto count = dynamic->count();
  if (!count) return tl::unexpected(count.error());
  const auto table = [&image](Address start, std::uint64_t size) {
    Table result;
    result.size = size;
    result.read = [&image, start](std::uint64_t offset, std::span<std::byte> out) {
      return image.read(start + offset, out).has_value();
    };
    return result;
  };
  return SymbolSource(table(dynamic->symbols(), *count * sizeof(Elf64_Sym)),
                      table(dynamic->strings(), dynamic->strings_size()));
}

void SymbolSource::each(const std::function<bool(const Elf64_Sym&)>& visit) const {
  constexpr std::uint64_t kEntries = kChunk / sizeof(Elf64_Sym);
  const std::uint64_t count = symbols_.size / sizeof(Elf64_Sym);
  std::vector<Elf64_Sym> chunk;
  for (std::uint64_t first = 0; first < count; first += kEntries) {
    chunk.resize(std::min(kEntries, count - first));
    if (!symbols_.read(first * sizeof(Elf64_Sym), std::as_writable_bytes(std::span(chunk)))) return;
    for (const Elf64_Sym& symbol : chunk) {
      if (is_definition(symbol) && !visit(symbol)) return;
    }
  }
}

std::vector<std::uint32_t> SymbolSource::offsets_of(std::string_view text,
                                                    std::size_t limit) const {
  std::vector<std::uint32_t> offsets;
  if (text.empty()) return offsets;
  std::string window;  // the end of the last chunk, in which `text` may have begun, and the next
  for (std::uint64_t next = 0; next < strings_.size;) {
    const std::size_t kept = std::min(window.size(), text.size() - 1);
    window.erase(0, window.size() - kept);
    const std::uint64_t size = std::min(kChunk, strings_.size - next);
    window.resize(kept + size);
    if (!strings_.read(next, std::as_writable_bytes(std::span(window)).subspan(kept))) break;
    for (std::size_t at = window.find(text); at != std::string::npos;
         at = window.find(text, at + 1)) {
      const std::uint64_t offset = next - kept + at;
      if (offset > UINT32_MAX || offsets.size() == limit) return offsets;
      offsets.push_back(static_cast<std::uint32_t>(offset));
    }
    next += size;
  }
  return offsets;
}

std::optional<std::string> SymbolSource::name(std::uint32_t offset) const {
  std::string text;
  for (std::uint64_t step = 256; text.size() < kLongestName; step *= 2) {
    const std::uint64_t start = offset + text.size();
    if (start >= strings_.size) return std::nullopt;
    const std::size_t before = text.size();
    text.resize(before + std::min(step, strings_.size - start));
    if (!strings_.read(start, std::as_writable_bytes(std::span(text)).subspan(before))) {
      return std::nullopt;
    }
    if (const std::size_t end = text.find('\0', before); end != std::string::npos) {
      text.resize(end);
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace aotidbg
