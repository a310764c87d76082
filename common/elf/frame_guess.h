// SPDX-License-Identifier: BSD-3-Clause
//
// The caller of a frame that no call frame information describes: generated code, a module whose
// file is gone, a jump to a wrong address. What is found here is a guess and says so (FrameHow).
//
// Sources: System V ABI, AMD64 supplement, 3.2.2 (the stack frame; %rbp is optional).
#pragma once

#include <cstdint>
#include <optional>

#include "common/elf/unwind.h"

namespace aotidbg {

class FrameGuess {
 public:
  explicit FrameGuess(Target& target) : target_(&target) {}

  // The most likely caller, with what is known of its registers; nullopt when nothing validates.
  // Tried in this order, and each return address must follow a call:
  // 1. A program counter outside all code: it was called or jumped to, so the caller's address is
  //    on top of the stack.
  // 2. The program counter is the restorer of a signal frame: what the signal interrupted.
  // 3. The top of the stack, in the innermost frame: a function that has no frame of its own.
  // 4. The frame that %rbp points to, when its chain goes up inside the same mapping. Where the
  //    calling code cannot be read, that it is code has to do.
  // 5. The first word up the stack. It may be stale, or skip frames.
  std::optional<Frame> caller_of(const Frame& frame);

  // True when `at` lies in code.
  bool is_code(Address at) const;

 private:
  bool is_return_address(std::uint64_t word);
  std::optional<Frame> top_of_stack(const Frame& frame, Address stack);
  std::optional<Frame> signal_frame(Address stack);
  std::optional<Frame> frame_pointer(const Frame& frame, Address stack, const Region& region);
  std::optional<Frame> scan(const Frame& frame, Address stack, const Region& region);

  Target* target_;
};

}  // namespace aotidbg
