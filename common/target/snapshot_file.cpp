// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/snapshot_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/procfs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "common/target/core_notes.h"
#include "common/target/elf_image.h"
#include "common/target/snapshot_image.h"

namespace aotidbg {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Argument and environment texts: the kernel puts them above the auxiliary vector and the random
// bytes that it points to (fs/binfmt_elf.c, create_elf_tables).
std::vector<AddressRange> arguments_and_environment(const Target& target) {
  const auto random = auxiliary_vector(target.process().auxiliary).random;
  const Region* const region = random ? target.region_at(*random) : nullptr;
  if (region == nullptr) return {};
  return {{*random, region->end}};
}

// The pages of the file, with what is known of each.
class Pages {
 public:
  using Page = std::array<std::byte, kPageSize>;

  void put(Address at, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      Page& page = pages_[page_down(at)];
      const std::size_t count = std::min<std::size_t>(bytes.size(), kPageSize - at % kPageSize);
      std::memcpy(page.data() + at % kPageSize, bytes.data(), count);
      at += count;
      bytes = bytes.subspan(count);
    }
  }

  const std::map<Address, Page>& all() const { return pages_; }

 private:
  std::map<Address, Page> pages_;  // std::map makes new ones of zeros
};

// Decides what is kept, and copies it.
class Collector {
 public:
  Collector(Recording& recording, const SnapshotRequest& request)
      : recording_(recording),
        target_(recording.recorded()),
        tensors_(request.tensor_memory),
        private_(arguments_and_environment(target_)) {}

  void collect(SnapshotNote& note, Pages& pages) {
    // Where two purposes want the same bytes, the one that says most of them has them.
    RangeSet taken = private_;
    for (const Purpose purpose :
         {Purpose::quoted, Purpose::value, Purpose::loader, Purpose::module, Purpose::object}) {
      const bool may_hold_values = purpose == Purpose::quoted || purpose == Purpose::value;
      RangeSet wanted = ranges_for(purpose).without(taken);
      if (!may_hold_values) wanted = wanted.without(tensors_);
      wanted = copy(wanted, pages);
      if (!wanted.empty()) note.known[purpose] = wanted;
      taken = joined(taken, wanted);
    }
    note.stacks = RangeSet(recording_.stacks()).without(private_);
    for (const AddressRange& stack : note.stacks.ranges()) copy_addresses(stack, pages);
  }

 private:
  static RangeSet joined(const RangeSet& a, const RangeSet& b) {
    std::vector<AddressRange> all = a.ranges();
    all.insert(all.end(), b.ranges().begin(), b.ranges().end());
    return RangeSet(std::move(all));
  }

  // What was read without a purpose is a module's when it lies in one.
  RangeSet ranges_for(Purpose purpose) const {
    std::vector<AddressRange> found;
    for (const RecordedRange& recorded : recording_.ranges()) {
      Purpose its = recorded.purpose;
      if (its == Purpose::object && target_.module_at(recorded.range.start) != nullptr) {
        its = Purpose::module;
      }
      if (its == purpose) found.push_back(recorded.range);
    }
    return RangeSet(std::move(found));
  }

  RangeSet copy(const RangeSet& wanted, Pages& pages) {
    std::vector<AddressRange> copied;
    std::vector<std::byte> bytes;
    for (const AddressRange& range : wanted.ranges()) {
      bytes.resize(range.size());
      if (!target_.read(range.start, bytes)) continue;
      pages.put(range.start, bytes);
      copied.push_back(range);
    }
    return RangeSet(std::move(copied));
  }

  // A word that leads nowhere is what the program worked on: text, a number, a key.
  bool is_address(std::uint64_t word) const {
    return target_.region_at(word) != nullptr || tensors_.find(word) != nullptr;
  }

  void copy_addresses(const AddressRange& stack, Pages& pages) {
    for (Address page = page_down(stack.start); page < stack.end; page += kPageSize) {
      const Address first = std::max(page, (stack.start + kWord - 1) / kWord * kWord);
      const Address last = std::min(page + kPageSize, stack.end / kWord * kWord);
      if (first >= last) continue;
      std::vector<std::uint64_t> words((last - first) / kWord);
      if (!target_.read_stack(first, std::as_writable_bytes(std::span(words)))) continue;
      pages.put(first, {});
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (!is_address(words[i])) continue;
        pages.put(first + i * kWord, std::as_bytes(std::span(&words[i], 1)));
      }
    }
  }

  Recording& recording_;
  Target& target_;
  RangeSet tensors_;
  RangeSet private_;
};

