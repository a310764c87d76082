// SPDX-License-Identifier: BSD-3-Clause
//
// Linux cores and small ELF libraries, made byte by byte, so that a test can give any of them any
// fault. What is written is a valid core unless a test breaks it.
//
//   CoreBuilder().thread(7).signal(SIGSEGV, 1, 0x10).region(0x1000, bytes, "rw-").write(path);
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// Of an x86-64 file of this type whose program headers follow at once; their count is the caller's.
Elf64_Ehdr elf_header(std::uint16_t type);

class CoreBuilder {
 public:
  using Values = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  // NT_PRSTATUS; registers as {slot, value}, the others are 0.
  CoreBuilder& thread(ThreadId id, const Values& registers = {}, int current_signal = 0);
  // NT_SIGINFO, of the thread before it.
  CoreBuilder& signal(int number, int code, std::uint64_t address);
  CoreBuilder& process(int pid, std::string_view command, std::string_view arguments);
  CoreBuilder& auxiliary(const Values& values);  // NT_AUXV without its AT_NULL
  // A PT_LOAD; `memory_size` 0: as many bytes as are given.
  CoreBuilder& region(Address start, std::span<const std::byte> bytes,
                      std::string_view permissions = "rw-", std::uint64_t memory_size = 0);
  // An entry of NT_FILE; the note is written when there is one.
  CoreBuilder& file_mapping(Address start, Address end, std::uint64_t offset, std::string path);
  // Where segments may begin in the file: at a page, as the kernel writes them, unless said.
  CoreBuilder& file_alignment(std::size_t bytes);
  CoreBuilder& note(std::string_view owner, std::uint32_t type, std::span<const std::byte> bytes);
  CoreBuilder& change_header(std::function<void(Elf64_Ehdr&)> change);
  CoreBuilder& change_segments(std::function<void(std::vector<Elf64_Phdr>&)> change);

  std::vector<std::byte> bytes() const;
  void write(const std::string& path) const;

 private:
  struct Load {
    Elf64_Phdr header;
    std::vector<std::byte> bytes;
  };
  struct Mapping {
    std::uint64_t start, end, offset;
    std::string path;
  };
  std::vector<std::byte> notes_;
  std::vector<Load> loads_;
  std::vector<Mapping> mappings_;
  std::size_t file_alignment_ = 4096;
  std::function<void(Elf64_Ehdr&)> change_header_;
  std::function<void(std::vector<Elf64_Phdr>&)> change_segments_;
};

// A library of three pages: headers and build id (r--), code (r-x, filled with `code`), data (rw-).
// File offsets are addresses. An empty build id: no note.
std::vector<std::byte> small_library(std::string_view build_id_hex, std::byte code);

void write_file(const std::string& path, std::span<const std::byte> bytes);

// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace aotidbg
