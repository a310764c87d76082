// SPDX-License-Identifier: BSD-3-Clause
//
// A few pages kept so that walking pointers does not cost a system call each. For targets that do
// not change while they are looked at: a core, or a process that is stopped.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "common/target/elf_image.h"
#include "common/target/result.h"

namespace aotidbg {

class PageCache {
 public:
  // Reads larger than this go past the cache.
  static constexpr std::size_t kLargestRead = 1024;

  // `load(at, out)` reads as Memory::read does. A page that cannot be had in whole is not kept, and
  // the bytes asked for are read alone.
  template <class Load>
  Result<void> read(Address at, std::span<std::byte> out, const Load& load) {
    while (!out.empty()) {
      const std::uint64_t page = page_down(at);
      const std::size_t count = std::min<std::size_t>(out.size(), kPageSize - (at - page));
      Slot& slot = (*slots_)[page / kPageSize % kSlots];
      if (!slot.filled || slot.page != page) {
        slot.filled = load(page, std::span<std::byte>(slot.bytes)).has_value();
        slot.page = page;
      }
      if (slot.filled) {
        std::memcpy(out.data(), slot.bytes.data() + (at - page), count);
      } else if (auto done = load(at, out.first(count)); !done) {
        return done;
      }
      out = out.subspan(count);
      at += count;
    }
    return {};
  }

 private:
  static constexpr std::size_t kSlots = 64;
  struct Slot {
    bool filled = false;
    std::uint64_t page = 0;
    std::array<std::byte, kPageSize> bytes;
  };
  std::unique_ptr<std::array<Slot, kSlots>> slots_ = std::make_unique<std::array<Slot, kSlots>>();
};

}  // namespace aotidbg
