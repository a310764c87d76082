// SPDX-License-Identifier: BSD-3-Clause
//
// Stacks, the same in every host: elfutils' libdwfl unwinds over a Target with our own memory,
// modules and files. Nothing here connects to a network (no debuginfod), and no symbol table is
// read: frames are named separately, and only those that are shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

enum class FrameHow {
  registers,      // the innermost frame: the thread's own registers
  cfi,            // call frame information of the module's file
  frame_pointer,  // libdwfl's guess, used where a module has no call frame information
  scan,           // a word on the stack that follows a call instruction
};

struct Frame {
  Address pc = 0;             // of the frame; a return address in all but activation frames
  bool activation = false;    // pc is exact (innermost frame, or interrupted by a signal)
  FrameHow how = FrameHow::cfi;
  std::optional<Address> stack_pointer;  // in this frame, at pc
  Registers registers;        // as far as unwinding recovered them
  // The address to look names and lines up with: inside the call instruction.
  Address lookup_pc() const { return activation ? pc : pc - 1; }
};

struct Stack {
  std::vector<Frame> frames;  // innermost first
  std::string stopped;        // why it ends early; empty when it reached the outermost frame
};

class Unwinder {
 public:
  explicit Unwinder(Target& target);  // the target must outlive it
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // The stack of a thread that has these registers: its own, or those of a signal frame.
  // Never more than `limit` frames.
  Stack unwind(const Registers& registers, std::size_t limit = 256);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aotidbg
