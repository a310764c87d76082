// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/elf_core.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/target/core_file.h"
#include "common/target/core_notes.h"
#include "common/target/core_regions.h"
#include "common/target/link_map.h"
#include "common/target/module_finder.h"
#include "common/target/modules.h"
#include "common/target/page_cache.h"
#include "common/target/snapshot.h"

namespace aotidbg {

namespace {

constexpr std::size_t kNoModule = ~std::size_t{0};

std::string range_text(Address start, Address end) {
  return fmt::format("{:#x} to {:#x}", start, end);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10U << 10) return fmt::format("{} bytes", bytes);
  if (bytes < 10U << 20) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} MiB", bytes >> 20);
}

std::string filter_fix(std::string_view mask) {
  return fmt::format(
      "before the next crash: echo {} > /proc/PID/coredump_filter (children inherit "
      "it)",
      mask);
}

class ElfCore : public Target {
 public:
  ElfCore(std::unique_ptr<CoreFile> file, CoreOptions options)
      : file_(std::move(file)), options_(std::move(options)) {}

  Result<void> load(CoreNotes notes, bool is_snapshot) {
    CoreRegions core_regions = read_core_regions(*file_, notes);
    regions_ = std::move(core_regions.regions);
    core_offsets_ = std::move(core_regions.core_offsets);
    cut_short_ = std::move(core_regions.cut_short);
    process_.cut_short = std::find(cut_short_.begin(), cut_short_.end(), true) != cut_short_.end();
    permissions_unknown_ = std::move(core_regions.permissions_unknown);
    gaps_ = std::move(core_regions.gaps);
    std::move(notes.gaps.begin(), notes.gaps.end(), std::back_inserter(gaps_));
    threads_ = std::move(notes.threads);
    stopped_ = notes.stopped_thread;
    describe_process(notes);
    if (is_snapshot) return {};  // its note says the rest
    find_all_modules(notes);
    report_missing_pages();
    if (options_.options_must_serve && useless_option_) return tl::unexpected(*useless_option_);
    return {};
  }

  Result<void> read(Address at, std::span<std::byte> out) override {
    if (out.size() > PageCache::kLargestRead) return read_directly(at, out);
    return cache_.read(at, out, [this](Address from, std::span<std::byte> part) {
      return read_directly(from, part);
    });
  }

  const ProcessInfo& process() const override { return process_; }
  std::span<const Region> regions() const override { return regions_; }
  std::span<const Module> modules() const override { return modules_; }
  std::span<const Thread> threads() const override { return threads_; }
  std::optional<ThreadId> stopped_thread() const override { return stopped_; }
  std::span<const Error> gaps() const override { return gaps_; }
  Address next_data(Address at, Address end) override {
    const Region* region = region_at(at);
    if (region == nullptr || at - region->start >= region->dumped) return at;
    const std::uint64_t offset = core_offsets_[index_of(*region)] + (at - region->start);
    const std::uint64_t skipped = file_->next_data(offset) - offset;
    return at + std::min({skipped, region->dumped - (at - region->start), end - at});
  }
  bool interrupted() override { return options_.interrupted && options_.interrupted(); }

