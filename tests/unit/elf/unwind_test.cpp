// SPDX-License-Identifier: BSD-3-Clause
// Stacks of this very process, compared with what the C++ runtime's own unwinder says.
#include "common/elf/unwind.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>
#include <cstdlib>

#include "common/elf/symbols.h"
#include "tests/unit/elf/mapped_file.h"

namespace aotidbg {
namespace {

Stack last_stack;

Stack stack_of(const ucontext_t& context, std::size_t limit = 256) {
  const auto target = examine_this_process();
  return Unwinder(*target).unwind(registers_of(context), limit);
}

// Unwinds from inside a call of the fixture.
void take_stack() {
  ucontext_t context;
  getcontext(&context);
  last_stack = stack_of(context);
}

std::string function_at(Target& target, const Frame& frame) {
  const Module* module = target.module_at(frame.lookup_pc());
  if (module == nullptr) return {};
  const std::vector<Address> at = {frame.lookup_pc()};
  const auto found = symbols_at(target, *module, at);
  return found[0] ? found[0]->name : std::string();
}

std::size_t index_of(const Stack& stack, std::string_view name) {
  const auto target = examine_this_process();
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    if (function_at(*target, stack.frames[i]) == name) return i;
  }
  ADD_FAILURE() << "no frame of " << name;
  return 0;
}

TEST(LiveStack, EqualsThatOfTheRuntime) {
  ucontext_t context;
  getcontext(&context);
  void* runtime[64];
  const int count = backtrace(runtime, 64);
  const Stack stack = stack_of(context);
  EXPECT_EQ(stack.stopped, "");
  // Under ASan, backtrace() is a function of its runtime, which stands on the stack itself.
  const std::size_t extra = static_cast<std::size_t>(count) - stack.frames.size();
  ASSERT_LE(extra, 1U);
  EXPECT_TRUE(stack.frames[0].activation);
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    EXPECT_EQ(stack.frames[i].pc, reinterpret_cast<Address>(runtime[i + extra]));
    EXPECT_EQ(stack.frames[i].how, FrameHow::cfi);
    EXPECT_FALSE(stack.frames[i].assumed);
    EXPECT_GT(stack.frames[i].stack_pointer, stack.frames[i - 1].stack_pointer);
  }
}

TEST(LiveStack, OneUnwinderServesManyThreads) {
  const auto target = examine_this_process();
  Unwinder unwinder(*target);
  ucontext_t context;
  getcontext(&context);
  const Stack first = unwinder.unwind(registers_of(context));
  const Stack second = unwinder.unwind(registers_of(context));
  ASSERT_GT(first.frames.size(), 2U);
  ASSERT_EQ(first.frames.size(), second.frames.size());
  EXPECT_EQ(first.frames.back().pc, second.frames.back().pc);
  EXPECT_EQ(unwinder.unwind(registers_of(context), 2).frames.size(), 2U);
}

TEST(LiveStack, ThroughALibraryWithCallFrames) {
  function_in<void(void (*)())>(ELF_FIXTURE_GNU, "fixture_run")(take_stack);
  const std::size_t at = index_of(last_stack, "fixture_run");
  EXPECT_EQ(last_stack.frames[at].how, FrameHow::cfi);
  EXPECT_FALSE(last_stack.frames[at].assumed);
  EXPECT_EQ(last_stack.stopped, "");
}

// The caller of code that nothing describes is a guess, and so is all that rests on it.
TEST(LiveStack, ThroughALibraryWithFramePointersAlone) {
  function_in<void(void (*)())>(ELF_FIXTURE_BARE, "bare_with_frame")(take_stack);
  const std::size_t at = index_of(last_stack, "bare_with_frame");
  EXPECT_EQ(last_stack.frames[at].how, FrameHow::cfi);
  EXPECT_FALSE(last_stack.frames[at].assumed);
  ASSERT_GT(last_stack.frames.size(), at + 2);
  EXPECT_NE(last_stack.frames[at + 1].how, FrameHow::cfi);
  EXPECT_TRUE(last_stack.frames[at + 1].assumed);
  EXPECT_EQ(last_stack.frames[at + 2].how, FrameHow::cfi);
  EXPECT_TRUE(last_stack.frames[at + 2].assumed);
  EXPECT_LT(at, index_of(last_stack, "main"));
}

