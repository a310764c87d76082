// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/sb_target.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/target/page_cache.h"
#include "lldb_plugin/sb_modules.h"
#include "lldb_plugin/sb_regions.h"

namespace aotidbg {
namespace {

class SbTarget final : public Target {
 public:
  SbTarget(const lldb::SBProcess& process, StoppedThreads threads, SbTargetOptions options)
      : process_(process), threads_(std::move(threads)), options_(std::move(options)) {}

  Result<void> open(lldb::SBTarget& target) {
    auto regions = read_regions(process_);
    if (!regions) return tl::unexpected(regions.error());
    regions_ = std::move(*regions);
    mapped_ = read_modules(target, regions_, [this](Address at, std::span<std::byte> out) {
      return read_held(at, out);
    });
    for (const MappedModule& mapped : mapped_) modules_.push_back(mapped.module);
    name_regions(regions_, mapped_);

    info_.kind = options_.kind;
    info_.pid = static_cast<std::int64_t>(process_.GetProcessID());
    info_.executable = path_of(target.GetExecutable());
    if (info_.executable.empty()) {
      info_.executable = path_of(process_.GetProcessInfo().GetExecutableFile());
    }
    gaps_.push_back(options_.why);
    return {};
  }

  Result<void> read(Address at, std::span<std::byte> out) override {
    if (out.size() > PageCache::kLargestRead) return load(at, out);
    return cache_.read(
        at, out, [this](Address from, std::span<std::byte> into) { return load(from, into); });
  }

  const ProcessInfo& process() const override { return info_; }
  std::span<const Region> regions() const override { return regions_; }
  std::span<const Module> modules() const override { return modules_; }
  std::span<const Thread> threads() const override { return threads_.threads; }
  std::optional<ThreadId> stopped_thread() const override { return threads_.stopped_thread; }
  std::span<const Error> gaps() const override { return gaps_; }
  bool interrupted() override { return options_.interrupted && options_.interrupted(); }

 private:
  // What LLDB itself can read.
  Result<void> read_held(Address at, std::span<std::byte> out) {
    if (out.empty()) return {};
    lldb::SBError error;
    const std::size_t count = process_.ReadMemory(at, out.data(), out.size(), error);
    if (count == out.size() && error.Success()) return {};
    const Address missing = at + std::min(count, out.size() - 1);
    const Region* region = region_at(missing);
    if (region == nullptr) {
      return fail(fmt::format("{:#x} is not mapped", missing), missing);
    }
    return fail(fmt::format("LLDB cannot read [{:#x}, {:#x})", missing,
                            std::min(region->end, at + out.size())),
                missing);
  }

  // The module whose proven file holds the page at `at`, or nullptr.
  const MappedModule* filling(Address at) const {
    for (const MappedModule& mapped : mapped_) {
      if (mapped.module.contains(at)) {
        return mapped.fills && mapped.as_in_file(at) ? &mapped : nullptr;
      }
    }
    return nullptr;
  }

  Result<void> load(Address at, std::span<std::byte> out) {
    // A core lacks the pages of its files, and an old LLDB gives zeros for them: the file first.
    if (options_.kind != TargetKind::core) return read_held(at, out);
    while (!out.empty()) {
      const std::size_t count = std::min<std::size_t>(out.size(), page_down(at) + kPageSize - at);
      if (auto done = load_page(at, out.first(count)); !done) return done;
      at += count;
      out = out.subspan(count);
    }
    return {};
  }

  Result<void> load_page(Address at, std::span<std::byte> out) {
    if (const MappedModule* mapped = filling(at)) {
      for (const ElfSegment& segment : mapped->segments) {
        const Address start = mapped->module.bias + segment.address;
        if (segment.type != PT_LOAD || at < start || at + out.size() > start + segment.file_size)
          continue;
        if (mapped->module.file->read(segment.offset + (at - start), out)) return {};
      }
    }
    return read_held(at, out);
  }

  lldb::SBProcess process_;
  StoppedThreads threads_;
  SbTargetOptions options_;
  ProcessInfo info_;
  std::vector<Region> regions_;
  std::vector<MappedModule> mapped_;
  std::vector<Module> modules_;
  std::vector<Error> gaps_;
  PageCache cache_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_sb_target(lldb::SBTarget target,
                                               const lldb::SBProcess& process,
                                               StoppedThreads threads, SbTargetOptions options) {
  auto opened = std::make_unique<SbTarget>(process, std::move(threads), std::move(options));
  if (auto done = opened->open(target); !done) return tl::unexpected(done.error());
  return std::unique_ptr<Target>(std::move(opened));
}

}  // namespace aotidbg
