// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/stacks.h"

#include <algorithm>

namespace aotidbg {

NamedStack StackNamer::unwind(ThreadId thread, const Registers& registers) {
  Stack stack = unwinder_.unwind(registers);
  NamedStack named;
  named.thread = thread;
  named.stopped = std::move(stack.stopped);
  named.frames.reserve(stack.frames.size());
  for (Frame& frame : stack.frames) {
    NamedFrame& added = named.frames.emplace_back();
    added.module = target_.module_at(frame.lookup_pc());
    added.frame = frame;
  }
  for (std::size_t i = 0; i + 1 < named.frames.size(); ++i) {
    named.frames[i].stack_end = named.frames[i + 1].frame.stack_pointer;
  }
  return named;
}

std::vector<const Module*> StackNamer::modules_in(const NamedStack& stack) {
  std::vector<const Module*> modules;
  for (const NamedFrame& frame : stack.frames) {
    const bool is_new = std::find(modules.begin(), modules.end(), frame.module) == modules.end();
    if (frame.module != nullptr && is_new) modules.push_back(frame.module);
  }
  return modules;
}

void StackNamer::name_frames_in(NamedStack& stack, const Module& module) {
  std::vector<NamedFrame*> frames;
  std::vector<Address> addresses;
  for (NamedFrame& frame : stack.frames) {
    if (frame.module != &module || frame.symbol) continue;
    frames.push_back(&frame);
    addresses.push_back(frame.frame.lookup_pc());
  }
  if (frames.empty()) return;
  auto symbols = symbols_at(target_, module, addresses);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i]->symbol = std::move(symbols[i]);
    frames[i]->sources = lines_.find(target_, module, addresses[i]);
  }
}

}  // namespace aotidbg
