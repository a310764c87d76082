// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/core_builder.h"

#include <sys/procfs.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tests/support/fake_target.h"

namespace aotidbg {

namespace {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void pad(std::vector<std::byte>& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

std::span<const std::byte> view(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void append_note(std::vector<std::byte>& notes, std::string_view owner, std::uint32_t type,
                 std::span<const std::byte> bytes) {
  const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1),
                          static_cast<Elf64_Word>(bytes.size()), type};
  append(notes, bytes_of(header));
  append(notes, view(owner));
  notes.push_back(std::byte{0});
  pad(notes, 4);
  append(notes, bytes);
  pad(notes, 4);
}

std::uint32_t flags_of(std::string_view permissions) {
  std::uint32_t flags = 0;
  if (permissions.find('r') != std::string_view::npos) flags |= PF_R;
  if (permissions.find('w') != std::string_view::npos) flags |= PF_W;
  if (permissions.find('x') != std::string_view::npos) flags |= PF_X;
  return flags;
}

}  // namespace

Elf64_Ehdr elf_header(std::uint16_t type) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  return header;
}

CoreBuilder& CoreBuilder::note(std::string_view owner, std::uint32_t type,
                               std::span<const std::byte> bytes) {
  append_note(notes_, owner, type, bytes);
  return *this;
}

CoreBuilder& CoreBuilder::thread(ThreadId id, const Values& registers, int current_signal) {
  elf_prstatus status{};
  status.pr_pid = static_cast<int>(id);
  status.pr_cursig = static_cast<short>(current_signal);
  for (const auto& [slot, value] : registers) status.pr_reg[slot] = value;
  return note("CORE", NT_PRSTATUS, bytes_of(status));
}

CoreBuilder& CoreBuilder::signal(int number, int code, std::uint64_t address) {
  std::vector<std::byte> info = bytes_of(number, 0, code, 0, address);
  info.resize(128);
  return note("CORE", NT_SIGINFO, info);
}

CoreBuilder& CoreBuilder::process(int pid, std::string_view command, std::string_view arguments) {
  elf_prpsinfo info{};
  info.pr_pid = pid;
  std::copy_n(command.begin(), std::min(command.size(), sizeof(info.pr_fname) - 1), info.pr_fname);
  std::copy_n(arguments.begin(), std::min(arguments.size(), sizeof(info.pr_psargs) - 1),
              info.pr_psargs);
  return note("CORE", NT_PRPSINFO, bytes_of(info));
}

CoreBuilder& CoreBuilder::auxiliary(const Values& values) {
  std::vector<std::byte> bytes;
  for (const auto& [type, value] : values) append(bytes, bytes_of(type, value));
  append(bytes, bytes_of(std::uint64_t{AT_NULL}, std::uint64_t{0}));
  return note("CORE", NT_AUXV, bytes);
}

CoreBuilder& CoreBuilder::region(Address start, std::span<const std::byte> bytes,
                                 std::string_view permissions, std::uint64_t memory_size) {
  Load load{};
  load.header.p_type = PT_LOAD;
  load.header.p_flags = flags_of(permissions);
  load.header.p_vaddr = start;
  load.header.p_filesz = bytes.size();
  load.header.p_memsz = memory_size == 0 ? bytes.size() : memory_size;
  load.header.p_align = 4096;
  load.bytes.assign(bytes.begin(), bytes.end());
  loads_.push_back(std::move(load));
  return *this;
}

CoreBuilder& CoreBuilder::file_mapping(Address start, Address end, std::uint64_t offset,
                                       std::string path) {
  mappings_.push_back({start, end, offset, std::move(path)});
  return *this;
}

CoreBuilder& CoreBuilder::file_alignment(std::size_t bytes) {
  file_alignment_ = bytes;
  return *this;
}

CoreBuilder& CoreBuilder::change_header(std::function<void(Elf64_Ehdr&)> change) {
  change_header_ = std::move(change);
  return *this;
}

CoreBuilder& CoreBuilder::change_segments(std::function<void(std::vector<Elf64_Phdr>&)> change) {
  change_segments_ = std::move(change);
  return *this;
}

std::vector<std::byte> CoreBuilder::bytes() const {
  std::vector<std::byte> notes = notes_;
  if (!mappings_.empty()) {
    std::vector<std::byte> files =
        bytes_of(static_cast<std::uint64_t>(mappings_.size()), std::uint64_t{4096});
    for (const Mapping& mapping : mappings_) {
      append(files, bytes_of(mapping.start, mapping.end, mapping.offset / 4096));
    }
    for (const Mapping& mapping : mappings_) {
      append(files, view(mapping.path));
      files.push_back(std::byte{0});
    }
    append_note(notes, "CORE", NT_FILE, files);
  }
  std::vector<Elf64_Phdr> headers(1);
  for (const Load& load : loads_) headers.push_back(load.header);
  const std::size_t notes_at = sizeof(Elf64_Ehdr) + headers.size() * sizeof(Elf64_Phdr);
  headers[0].p_type = PT_NOTE;
  headers[0].p_offset = notes_at;
  headers[0].p_filesz = notes.size();
  const auto aligned = [this](std::size_t size) {
    return (size + file_alignment_ - 1) / file_alignment_ * file_alignment_;
  };
  std::size_t next = aligned(notes_at + notes.size());
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    headers[i + 1].p_offset = next;
    next += aligned(loads_[i].bytes.size());
  }
  Elf64_Ehdr header = elf_header(ET_CORE);
  header.e_phnum = static_cast<Elf64_Half>(headers.size());
  if (change_header_) change_header_(header);
  if (change_segments_) change_segments_(headers);
  std::vector<std::byte> file = bytes_of(header);
  append(file, std::as_bytes(std::span(headers)));
  append(file, notes);
  for (const Load& load : loads_) {
    pad(file, file_alignment_);
    append(file, load.bytes);
  }
  return file;
}

void CoreBuilder::write(const std::string& path) const { write_file(path, bytes()); }

std::vector<std::byte> small_library(std::string_view build_id_hex, std::byte code) {
  std::vector<std::byte> note;
  if (!build_id_hex.empty()) {
    std::vector<std::byte> id;
    for (std::size_t i = 0; i + 1 < build_id_hex.size(); i += 2) {
      const std::string digits(build_id_hex.substr(i, 2));
      id.push_back(static_cast<std::byte>(std::strtoul(digits.c_str(), nullptr, 16)));
    }
    append_note(note, "GNU", NT_GNU_BUILD_ID, id);
  }
  const auto load = [](std::uint32_t flags, std::uint64_t at) {
    return Elf64_Phdr{PT_LOAD, flags, at, at, at, 4096, 4096, 4096};
  };
  std::vector<Elf64_Phdr> headers = {load(PF_R, 0), load(PF_R | PF_X, 0x1000),
                                     load(PF_R | PF_W, 0x2000)};
  const std::size_t note_at = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
  headers.push_back({PT_NOTE, PF_R, note_at, note_at, note_at, note.size(), note.size(), 4});
  Elf64_Ehdr header = elf_header(ET_DYN);
  header.e_phnum = static_cast<Elf64_Half>(headers.size());
  std::vector<std::byte> file = bytes_of(header);
  append(file, std::as_bytes(std::span(headers)));
  append(file, note);
  file.resize(0x1000);
  file.resize(0x2000, code);
  file.resize(0x3000, std::byte{0xda});
  return file;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::abort();
  }
}

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "aotidbg_test_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace aotidbg
