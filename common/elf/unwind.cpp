// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/unwind.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/arch/x86_64.h"
#include "common/elf/answers.h"
#include "common/elf/call_frames.h"
#include "common/elf/dwarf_expression.h"
#include "common/elf/frame_guess.h"
#include "common/elf/module_image.h"

namespace aotidbg {
namespace {

// What a frame was called from: a frame, nothing (it is the outermost), or a reason why not.
using Caller = Result<std::optional<Frame>>;

constexpr std::size_t kReturnAddress = 16;  // DWARF register number, figure 3.36 of the ABI
constexpr std::size_t kStackPointer = 7;

// Computes a caller's registers from the rules that hold in a frame.
class RowRegisters {
 public:
  RowRegisters(Memory& memory, const Frame& frame, const FrameRow& row)
      : memory_(memory), frame_(frame), row_(row) {
    context_.memory = &memory;
    context_.register_value = [this](std::uint64_t number) { return value(number); };
  }

  Caller caller() {
    if (row_.rule(row_.return_register()).kind == FrameRule::Kind::undefined) return std::nullopt;
    auto cfa = find_cfa();
    if (!cfa) return tl::unexpected(cfa.error());
    cfa_ = *cfa;
    auto return_address = recover(row_.return_register());
    if (!return_address) return tl::unexpected(return_address.error());
    if (!*return_address) return fail("the frame's return address is not saved");

    Frame result;
    result.how = FrameHow::cfi;
    result.activation = row_.is_signal_frame();
    result.pc = **return_address;
    for (std::size_t number = 0; number < kReturnAddress; ++number) {
      // One that cannot be read is not known; the stack goes on without it.
      if (auto recovered = recover(number); recovered && *recovered) {
        result.registers.set(*slot_of_dwarf_register(static_cast<unsigned>(number)), **recovered);
      }
    }
    result.registers.set(*slot_of_dwarf_register(kReturnAddress), result.pc);
    // The segment bases are the thread's.
    for (const auto slot : {register_slot("fs_base"), register_slot("gs_base")}) {
      if (const auto base = frame_.registers.get(*slot)) result.registers.set(*slot, *base);
    }
    result.stack_pointer = stack_pointer(result.registers);
    return result;
  }

 private:
  std::optional<std::uint64_t> value(std::uint64_t number) const {
    if (number > kReturnAddress) return std::nullopt;
    const auto slot = slot_of_dwarf_register(static_cast<unsigned>(number));
    return slot ? frame_.registers.get(*slot) : std::nullopt;
  }

  Result<Address> find_cfa() const {
    const FrameRule& rule = row_.cfa();
    if (rule.kind == FrameRule::Kind::val_expression) {
      return evaluate_expression(rule.code, context_, std::nullopt);
    }
    const auto base = value(rule.number);
    if (!base) {
      return fail(
          fmt::format("the frame is based on DWARF register {}, which is not known", rule.number));
    }
    return *base + static_cast<std::uint64_t>(rule.offset);
  }

  // The caller's value of a register; nullopt when it is not known.
  Result<std::optional<std::uint64_t>> recover(std::size_t number) const {
    using Kind = FrameRule::Kind;
    const FrameRule& rule = row_.rule(number);
    const Address at = cfa_ + static_cast<std::uint64_t>(rule.offset);
    switch (rule.kind) {
      case Kind::unspecified:
        return by_convention(number);
      case Kind::undefined:
        return std::nullopt;
      case Kind::same_value:
        return value(number);
      case Kind::in_register:
        return value(rule.number);
      case Kind::val_offset:
        return at;
      case Kind::offset:
        return load(at);
      case Kind::expression:
      case Kind::val_expression: {
        auto result = evaluate_expression(rule.code, context_, cfa_);
        if (!result) return tl::unexpected(result.error());
        if (rule.kind == Kind::expression) return load(*result);
        return *result;
      }
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> by_convention(std::size_t number) const {
    if (number == kStackPointer) return cfa_;
    const auto slot = slot_of_dwarf_register(static_cast<unsigned>(number));
    const bool kept = slot && (preserved_by_callee(*slot) || row_.is_signal_frame());
    return kept && number != kReturnAddress ? value(number) : std::nullopt;
  }

  Result<std::optional<std::uint64_t>> load(Address at) const {
    auto word = memory_.read_pointer(at);
    if (!word) return tl::unexpected(word.error());
    return *word;
  }

  Memory& memory_;
  const Frame& frame_;
  const FrameRow& row_;
  ExpressionContext context_;
  Address cfa_ = 0;
};

}  // namespace

struct Unwinder::State {
  explicit State(Target& examined) : target(examined), guess(examined) {}

  Target& target;
  FrameGuess guess;
  std::map<Address, Result<ModuleImage>> images;  // by start

