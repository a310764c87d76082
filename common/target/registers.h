// SPDX-License-Identifier: BSD-3-Clause
//
// General registers of one thread, in the order of the kernel's `struct user_regs_struct`
// (<sys/user.h>), which is also that of NT_PRSTATUS's pr_reg. What a slot is called, and which
// one is the program counter, is known to common/arch alone.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace aotidbg {

class Registers {
 public:
  static constexpr std::size_t kCount = 27;  // x86-64: sizeof(user_regs_struct) / 8

  std::optional<std::uint64_t> get(std::size_t slot) const {
    if (slot >= kCount || !known_.test(slot)) return std::nullopt;
    return values_[slot];
  }
  void set(std::size_t slot, std::uint64_t value) {
    if (slot >= kCount) return;
    values_[slot] = value;
    known_.set(slot);
  }

 private:
  std::array<std::uint64_t, kCount> values_{};
  std::bitset<kCount> known_;
};

}  // namespace aotidbg
