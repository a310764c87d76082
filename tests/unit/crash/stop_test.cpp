// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/stop.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kCode = 0x400000;
constexpr Address kThreadStack = 0x7ffd00000000;

// mov rax, [rsi], at kCode.
class StopTest : public testing::Test {
 protected:
  StopTest() {
    target.map(kCode, 0x1000, "r-x", "/bin/program");
    const unsigned char load[] = {0x48, 0x8b, 0x06};
    target.poke(kCode, load);
    target.map(kThreadStack, 0x1000, "rw-", "[stack]");
    target.add_thread(7, {{*register_slot("rip"), kCode},
                          {*register_slot("rsp"), kThreadStack},
                          {*register_slot("rsi"), kUnmapped}});
  }
  Fault fault() { return find_fault(target, find_stop(target, std::nullopt)); }
  static constexpr Address kUnmapped = 0x900000;
  FakeTarget target;
};

TEST_F(StopTest, AgreesWithTheReportedAddress) {
  target.stop(7, SIGSEGV, SEGV_MAPERR, kUnmapped);
  EXPECT_TRUE(fault().operand_agrees);
  EXPECT_EQ(fault().address, kUnmapped);
}

TEST_F(StopTest, TakesTheOperandWhenTheReportedAddressIsAnothers) {
  target.stop(7, SIGSEGV, SEGV_MAPERR, 0xa00000);
  EXPECT_FALSE(fault().operand_agrees);
  EXPECT_EQ(fault().address, kUnmapped);
}

TEST_F(StopTest, KeepsTheReportedAddressWhenTheOperandIsReadable) {
  target.stop(7, SIGSEGV, SEGV_MAPERR, 0xa00000);
  target.map(kUnmapped, 0x1000, "rw-");
  EXPECT_FALSE(fault().operand);
  EXPECT_EQ(fault().address, 0xa00000U);
}

TEST_F(StopTest, IsAFaultWhenOnlyTheSignalsNumberIsKnown) {
  target.stop(7, SIGSEGV, 0, std::nullopt);
  target.forget_signal_code(7);
  EXPECT_TRUE(find_stop(target, std::nullopt).is_fault());
  EXPECT_EQ(fault().address, kUnmapped);
}

TEST_F(StopTest, IsAboutNoMemoryWhenTheInstructionItselfIsAtFault) {
  target.stop(7, SIGFPE, FPE_INTDIV, kCode);
  EXPECT_TRUE(find_stop(target, std::nullopt).is_fault());
  EXPECT_TRUE(fault().instruction);
  EXPECT_FALSE(fault().address);
  EXPECT_FALSE(fault().operand);
}

TEST_F(StopTest, IsNoFaultWhenAProcessSentIt) {
  target.stop(7, SIGSEGV, SI_USER, std::nullopt);
  EXPECT_FALSE(find_stop(target, std::nullopt).is_fault());
  EXPECT_FALSE(fault().address);
}

TEST_F(StopTest, IsTheThreadThatWasAskedFor) {
  target.add_thread(8, {{*register_slot("rip"), kCode}});
  target.stop(7, SIGSEGV, SEGV_MAPERR, kUnmapped);
  EXPECT_EQ(find_stop(target, std::nullopt).thread->id, 7);
  EXPECT_EQ(find_stop(target, 8).thread->id, 8);
  EXPECT_EQ(find_stop(target, 99).thread, nullptr);
}

TEST_F(StopTest, NamesSignalsAndCodes) {
  EXPECT_EQ(signal_name(SIGBUS), "SIGBUS");
  EXPECT_EQ(signal_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR");
  EXPECT_EQ(signal_code_name(SIGSEGV, -6), "SI_TKILL");
  EXPECT_EQ(signal_code_name(SIGSEGV, 77), "si_code 77");
  EXPECT_EQ(signal_code_name(SIGSEGV, std::nullopt), "si_code not known");
}

}  // namespace
}  // namespace aotidbg
