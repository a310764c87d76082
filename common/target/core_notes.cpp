// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/core_notes.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/procfs.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <limits>
#include <string_view>

#include "common/target/snapshot_note.h"

namespace aotidbg {

namespace {

constexpr std::size_t kMostThreads = 1U << 18;
constexpr std::uint64_t kMostFileNote = 64U << 20;  // the kernel's own limit is 4 MiB, at most 16
constexpr std::uint64_t kMostSmallNote = 64U << 10;

static_assert(sizeof(elf_prstatus) == 336 && offsetof(elf_prstatus, pr_reg) == 112);
static_assert(sizeof(elf_prpsinfo) == 136);
static_assert(sizeof(elf_gregset_t) == Registers::kCount * sizeof(std::uint64_t));

// Notes are read through a window: a core of ten thousand threads has a hundred megabytes of
// them, nearly all of it vector registers that are skipped.
class NoteWindow {
 public:
  explicit NoteWindow(const CoreFile& core) : core_(core) {}

  // `size` bytes at `offset`, good until the next call; empty when the file ends before.
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size) {
    if (offset > core_.size() || size > core_.size() - offset) return {};
    if (offset < start_ || offset + size > start_ + buffer_.size()) {
      const std::uint64_t wanted =
          std::min(std::max<std::uint64_t>(size, kWindow), core_.size() - offset);
      buffer_.resize(wanted);
      start_ = offset;
      if (!core_.read(offset, buffer_)) {
        buffer_.clear();
        return {};
      }
    }
    return std::span<const std::byte>(buffer_).subspan(offset - start_, size);
  }

 private:
  static constexpr std::uint64_t kWindow = 64U << 10;
  const CoreFile& core_;
  std::vector<std::byte> buffer_;
  std::uint64_t start_ = 0;
};

template <class T>
bool copy_to(std::span<const std::byte> bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return true;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

bool ends_process_with_core(int signal) {
  return is_fault_signal(signal) || signal == SIGABRT || signal == SIGSYS || signal == SIGQUIT;
}

void read_thread(std::span<const std::byte> bytes, CoreNotes& notes) {
  elf_prstatus status;
  if (!copy_to(bytes, status)) {
    notes.gaps.push_back(
        {fmt::format("an NT_PRSTATUS note has {} bytes, not {}", bytes.size(), sizeof(status)),
         std::nullopt,
         {}});
    return;
  }
  if (notes.threads.size() == kMostThreads) return;
  Thread thread;
  thread.id = status.pr_pid;
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    thread.registers.set(slot, status.pr_reg[slot]);
  }
  // Without NT_SIGINFO this is all that is known; its note replaces it.
  if (notes.threads.empty() && status.pr_cursig > 0) {
    thread.signal = SignalInfo{status.pr_cursig, std::nullopt, std::nullopt};
  }
  notes.threads.push_back(std::move(thread));
}

// siginfo_t of x86-64: si_signo, si_errno, si_code, padding, then the union with si_addr first.
void read_signal(std::span<const std::byte> bytes, CoreNotes& notes) {
  struct {
    std::int32_t number, error, code, padding;
    std::uint64_t address;
  } info;
  if (!copy_to(bytes, info) || notes.threads.empty()) return;
  SignalInfo signal{info.number, info.code, std::nullopt};
  if (info.code > 0 && is_fault_signal(info.number)) signal.address = info.address;
  if (info.number != 0) notes.threads.back().signal = signal;
}

void read_process(std::span<const std::byte> bytes, CoreNotes& notes) {
  elf_prpsinfo info;
  if (!copy_to(bytes, info)) return;
  notes.pid = info.pr_pid;
  notes.command = text_of(std::as_bytes(std::span(info.pr_fname)));
  notes.arguments = text_of(std::as_bytes(std::span(info.pr_psargs)));
}

void read_auxiliary(std::span<const std::byte> bytes, CoreNotes& notes) {
  Elf64_auxv_t entry;
  for (; copy_to(bytes, entry) && entry.a_type != AT_NULL; bytes = bytes.subspan(sizeof(entry))) {
    notes.auxiliary_values.push_back({entry.a_type, entry.a_un.a_val});
  }
  notes.auxiliary = auxiliary_vector(notes.auxiliary_values);
}

// count, page size, count x {start, end, offset in pages}, count strings. gcore writes page size 1.
void read_file_mappings(std::span<const std::byte> bytes, CoreNotes& notes) {
  struct {
    std::uint64_t count, page_size;
  } head;
  struct Entry {
    std::uint64_t start, end, offset;
  } entry;
  const auto torn = [&notes](std::string_view why) {
    notes.gaps.push_back({fmt::format("the core's list of mapped files (NT_FILE) is torn: {}", why),
                          std::nullopt,
                          {}});
  };
  if (!copy_to(bytes, head)) return torn("it has no header");
  notes.has_file_mappings = true;
  if (head.count > (bytes.size() - sizeof(head)) / sizeof(Entry)) {
    return torn(fmt::format("it claims {} entries and has {} bytes", head.count, bytes.size()));
  }
  auto entries = bytes.subspan(sizeof(head), head.count * sizeof(Entry));
  auto names = bytes.subspan(sizeof(head) + entries.size());
  for (; copy_to(entries, entry); entries = entries.subspan(sizeof(Entry))) {
    const std::string_view name = text_of(names);
    if (name.size() == names.size()) return torn("a name does not end");
    names = names.subspan(name.size() + 1);
    std::uint64_t offset = 0;
    if (entry.end <= entry.start || __builtin_mul_overflow(entry.offset, head.page_size, &offset)) {
      torn(fmt::format("an entry starts at {:#x} and ends at {:#x}", entry.start, entry.end));
      continue;
    }
    notes.file_mappings.push_back({entry.start, entry.end, offset, std::string(name)});
  }
}

void read_note(std::string_view owner, std::uint32_t type, std::span<const std::byte> bytes,
               CoreNotes& notes) {
  if (owner == kSnapshotOwner && type == kSnapshotNoteType) notes.snapshot = text_of(bytes);
  if (owner != "CORE") return;
  switch (type) {
    case NT_PRSTATUS:
      return read_thread(bytes, notes);
    case NT_SIGINFO:
      return read_signal(bytes, notes);
    case NT_PRPSINFO:
      return read_process(bytes, notes);
    case NT_AUXV:
      return read_auxiliary(bytes, notes);
    case NT_FILE:
      return read_file_mappings(bytes, notes);
    default:
      return;
  }
}

bool is_wanted(std::uint32_t type, std::uint64_t size) {
  switch (type) {
    case NT_PRSTATUS:
    case NT_SIGINFO:
    case NT_PRPSINFO:
    case NT_AUXV:
      return size <= kMostSmallNote;
    case NT_FILE:
      return size <= kMostFileNote;
    case kSnapshotNoteType:
      return size <= kLargestSnapshotNote;
    default:
      return false;
  }
}

void read_segment(const CoreFile& core, const ElfSegment& segment, CoreNotes& notes) {
  NoteWindow window(core);
  const std::uint64_t alignment = 4;  // also in 64-bit cores: fs/binfmt_elf.c, writenote
  const auto padded = [](std::uint64_t size) { return (size + alignment - 1) & ~(alignment - 1); };
  const auto torn = [&](std::uint64_t at) {
    notes.gaps.push_back({fmt::format("the core's notes are cut short or torn at byte {}", at),
                          std::nullopt,
                          "write the core again with `ulimit -c unlimited` and room on the disk"});
  };
  if (segment.file_size > std::numeric_limits<std::uint64_t>::max() - segment.offset) {
    return torn(segment.offset);
  }
  const std::uint64_t end = segment.offset + segment.file_size;
  for (std::uint64_t at = segment.offset; end - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr note;
    if (!copy_to(window.bytes(at, sizeof(note)), note)) return torn(at);
    const std::uint64_t name_at = at + sizeof(note);
    const std::uint64_t bytes_at = name_at + padded(note.n_namesz);
    if (bytes_at > end || note.n_descsz > end - bytes_at) return torn(at);
    if (note.n_namesz <= 16 && is_wanted(note.n_type, note.n_descsz)) {
      const std::string owner(text_of(window.bytes(name_at, note.n_namesz)));
      const auto bytes = window.bytes(bytes_at, note.n_descsz);
      if (bytes.size() != note.n_descsz) return torn(bytes_at);
      read_note(owner, note.n_type, bytes, notes);
    }
    at = std::min(bytes_at + padded(note.n_descsz), end);
  }
}

// The kernel writes the thread that took the signal first; other writers keep their own order, and
// give every thread its siginfo.
void choose_stopped_thread(CoreNotes& notes) {
  if (notes.threads.empty()) return;
  notes.stopped_thread = notes.threads.front().id;
  for (const Thread& thread : notes.threads) {
    if (thread.signal && ends_process_with_core(thread.signal->number)) {
      notes.stopped_thread = thread.id;
      return;
    }
  }
}

}  // namespace

