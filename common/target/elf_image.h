// SPDX-License-Identifier: BSD-3-Clause
//
// The header and program headers of one 64-bit little-endian ELF file, read from the file or from
// where it is mapped, and its GNU build id. Nothing is believed: every count and size is bounded,
// and what cannot be read is an error.
//
// Sources: elf.h; System V ABI, chapter 5 (program headers, note sections).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

// Fills `out` from `offset` of the image, or says why it cannot.
using ReadAt = std::function<Result<void>(std::uint64_t offset, std::span<std::byte> out)>;

struct ElfSegment {
  std::uint32_t type = 0;    // PT_*
  std::uint32_t flags = 0;   // PF_*
  std::uint64_t offset = 0;  // in the file
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;  // at least file_size, and address + memory_size does not wrap
};

struct ElfImage {
  std::uint16_t type = 0;     // ET_*
  std::uint16_t machine = 0;  // EM_*
  std::uint64_t entry = 0;
  std::vector<ElfSegment> segments;

  // Lowest and highest address of all PT_LOAD segments, in whole pages; 0 and 0 without any.
  std::uint64_t lowest() const;
  std::uint64_t highest() const;
};

constexpr std::uint64_t kPageSize = 4096;  // x86-64
constexpr std::uint64_t page_down(std::uint64_t value) { return value & ~(kPageSize - 1); }
constexpr std::uint64_t page_up(std::uint64_t value) {
  return value > ~std::uint64_t{0} - kPageSize ? ~(kPageSize - 1)
                                               : page_down(value + kPageSize - 1);
}

// `read` counts from the first byte of the ELF header. More than 4096 program headers are refused:
// no program has them, only cores do (and those are read by core_file.h).
Result<ElfImage> read_elf_image(const ReadAt& read);

// Lower-case hex of the first NT_GNU_BUILD_ID note; empty when there is none. `at_offset`: `read`
// takes offsets in the file; otherwise addresses as in p_vaddr. When none is found and some note
// cannot be read that is an error, since then nobody knows whether there is a build id.
Result<std::string> read_build_id(const ElfImage& image, const ReadAt& read, bool at_offset);

}  // namespace aotidbg
