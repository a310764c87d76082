// SPDX-License-Identifier: BSD-3-Clause
//
// Stacks with names: a frame's symbol, and the inlined functions and lines inside it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/elf/source_line.h"
#include "common/elf/symbols.h"
#include "common/elf/unwind.h"
#include "common/target/target.h"

namespace aotidbg {

struct NamedFrame {
  Frame frame;
  const Module* module = nullptr;
  std::optional<Symbol> symbol;      // of the machine code; mangled
  std::vector<SourceFrame> sources;  // innermost inlined first; empty without line tables

  // The first address that is not this frame's any more: the caller's stack pointer.
  std::optional<Address> stack_end;
};

struct NamedStack {
  ThreadId thread = 0;
  std::vector<NamedFrame> frames;  // innermost first
  std::string stopped;
};

class StackNamer {
 public:
  explicit StackNamer(Target& target) : target_(target), unwinder_(target) {}

  NamedStack unwind(ThreadId thread, const Registers& registers);  // modules only, no names

  // Symbols (one pass a module for all frames) and lines, for modules that `wanted` accepts.
  template <class Wanted>
  void name(NamedStack& stack, Wanted wanted) {
    for (const Module* module : modules_in(stack)) {
      if (wanted(*module)) name_frames_in(stack, *module);
    }
  }

 private:
  static std::vector<const Module*> modules_in(const NamedStack& stack);
  void name_frames_in(NamedStack& stack, const Module& module);

  Target& target_;
  Unwinder unwinder_;
  SourceLines lines_;
};

}  // namespace aotidbg
