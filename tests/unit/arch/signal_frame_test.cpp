// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <vector>

#include "common/arch/x86_64.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kRestorer = 0x7f00'0000'1010;
constexpr Address kKernel = 0x7f00'0010'2000;
constexpr Address kStack = 0x7ffd'0000'0000;
constexpr std::uint64_t kStackSize = 0x40000;
constexpr Address kFrame = kStack + 0x5008;
constexpr Address kFault = 0x8028'1234'0000;

// Words of the frame, as sigframe.h, ucontext.h and sigcontext.h order them.
constexpr std::size_t kUcFlags = 1, kUcLink = 2, kContext = 6;
constexpr std::size_t kRsi = kContext + 9, kRsp = kContext + 15, kRip = kContext + 16;
constexpr std::size_t kEflags = kContext + 17, kSelectors = kContext + 18, kErr = kContext + 19;
constexpr std::size_t kTrap = kContext + 20, kCr2 = kContext + 22, kFpstate = kContext + 23;
constexpr std::size_t kSigno = 39, kSignalCode = 40, kAddress = 41, kFrameWords = 55;

using Image = std::vector<std::uint64_t>;

// A read of kFault in the kernel, caught by a handler.
Image segv_frame(Address at = kFrame) {
  Image words(kFrameWords, 0);
  words[0] = kRestorer;
  words[kUcFlags] = 7;
  for (std::size_t i = 0; i < 15; ++i) words[kContext + i] = 0x1000 + i;
  words[kRsp] = at + 0x1000;
  words[kRip] = kKernel;
  words[kEflags] = 0x10246;
  words[kSelectors] = 0x002b'0000'0000'0033;
  words[kErr] = 4;
  words[kTrap] = 14;
  words[kCr2] = kFault;
  words[kFpstate] = at + 0x1c0;
  words[kSigno] = SIGSEGV;
  words[kSignalCode] = SEGV_MAPERR;
  words[kAddress] = kFault;
  return words;
}

class SignalFrameTest : public testing::Test {
 protected:
  SignalFrameTest() {
    target_.map(kRestorer & ~Address{0xfff}, 0x1000, "r-x", "/lib/libc.so.6");
    const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    target_.poke(kRestorer, code);
    target_.map(kKernel & ~Address{0xfff}, 0x1000, "r-x", "/tmp/wrapper.so");
    target_.map(kStack, kStackSize, "rw-", "[stack]");
    target_.add_thread(7, {{*register_slot("rsp"), kStack + 0x1000},
                           {*register_slot("fs_base"), 0x7f00'1111'0000}});
  }

  void put(const Image& words, Address at = kFrame) {
    target_.poke_bytes(at, std::as_bytes(std::span(words)));
  }
  Result<SignalFrame> changed(const std::function<void(Image&)>& change) {
    Image words = segv_frame();
    change(words);
    put(words);
    return read_signal_frame(target_, kFrame);
  }
  // Why a frame with this one change is refused; empty when it is not.
  std::string refusal(const std::function<void(Image&)>& change) {
    const auto frame = changed(change);
    return frame ? std::string() : frame.error().what;
  }
  std::vector<SignalFrame> find(std::uint64_t limit = 1U << 20) {
    return find_signal_frames(target_, target_.threads()[0], limit);
  }
  static std::optional<std::uint64_t> value(const SignalFrame& frame, std::string_view name) {
    return frame.registers.get(*register_slot(name));
  }

  FakeTarget target_;
};