void append(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

void pad(std::string& out, std::size_t alignment) {
  out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
}

// The notes of a core, in the kernel's order (fs/binfmt_elf.c, elf_core_dump).
class Notes {
 public:
  void add(std::string_view owner, std::uint32_t type, std::string_view description) {
    const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1),
                            static_cast<Elf64_Word>(description.size()), type};
    append(text_, &header, sizeof(header));
    text_.append(owner);
    text_.push_back('\0');
    pad(text_, 4);
    text_.append(description);
    pad(text_, 4);
  }

  template <class T>
  void add_object(std::uint32_t type, const T& object) {
    add("CORE", type, {reinterpret_cast<const char*>(&object), sizeof(object)});
  }

  void add_thread(const Thread& thread) {
    elf_prstatus status{};
    status.pr_pid = static_cast<pid_t>(thread.id);
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      status.pr_reg[slot] = thread.registers.get(slot).value_or(0);
    }
    if (thread.signal) {
      status.pr_info.si_signo = thread.signal->number;
      status.pr_cursig = static_cast<short>(thread.signal->number);
    }
    add_object(NT_PRSTATUS, status);
  }

  // siginfo_t of x86-64, reduced to what a fault has. Nothing when the code is not known.
  void add_signal(const Thread& thread) {
    if (!thread.signal || !thread.signal->code) return;
    struct {
      std::int32_t number = 0, error = 0, code = 0, padding = 0;
      std::uint64_t address = 0;
      std::array<std::uint64_t, 13> rest{};
    } info;
    static_assert(sizeof(info) == 128);
    info.number = thread.signal->number;
    info.code = *thread.signal->code;
    info.address = thread.signal->address.value_or(0);
    add_object(NT_SIGINFO, info);
  }

  void add_process(const ProcessInfo& process) {
    elf_prpsinfo info{};
    info.pr_pid = static_cast<pid_t>(process.pid);
    const std::string name = file_name(process.executable);
    std::string line;
    for (const std::string& argument : process.arguments) {
      line += line.empty() ? argument : " " + argument;
    }
    std::copy_n(name.begin(), std::min(name.size(), sizeof(info.pr_fname) - 1), info.pr_fname);
    std::copy_n(line.begin(), std::min(line.size(), sizeof(info.pr_psargs) - 1), info.pr_psargs);
    add_object(NT_PRPSINFO, info);
  }

  void add_auxiliary(const std::vector<AuxiliaryValue>& values) {
    if (values.empty()) return;
    std::string text;
    for (const AuxiliaryValue& value : values) append(text, &value, sizeof(value));
    const AuxiliaryValue end{AT_NULL, 0};
    append(text, &end, sizeof(end));
    add("CORE", NT_AUXV, text);
  }

  // count, page size, count x {start, end, offset in pages}, count names.
  void add_file_mappings(std::span<const Region> regions) {
    std::vector<std::uint64_t> numbers = {0, kPageSize};
    std::string names;
    for (const Region& region : regions) {
      if (!region.path.starts_with('/')) continue;
      ++numbers.front();
      numbers.insert(numbers.end(), {region.start, region.end, region.file_offset / kPageSize});
      names += region.path;
      names += '\0';
    }
    if (numbers.front() == 0) return;
    std::string text;
    append(text, numbers.data(), numbers.size() * sizeof(numbers[0]));
    add("CORE", NT_FILE, text + names);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The first thread of a core is the one that took the signal.
Notes core_notes(const Target& target) {
  std::vector<const Thread*> threads;
  for (const Thread& thread : target.threads()) threads.push_back(&thread);
  std::ranges::stable_partition(
      threads, [&](const Thread* thread) { return thread->id == target.stopped_thread(); });
  Notes notes;
  for (const Thread* thread : threads) {
    notes.add_thread(*thread);
    if (thread == threads.front()) {
      notes.add_process(target.process());
      notes.add_signal(*thread);
      notes.add_auxiliary(target.process().auxiliary);
      notes.add_file_mappings(target.regions());
    } else {
      notes.add_signal(*thread);
    }
  }
  if (threads.empty()) notes.add_process(target.process());
  return notes;
}

// One program header, and its bytes page by page.
struct Load {
  Elf64_Phdr header{};
  std::vector<std::span<const std::byte>> pages;
};

// Every mapping, divided where the file begins or ceases to hold bytes of it.
class Loads {
 public:
  explicit Loads(const Region& region) : region_(region) {}

  void add(Address start, Address end, const std::byte* bytes) {
    if (start >= end) return;
    const bool follows = bytes != nullptr && !loads_.empty() && !loads_.back().pages.empty();
    if (!follows) {
      Load& load = loads_.emplace_back();
      load.header.p_type = PT_LOAD;
      load.header.p_flags = (region_.readable ? PF_R : 0U) | (region_.writable ? PF_W : 0U) |
                            (region_.executable ? PF_X : 0U);
      load.header.p_vaddr = start;
      load.header.p_align = kPageSize;
    }
    Load& load = loads_.back();
    load.header.p_memsz += end - start;
    if (bytes == nullptr) return;
    load.header.p_filesz += end - start;
    load.pages.emplace_back(bytes, end - start);
  }

  std::vector<Load> take() { return std::move(loads_); }

 private:
  const Region& region_;
  std::vector<Load> loads_;
};

std::vector<Load> loads_of(std::span<const Region> regions, const Pages& pages) {
  std::vector<Load> all;
  for (const Region& region : regions) {
    Loads loads(region);
    Address at = region.start;
    auto page = pages.all().lower_bound(page_down(region.start));
    for (; page != pages.all().end() && page->first < region.end; ++page) {
      const Address start = std::max(page->first, region.start);
      const Address end = std::min(page->first + kPageSize, region.end);
      loads.add(at, start, nullptr);
      loads.add(start, end, page->second.data() + (start - page->first));
      at = end;
    }
    loads.add(at, region.end, nullptr);
    for (Load& load : loads.take()) all.push_back(std::move(load));
  }
  return all;
}

std::string elf_file(const Notes& notes, std::vector<Load> loads) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof(header);
  const std::size_t count = loads.size() + 1;
  header.e_phnum = static_cast<Elf64_Half>(std::min<std::size_t>(count, PN_XNUM));
  // More than fit are counted in section 0 (elf.h, PN_XNUM).
  Elf64_Shdr section{};
  std::uint64_t next = sizeof(header) + count * sizeof(Elf64_Phdr);
  if (count >= PN_XNUM) {
    header.e_shoff = next;
    header.e_shnum = 1;
    header.e_shentsize = sizeof(section);
    section.sh_info = static_cast<Elf64_Word>(count);
    next += sizeof(section);
  }
  Elf64_Phdr note{};
  note.p_type = PT_NOTE;
  note.p_offset = next;
  note.p_filesz = notes.text().size();
  note.p_align = 4;
  next += note.p_filesz;
  for (Load& load : loads) {
    load.header.p_offset = page_up(next) + load.header.p_vaddr % kPageSize;
    if (load.header.p_filesz != 0) next = load.header.p_offset + load.header.p_filesz;
  }

  std::string file;
  file.reserve(next);
  append(file, &header, sizeof(header));
  append(file, &note, sizeof(note));
  for (const Load& load : loads) append(file, &load.header, sizeof(load.header));
  if (header.e_shnum != 0) append(file, &section, sizeof(section));
  file += notes.text();
  for (const Load& load : loads) {
    if (load.pages.empty()) continue;
    file.resize(load.header.p_offset, '\0');
    for (const auto& page : load.pages) append(file, page.data(), page.size());
  }
  return file;
}

