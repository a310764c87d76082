// SPDX-License-Identifier: BSD-3-Clause
//
// What a core's PT_NOTE segments say: threads, the signal, the program's name, the auxiliary
// vector, and which file is mapped where.
//
// Sources: linux/elfcore.h and linux/include/uapi/linux/elfcore.h (elf_prstatus, elf_prpsinfo),
// fs/binfmt_elf.c (order of notes, fill_files_note), asm-generic/siginfo.h, elf.h (AT_*).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/target/core_file.h"
#include "common/target/target.h"

namespace aotidbg {

// One entry of NT_FILE; offsets are in bytes here.
struct FileMapping {
  Address start = 0;
  Address end = 0;
  std::uint64_t file_offset = 0;
  std::string path;  // as recorded, ' (deleted)' included
};

struct AuxiliaryVector {
  std::optional<Address> program_headers;  // AT_PHDR
  std::uint64_t program_header_count = 0;  // AT_PHNUM
  std::optional<Address> entry;            // AT_ENTRY
  std::optional<Address> executable_name;  // AT_EXECFN
  std::optional<Address> random;           // AT_RANDOM: 16 bytes on the main stack
  std::optional<Address> vdso;             // AT_SYSINFO_EHDR
};

struct CoreNotes {
  std::vector<Thread> threads;  // in the order of the file
  std::optional<ThreadId> stopped_thread;
  std::int64_t pid = 0;
  std::string command;    // pr_fname, at most 15 characters
  std::string arguments;  // pr_psargs, at most 79 characters
  AuxiliaryVector auxiliary;
  bool has_file_mappings = false;                // NT_FILE is there
  std::vector<FileMapping> file_mappings;        // sorted by address
  std::vector<AuxiliaryValue> auxiliary_values;  // all that NT_AUXV holds
  std::optional<std::string> snapshot;           // text of a snapshot's own note
  std::vector<Error> gaps;                       // notes that are missing, torn or too many
};

CoreNotes read_core_notes(const CoreFile& core);

AuxiliaryVector auxiliary_vector(std::span<const AuxiliaryValue> values);

}  // namespace aotidbg