TEST_F(SignalFrameTest, GivesTheSignalAndTheRegisters) {
  put(segv_frame());
  const auto frame = read_signal_frame(target_, kFrame);
  ASSERT_TRUE(frame) << frame.error().what;
  EXPECT_EQ(frame->at, kFrame);
  EXPECT_EQ(frame->signal.number, SIGSEGV);
  EXPECT_EQ(frame->signal.code, SEGV_MAPERR);
  EXPECT_EQ(frame->signal.address, kFault);
  EXPECT_EQ(frame->trap, 14U);
  EXPECT_EQ(frame->access, Access::read);
  EXPECT_EQ(program_counter(frame->registers), kKernel);
  EXPECT_EQ(stack_pointer(frame->registers), kFrame + 0x1000);
  const std::string_view order[] = {"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                    "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx"};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    EXPECT_EQ(value(*frame, order[i]), 0x1000 + i) << order[i];
  }
  EXPECT_EQ(value(*frame, "eflags"), 0x10246U);
  EXPECT_EQ(value(*frame, "cs"), 0x33U);
  EXPECT_EQ(value(*frame, "fs_base"), std::nullopt);
}

TEST_F(SignalFrameTest, TheErrorCodeTellsTheAccess) {
  EXPECT_EQ(changed([](Image& w) { w[kErr] = 6; })->access, Access::write);
  EXPECT_EQ(changed([](Image& w) { w[kErr] = 0x14; })->access, Access::execute);
  EXPECT_EQ(changed([](Image& w) { w[kTrap] = 13; })->access, std::nullopt);
}

TEST_F(SignalFrameTest, AGeneralProtectionFaultHasNoAddress) {
  const auto frame = changed([](Image& w) {
    w[kSignalCode] = 0x80;
    w[kTrap] = 13;
    w[kAddress] = 0;
  });
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->signal.code, 0x80);
  EXPECT_EQ(frame->signal.address, std::nullopt);
  EXPECT_EQ(frame->trap, 13U);
}

// A handler that was set without SA_SIGINFO gets none: the processor's exception is what is left.
TEST_F(SignalFrameTest, WithoutSiginfoTheExceptionTellsTheFaultThatTheCodeMakes) {
  const unsigned char load[] = {0x48, 0x8b, 0x06};  // mov rax, [rsi]
  target_.poke(kKernel, load);
  const auto without_siginfo = [](Image& w) {
    w[kSigno] = w[kSignalCode] = w[kAddress] = 0;
    w[kRsi] = kFault;
  };
  const auto frame = changed(without_siginfo);
  ASSERT_TRUE(frame) << frame.error().what;
  EXPECT_EQ(frame->signal.number, SIGSEGV);
  EXPECT_EQ(frame->signal.code, SEGV_MAPERR);
  EXPECT_EQ(frame->signal.address, kFault);
  EXPECT_TRUE(frame->signal_from_trap);
  ASSERT_EQ(find().size(), 1U);

  // The exception is an older one: the code that was interrupted reads elsewhere, or is none.
  const std::string why = "no signal frame at 0x7ffd00005008: its siginfo holds no signal";
  EXPECT_EQ(refusal([&](Image& w) {
              without_siginfo(w);
              w[kRsi] = kStack;
            }),
            why);
  const unsigned char nothing[] = {0x90, 0x90, 0x90};
  target_.poke(kKernel, nothing);
  EXPECT_EQ(refusal(without_siginfo), why);
}

TEST_F(SignalFrameTest, ASentSignalHasNoAddress) {
  const auto frame = changed([](Image& w) {
    w[kSignalCode] = 0xffff'fffa;  // SI_TKILL
    w[kAddress] = 0x3e8'0000'0f17;
  });
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->signal.code, -6);
  EXPECT_EQ(frame->signal.address, std::nullopt);
  EXPECT_EQ(frame->access, std::nullopt);
  EXPECT_TRUE(find().empty());
}