void describe_process(const Recording& recording, SnapshotNote& note) {
  note.process = recording.process();
  if (!note.process.saved_from) note.process.saved_from = note.process.kind;
  note.regions.assign(recording.regions().begin(), recording.regions().end());
  note.modules.assign(recording.modules().begin(), recording.modules().end());
  note.gaps.assign(recording.gaps().begin(), recording.gaps().end());
  note.stopped = recording.stopped_thread();
  for (const Thread& thread : recording.threads()) {
    std::vector<std::size_t> unknown;
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      if (!thread.registers.get(slot)) unknown.push_back(slot);
    }
    if (!unknown.empty()) note.unknown_registers[thread.id] = std::move(unknown);
  }
}

}  // namespace

Result<std::string> make_snapshot(Recording& recording, const SnapshotRequest& request) {
  keep_process_image(recording);
  for (const QuotedValue& value : request.quoted) {
    recording.keep(value.range.start, value.range.size(), Purpose::quoted);
  }
  SnapshotNote note;
  note.tool = request.tool;
  note.with_values = request.with_values;
  note.quoted = request.quoted;
  describe_process(recording, note);
  Pages pages;
  Collector(recording, request).collect(note, pages);
  note.answers = recording.take_answers();

  const std::string text = write_snapshot_note(note);
  if (text.size() > kLargestSnapshotNote) {
    return fail(fmt::format("this process needs {} bytes of notes, and a snapshot has room for {}",
                            text.size(), kLargestSnapshotNote),
                std::nullopt, "share the core itself");
  }
  Notes notes = core_notes(recording);
  notes.add(kSnapshotOwner, kSnapshotNoteType, text);
  return elf_file(notes, loads_of(recording.regions(), pages));
}

}  // namespace aotidbg
