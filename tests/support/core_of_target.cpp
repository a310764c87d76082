// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/core_of_target.h"

#include <algorithm>
#include <optional>

namespace aotidbg {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kKept = 64;  // zero bytes after the last that is not, and a multiple of it

std::size_t used_bytes(std::span<const std::byte> page) {
  const auto last = std::find_if(page.rbegin(), page.rend(),
                                 [](std::byte value) { return value != std::byte{0}; });
  if (last == page.rend()) return 0;
  const auto used = static_cast<std::size_t>(page.rend() - last);
  return std::min(page.size(), (used + 2 * kKept - 1) / kKept * kKept);
}

std::string permissions_of(const Region& region) {
  return std::string(region.readable ? "r" : "-") + (region.writable ? "w" : "-") +
         (region.executable ? "x" : "-");
}

// Stacks and the like are searched in large steps, so they are dumped whole.
constexpr std::uint64_t kSmallRegion = 64U << 10;

// A segment begins with each page that holds something; what follows it in vain belongs to it.
void add_pages(FakeTarget& target, const Region& region, CoreBuilder& core) {
  const bool is_file = region.path.starts_with('/');
  if (!is_file && region.size() <= kSmallRegion) {
    std::vector<std::byte> all(region.size());
    if (target.read(region.start, all)) core.region(region.start, all, permissions_of(region));
    return;
  }
  Address start = region.start;
  std::vector<std::byte> kept;
  const auto finish = [&](Address end) {
    if (end != start) core.region(start, kept, permissions_of(region), end - start);
  };
  for (Address at = region.start; at < region.end; at += kPage) {
    std::vector<std::byte> page(std::min(kPage, region.end - at));
    if (!target.read(at, page)) continue;
    const bool names_image = is_file && region.file_offset == 0 && at == region.start;
    const bool is_whole = names_image || region.writable;
    std::size_t used = used_bytes(page);
    if (used == 0 && !names_image) continue;
    if (is_whole) used = page.size();
    finish(at);
    start = at;
    page.resize(used);
    kept = std::move(page);
  }
  finish(region.end);
}

}  // namespace

CoreBuilder core_of(FakeTarget& target, const CoreOfTargetOptions& options) {
  CoreBuilder core;
  core.file_alignment(16);
  // LLDB knows a core of Linux by the path of a Debian libc or by this (ObjectFileELF.cpp).
  core.change_header([](Elf64_Ehdr& header) { header.e_ident[EI_OSABI] = ELFOSABI_LINUX; });
  core.process(static_cast<int>(target.process().pid), "main", "main --batch 8");
  const auto stopped = target.stopped_thread();
  const auto add_thread = [&](const Thread& thread) {
    CoreBuilder::Values registers;
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      if (const auto value = thread.registers.get(slot)) registers.emplace_back(slot, *value);
    }
    core.thread(thread.id, registers, thread.signal ? thread.signal->number : 0);
    if (thread.signal) {
      core.signal(thread.signal->number, thread.signal->code.value_or(0),
                  thread.signal->address.value_or(0));
    } else if (options.signal_of_each) {
      core.signal(0, 0, 0);
    }
  };
  // The kernel writes the thread that took the signal first, gcore keeps the order.
  for (const Thread& thread : target.threads()) {
    if (!options.signal_of_each && thread.id == stopped) add_thread(thread);
  }
  for (const Thread& thread : target.threads()) {
    if (options.signal_of_each || thread.id != stopped) add_thread(thread);
  }
  if (!options.auxiliary.empty()) core.auxiliary(options.auxiliary);
  for (const Region& region : target.regions()) {
    if (options.file_mappings && region.path.starts_with('/')) {
      core.file_mapping(region.start, region.end, region.file_offset, region.path);
    }
    add_pages(target, region, core);
  }
  return core;
}

}  // namespace aotidbg