TEST_F(SignalFrameTest, RefusesWhatIsNoFrame) {
  const auto refused = [this](std::string_view why, const std::function<void(Image&)>& change) {
    EXPECT_EQ(refusal(change), "no signal frame at 0x7ffd00005008: " + std::string(why));
  };
  const std::string_view selectors = "its segment selectors are not those of a 64-bit program";
  refused(selectors, [](Image& w) { w[kSelectors] = 0x002b'0000'0000'0023; });
  refused(selectors, [](Image& w) { w[kSelectors] = 0x0010'0000'0000'0033; });
  const std::string_view siginfo = "its siginfo holds no signal";
  refused(siginfo, [](Image& w) { w[kSigno] = 0; });
  refused(siginfo, [](Image& w) { w[kSigno] = 65; });
  refused(siginfo, [](Image& w) { w[kSignalCode] = 1000; });
  refused(siginfo, [](Image& w) { w[kSignalCode] = 0x8000'0000; });
  const std::string_view ucontext = "its ucontext is not the kernel's";
  refused(ucontext, [](Image& w) { w[kUcFlags] = 8; });
  refused(ucontext, [](Image& w) { w[kUcLink] = kStack; });
  refused(ucontext, [](Image& w) { w[kFpstate] = kFrame - 64; });
  refused(ucontext, [](Image& w) { w[kFpstate] = kFrame + (1U << 20); });
  refused("its rflags are impossible", [](Image& w) { w[kEflags] = 0; });
  refused("its rflags are impossible", [](Image& w) { w[kEflags] = 0x7fff'0000'0002; });
  refused("its return address is no code", [](Image& w) { w[0] = kStack; });
  refused("its return address is no code", [](Image& w) { w[0] = 0; });
  refused("its return address is not a call of rt_sigreturn", [](Image& w) { w[0] = kKernel; });
  refused("its program counter is no code", [](Image& w) { w[kRip] = 0x1234; });
  refused("its stack pointer is not mapped", [](Image& w) { w[kRsp] = 0x1234; });
}

TEST_F(SignalFrameTest, RefusesWhatCannotBeRead) {
  put(segv_frame());
  EXPECT_FALSE(read_signal_frame(target_, 0x1000));
  EXPECT_FALSE(read_signal_frame(target_, kStack + kStackSize - 8));
}

TEST_F(SignalFrameTest, AcceptsOldAndOddFrames) {
  EXPECT_EQ(refusal([](Image& w) { w[kSelectors] = 0x33; }), "");  // without UC_SIGCONTEXT_SS
  EXPECT_EQ(refusal([](Image& w) { w[kFpstate] = 0; }), "");
  const unsigned char short_restorer[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  target_.poke(kRestorer, short_restorer);
  EXPECT_EQ(refusal([](Image&) {}), "");
}

TEST_F(SignalFrameTest, AcceptsARestorerWhoseCodeIsNotThere) {
  target_.forget(kRestorer & ~Address{0xfff}, 0x1000);
  EXPECT_EQ(refusal([](Image&) {}), "");
}

TEST_F(SignalFrameTest, AcceptsAJumpIntoNothing) {
  EXPECT_EQ(refusal([](Image& w) { w[kRip] = w[kAddress] = 0x1234; }), "");
  EXPECT_EQ(refusal([](Image& w) {
              w[kRip] = 0x4141'4141'4141'4141;
              w[kSignalCode] = 0x80;
            }),
            "");
}

TEST_F(SignalFrameTest, AcceptsAStackThatHasOverflowed) {
  EXPECT_EQ(refusal([](Image& w) {
              w[kRsp] = kStack - 0x100;
              w[kAddress] = kStack - 0x108;
            }),
            "");
  EXPECT_EQ(refusal([](Image& w) {
              w[kRsp] = kStack - 0x100;
              w[kAddress] = kStack - 0x101'0000;
            }),
            "no signal frame at 0x7ffd00005008: its stack pointer is not mapped");
}

TEST_F(SignalFrameTest, IsFoundAboveTheStackPointer) {
  put(segv_frame());
  const auto frames = find();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at, kFrame);
  EXPECT_EQ(frames[0].signal.address, kFault);
  EXPECT_EQ(value(frames[0], "rsi"), 0x1009U);
  EXPECT_EQ(value(frames[0], "fs_base"), 0x7f00'1111'0000U);
}

TEST_F(SignalFrameTest, IsFoundAtTheFirstInstructionOfItsHandler) {
  put(segv_frame(kStack + 0x1008), kStack + 0x1008);
  Thread thread = target_.threads()[0];
  thread.registers.set(*register_slot("rsp"), kStack + 0x1008);
  EXPECT_EQ(find_signal_frames(target_, thread).size(), 1U);
}

TEST_F(SignalFrameTest, SeveralComeInnermostFirst) {
  constexpr Address kOuter = kStack + 0x20008;
  Image outer = segv_frame(kOuter);
  outer[kSigno] = SIGFPE;
  outer[kSignalCode] = FPE_INTDIV;
  outer[kAddress] = outer[kRip];
  put(segv_frame());
  put(outer, kOuter);
  const auto frames = find();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].at, kFrame);
  EXPECT_EQ(frames[1].at, kOuter);
  EXPECT_EQ(frames[1].signal.number, SIGFPE);
  EXPECT_EQ(frames[1].signal.address, kKernel);
}

TEST_F(SignalFrameTest, OtherSignalsAreNoFaults) {
  Image words = segv_frame();
  words[kSigno] = SIGABRT;
  put(words);
  EXPECT_TRUE(find().empty());
}

TEST_F(SignalFrameTest, IsNotFoundBelowTheStackPointerNorBeyondTheLimit) {
  put(segv_frame(kStack + 0x808), kStack + 0x808);  // left over by a handler that returned
  EXPECT_TRUE(find().empty());
  put(segv_frame());
  EXPECT_TRUE(find(0x1000).empty());
  EXPECT_TRUE(find(0).empty());
  const std::uint64_t to_its_end = kFrame + kFrameWords * 8 - (kStack + 0x1000);
  EXPECT_TRUE(find(to_its_end - 1).empty());
  EXPECT_EQ(find(to_its_end).size(), 1U);
}

TEST_F(SignalFrameTest, JunkOnTheStackIsNoFrame) {
  // Every word that a frame's first test looks at, and nothing else.
  for (Address at = kStack; at < kStack + kStackSize; at += 8) {
    target_.poke(at, std::uint64_t{0x002b'0000'0000'0033});
  }
  EXPECT_TRUE(find().empty());
}

TEST_F(SignalFrameTest, MissingPagesAreSkipped) {
  put(segv_frame());
  target_.forget(kStack + 0x2000, 0x1000);
  target_.forget(kStack + 0x30000, 0x2000);
  EXPECT_EQ(find().size(), 1U);
  target_.forget(kFrame + 0x100, 8);  // a hole in the frame itself
  EXPECT_TRUE(find().empty());
}

TEST_F(SignalFrameTest, AThreadWithoutAStackHasNone) {
  put(segv_frame());
  Thread nowhere;
  EXPECT_TRUE(find_signal_frames(target_, nowhere).empty());
  nowhere.registers.set(*register_slot("rsp"), 0x1000);
  EXPECT_TRUE(find_signal_frames(target_, nowhere).empty());
  nowhere.registers.set(*register_slot("rsp"), kStack + kStackSize - 8);
  EXPECT_TRUE(find_signal_frames(target_, nowhere).empty());
}

TEST_F(SignalFrameTest, ALongStackIsReadInLargePieces) {
  constexpr Address kLong = 0x7ffe'0000'0000;
  constexpr std::uint64_t kLength = 8U << 20;
  target_.map(kLong, kLength, "rw-");
  Thread thread;
  thread.registers.set(*register_slot("rsp"), kLong);
  // The last of them ends with the stack; two lie about the edge of a piece.
  const std::vector<Address> places = {kLong + 0x8, kLong + 0x40008 - 0x10, kLong + 0x80008,
                                       kLong + kLength - kFrameWords * 8};
  for (const Address place : places) {
    Image words = segv_frame(place);
    words[kRsp] = kLong;
    put(words, place);
  }
  const std::size_t before = target_.reads();
  const auto frames = find_signal_frames(target_, thread, kLength);
  ASSERT_EQ(frames.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(frames[i].at, places[i]);
  EXPECT_LT(target_.reads() - before, 100U);
}

TEST_F(SignalFrameTest, StopsWhenTheUserAsks) {
  put(segv_frame());
  target_.interrupt_after(0);
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace aotidbg
