// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace aotidbg {

namespace {

[[noreturn]] void wrong_test(const std::string& why) {
  std::fprintf(stderr, "FakeTarget: %s\n", why.c_str());
  std::abort();
}

template <class Items, class Item>
Item& insert_sorted(Items& items, Item item) {
  const auto place =
      std::upper_bound(items.begin(), items.end(), item.start,
                       [](Address start, const Item& other) { return start < other.start; });
  return *items.insert(place, std::move(item));
}

}  // namespace

Region& FakeTarget::map_missing(Address start, std::uint64_t size, std::string_view permissions,
                                std::string path) {
  Region region;
  region.start = start;
  region.end = start + size;
  region.readable = permissions.find('r') != std::string_view::npos;
  region.writable = permissions.find('w') != std::string_view::npos;
  region.executable = permissions.find('x') != std::string_view::npos;
  region.path = std::move(path);
  for (const Region& other : regions_) {
    if (start < other.end && other.start < region.end) {
      wrong_test(fmt::format("region {:#x} overlaps region {:#x}", start, other.start));
    }
  }
  return insert_sorted(regions_, std::move(region));
}

Region& FakeTarget::map(Address start, std::uint64_t size, std::string_view permissions,
                        std::string path, std::uint64_t file_offset) {
  Region& region = map_missing(start, size, permissions, std::move(path));
  region.file_offset = file_offset;
  region.dumped = size;
  Block& block = blocks_[start];
  block.bytes.resize(size);
  block.known.assign(size, true);
  return region;
}

Region& FakeTarget::map_bytes(Address start, std::span<const std::byte> bytes,
                              std::string_view permissions, std::string path) {
  Region& region = map(start, bytes.size(), permissions, std::move(path));
  std::copy(bytes.begin(), bytes.end(), blocks_[start].bytes.begin());
  return region;
}

std::pair<const Address, FakeTarget::Block>* FakeTarget::block_at(Address at) {
  auto after = blocks_.upper_bound(at);
  if (after == blocks_.begin()) return nullptr;
  auto& entry = *std::prev(after);
  return at - entry.first < entry.second.bytes.size() ? &entry : nullptr;
}

void FakeTarget::poke_bytes(Address at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto* entry = block_at(at);
    if (entry == nullptr) wrong_test(fmt::format("nothing to poke at {:#x}", at));
    const std::size_t inside = at - entry->first;
    const std::size_t count = std::min(bytes.size(), entry->second.bytes.size() - inside);
    std::copy_n(bytes.begin(), count,
                entry->second.bytes.begin() + static_cast<std::ptrdiff_t>(inside));
    bytes = bytes.subspan(count);
    at += count;
  }
}

void FakeTarget::poke_string(Address at, std::string_view text) {
  poke_bytes(at, std::as_bytes(std::span(text.data(), text.size())));
  poke(at + text.size(), '\0');
}

void FakeTarget::forget(Address at, std::uint64_t size) {
  for (Address byte = at; byte < at + size; ++byte) {
    auto* entry = block_at(byte);
    if (entry == nullptr) wrong_test(fmt::format("nothing to forget at {:#x}", byte));
    entry->second.known[byte - entry->first] = false;
  }
}

Module& FakeTarget::add_module(Module module) { return insert_sorted(modules_, std::move(module)); }

Thread& FakeTarget::add_thread(
    ThreadId id, std::initializer_list<std::pair<std::size_t, std::uint64_t>> registers) {
  Thread thread;
  thread.id = id;
  for (const auto& [slot, value] : registers) thread.registers.set(slot, value);
  threads_.push_back(std::move(thread));
  return threads_.back();
}

void FakeTarget::stop(ThreadId id, int signal, int code, std::optional<Address> address) {
  for (Thread& thread : threads_) {
    if (thread.id != id) continue;
    thread.signal = SignalInfo{signal, code, address};
    stopped_ = id;
    return;
  }
  wrong_test(fmt::format("no thread {} to stop", id));
}

Result<void> FakeTarget::read(Address at, std::span<std::byte> out) {
  ++reads_;
  bytes_read_ += out.size();
  for (std::size_t done = 0; done < out.size();) {
    const Address next = at + done;
    auto* entry = block_at(next);
    if (entry == nullptr) {
      const Region* region = region_at(next);
      return fail(fmt::format("{:#x} is {}", next, region == nullptr ? "not mapped" : "not dumped"),
                  next);
    }
    const auto& [start, block] = *entry;
    const std::size_t inside = next - start;
    const std::size_t count = std::min(out.size() - done, block.bytes.size() - inside);
    for (std::size_t i = 0; i < count; ++i) {
      if (!block.known[inside + i])
        return fail(fmt::format("{:#x} is not dumped", next + i), next + i);
      out[done + i] = block.bytes[inside + i];
    }
    done += count;
  }
  return {};
}

bool FakeTarget::interrupted() {
  if (!questions_left_) return false;
  if (*questions_left_ == 0) return true;
  --*questions_left_;
  return false;
}

}  // namespace aotidbg
