// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/live_process.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/target/file_bytes.h"
#include "common/target/modules.h"
#include "common/target/page_cache.h"
#include "common/target/proc_maps.h"

namespace aotidbg {

namespace {

constexpr std::size_t kMostText = 256U << 20;

std::string proc_path(std::int64_t pid, std::string_view name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

class LiveProcess : public Target {
 public:
  LiveProcess(TargetKind kind, std::int64_t pid, int memory, StoppedThreads threads,
              std::function<bool()> interrupted)
      : memory_(memory),
        threads_(std::move(threads.threads)),
        stopped_(threads.stopped_thread),
        gaps_(std::move(threads.gaps)),
        interrupted_(std::move(interrupted)) {
    process_.kind = kind;
    process_.pid = pid;
  }
  ~LiveProcess() override { ::close(memory_); }

  Result<void> load() {
    const auto maps = read_text(proc_path(process_.pid, "maps"), kMostText);
    if (!maps) return tl::unexpected(maps.error());
    mappings_ = parse_maps(*maps);
    if (mappings_.empty()) {
      return fail(fmt::format("process {} has no memory: it has ended, or it belongs to the kernel",
                              process_.pid));
    }
    for (const ProcMapping& mapping : mappings_) regions_.push_back(mapping.region);
    describe_process();
    name_threads();
    ModuleSource source;
    source.regions = regions_;
    source.held = [this](Address at, std::span<std::byte> out) { return read(at, out); };
    source.find_file = [this](const WantedFile& wanted) { return find_file(wanted); };
    for (MappedModule& mapped : find_modules(source)) modules_.push_back(std::move(mapped.module));
    for (const Region& region : regions_) {
      if (region.path != "[vdso]") continue;
      if (auto vdso = module_at_header(source, region.start, region.path, false)) {
        modules_.push_back(std::move(vdso->module));
      }
    }
    std::stable_sort(modules_.begin(), modules_.end(),
                     [](const Module& a, const Module& b) { return a.start < b.start; });
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
  bool interrupted() override { return interrupted_ && interrupted_(); }

 private:
  // Bounded by what is mapped first: the kernel would also read guard pages, and it answers a read
  // that begins well and ends badly with the part before.
  Result<void> read_directly(Address at, std::span<std::byte> out) const {
    while (!out.empty()) {
      const Region* region = region_at(at);
      if (region == nullptr) return fail(fmt::format("{:#x} is not mapped", at), at);
      if (!region->readable) {
        return fail(
            fmt::format("{:#x} to {:#x} is mapped without the right to read it", at, region->end),
            at);
      }
      const std::size_t count = std::min<std::uint64_t>(out.size(), region->end - at);
      if (read_in_bulk(at, out.first(count))) {
        out = out.subspan(count);
        at += count;
        continue;
      }
      const ReadBytes got = read_fully(memory_, at, out.first(count));
      if (got.bytes != count) return not_read(*region, at + got.bytes, got.error);
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

  // process_vm_readv takes pages in batches where /proc/PID/mem takes them one by one: three times
  // as fast on large reads. What it cannot read is left to the other way, which says why.
  bool read_in_bulk(Address at, std::span<std::byte> out) const {
    constexpr std::size_t kWorthIt = 64U << 10;
    if (out.size() < kWorthIt) return false;
    iovec here{out.data(), out.size()};
    iovec there{reinterpret_cast<void*>(at), out.size()};
    const auto pid = static_cast<pid_t>(process_.pid);
    return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(out.size());
  }

  Result<void> not_read(const Region& region, Address at, int error) const {
    if (error == 0 || error == ESRCH) {
      return fail(fmt::format("process {} has ended", process_.pid), at);
    }
    const std::string name = region.path.empty() ? "anonymous memory" : region.path;
    return fail(fmt::format("{:#x} to {:#x} ({}) cannot be read: {}", at, region.end, name,
                            std::strerror(error)),
                at);
  }

  void describe_process() {
    std::array<char, 4096> link;
    const ssize_t size =
        ::readlink(proc_path(process_.pid, "exe").c_str(), link.data(), link.size());
    if (size > 0) {
      process_.executable.assign(link.data(), static_cast<std::size_t>(size));
      if (process_.executable.ends_with(kDeletedSuffix)) {
        process_.executable.resize(process_.executable.size() - kDeletedSuffix.size());
      }
    }
    read_auxiliary();
    const std::string line =
        read_text(proc_path(process_.pid, "cmdline"), 1U << 20).value_or(std::string());
    for (std::string_view left = line; !left.empty();) {
      const std::size_t end = left.find('\0');
      process_.arguments.emplace_back(left.substr(0, end));
      if (end == std::string_view::npos) break;
      left.remove_prefix(end + 1);
    }
  }

  void read_auxiliary() {
    const std::string text =
        read_text(proc_path(process_.pid, "auxv"), 1U << 16).value_or(std::string());
    for (std::size_t at = 0; at + sizeof(AuxiliaryValue) <= text.size();) {
      AuxiliaryValue value;
      std::memcpy(&value, text.data() + at, sizeof(value));
      at += sizeof(value);
      if (value.type != AT_NULL) process_.auxiliary.push_back(value);
    }
  }

  void name_threads() {
    for (Thread& thread : threads_) {
      if (!thread.name.empty()) continue;
      thread.name = read_text(fmt::format("/proc/{}/task/{}/comm", process_.pid, thread.id), 64)
                        .value_or(std::string());
      while (thread.name.ends_with('\n')) thread.name.pop_back();
    }
  }

  // Through the process's own root (it may live in a container). A deleted file is still there
  // under map_files, for who may look (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, proc(5)).
  Result<FoundFile> find_file(const WantedFile& wanted) const {
    const ProcMapping& mapping = mappings_[index_of(*wanted.first)];
    if (wanted.deleted) {
      const std::string path = proc_path(
          process_.pid, fmt::format("map_files/{:x}-{:x}", wanted.first->start, wanted.first->end));
      if (auto file = ModuleFile::open(path)) return FoundFile{*file, false, true, {}};
    }
    auto file = ModuleFile::open(proc_path(process_.pid, "root") + wanted.path);
    if (!file) {
      return fail(wanted.deleted
                      ? fmt::format("{} was deleted", wanted.path)
                      : fmt::format("{} is not at hand: {}", wanted.path, file.error().what));
    }
    if ((*file)->device() == mapping.device && (*file)->inode() == mapping.inode) {
      return FoundFile{*file, false, true, {}};
    }
    // Overlay file systems show one device in maps and another in stat: the build id decides.
    const std::string id = (*file)->build_id().value_or(std::string());
    if (!wanted.build_id.empty() && id == wanted.build_id) return FoundFile{*file, false, true, {}};
    if (wanted.build_id.empty() && id.empty() && !wanted.deleted) {
      return FoundFile{*file, true, false,
                       fmt::format("{} has no build id, and its device and inode are not those of "
                                   "the mapping",
                                   wanted.path)};
    }
    return fail(fmt::format("{} is another file now: build id {}, the process has {}", wanted.path,
                            id.empty() ? "none" : id,
                            wanted.build_id.empty() ? "none" : wanted.build_id));
  }

  std::size_t index_of(const Region& region) const {
    return static_cast<std::size_t>(&region - regions_.data());
  }

  int memory_;  // /proc/PID/mem
  ProcessInfo process_;
  std::vector<ProcMapping> mappings_;
  std::vector<Region> regions_;  // those of mappings_
  std::vector<Module> modules_;
  std::vector<Thread> threads_;
  std::optional<ThreadId> stopped_;
  std::vector<Error> gaps_;
  std::function<bool()> interrupted_;
  PageCache cache_;
};

}  // namespace

namespace {

Result<std::unique_ptr<Target>> open_process(TargetKind kind, std::int64_t pid,
                                             StoppedThreads threads,
                                             std::function<bool()> interrupted) {
  const std::string path = proc_path(pid, "mem");
  const int memory = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (memory < 0) {
    if (errno == ENOENT || errno == ESRCH) {
      return fail(fmt::format("there is no process {} on this machine", pid));
    }
    return fail(
        fmt::format("the memory of process {} cannot be opened: {}", pid, std::strerror(errno)),
        std::nullopt,
        "run as the process's user with the right to trace it "
        "(/proc/sys/kernel/yama/ptrace_scope, CAP_SYS_PTRACE)");
  }
  auto process =
      std::make_unique<LiveProcess>(kind, pid, memory, std::move(threads), std::move(interrupted));
  if (auto done = process->load(); !done) return tl::unexpected(done.error());
  return process;
}

}  // namespace

Result<std::unique_ptr<Target>> open_live_process(std::int64_t pid, StoppedThreads threads,
                                                  std::function<bool()> interrupted) {
  return open_process(TargetKind::live, pid, std::move(threads), std::move(interrupted));
}

Result<std::unique_ptr<Target>> open_dying_process(std::int64_t pid, const CoreNotes& notes) {
  return open_process(TargetKind::core, pid, {notes.threads, notes.stopped_thread, notes.gaps}, {});
}

}  // namespace aotidbg
