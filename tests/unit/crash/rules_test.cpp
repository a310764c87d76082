// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/rules/rules.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kData = 0x100000;

// A crash with one constant, decoded, inside a kernel; a test changes what it is about.
class RulesTest : public testing::Test {
 public:
  RulesTest() {
    target.map(kData, 0x1000, "rw-", "[heap]");
    thread = &target.add_thread(7);
    crash.stop.thread = thread;
    crash.stop.signal = SignalInfo{SIGSEGV, SEGV_MAPERR, 0x900000};
    crash.fault.address = 0x900000;
    crash.fault.operand = MemoryOperand{};
    crash.fault.operand->access = Access::read;
    crash.fault.operand->base_register = "rsi";
    crash.fault.operand->base = kData;
    crash.fault.operand_agrees = true;
    crash.kernel = RunningKernel{"cpp_fused_add_0", RunningKernel::Kind::cpp, 0, false};
    crash.call = Call{};
    wrapper.module = &module;
    crash.container = Container{};
    crash.container->wrapper = &wrapper;
    KnownTensor known;
    known.name = "w";
    known.fqn = "l1.weight";
    known.data = kData;
    known.bytes = 256;
    crash.known.push_back(known);
    Constant constant;
    constant.name = "w";
    constant.bytes = 256;
    constant.handle = 0x1;
    constant.data = kData;
    crash.constants.push_back(constant);
    NamedFrame frame;
    frame.frame.how = FrameHow::registers;
    crash.stack.frames.push_back(frame);
  }
  void own(Owner::Relation relation, std::uint64_t bytes,
           Owner::Basis basis = Owner::Basis::base_register) {
    crash.owner = Owner{&crash.known[0], relation, bytes, std::nullopt, basis, "because", false};
  }
  void make_null() {
    crash.fault.address = 0x10;
    crash.fault.operand->base = 0;
    crash.owner.reset();
  }
  Verdict verdict() { return judge(target, crash); }

  FakeTarget target;
  Thread* thread = nullptr;
  Module module;
  Wrapper wrapper;
  Crash crash;
};

TEST_F(RulesTest, AnAddressPastAnExactOwnerIsCertainlyOutOfBounds) {
  own(Owner::Relation::past_end, 4096);
  EXPECT_EQ(verdict().code, "out_of_bounds");
  EXPECT_EQ(verdict().confidence, Confidence::certain);
  EXPECT_NE(verdict().text.find("4096 bytes past the end of constant l1.weight"),
            std::string::npos);
}

TEST_F(RulesTest, AnInferredOwnerIsOnlyLikely) {
  own(Owner::Relation::past_end, 4096, Owner::Basis::argument);
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, AnAmbiguousOwnerIsOnlyLikely) {
  own(Owner::Relation::past_end, 4096);
  crash.owner->ambiguous = true;
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, AGuessedFrameLowersCertainty) {
  own(Owner::Relation::past_end, 4096);
  crash.stack.frames[0].frame.how = FrameHow::scan;
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, AReportedAddressThatTheInstructionDoesNotHaveLowersCertainty) {
  own(Owner::Relation::past_end, 4096);
  crash.fault.operand_agrees = false;
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, AnAssumedLayoutLowersCertainty) {
  own(Owner::Relation::past_end, 4096);
  wrapper.assumed = true;
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, UnmappedMemoryInsideItsTensorIsMemoryUnmapped) {
  own(Owner::Relation::inside, 16);
  EXPECT_EQ(verdict().code, "memory_unmapped");
  EXPECT_EQ(verdict().confidence, Confidence::certain);
}

TEST_F(RulesTest, MappedMemoryInsideItsTensorIsNot) {
  own(Owner::Relation::inside, 16);
  crash.fault.address = kData + 16;
  EXPECT_NE(verdict().code, "memory_unmapped");
}

TEST_F(RulesTest, ABusErrorInsideItsTensorIsMemoryUnmapped) {
  own(Owner::Relation::inside, 16);
  crash.stop.signal->number = SIGBUS;
  crash.fault.address = kData + 16;
  EXPECT_EQ(verdict().code, "memory_unmapped");
}

TEST_F(RulesTest, ANullBaseWithAMissingConstantIsNeverCertain) {
  make_null();
  crash.constants[0].handle = 0;
  crash.constants[0].data = 0;
  EXPECT_EQ(verdict().code, "constants_missing");
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, ANullBaseWithAllConstantsLoadedIsANullPointer) {
  make_null();
  EXPECT_EQ(verdict().code, "null_pointer");
}

