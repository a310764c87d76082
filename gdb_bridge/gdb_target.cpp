// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/gdb_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "common/target/elf_image.h"
#include "common/target/module_finder.h"
#include "common/target/modules.h"
#include "common/target/page_cache.h"
#include "gdb_bridge/gdb_session.h"
#include "gdb_bridge/gdb_text.h"

namespace aotidbg {
namespace {

// The stable ABI of Python 3.8 has no buffers, so that each piece is copied twice on its way.
constexpr std::size_t kChunk = 256U << 10;

class GdbTarget final : public Target {
 public:
  GdbTarget(Object inferior, StoppedThreads threads, std::function<bool()> interrupted)
      : inferior_(std::move(inferior)),
        threads_(std::move(threads)),
        interrupted_(std::move(interrupted)) {}

  Result<void> open() {
    const auto text = gdb_output("info proc mappings");
    if (!text) {
      return fail(
          fmt::format("the memory mappings of this process cannot be had: {}", text.error().what),
          std::nullopt, "write a core with `generate-core-file` and open that");
    }
    auto regions = mappings_in(*text);
    if (!regions) return tl::unexpected(regions.error());
    regions_ = std::move(*regions);

    info_.kind = TargetKind::live;
    info_.pid = static_cast<std::int64_t>(inferior_.attribute("pid").as_number().value_or(0));
    const Object program = inferior_.attribute("progspace").attribute("filename");
    if (program && !program.is_none()) {
      info_.executable = program.as_text().value_or(std::string());
      // GDB names files that it reads through the connection so.
      constexpr std::string_view kFromThere = "target:";
      if (info_.executable.starts_with(kFromThere)) info_.executable.erase(0, kFromThere.size());
    }
    find_all_modules();
    gaps_.push_back(
        {"the process is read through GDB's connection, which is slow", std::nullopt, {}});
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
  bool interrupted() override { return interrupted_ && interrupted_(); }
  bool is_slow() const override { return true; }

 private:
  Result<void> load(Address at, std::span<std::byte> out) {
    while (!out.empty()) {
      const Region* region = region_at(at);
      if (region == nullptr) return fail(fmt::format("{:#x} is not mapped", at), at);
      const std::size_t count = std::min({out.size(), kChunk, std::size_t{region->end - at}});
      const auto bytes =
          inferior_.call("read_memory", Object::number(at), Object::number(count)).as_bytes();
      if (!bytes || bytes->size() != count) {
        return fail(fmt::format("GDB cannot read {:#x} to {:#x}: {}", at, at + count,
                                bytes ? "it answered with less" : bytes.error().what),
                    at);
      }
      std::memcpy(out.data(), bytes->data(), count);
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

  void find_all_modules() {
    const FileSearch files = file_search();
    CoreOptions options;
    options.sysroot = files.sysroot;
    options.search = files.folders;
    ModuleFinder finder(options, {});
    ModuleSource source;
    source.regions = regions_;
    source.held = [this](Address at, std::span<std::byte> out) { return read(at, out); };
    source.find_file = [&](const WantedFile& wanted) { return finder.find(wanted); };
    for (MappedModule& mapped : find_modules(source)) modules_.push_back(std::move(mapped.module));
    for (const Region& region : regions_) {
      if (region.path != "[vdso]") continue;
      if (auto vdso = module_at_header(source, region.start, region.path, false)) {
        modules_.push_back(std::move(vdso->module));
      }
    }
    std::stable_sort(modules_.begin(), modules_.end(), [](const Module& left, const Module& right) {
      return left.start < right.start;
    });
  }

  Object inferior_;
  StoppedThreads threads_;
  std::function<bool()> interrupted_;
  ProcessInfo info_;
  std::vector<Region> regions_;
  std::vector<Module> modules_;
  std::vector<Error> gaps_;
  PageCache cache_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_gdb_target(Object inferior, StoppedThreads threads,
                                                std::function<bool()> interrupted) {
  auto opened =
      std::make_unique<GdbTarget>(std::move(inferior), std::move(threads), std::move(interrupted));
  if (auto done = opened->open(); !done) return tl::unexpected(done.error());
  return std::unique_ptr<Target>(std::move(opened));
}

FileSearch file_search() {
  FileSearch search;
  if (auto sysroot = gdb_setting("sysroot"); sysroot && sysroot->starts_with('/')) {
    if (*sysroot != "/") search.sysroot = std::move(*sysroot);
  }
  std::string rest = gdb_setting("solib-search-path").value_or(std::string());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) search.folders.push_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return search;
}

}  // namespace aotidbg