TEST(LiveStack, ThroughALibraryWithoutAnything) {
  function_in<void(void (*)())>(ELF_FIXTURE_BARE, "bare_without_frame")(take_stack);
  const std::size_t at = index_of(last_stack, "bare_without_frame");
  ASSERT_GT(last_stack.frames.size(), at + 1);
  EXPECT_TRUE(last_stack.frames[at + 1].assumed);
  EXPECT_LT(at, index_of(last_stack, "main"));
}

Address interrupted_pc = 0;

void on_signal(int, siginfo_t*, void* kernel_context) {
  interrupted_pc =
      registers_of(*static_cast<ucontext_t*>(kernel_context)).get(*register_slot("rip")).value();
  take_stack();
}

class Handled {
 public:
  explicit Handled(int signal, int flags = 0) : signal_(signal) {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, &before_);
  }
  ~Handled() { sigaction(signal_, &before_, nullptr); }
  Handled(const Handled&) = delete;
  Handled& operator=(const Handled&) = delete;

 private:
  int signal_;
  struct sigaction before_ = {};
};

void expect_interrupted_frame() {
  const auto& frames = last_stack.frames;
  const auto found = std::find_if(frames.begin() + 1, frames.end(),
                                  [](const Frame& frame) { return frame.activation; });
  ASSERT_NE(found, frames.end());
  EXPECT_EQ(found->pc, interrupted_pc);
  EXPECT_EQ(found->lookup_pc(), interrupted_pc);
  EXPECT_FALSE(found->assumed);
  EXPECT_EQ(last_stack.stopped, "");
  EXPECT_GT(index_of(last_stack, "main"), static_cast<std::size_t>(found - frames.begin()));
}

TEST(LiveStack, ThroughASignalFrame) {
  const Handled handled(SIGUSR1);
  raise(SIGUSR1);
  expect_interrupted_frame();
}

TEST(LiveStack, FromAnAlternateSignalStack) {
  std::vector<std::byte> room(256U << 10);
  stack_t alternate = {};
  alternate.ss_sp = room.data();
  alternate.ss_size = room.size();
  stack_t before = {};
  ASSERT_EQ(sigaltstack(&alternate, &before), 0);
  {
    const Handled handled(SIGUSR2, SA_ONSTACK);
    raise(SIGUSR2);
  }
  sigaltstack(&before, nullptr);
  expect_interrupted_frame();
}

// The return address of a described function is overwritten: no frame is made up.
TEST(DamagedStack, EndsWithAReason) {
  ucontext_t context;
  getcontext(&context);
  const auto live = examine_this_process();
  const Stack whole = stack_of(context);
  ASSERT_GT(whole.frames.size(), 4U);

  // The same stack in a target whose stack can be changed.
  const Address stack = whole.frames[0].stack_pointer.value();
  FakeTarget target;
  for (const Region& region : live->regions()) {
    if (!region.readable || region.path.starts_with("[v")) continue;
    const bool code = region.executable || !region.writable;
    const bool used = code && region.size() < (8U << 20) && !region.path.empty();
    if (region.contains(stack)) {
      const Address start = stack & ~Address{4095};
      target.map_bytes(start, live->read_bytes(start, region.end - start).value(), "rw-",
                       "[stack]");
    } else if (used) {
      if (const auto bytes = live->read_bytes(region.start, region.size())) {
        target.map_bytes(region.start, *bytes, region.executable ? "r-x" : "r--", region.path);
      }
    }
  }
  for (const Module& module : live->modules()) target.add_module(module);
  const Registers registers = registers_of(context);
  ASSERT_EQ(Unwinder(target).unwind(registers).frames.size(), whole.frames.size());

  const Address slot = whole.frames[3].stack_pointer.value() - 8;
  ASSERT_EQ(target.read_pointer(slot).value(), whole.frames[3].pc);
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{0x4141414141414141}, slot}) {
    target.poke(slot, word);
    const Stack damaged = Unwinder(target).unwind(registers);
    EXPECT_EQ(damaged.frames.size(), 3U);
    EXPECT_NE(damaged.stopped, "");
  }
}

}  // namespace
}  // namespace aotidbg
