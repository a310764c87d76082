// SPDX-License-Identifier: BSD-3-Clause
//
// Stacks, the same in every host, from the call frame information that memory and module files
// hold. No symbol table is read (frames are named separately, and only those that are shown), no
// file but the modules' own is opened, and nothing connects to a network.
//
// While a snapshot is saved the stack that was walked is kept, and the frames are an answer.
//
// elfutils' libdwfl is not used: where it has no call frame information it follows frame pointers
// without saying so, and it needs the file even where memory holds the bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// How a frame was found from the one that it called.
enum class FrameHow {
  registers,      // the thread's own registers, or those that the kernel saved for a signal
  cfi,            // call frame information of the called function
  frame_pointer,  // the chain of %rbp, where there is no call frame information; may skip a frame
  scan,           // a word on the stack that follows a call instruction; may be stale
};

struct Frame {
  Address pc = 0;           // of the frame; a return address in all but activation frames
  bool activation = false;  // pc is exact (innermost frame, or interrupted by a signal)
  FrameHow how = FrameHow::cfi;
  // This frame or one that it was found from is a guess (frame_pointer, scan), or a module's file
  // was used that nothing proves to be the right one. Only frames without it are facts.
  bool assumed = false;
  std::optional<Address> stack_pointer;  // in this frame, at pc
  // As far as unwinding recovered them: in callers, those that a callee preserves.
  Registers registers;
  // The address to look names and lines up with: inside the call instruction.
  Address lookup_pc() const { return activation ? pc : pc - 1; }
};

struct Stack {
  std::vector<Frame> frames;  // innermost first
  std::string stopped;        // why it ends early; empty when it reached the outermost frame
};

// Keeps what it has read of the modules: use one for all threads of a stop.
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
  Stack walk(const Registers& registers, Address pc, std::size_t limit);
  std::unique_ptr<State> state_;
};

}  // namespace aotidbg