 private:
  Result<void> read_directly(Address at, std::span<std::byte> out) {
    while (!out.empty()) {
      const Region* region = region_at(at);
      if (region == nullptr) return not_mapped(at, at + (out.size() - 1));
      const std::size_t index = index_of(*region);
      const std::uint64_t inside = at - region->start;
      std::uint64_t count = std::min<std::uint64_t>(out.size(), region->end - at);
      const bool held = inside < region->dumped;
      if (held) count = std::min(count, region->dumped - inside);
      const auto part = out.first(count);
      auto done = held ? read_held(at, core_offsets_[index] + inside, part)
                       : read_from_file(*region, index, at, part);
      if (!done) return done;
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

  // Bytes of the core alone.
  Result<void> read_dumped(Address at, std::span<std::byte> out) const {
    while (!out.empty()) {
      const Region* region = region_at(at);
      if (region == nullptr) return fail("not mapped", at);
      const std::uint64_t inside = at - region->start;
      if (inside >= region->dumped) return fail("not dumped", at);
      const std::uint64_t count = std::min<std::uint64_t>(out.size(), region->dumped - inside);
      auto done = read_held(at, core_offsets_[index_of(*region)] + inside, out.first(count));
      if (!done) return done;
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

  Result<void> read_held(Address at, std::uint64_t offset, std::span<std::byte> out) const {
    auto done = file_->read(offset, out);
    if (!done) done.error().at = at;
    return done;
  }

  // Pages that the loader and the program never wrote to are as in the file, if it is the same.
  Result<void> read_from_file(const Region& region, std::size_t index, Address at,
                              std::span<std::byte> out) const {
    const MappedModule* owner = region_modules_.empty() || region_modules_[index] == kNoModule
                                    ? nullptr
                                    : &mapped_[region_modules_[index]];
    if (owner == nullptr || !owner->fills || cut_short_[index] || region.writable) {
      return not_dumped(region, index, at, owner);
    }
    while (!out.empty()) {
      if (!owner->as_in_file(at)) return not_dumped(region, index, at, owner);
      const std::size_t count = std::min<std::size_t>(out.size(), page_down(at) + kPageSize - at);
      const ModuleFile& file = *owner->module.file;
      const std::uint64_t offset = region.file_offset + (at - region.start);
      // The last page of a file is zero past its end.
      const std::uint64_t there = file.size() > offset ? file.size() - offset : 0;
      if (there == 0 && page_down(offset) >= file.size()) {
        return fail(fmt::format("{} was not dumped and lies past the end of {}",
                                range_text(at, region.end), file.path()),
                    at);
      }
      const auto in_file = out.first(std::min<std::uint64_t>(count, there));
      if (auto done = file.read(offset, in_file); !done) {
        done.error().what = fmt::format("{} was not dumped and cannot be filled: {}",
                                        range_text(at, region.end), done.error().what);
        done.error().at = at;
        return done;
      }
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(in_file.size()),
                out.begin() + static_cast<std::ptrdiff_t>(count), std::byte{0});
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

  Result<void> not_mapped(Address at, Address last) const {
    const auto next = std::upper_bound(regions_.begin(), regions_.end(), at,
                                       [](Address a, const Region& r) { return a < r.start; });
    if (next != regions_.end() && next->start <= last) last = next->start - 1;
    if (at == last) return fail(fmt::format("{:#x} is not mapped", at), at);
    return fail(fmt::format("{:#x} to {:#x} is not mapped", at, last + 1), at);
  }

  // Which setting keeps what: man 5 core, "Controlling which mappings are written to the core
  // dump".
  Result<void> not_dumped(const Region& region, std::size_t index, Address at,
                          const MappedModule* owner) const {
    const std::string range = range_text(at, region.end);
    if (cut_short_[index]) {
      return fail(
          fmt::format("{} is missing: the core file is cut short at byte {}", range, file_->size()),
          at, "write the core again with `ulimit -c unlimited` and room on the disk");
    }
    if (!region.readable && !region.writable && !region.executable) {
      return fail(fmt::format("{} was not dumped: it is mapped without any access (---p)", range),
                  at);
    }
    if (region.path.starts_with("/dev/") && !region.path.starts_with("/dev/shm/")) {
      return fail(fmt::format("{} was not dumped: it belongs to the device {}", range, region.path),
                  at);
    }
    if (region.path.empty() || region.path.starts_with('[')) {
      return fail(fmt::format("{} was not dumped (anonymous memory; coredump_filter bit 0 or 1, or "
                              "madvise MADV_DONTDUMP)",
                              range),
                  at, filter_fix("0x33"));
    }
    if (region.writable) {
      return fail(
          fmt::format("{} was not dumped (writable mapping of {}; coredump_filter bit 2 for "
                      "private, 3 for shared mappings)",
                      range, region.path),
          at, filter_fix("0x3f"));
    }
    std::string why = "only program files are read in their place";
    std::string fix = filter_fix("0x3f");
    if (owner != nullptr && !owner->module.file_problem.empty()) {
      why = owner->module.file_problem;
      fix = fmt::format("{}; {}", how_to_bring(owner->module), fix);
    } else if (owner != nullptr) {
      why = "the loader writes to this part, so the file does not show it";
    }
    return fail(fmt::format("{} was not dumped (file mapping of {}; coredump_filter bit 2): {}",
                            range, region.path, why),
                at, fix);
  }

  std::size_t index_of(const Region& region) const {
    return static_cast<std::size_t>(&region - regions_.data());
  }

  void describe_process(const CoreNotes& notes) {
    process_.kind = TargetKind::core;
    process_.pid = notes.pid;
    process_.files = {file_->path()};
    process_.auxiliary = notes.auxiliary_values;
    process_.executable = executable_path(notes);
    std::string_view left = notes.arguments;
    while (!left.empty()) {
      const std::size_t space = left.find(' ');
      if (space != 0) process_.arguments.emplace_back(left.substr(0, space));
      if (space == std::string_view::npos) break;
      left.remove_prefix(space + 1);
    }
  }

  // The mapping that AT_ENTRY points into has the whole path; AT_EXECFN is as execve got it.
  std::string executable_path(const CoreNotes& notes) {
    if (notes.auxiliary.entry) {
      const Region* region = region_at(*notes.auxiliary.entry);
      if (region != nullptr && region->path.starts_with('/')) {
        std::string path = region->path;
        if (path.ends_with(kDeletedSuffix)) path.resize(path.size() - kDeletedSuffix.size());
        return path;
      }
    }
    if (notes.auxiliary.executable_name) {
      if (auto name = read_c_string(*notes.auxiliary.executable_name)) return *name;
    }
    return notes.command;
  }

  void find_all_modules(const CoreNotes& notes) {
    ModuleFinder finder(options_, process_.executable);
    ModuleSource source;
    source.regions = regions_;
    source.permissions_unknown = &permissions_unknown_;
    source.held = [this](Address at, std::span<std::byte> out) { return read_dumped(at, out); };
    source.find_file = [&finder](const WantedFile& wanted) { return finder.find(wanted); };
    if (!notes.file_mappings.empty()) {
      mapped_ = find_modules(source);
    } else {
      find_modules_of_loader(source, notes);
    }
    if (notes.auxiliary.vdso) {
      if (auto vdso = module_at_header(source, *notes.auxiliary.vdso, "[vdso]", false)) {
        mapped_.push_back(std::move(*vdso));
      }
    }
    std::stable_sort(mapped_.begin(), mapped_.end(),
                     [](const auto& a, const auto& b) { return a.module.start < b.module.start; });
    connect_regions();
    for (const MappedModule& mapped : mapped_) modules_.push_back(mapped.module);
    if (options_.options_must_serve) useless_option_ = finder.useless_option(modules_);
  }

  void find_modules_of_loader(const ModuleSource& source, const CoreNotes& notes) {
    auto map = read_link_map(*this, notes.auxiliary);
    if (!map) {
      gaps_.push_back(
          {"the core does not say which files were mapped (NT_FILE), and the loader's "
           "list cannot be read: " +
               map.error().what,
           map.error().at, "write the core with the kernel or gcore"});
      return;
    }
    if (!map->problem.empty()) gaps_.push_back({map->problem, std::nullopt, {}});
    for (LinkMapEntry& entry : map->entries) {
      // The main program has no name and the vdso no file.
      Address start = entry.bias;
      if (&entry == &map->entries.front()) {
        entry.path = process_.executable;
        start += ElfImage{0, 0, 0, map->executable_segments}.lowest();
      }
      if (entry.path.empty() || entry.path == "linux-vdso.so.1") continue;
      if (auto mapped = module_at_header(source, start, entry.path, true)) {
        mapped_.push_back(std::move(*mapped));
      }
    }
  }

  // Gives each region its module, and regions that nothing named yet the name of theirs.
  void connect_regions() {
    region_modules_.assign(regions_.size(), kNoModule);
    for (std::size_t m = 0; m < mapped_.size(); ++m) {
      const Module& module = mapped_[m].module;
      auto region = std::lower_bound(regions_.begin(), regions_.end(), module.start,
                                     [](const Region& r, Address at) { return r.end <= at; });
      for (; region != regions_.end() && region->start < module.end; ++region) {
        if (region->path.empty()) name_by_segment(mapped_[m], *region);
        std::string_view path = region->path;
        if (path.ends_with(kDeletedSuffix)) path.remove_suffix(kDeletedSuffix.size());
        if (path != module.path) continue;
        region_modules_[index_of(*region)] = m;
        if (permissions_unknown_[index_of(*region)]) permit_by_segment(mapped_[m], *region);
      }
    }
  }

  // A region of an image which only the loader's list knows: its file offset is in the segment that
  // maps it. What lies past a segment's file bytes (.bss) stays anonymous.
  static void name_by_segment(const MappedModule& mapped, Region& region) {
    for (const ElfSegment& segment : mapped.segments) {
      const Address start = mapped.module.bias + page_down(segment.address);
      const Address file_end = page_up(mapped.module.bias + segment.address + segment.file_size);
      if (segment.type == PT_LOAD && start <= region.start && region.start < file_end) {
        region.path = mapped.module.path;
        region.file_offset = page_down(segment.offset) + (region.start - start);
        return;
      }
    }
  }

  // As the loader maps it, from the segment that the region begins in; what lies between segments
  // has no access.
  static void permit_by_segment(const MappedModule& mapped, Region& region) {
    std::uint32_t flags = 0;
    for (const ElfSegment& segment : mapped.segments) {
      const Address address = region.start - mapped.module.bias;
      if (segment.type == PT_LOAD && page_down(segment.address) <= address &&
          address < page_up(segment.address + segment.memory_size)) {
        flags = segment.flags;
      }
    }
    region.readable = (flags & PF_R) != 0;
    region.writable = (flags & PF_W) != 0;
    region.executable = (flags & PF_X) != 0;
  }

  // Pages whose loss may change an answer: what the program wrote.
  void report_missing_pages() {
    std::uint64_t anonymous = 0;
    std::uint64_t files = 0;
    bool some_anonymous = false;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const Region& region = regions_[i];
      if (!region.writable || cut_short_[i]) continue;
      const std::uint64_t missing = region.size() - region.dumped;
      if (region.path.starts_with("/dev/") && !region.path.starts_with("/dev/shm/")) continue;
      const bool is_anonymous = region.path.empty() || region.path.starts_with('[');
      (is_anonymous ? anonymous : files) += missing;
      some_anonymous = some_anonymous || (is_anonymous && region.dumped != 0);
    }
    if (anonymous != 0 && some_anonymous) {
      // The filter leaves out all of it or none.
      gaps_.push_back({fmt::format("{} of writable anonymous memory were not dumped: the program "
                                   "excludes them itself (MADV_DONTDUMP)",
                                   bytes_text(anonymous)),
                       std::nullopt,
                       {}});
    } else if (anonymous != 0) {
      gaps_.push_back(
          {fmt::format("{} of writable anonymous memory were not dumped", bytes_text(anonymous)),
           std::nullopt, filter_fix("0x33")});
    }
    if (files != 0) {
      gaps_.push_back(
          {fmt::format("{} of writable file mappings were not dumped", bytes_text(files)),
           std::nullopt, filter_fix("0x3f")});
    }
    if (stopped_ && !thread(*stopped_)->signal) {
      gaps_.push_back({"the core does not say which signal stopped the process (NT_SIGINFO)",
                       std::nullopt,
                       {}});
    }
  }

  std::unique_ptr<CoreFile> file_;
  CoreOptions options_;
  ProcessInfo process_;
  std::vector<Region> regions_;
  std::vector<std::uint64_t> core_offsets_;
  std::vector<bool> cut_short_;
  std::vector<bool> permissions_unknown_;
  std::vector<std::size_t> region_modules_;  // index into mapped_, or kNoModule
  std::vector<MappedModule> mapped_;
  std::vector<Module> modules_;  // those of mapped_
  std::vector<Thread> threads_;
  std::optional<ThreadId> stopped_;
  std::vector<Error> gaps_;
  std::optional<Error> useless_option_;
  PageCache cache_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_core(const std::string& path, const CoreOptions& options) {
  if (options.options_must_serve) {
    if (auto fine = check_folders(options); !fine) return tl::unexpected(fine.error());
  }
  auto file = CoreFile::open(path, options.contents);
  if (!file) return tl::unexpected(file.error());
  CoreNotes notes = read_core_notes(**file);
  const std::optional<std::string> note = std::exchange(notes.snapshot, std::nullopt);
  auto core = std::make_unique<ElfCore>(std::move(*file), options);
  if (auto done = core->load(std::move(notes), note.has_value()); !done) {
    return tl::unexpected(done.error());
  }
  if (!note) return core;
  return open_snapshot(std::move(core), *note);
}

}  // namespace aotidbg
