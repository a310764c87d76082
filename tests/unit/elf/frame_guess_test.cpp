// SPDX-License-Identifier: BSD-3-Clause
// Stacks of code that nothing describes, each made by hand.
#include <gtest/gtest.h>

#include "common/arch/x86_64.h"
#include "common/elf/unwind.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

class HandMadeStack : public testing::Test {
 protected:
  static constexpr Address kCode = 0x400000;
  static constexpr Address kStack = 0x7ffe0000;
  static constexpr std::uint64_t kStackSize = 0x4000;

  HandMadeStack() {
    target_.map(kCode, 0x2000, "r-x", "[jit]");
    target_.map(kStack, kStackSize, "rw-", "[stack]");
  }
  // An address in the code that follows a call.
  Address after_call(std::uint64_t offset) {
    target_.poke(kCode + offset - 5, std::uint8_t{0xe8});
    return kCode + offset;
  }
  void push_at(std::uint64_t offset, std::uint64_t word) { target_.poke(kStack + offset, word); }
  Stack unwind(Address pc, std::uint64_t stack, std::optional<Address> base = std::nullopt,
               std::size_t limit = 256) {
    Registers registers;
    registers.set(*register_slot("rip"), pc);
    registers.set(*register_slot("rsp"), kStack + stack);
    registers.set(*register_slot("rbx"), 42);
    if (base) registers.set(*register_slot("rbp"), *base);
    return Unwinder(target_).unwind(registers, limit);
  }
  FakeTarget target_;
};

TEST_F(HandMadeStack, JumpToNowhereHasItsCallerOnTop) {
  push_at(0x100, after_call(0x500));
  for (const Address pc :
       {Address{0}, Address{0xdeadbeef}, kStack + 8, Address{0x8000000000000000}}) {
    const Stack stack = unwind(pc, 0x100, kStack + 0x200);
    ASSERT_GE(stack.frames.size(), 2U);
    EXPECT_EQ(stack.frames[0].how, FrameHow::registers);
    EXPECT_FALSE(stack.frames[0].assumed);
    const Frame& caller = stack.frames[1];
    EXPECT_EQ(caller.pc, kCode + 0x500);
    EXPECT_EQ(caller.how, FrameHow::scan);
    EXPECT_TRUE(caller.assumed);
    EXPECT_FALSE(caller.activation);
    EXPECT_EQ(caller.stack_pointer, kStack + 0x108);
    // Nothing ran that could have changed what a callee preserves.
    EXPECT_EQ(caller.registers.get(*register_slot("rbx")), 42U);
    EXPECT_EQ(caller.registers.get(*register_slot("rbp")), kStack + 0x200);
  }
}

TEST_F(HandMadeStack, BasePointersChain) {
  push_at(0x200, kStack + 0x300);
  push_at(0x208, after_call(0x600));
  push_at(0x300, kStack + 0x400);
  push_at(0x308, after_call(0x700));
  push_at(0x400, 1);
  const Stack stack = unwind(kCode + 0x100, 0x100, kStack + 0x200);
  ASSERT_GE(stack.frames.size(), 3U);
  EXPECT_EQ(stack.frames[1].pc, kCode + 0x600);
  EXPECT_EQ(stack.frames[1].how, FrameHow::frame_pointer);
  EXPECT_EQ(stack.frames[1].stack_pointer, kStack + 0x210);
  EXPECT_FALSE(stack.frames[1].registers.get(*register_slot("rbx")).has_value());
  EXPECT_EQ(stack.frames[2].pc, kCode + 0x700);
  EXPECT_EQ(stack.frames[2].how, FrameHow::frame_pointer);
  EXPECT_FALSE(stack.stopped.empty());
}

TEST_F(HandMadeStack, FrameWithoutBasePointerIsFoundByItsReturnAddress) {
  push_at(0x108, kCode + 0x900);  // code, but no call before it
  push_at(0x180, after_call(0x600));
  const Stack stack = unwind(kCode + 0x100, 0x100, 7);
  ASSERT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.frames[1].pc, kCode + 0x600);
  EXPECT_EQ(stack.frames[1].how, FrameHow::scan);
}

// A leaf has no frame: %rbp is its caller's, and following it would skip that caller.
TEST_F(HandMadeStack, LeafDoesNotSkipItsCaller) {
  push_at(0x100, after_call(0x500));
  push_at(0x200, kStack + 0x300);
  push_at(0x208, after_call(0x600));
  push_at(0x300, 0);
  const Stack stack = unwind(kCode + 0x100, 0x100, kStack + 0x200);
  ASSERT_GE(stack.frames.size(), 3U);
  EXPECT_EQ(stack.frames[1].pc, kCode + 0x500);
  EXPECT_EQ(stack.frames[2].pc, kCode + 0x600);
}

TEST_F(HandMadeStack, CyclesOfBasePointersEnd) {
  push_at(0x200, kStack + 0x200);
  push_at(0x208, after_call(0x600));
  const Stack self = unwind(kCode + 0x100, 0x100, kStack + 0x200);
  EXPECT_LT(self.frames.size(), 4U);
  EXPECT_FALSE(self.stopped.empty());
  push_at(0x200, kStack + 0x300);
  push_at(0x300, kStack + 0x200);
  push_at(0x308, after_call(0x600));
  const Stack pair = unwind(kCode + 0x100, 0x100, kStack + 0x200);
  EXPECT_LT(pair.frames.size(), 5U);
  EXPECT_FALSE(pair.stopped.empty());
}

TEST_F(HandMadeStack, NeverExceedsItsLimit) {
  const Address back = after_call(0x500);
  for (std::uint64_t at = 0; at < kStackSize; at += 8) push_at(at, back);
  const Stack stack = unwind(kCode + 0x100, 0, std::nullopt, 20);
  EXPECT_EQ(stack.frames.size(), 20U);
  EXPECT_NE(stack.stopped.find("20"), std::string::npos);
  EXPECT_LE(unwind(kCode + 0x100, 0, std::nullopt, 100'000).frames.size(), kStackSize / 8 + 1);
}

TEST_F(HandMadeStack, EndsWithAReasonWhenNothingIsThere) {
  const Stack zeros = unwind(kCode + 0x100, 0x100);
  EXPECT_EQ(zeros.frames.size(), 1U);
  EXPECT_FALSE(zeros.stopped.empty());
  Registers wild;
  wild.set(*register_slot("rip"), 0);
  wild.set(*register_slot("rsp"), 0xffff800000000000);
  const Stack lost = Unwinder(target_).unwind(wild);
  EXPECT_EQ(lost.frames.size(), 1U);
  EXPECT_FALSE(lost.stopped.empty());
  const Stack nothing = Unwinder(target_).unwind(Registers());
  EXPECT_TRUE(nothing.frames.empty());
  EXPECT_FALSE(nothing.stopped.empty());
}

TEST_F(HandMadeStack, StackThatWasNotDumpedIsAReason) {
  target_.forget(kStack + 0x1000, 0x1000);
  const Stack stack = unwind(kCode + 0x100, 0x1100);
  EXPECT_EQ(stack.frames.size(), 1U);
  EXPECT_FALSE(stack.stopped.empty());
}

TEST_F(HandMadeStack, InterruptionEndsIt) {
  const Address back = after_call(0x500);
  for (std::uint64_t at = 0; at < kStackSize; at += 8) push_at(at, back);
  target_.interrupt_after(5);
  const Stack stack = unwind(kCode + 0x100, 0);
  EXPECT_LT(stack.frames.size(), 10U);
  EXPECT_FALSE(stack.stopped.empty());
}

}  // namespace
}  // namespace aotidbg