TEST_F(RulesTest, ANullBaseIsOneAtALargeIndexToo) {
  make_null();
  crash.fault.address = 0x8000000;
  crash.fault.operand->index_register = "rax";
  crash.fault.operand->index = 0x2000000;
  crash.fault.operand->scale = 4;
  EXPECT_EQ(verdict().code, "null_pointer");
  crash.fault.operand->scale = 1;  // then the index may be the pointer
  EXPECT_EQ(verdict().code, "unexplained");
}

TEST_F(RulesTest, ANonCanonicalAddressIsNoNullPointer) {
  crash.stop.signal = SignalInfo{SIGSEGV, SI_KERNEL, std::nullopt};
  crash.fault.address = 0xffff7f0000000000;
  own(Owner::Relation::past_end, 1ULL << 53);
  EXPECT_EQ(verdict().code, "out_of_bounds");
}

TEST_F(RulesTest, AnEqualIndexFoundBySearchIsNeverCertain) {
  own(Owner::Relation::past_end, 4096);
  crash.known[0].sizes = {4, 16};
  KnownTensor input;
  input.kind = KnownTensor::Kind::input;
  input.name = "arg1_1";
  crash.index.match = IndexMatch{&crash.known[0], &input, {3}, 5000, 0, {5000, 0}, 0};
  EXPECT_EQ(verdict().code, "index_out_of_bounds");
  EXPECT_EQ(verdict().confidence, Confidence::likely);
  EXPECT_NE(verdict().text.find("row 5000 of constant l1.weight, which has 4 rows"),
            std::string::npos);
}

TEST_F(RulesTest, AFaultOutsideAnyModelIsNotAoti) {
  crash.kernel.reset();
  crash.call.reset();
  EXPECT_EQ(verdict().code, "not_aoti");
}

TEST_F(RulesTest, AModuleThatCannotBeReadMakesNotAotiAGuess) {
  crash.kernel.reset();
  crash.call.reset();
  crash.unread_modules = 1;
  EXPECT_EQ(verdict().code, "not_aoti");
  EXPECT_EQ(verdict().confidence, Confidence::possible);
}

TEST_F(RulesTest, NothingIsCertainInACoreThatWasCutShort) {
  target.process_info().cut_short = true;
  own(Owner::Relation::past_end, 4096);
  EXPECT_EQ(verdict().confidence, Confidence::likely);
  crash.kernel.reset();
  crash.call.reset();
  EXPECT_EQ(verdict().confidence, Confidence::possible);
}

TEST_F(RulesTest, AStopBySomebodyElseIsNoFault) {
  crash.stop.signal = SignalInfo{SIGSTOP, SI_USER, std::nullopt};
  EXPECT_EQ(verdict().code, "no_fault");
  crash.stop.signal.reset();
  EXPECT_EQ(verdict().code, "no_fault");
}

TEST_F(RulesTest, NoFaultIsNotCertainWhereAGpuMayHaveFaulted) {
  crash.stop.signal = SignalInfo{SIGSTOP, SI_USER, std::nullopt};
  EXPECT_EQ(verdict().confidence, Confidence::certain);
  Module driver;
  driver.path = "/usr/lib/libcuda.so.1";
  target.add_module(driver);
  EXPECT_EQ(verdict().code, "no_fault");
  EXPECT_EQ(verdict().confidence, Confidence::likely);
}

TEST_F(RulesTest, AThreadThatDidNotFaultNamesTheOneThatDid) {
  Thread& other = target.add_thread(8);
  target.stop(8, SIGSEGV, SEGV_MAPERR, 0x900000);
  crash.stop.thread = target.thread(7);
  crash.stop.signal.reset();
  EXPECT_EQ(verdict().code, "no_fault");
  EXPECT_NE(verdict().text.find("thread 8 took SIGSEGV"), std::string::npos) << verdict().text;
  ASSERT_EQ(verdict().next.size(), 1U);
  EXPECT_EQ(verdict().next[0], "look at that thread: --thread 8");
  other.signal.reset();
  EXPECT_EQ(verdict().text.find("thread 8"), std::string::npos);
}

TEST_F(RulesTest, ATargetWithoutAThreadIsNeverCertain) {
  crash.stop = {};
  EXPECT_EQ(verdict().code, "no_fault");
  EXPECT_EQ(verdict().confidence, Confidence::possible);
}

TEST_F(RulesTest, AFaultThatNothingExplainsIsSaidToBeUnexplained) {
  crash.fault.operand.reset();
  EXPECT_EQ(verdict().code, "unexplained");
  EXPECT_EQ(verdict().confidence, Confidence::possible);
}

TEST_F(RulesTest, AnAbortOutsideAnyModelIsNotAoti) {
  crash.kernel.reset();
  crash.call.reset();
  crash.stop.signal = SignalInfo{SIGABRT, SI_TKILL, std::nullopt};
  EXPECT_EQ(verdict().code, "not_aoti");
}

}  // namespace
}  // namespace aotidbg
