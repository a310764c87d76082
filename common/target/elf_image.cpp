// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/elf_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace aotidbg {

namespace {

constexpr std::size_t kMostProgramHeaders = 4096;
constexpr std::uint64_t kMostNoteBytes = 64U << 10;

Result<Elf64_Ehdr> read_header(const ReadAt& read) {
  Elf64_Ehdr header;
  if (auto done = read(0, std::as_writable_bytes(std::span(&header, 1))); !done) {
    return tl::unexpected(done.error());
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return fail("it is no ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return fail("it is no 64-bit little-endian ELF file");
  }
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return fail(fmt::format("its program headers have {} bytes each", header.e_phentsize));
  }
  if (header.e_phnum > kMostProgramHeaders) {
    return fail(fmt::format("it claims {} program headers", header.e_phnum));
  }
  return header;
}

// The build id in one block of notes, or empty.
std::string build_id_in(std::span<const std::byte> notes, std::uint64_t alignment) {
  const auto padded = [alignment](std::uint64_t size) {
    return (size + alignment - 1) & ~(alignment - 1);
  };
  for (std::uint64_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    const std::uint64_t name = at + sizeof(note);
    const std::uint64_t description = name + padded(note.n_namesz);
    if (description > notes.size() || note.n_descsz > notes.size() - description) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
      std::string hex;
      for (std::byte byte : notes.subspan(description, std::min<std::size_t>(note.n_descsz, 64))) {
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
      }
      return hex;
    }
    at = std::min<std::uint64_t>(description + padded(note.n_descsz), notes.size());
  }
  return {};
}

}  // namespace

std::uint64_t ElfImage::lowest() const {
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const ElfSegment& segment : segments) {
    if (segment.type == PT_LOAD) lowest = std::min(lowest, page_down(segment.address));
  }
  return lowest == std::numeric_limits<std::uint64_t>::max() ? 0 : lowest;
}

std::uint64_t ElfImage::highest() const {
  std::uint64_t highest = 0;
  for (const ElfSegment& segment : segments) {
    if (segment.type == PT_LOAD) {
      highest = std::max(highest, page_up(segment.address + segment.memory_size));
    }
  }
  return highest;
}

Result<ElfImage> read_elf_image(const ReadAt& read) {
  const auto header = read_header(read);
  if (!header) return tl::unexpected(header.error());
  ElfImage image{header->e_type, header->e_machine, header->e_entry, {}};
  std::vector<Elf64_Phdr> table(header->e_phnum);
  if (header->e_phoff > std::numeric_limits<std::int64_t>::max()) {
    return fail("its program headers are outside of it");
  }
  if (auto done = read(header->e_phoff, std::as_writable_bytes(std::span(table))); !done) {
    return tl::unexpected(done.error());
  }
  for (const Elf64_Phdr& entry : table) {
    ElfSegment segment{entry.p_type,  entry.p_flags,  entry.p_offset,
                       entry.p_vaddr, entry.p_filesz, std::max(entry.p_memsz, entry.p_filesz)};
    if (segment.memory_size > std::numeric_limits<std::uint64_t>::max() - segment.address) {
      return fail(fmt::format("its segment at {:#x} has an impossible size", segment.address));
    }
    image.segments.push_back(segment);
  }
  return image;
}

Result<std::string> read_build_id(const ElfImage& image, const ReadAt& read, bool at_offset) {
  std::optional<Error> unread;
  for (const ElfSegment& segment : image.segments) {
    if (segment.type != PT_NOTE || segment.file_size == 0) continue;
    std::vector<std::byte> notes(std::min(segment.file_size, kMostNoteBytes));
    if (auto done = read(at_offset ? segment.offset : segment.address, notes); !done) {
      if (!unread) unread = done.error();
      continue;
    }
    // Only .note.gnu.property is aligned to 8, in a segment of its own; build ids are aligned to 4.
    std::string id = build_id_in(notes, 4);
    if (!id.empty()) return id;
  }
  if (unread) return tl::unexpected(*unread);
  return std::string();
}

}  // namespace aotidbg
