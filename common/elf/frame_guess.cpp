// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/frame_guess.h"

#include <algorithm>
#include <array>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
// How far up one caller is looked for. Frames of generated kernels stay below 64 KiB.
constexpr std::uint64_t kScanReach = 256U << 10;

struct Slots {
  std::size_t rip = *register_slot("rip");
  std::size_t rsp = *register_slot("rsp");
  std::size_t rbp = *register_slot("rbp");
};

const Slots& slots() {
  static const Slots kKnown;
  return kKnown;
}

void copy(const Registers& from, std::size_t slot, Registers& to) {
  if (const auto value = from.get(slot)) to.set(slot, *value);
}

Frame make_frame(FrameHow how, Address pc, Address stack) {
  Frame frame;
  frame.pc = pc;
  frame.how = how;
  frame.assumed = true;
  frame.stack_pointer = stack;
  frame.registers.set(slots().rip, pc);
  frame.registers.set(slots().rsp, stack);
  return frame;
}

}  // namespace

std::optional<Frame> FrameGuess::caller_of(const Frame& frame) {
  if (!frame.stack_pointer) return std::nullopt;
  const Address stack = *frame.stack_pointer;
  const Region* region = target_->region_at(stack);
  if (region == nullptr) return std::nullopt;

  if (!is_code(frame.pc)) {
    if (auto found = top_of_stack(frame, stack)) return found;
  } else {
    if (!frame.activation) {
      if (auto found = signal_frame(stack)) return found;
    } else if (auto found = top_of_stack(frame, stack)) {
      return found;
    }
    if (auto found = frame_pointer(frame, stack, *region)) return found;
  }
  return scan(frame, stack, *region);
}

bool FrameGuess::is_code(Address at) const {
  const Region* region = target_->region_at(at);
  return region != nullptr && region->executable;
}

bool FrameGuess::is_return_address(std::uint64_t word) {
  return is_code(word) && follows_call(*target_, word);
}

// Nothing ran between the call and here that could have changed what a callee preserves.
std::optional<Frame> FrameGuess::top_of_stack(const Frame& frame, Address stack) {
  const auto word = target_->read_pointer(stack);
  if (!word || !is_return_address(*word)) return std::nullopt;
  Frame found = make_frame(FrameHow::scan, *word, stack + kWord);
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    if (slot != slots().rsp && preserved_by_callee(slot)) {
      copy(frame.registers, slot, found.registers);
    }
  }
  return found;
}

std::optional<Frame> FrameGuess::signal_frame(Address stack) {
  // The handler's return has popped the address of the restorer.
  const auto signal = read_signal_frame(*target_, stack - kWord);
  if (!signal) return std::nullopt;
  const auto pc = program_counter(signal->registers);
  if (!pc) return std::nullopt;
  Frame found;
  found.pc = *pc;
  found.activation = true;
  found.how = FrameHow::registers;
  found.stack_pointer = stack_pointer(signal->registers);
  found.registers = signal->registers;
  return found;
}

std::optional<Frame> FrameGuess::frame_pointer(const Frame& frame, Address stack,
                                               const Region& region) {
  const auto base = frame.registers.get(slots().rbp);
  if (!base || *base % kWord != 0 || *base < stack || !region.contains(*base)) return std::nullopt;
  const auto saved = target_->read_value<std::array<std::uint64_t, 2>>(*base);
  if (!saved) return std::nullopt;
  const auto [next_base, return_address] = *saved;
  if (next_base <= *base || !region.contains(next_base)) return std::nullopt;
  if (!is_code(return_address)) return std::nullopt;
  const bool readable = target_->read_value<std::byte>(return_address - 1).has_value();
  if (readable && !follows_call(*target_, return_address)) return std::nullopt;
  Frame found = make_frame(FrameHow::frame_pointer, return_address, *base + 2 * kWord);
  found.registers.set(slots().rbp, next_base);
  return found;
}

std::optional<Frame> FrameGuess::scan(const Frame& frame, Address stack, const Region& region) {
  std::array<std::uint64_t, 512> words;
  const Address end = std::min(region.end, stack + std::min(kScanReach, region.end - stack));
  for (Address at = (stack + kWord - 1) / kWord * kWord; at + kWord <= end;) {
    const auto count = std::min<std::uint64_t>(words.size(), (end - at) / kWord);
    const auto chunk = std::span(words).first(count);
    if (target_->interrupted() || !target_->read(at, std::as_writable_bytes(chunk))) {
      return std::nullopt;
    }
    for (const std::uint64_t word : chunk) {
      at += kWord;
      if (!is_return_address(word)) continue;
      Frame found = make_frame(FrameHow::scan, word, at);
      // A base pointer that still points further up may be the caller's.
      const auto base = frame.registers.get(slots().rbp);
      if (base && *base >= at && region.contains(*base))
        copy(frame.registers, slots().rbp, found.registers);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace aotidbg