AuxiliaryVector auxiliary_vector(std::span<const AuxiliaryValue> values) {
  AuxiliaryVector auxiliary;
  for (const AuxiliaryValue& entry : values) {
    switch (entry.type) {
      case AT_PHDR:
        auxiliary.program_headers = entry.value;
        break;
      case AT_PHNUM:
        auxiliary.program_header_count = entry.value;
        break;
      case AT_ENTRY:
        auxiliary.entry = entry.value;
        break;
      case AT_EXECFN:
        auxiliary.executable_name = entry.value;
        break;
      case AT_RANDOM:
        auxiliary.random = entry.value;
        break;
      case AT_SYSINFO_EHDR:
        auxiliary.vdso = entry.value;
        break;
      default:
        break;
    }
  }
  return auxiliary;
}

CoreNotes read_core_notes(const CoreFile& core) {
  CoreNotes notes;
  for (const ElfSegment& segment : core.segments()) {
    if (segment.type == PT_NOTE) read_segment(core, segment, notes);
  }
  std::stable_sort(notes.file_mappings.begin(), notes.file_mappings.end(),
                   [](const FileMapping& a, const FileMapping& b) { return a.start < b.start; });
  choose_stopped_thread(notes);
  if (notes.threads.empty()) {
    notes.gaps.push_back({"the core names no threads (NT_PRSTATUS)", std::nullopt,
                          "write the core with the kernel or gcore"});
  } else if (notes.threads.size() == kMostThreads) {
    notes.gaps.push_back(
        {fmt::format("only the first {} threads were read", kMostThreads), std::nullopt, {}});
  }
  return notes;
}

}  // namespace aotidbg
