// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/residency.h"

#include <algorithm>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

// A little below a thread's stack pointer, or not far above it. Far above it is something else,
// even in the same mapping: a signal handler's alternate stack lies in the heap.
bool is_on_a_stack(const Target& target, const Region& region, Address at) {
  constexpr std::uint64_t kRedZoneAndMore = 4096;
  constexpr std::uint64_t kStack = 8U << 20;  // the usual limit, ulimit -s
  const auto threads = target.threads();
  return std::any_of(threads.begin(), threads.end(), [&](const Thread& thread) {
    const auto top = stack_pointer(thread.registers);
    return top && region.contains(*top) && at + kRedZoneAndMore >= *top && at < *top + kStack;
  });
}

std::string anonymous_name(const Target& target, const Region& region, Address at) {
  if (region.path == "[heap]") return "heap";
  if (region.path == "[stack]") return "stack";
  if (!region.path.empty()) return region.path;
  // Without a name: thread stacks, malloc arenas and mmap'ed allocations all look alike, and only
  // a stack can be told, by the thread that uses it.
  return is_on_a_stack(target, region, at) ? "stack of a thread" : "heap";
}

}  // namespace

Place place_of(const Target& target, Address at) {
  if (at == 0) return {Place::Kind::null, "null"};
  const Region* region = target.region_at(at);
  if (region == nullptr) return {Place::Kind::unmapped, "not mapped"};
  if (!region->readable && !region->writable) {
    return {Place::Kind::guard, "mapped without access"};
  }
  if (region->path.starts_with('/')) {
    const Module* module = target.module_at(at);
    const std::string name = file_name(module != nullptr ? module->path : region->path);
    // Private writable pages of a file (a module's data) are the process's own memory.
    return {module != nullptr || region->writable ? Place::Kind::host : Place::Kind::file, name};
  }
  return {Place::Kind::host, anonymous_name(target, *region, at)};
}

bool is_readable(const Target& target, Address at, std::uint64_t size) {
  if (at + size < at) return false;
  for (Address next = at; next < at + size;) {
    const Region* region = target.region_at(next);
    if (region == nullptr || !region->readable) return false;
    next = region->end;
  }
  return true;
}

}  // namespace aotidbg