  const Result<ModuleImage>* image_at(Address pc);
  Caller by_call_frames(const Frame& frame, bool& described);
  Caller caller_of(const Frame& frame);
};

// The vdso is no file: where the target does not list it as a module its mapping is one.
const Result<ModuleImage>* Unwinder::State::image_at(Address pc) {
  Module unlisted;
  const Module* module = target.module_at(pc);
  if (module == nullptr) {
    const Region* region = target.region_at(pc);
    if (region == nullptr || !region->executable) return nullptr;
    unlisted.path = region->path;
    unlisted.bias = unlisted.start = region->start;
    unlisted.end = region->end;
    module = &unlisted;
  }
  auto known = images.find(module->start);
  if (known == images.end()) {
    known = images.emplace(module->start, ModuleImage::open(target, *module)).first;
  }
  return &known->second;
}

// `described` tells whether there is call frame information: without it the answer is an error.
Caller Unwinder::State::by_call_frames(const Frame& frame, bool& described) {
  described = false;
  const Result<ModuleImage>* image = image_at(frame.lookup_pc());
  if (image == nullptr) return fail(fmt::format("{:#x} is not code", frame.pc), frame.pc);
  if (!*image) return tl::unexpected(image->error());
  auto row = CallFrames(**image).row_at(frame.lookup_pc());
  if (!row) return tl::unexpected(row.error());
  if (!*row) return fail(fmt::format("nothing describes the frame at {:#x}", frame.pc), frame.pc);
  described = true;

  Caller caller = RowRegisters(target, frame, **row).caller();
  if (!caller || !*caller) return caller;
  (*caller)->assumed = frame.assumed || (*image)->used_assumed_file();
  // A signal may have been delivered on another stack, and may have interrupted a wild jump.
  if ((*row)->is_signal_frame()) return caller;
  if (!(*caller)->stack_pointer || *(*caller)->stack_pointer <= frame.stack_pointer.value_or(0)) {
    return fail(fmt::format("the stack does not grow beyond the frame of {:#x}", frame.pc),
                frame.stack_pointer);
  }
  if (!guess.is_code((*caller)->pc)) {
    return fail(fmt::format("the return address of the frame at {:#x} is {:#x}, which is not code",
                            frame.pc, (*caller)->pc),
                (*caller)->pc);
  }
  return caller;
}

Caller Unwinder::State::caller_of(const Frame& frame) {
  bool described = false;
  Caller caller = by_call_frames(frame, described);
  if (described) return caller;
  if (auto guessed = guess.caller_of(frame)) {
    guessed->assumed = guessed->assumed || frame.assumed;
    return guessed;
  }
  return fail(caller.error().what + ", and nothing on the stack looks like its caller",
              caller.error().at, caller.error().fix);
}

namespace {

constexpr std::uint64_t kRedZone = 128;        // below the stack pointer, ABI 3.2.2
constexpr std::uint64_t kOutermostFrame = 64;  // whose end nothing tells
constexpr std::uint64_t kMostStack = 256U << 10;

// A snapshot holds the stretches of stack that the frames lie on, for debuggers to walk again.
void keep_stack_of(Target& target, const std::vector<Frame>& frames) {
  Record* const record = target.record();
  if (record == nullptr) return;
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < frames.size() && kept < kMostStack; ++i) {
    if (!frames[i].stack_pointer) continue;
    const Address start = *frames[i].stack_pointer;
    const Region* const region = target.region_at(start);
    if (region == nullptr) continue;
    Address end = std::min(region->end, start + kOutermostFrame);
    if (i + 1 < frames.size()) {
      const Address next = frames[i + 1].stack_pointer.value_or(0);
      if (next > start && next <= region->end) end = std::min(next, start + kMostStack);
    }
    record->keep_stack(std::max(region->start, start - kRedZone), end);
    kept += end - start;
  }
}

// In callers, registers that hold no address are what the program worked on, and nothing here asks
// for them.
void forget_values(const Target& target, std::vector<Frame>& frames) {
  for (Frame& frame : frames) {
    Registers addresses;
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      const auto value = frame.registers.get(slot);
      if (value && target.region_at(*value) != nullptr) addresses.set(slot, *value);
    }
    frame.registers = addresses;
  }
}

}  // namespace

Unwinder::Unwinder(Target& target) : state_(std::make_unique<State>(target)) {}
Unwinder::~Unwinder() = default;

Stack Unwinder::unwind(const Registers& registers, std::size_t limit) {
  Stack stack;
  const auto pc = program_counter(registers);
  if (!pc) {
    stack.stopped = "the program counter is not known";
    return stack;
  }
  Target& target = state_->target;
  if (target.record() == nullptr) return walk(registers, *pc, limit);
  stack = answered<Stack>(target,
                          fmt::format("at most {} frames from {:x} with stack {:x}", limit, *pc,
                                      stack_pointer(registers).value_or(0)),
                          [&] {
                            Stack walked = walk(registers, *pc, limit);
                            forget_values(target, walked.frames);
                            return walked;
                          });
  keep_stack_of(target, stack.frames);
  if (!stack.frames.empty()) stack.frames.front().registers = registers;
  return stack;
}

Stack Unwinder::walk(const Registers& registers, Address pc, std::size_t limit) {
  Stack stack;
  Frame frame;
  frame.pc = pc;
  frame.activation = true;
  frame.how = FrameHow::registers;
  frame.stack_pointer = stack_pointer(registers);
  frame.registers = registers;
  while (stack.frames.size() < limit) {
    stack.frames.push_back(frame);
    if (state_->target.interrupted()) {
      stack.stopped = "interrupted";
      return stack;
    }
    Caller caller = state_->caller_of(frame);
    if (!caller) stack.stopped = caller.error().what;
    if (!caller || !*caller) return stack;
    frame = **caller;
  }
  stack.stopped = fmt::format("there are more than {} frames", limit);
  return stack;
}

}  // namespace aotidbg
