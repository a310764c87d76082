// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "common/arch/x86_64.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kInstruction = 0x401000;
constexpr Address kData = 0x7f0000001000;

using Values = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;
using Code = std::vector<unsigned char>;

Registers registers_with(Values values) {
  Registers registers;
  registers.set(*register_slot("rip"), kInstruction);
  for (const auto& [name, value] : values) registers.set(*register_slot(name), value);
  return registers;
}

// The instruction that ends its mapping, so that nothing behind it can be read.
Instruction decoded(const Code& code, Values values = {}) {
  FakeTarget target;
  target.map_bytes(kInstruction, std::as_bytes(std::span(code)), "r-x");
  auto instruction = decode_instruction(target, registers_with(values));
  if (!instruction) {
    ADD_FAILURE() << instruction.error().what;
    return {};
  }
  EXPECT_EQ(instruction->at, kInstruction);
  EXPECT_EQ(instruction->length, code.size());
  return *instruction;
}

MemoryOperand only_operand(const Instruction& instruction) {
  EXPECT_EQ(instruction.operands.size(), 1U) << instruction.text;
  return instruction.operands.empty() ? MemoryOperand{} : instruction.operands.front();
}

// The load of an embedding's row 2^33, in a kernel that AOTInductor made.
TEST(Operand, BaseIndexAndScaleOfAVectorLoad) {
  const auto instruction = decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86},
                                   {{"rsi", kData}, {"rax", std::uint64_t{64} << 33}});
  EXPECT_EQ(instruction.text, "vmovups zmm1, [rsi+rax*4]");
  EXPECT_FALSE(instruction.gathers);
  EXPECT_FALSE(instruction.calls);
  const auto operand = only_operand(instruction);
  EXPECT_EQ(operand.access, Access::read);
  EXPECT_EQ(operand.base_register, "rsi");
  EXPECT_EQ(operand.index_register, "rax");
  EXPECT_EQ(operand.scale, 4U);
  EXPECT_EQ(operand.displacement, 0);
  EXPECT_EQ(operand.base, kData);
  EXPECT_EQ(operand.index, std::uint64_t{64} << 33);
  EXPECT_EQ(operand.size, 64U);
  EXPECT_EQ(operand.element_size, 64U);
  EXPECT_EQ(operand.alignment, 1U);
  EXPECT_EQ(operand.address, kData + (std::uint64_t{256} << 33));
}

TEST(Operand, DisplacementHasASign) {
  const auto instruction = decoded({0xc5, 0xfc, 0x10, 0x42, 0xe0}, {{"rdx", kData}});
  EXPECT_EQ(instruction.text, "vmovups ymm0, [rdx-0x20]");
  const auto operand = only_operand(instruction);
  EXPECT_EQ(operand.displacement, -32);
  EXPECT_EQ(operand.size, 32U);
  EXPECT_EQ(operand.address, kData - 32);
  EXPECT_EQ(operand.index_register, "");
  EXPECT_EQ(operand.index, std::nullopt);
}

TEST(Operand, ANegativeIndexWrapsAround) {
  const auto operand = only_operand(decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86},
                                            {{"rsi", kData}, {"rax", ~std::uint64_t{0}}}));
  EXPECT_EQ(operand.address, kData - 4);
}

TEST(Operand, UnknownRegistersLeaveTheAddressUnknown) {
  const auto operand =
      only_operand(decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86}, {{"rsi", kData}}));
  EXPECT_EQ(operand.base, kData);
  EXPECT_EQ(operand.index, std::nullopt);
  EXPECT_EQ(operand.address, std::nullopt);
}

TEST(Operand, MaskedAccessesHaveTheWholeVectorsSize) {
  const auto load = decoded({0x62, 0xf1, 0x7c, 0x49, 0x10, 0x0e}, {{"rsi", kData}});
  EXPECT_EQ(only_operand(load).size, 64U);
  EXPECT_EQ(only_operand(load).access, Access::read);
  const auto store = decoded({0x62, 0xf1, 0x7c, 0x49, 0x11, 0x0f}, {{"rdi", kData}});
  EXPECT_EQ(store.text, "vmovups [rdi] {k1}, zmm1");
  EXPECT_EQ(only_operand(store).size, 64U);
  EXPECT_EQ(only_operand(store).access, Access::write);
}

TEST(Operand, ABroadcastReadsOneElement) {
  const auto instruction = decoded({0x62, 0xf1, 0x74, 0x58, 0x58, 0x00}, {{"rax", kData}});
  EXPECT_EQ(instruction.text, "vaddps zmm0, zmm1, [rax] {1to16}");
  EXPECT_EQ(only_operand(instruction).size, 4U);
}

TEST(Operand, AWideningLoadReadsWhatItWidens) {
  const auto instruction = decoded({0x62, 0xf2, 0x7d, 0x48, 0x31, 0x00}, {{"rax", kData}});
  EXPECT_EQ(instruction.text, "vpmovzxbd zmm0, xmmword ptr [rax]");
  EXPECT_EQ(only_operand(instruction).size, 16U);
}

TEST(Operand, GathersHaveABaseAndNoAddress) {
  // vgatherdps ymm1, [rsi+ymm2*4], ymm3
  const auto avx2 = decoded({0xc4, 0xe2, 0x65, 0x92, 0x0c, 0x96}, {{"rsi", kData}});
  EXPECT_TRUE(avx2.gathers);
  auto operand = only_operand(avx2);
  EXPECT_EQ(operand.access, Access::read);
  EXPECT_EQ(operand.base_register, "rsi");
  EXPECT_EQ(operand.base, kData);
  EXPECT_EQ(operand.index_register, "");
  EXPECT_EQ(operand.scale, 4U);
  EXPECT_EQ(operand.size, 0U);
  EXPECT_EQ(operand.element_size, 4U);
  EXPECT_EQ(operand.address, std::nullopt);

  // vgatherqpd zmm1{k1}, [rsi+zmm2*8+8]
  const auto avx512 = decoded({0x62, 0xf2, 0xfd, 0x49, 0x93, 0x4c, 0xd6, 0x01}, {{"rsi", kData}});
  EXPECT_TRUE(avx512.gathers);
  EXPECT_EQ(only_operand(avx512).displacement, 8);
  EXPECT_EQ(only_operand(avx512).element_size, 8U);

  // vscatterdps [rsi+zmm2*4]{k1}, zmm1
  const auto scatter = decoded({0x62, 0xf2, 0x7d, 0x49, 0xa2, 0x0c, 0x96}, {{"rsi", kData}});
  EXPECT_TRUE(scatter.gathers);
  EXPECT_EQ(only_operand(scatter).access, Access::write);
}

TEST(Operand, RowsOfATileHaveAddressesOfTheirOwn) {
  // tileloadd tmm0, [rax+rbx*1]: rbx is the distance of two rows.
  const auto instruction =
      decoded({0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x18}, {{"rax", kData}, {"rbx", 64}});
  EXPECT_TRUE(instruction.gathers);
  EXPECT_EQ(only_operand(instruction).base, kData);
  EXPECT_EQ(only_operand(instruction).index_register, "");
  EXPECT_EQ(only_operand(instruction).address, std::nullopt);
}

TEST(Operand, RepeatedCopiesReadAndWriteFromWhereTheyAre) {
  const auto bytes = decoded({0xf3, 0xa4}, {{"rsi", kData}, {"rdi", 0x5000}, {"rcx", 100}});
  EXPECT_EQ(bytes.text, "rep movsb");
  ASSERT_EQ(bytes.operands.size(), 2U);
  EXPECT_EQ(bytes.operands[0].access, Access::write);
  EXPECT_EQ(bytes.operands[0].address, 0x5000U);
  EXPECT_EQ(bytes.operands[1].access, Access::read);
  EXPECT_EQ(bytes.operands[1].base_register, "rsi");
  EXPECT_EQ(bytes.operands[1].address, kData);
  EXPECT_EQ(bytes.operands[1].size, 0U);
  EXPECT_EQ(bytes.operands[1].element_size, 1U);

  const auto words = decoded({0xf3, 0x48, 0xa5}, {{"rsi", kData}, {"rdi", 0x5000}});
  ASSERT_EQ(words.operands.size(), 2U);
  EXPECT_EQ(words.operands[0].size, 0U);
  EXPECT_EQ(words.operands[0].element_size, 8U);
  EXPECT_EQ(faulting_operand(words, kData), &words.operands[1]);
  EXPECT_EQ(faulting_operand(words, kData + 7), &words.operands[1]);
  EXPECT_EQ(faulting_operand(words, kData + 8), nullptr);
  EXPECT_EQ(faulting_operand(words, 0x5000), &words.operands[0]);

  const auto once = decoded({0x48, 0xa5}, {{"rsi", kData}, {"rdi", 0x5000}});
  ASSERT_EQ(once.operands.size(), 2U);
  EXPECT_EQ(once.operands[1].size, 8U);

  const auto scan = decoded({0xf2, 0xae}, {{"rdi", kData}});  // repne scasb
  EXPECT_EQ(only_operand(scan).access, Access::read);
  EXPECT_EQ(only_operand(scan).size, 0U);
}

TEST(Operand, PushesWriteBelowTheStackPointer) {
  const auto push = only_operand(decoded({0x55}, {{"rsp", 0x7000}}));
  EXPECT_EQ(push.access, Access::write);
  EXPECT_EQ(push.base, 0x7000U);
  EXPECT_EQ(push.displacement, -8);
  EXPECT_EQ(push.size, 8U);
  EXPECT_EQ(push.address, 0x6ff8U);

  const auto word = only_operand(decoded({0x66, 0x6a, 0x03}, {{"rsp", 0x7000}}));
  EXPECT_EQ(word.address, 0x6ffeU);

  // push [rsp+8]: the source is addressed before rsp moves.
  const auto copy = decoded({0xff, 0x74, 0x24, 0x08}, {{"rsp", 0x7000}});
  ASSERT_EQ(copy.operands.size(), 2U);
  EXPECT_EQ(copy.operands[0].access, Access::read);
  EXPECT_EQ(copy.operands[0].address, 0x7008U);
  EXPECT_EQ(copy.operands[1].access, Access::write);
  EXPECT_EQ(copy.operands[1].address, 0x6ff8U);
}

TEST(Operand, PopsReadAtTheStackPointer) {
  const auto pop = only_operand(decoded({0x58}, {{"rsp", 0x7000}}));
  EXPECT_EQ(pop.access, Access::read);
  EXPECT_EQ(pop.address, 0x7000U);

  // pop [rsp+8]: the destination is addressed after rsp moved.
  const auto copy = decoded({0x8f, 0x44, 0x24, 0x08}, {{"rsp", 0x7000}});
  ASSERT_EQ(copy.operands.size(), 2U);
  EXPECT_EQ(copy.operands[0].access, Access::write);
  EXPECT_EQ(copy.operands[0].address, 0x7010U);
  EXPECT_EQ(copy.operands[1].address, 0x7000U);

  const auto leave = only_operand(decoded({0xc9}, {{"rbp", 0x7100}, {"rsp", 0x7000}}));
  EXPECT_EQ(leave.address, 0x7100U);
}

TEST(Operand, CallsWriteTheReturnAddress) {
  const auto direct = decoded({0xe8, 0x5f, 0, 0, 0}, {{"rsp", 0x7000}});
  EXPECT_TRUE(direct.calls);
  EXPECT_EQ(direct.text, "call +0x64");
  EXPECT_EQ(only_operand(direct).access, Access::write);
  EXPECT_EQ(only_operand(direct).address, 0x6ff8U);
}

// What a call of a virtual function does on an object that is gone.
TEST(Operand, IndirectBranchesBringTheirTarget) {
  FakeTarget target;
  const Code code = {0xff, 0x50, 0x08};  // call [rax+8]
  target.map_bytes(kInstruction, std::as_bytes(std::span(code)), "r-x");
  target.map(kData, 0x100);
  target.poke(kData + 8, std::uint64_t{0xdead'beef'0000'0000});
  const auto call = decode_instruction(target, registers_with({{"rax", kData}, {"rsp", 0x7000}}));
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->calls);
  ASSERT_EQ(call->operands.size(), 3U);
  EXPECT_EQ(call->operands[0].access, Access::read);
  EXPECT_EQ(call->operands[0].address, kData + 8);
  EXPECT_EQ(call->operands[1].access, Access::write);
  EXPECT_EQ(call->operands[2].access, Access::execute);
  EXPECT_EQ(call->operands[2].address, 0xdead'beef'0000'0000U);
  EXPECT_EQ(faulting_operand(*call, std::nullopt), &call->operands[2]);

  const auto by_register = decoded({0xff, 0xd0}, {{"rax", 0xdead'beef'0000'0000}, {"rsp", 0x7000}});
  ASSERT_EQ(by_register.operands.size(), 2U);
  EXPECT_EQ(by_register.operands[1].access, Access::execute);
  EXPECT_EQ(by_register.operands[1].base_register, "rax");
  EXPECT_EQ(faulting_operand(by_register, std::nullopt), &by_register.operands[1]);

  const auto jump = decoded({0x3e, 0xff, 0xe0}, {{"rax", 0x1234}});  // notrack jmp rax
  EXPECT_FALSE(jump.calls);
  EXPECT_EQ(only_operand(jump).access, Access::execute);

  // A target that cannot be read is left out.
  const auto unread = decoded({0xff, 0x50, 0x08}, {{"rax", kData}, {"rsp", 0x7000}});
  EXPECT_EQ(unread.operands.size(), 2U);
}

TEST(Operand, ReturnsReadTheirTarget) {
  FakeTarget target;
  const Code code = {0xc3};
  target.map_bytes(kInstruction, std::as_bytes(std::span(code)), "r-x");
  target.map(0x7000, 0x100);
  target.poke(0x7000, std::uint64_t{0x4141'4141'4141'4141});
  const auto instruction = decode_instruction(target, registers_with({{"rsp", 0x7000}}));
  ASSERT_TRUE(instruction);
  ASSERT_EQ(instruction->operands.size(), 2U);
  EXPECT_EQ(instruction->operands[0].access, Access::read);
  EXPECT_EQ(instruction->operands[0].address, 0x7000U);
  EXPECT_EQ(faulting_operand(*instruction, std::nullopt), &instruction->operands[1]);
  EXPECT_EQ(instruction->operands[1].address, 0x4141'4141'4141'4141U);
}

TEST(Operand, SegmentBasesAreAdded) {
  const Code canary = {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0};
  const auto instruction = decoded(canary, {{"fs_base", kData}});
  EXPECT_EQ(instruction.text, "mov rax, fs:[0x28]");
  const auto operand = only_operand(instruction);
  EXPECT_EQ(operand.segment_register, "fs");
  EXPECT_EQ(operand.base_register, "");
  EXPECT_EQ(operand.displacement, 0x28);
  EXPECT_EQ(operand.address, kData + 0x28);
  EXPECT_EQ(only_operand(decoded(canary)).address, std::nullopt);

  const auto gs = only_operand(decoded({0x65, 0x48, 0x8b, 0x00},
                                       {{"gs_base", 0x1000}, {"rax", 0x20}}));  // mov rax, gs:[rax]
  EXPECT_EQ(gs.address, 0x1020U);
}

TEST(Operand, RipMeansTheNextInstruction) {
  const auto instruction = decoded({0x8b, 0x05, 0x00, 0x01, 0, 0});
  EXPECT_EQ(instruction.text, "mov eax, [rip+0x100]");
  const auto operand = only_operand(instruction);
  EXPECT_EQ(operand.base_register, "rip");
  EXPECT_EQ(operand.base, kInstruction + 6);
  EXPECT_EQ(operand.address, kInstruction + 6 + 0x100);
}

TEST(Operand, ThirtyTwoBitAddressesAreCutOff) {
  // mov eax, [ebx+ecx*2-4]
  const auto operand = only_operand(decoded(
      {0x67, 0x8b, 0x44, 0x4b, 0xfc}, {{"rbx", 0x7fff'8000'0010}, {"rcx", 0xffff'ffff'c000'0000}}));
  EXPECT_EQ(operand.base_register, "ebx");
  EXPECT_EQ(operand.base, 0x8000'0010U);
  EXPECT_EQ(operand.index, 0xc000'0000U);
  EXPECT_EQ(operand.displacement, -4);
  EXPECT_EQ(operand.address, 0xcU);
}

TEST(Operand, AbsoluteAddressesNeedNoRegister) {
  const auto operand =
      only_operand(decoded({0x48, 0xa1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
  EXPECT_EQ(operand.address, 0x1122'3344'5566'7788U);
  EXPECT_EQ(operand.size, 8U);
}

TEST(Operand, ATableIsIndexedByTheLowByte) {
  const auto operand =
      only_operand(decoded({0xd7}, {{"rbx", kData}, {"rax", 0xffff'ff05}}));  // xlat
  EXPECT_EQ(operand.index_register, "al");
  EXPECT_EQ(operand.index, 5U);
  EXPECT_EQ(operand.address, kData + 5);
}

TEST(Operand, ReadModifyWriteIsBoth) {
  EXPECT_EQ(only_operand(decoded({0x01, 0x08}, {{"rax", kData}})).access, Access::read_write);
  const auto exchange = decoded({0xf0, 0x48, 0x0f, 0xb1, 0x08}, {{"rax", kData}});
  EXPECT_EQ(exchange.text, "lock cmpxchg [rax], rcx");
  EXPECT_EQ(only_operand(exchange).access, Access::read_write);
  EXPECT_EQ(only_operand(decoded({0x89, 0x08}, {{"rax", kData}})).access, Access::write);
}

TEST(Operand, ABitOfARegistersChoosingCanBeAnywhere) {
  const auto by_register =
      only_operand(decoded({0x48, 0x0f, 0xa3, 0x08}, {{"rax", kData}, {"rcx", 1000}}));
  EXPECT_EQ(by_register.base, kData);
  EXPECT_EQ(by_register.address, std::nullopt);
  EXPECT_EQ(only_operand(decoded({0x0f, 0xba, 0x20, 0x03}, {{"rax", kData}})).address, kData);
}

TEST(Operand, HintsAndAddressArithmeticAccessNothing) {
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x43, 0x08}, {{"rbx", kData}}).operands.empty());        // lea
  EXPECT_TRUE(decoded({0x66, 0x0f, 0x1f, 0x04, 0x00}, {{"rax", kData}}).operands.empty());  // nop
  EXPECT_TRUE(decoded({0x0f, 0x18, 0x08}, {{"rax", kData}}).operands.empty());  // prefetcht0
  EXPECT_TRUE(decoded({0x0f, 0x0d, 0x08}, {{"rax", kData}}).operands.empty());  // prefetchw
  const auto gather_hint = decoded({0x62, 0xf2, 0x7d, 0x49, 0xc6, 0x0c, 0x96}, {{"rsi", kData}});
  EXPECT_TRUE(gather_hint.operands.empty());
  EXPECT_FALSE(gather_hint.gathers);
  EXPECT_TRUE(decoded({0x0f, 0x0b}).operands.empty());  // ud2
}

TEST(Operand, SomeInstructionsDemandAlignment) {
  const auto alignment = [](const Code& code) { return only_operand(decoded(code)).alignment; };
  EXPECT_EQ(alignment({0x0f, 0x28, 0x00}), 16U);                    // movaps
  EXPECT_EQ(alignment({0x0f, 0x58, 0x00}), 16U);                    // addps
  EXPECT_EQ(alignment({0xc5, 0xfd, 0x6f, 0x00}), 32U);              // vmovdqa ymm
  EXPECT_EQ(alignment({0x62, 0xf1, 0x7c, 0x48, 0x2b, 0x00}), 64U);  // vmovntps zmm
  EXPECT_EQ(alignment({0x48, 0x0f, 0xc7, 0x08}), 16U);              // cmpxchg16b
  EXPECT_EQ(alignment({0x0f, 0x10, 0x00}), 1U);                     // movups
  EXPECT_EQ(alignment({0xf3, 0x0f, 0x6f, 0x00}), 1U);               // movdqu
  EXPECT_EQ(alignment({0x66, 0x0f, 0x3a, 0x61, 0x00, 0x03}), 1U);   // pcmpestri
  EXPECT_EQ(alignment({0xc5, 0xf4, 0x58, 0x00}), 1U);               // vaddps ymm
  EXPECT_EQ(alignment({0x0f, 0x16, 0x00}), 1U);                     // movhps
  EXPECT_EQ(alignment({0x8b, 0x00}), 1U);                           // mov
}

TEST(DecodeInstruction, ReadsNoFurtherThanItMust) {
  // The load ends its page; the next page cannot be read.
  FakeTarget target;
  target.map(kInstruction, 0x1000, "r-x");
  const Code code = {0xc5, 0xfc, 0x10, 0x42, 0xe0};
  target.poke_bytes(kInstruction + 0xffb, std::as_bytes(std::span(code)));
  auto registers = registers_with({{"rdx", kData}});
  registers.set(*register_slot("rip"), kInstruction + 0xffb);
  const auto instruction = decode_instruction(target, registers);
  ASSERT_TRUE(instruction);
  EXPECT_EQ(instruction->length, 5U);
}

TEST(DecodeInstruction, SaysWhereAnInstructionIsCutOff) {
  FakeTarget target;
  const Code code = {0xc5, 0xfc, 0x10};
  target.map_bytes(kInstruction, std::as_bytes(std::span(code)), "r-x");
  const auto instruction = decode_instruction(target, registers_with({}));
  ASSERT_FALSE(instruction);
  EXPECT_EQ(instruction.error().at, kInstruction + 3);
  EXPECT_EQ(instruction.error().what,
            "the instruction at 0x401000 goes on at 0x401003, which cannot be read");
}

TEST(DecodeInstruction, SaysThatCodeCannotBeRead) {
  FakeTarget target;
  const auto instruction = decode_instruction(target, registers_with({}));
  ASSERT_FALSE(instruction);
  EXPECT_EQ(instruction.error().at, kInstruction);
  EXPECT_EQ(instruction.error().what.find("no instruction can be read at 0x401000: "), 0U);
}

TEST(DecodeInstruction, RefusesNonsense) {
  FakeTarget target;
  const Code code = {0x06, 0x07, 0x0e};
  target.map_bytes(kInstruction, std::as_bytes(std::span(code)), "r-x");
  const auto instruction = decode_instruction(target, registers_with({}));
  ASSERT_FALSE(instruction);
  EXPECT_EQ(instruction.error().what, "the bytes at 0x401000 are no x86-64 instruction: 06 07 0e");

  FakeTarget prefixes;
  const Code many(15, 0x66);
  prefixes.map_bytes(kInstruction, std::as_bytes(std::span(many)), "r-x");
  EXPECT_FALSE(decode_instruction(prefixes, registers_with({})));
}

TEST(DecodeInstruction, NeedsAProgramCounter) {
  FakeTarget target;
  const auto instruction = decode_instruction(target, Registers());
  ASSERT_FALSE(instruction);
  EXPECT_EQ(instruction.error().what, "the thread's program counter is not known");
}

TEST(FaultingOperand, CoversTheWholeAccessAndNoMore) {
  const auto load =
      decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86}, {{"rsi", 0x7f0000001fd0}, {"rax", 0}});
  EXPECT_EQ(faulting_operand(load, 0x7f0000001fd0), &load.operands[0]);
  EXPECT_EQ(faulting_operand(load, 0x7f0000002000), &load.operands[0]);  // the next page's start
  EXPECT_EQ(faulting_operand(load, 0x7f000000200f), &load.operands[0]);
  EXPECT_EQ(faulting_operand(load, 0x7f0000002010), nullptr);
  EXPECT_EQ(faulting_operand(load, 0x7f0000001fcf), nullptr);
  EXPECT_EQ(faulting_operand(load, std::nullopt), nullptr);  // canonical, and no alignment needed
}

TEST(FaultingOperand, WithoutAnAddressItIsTheNonCanonicalOne) {
  // idx = 1 << 45 in rows of 256 bytes.
  const auto load = decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86},
                            {{"rsi", kData}, {"rax", std::uint64_t{64} << 45}});
  EXPECT_EQ(faulting_operand(load, std::nullopt), &load.operands[0]);

  const auto copy = decoded({0xf3, 0xa4}, {{"rsi", 0x4141'4141'4141'4141}, {"rdi", kData}});
  EXPECT_EQ(faulting_operand(copy, std::nullopt), &copy.operands[1]);

  const auto end =
      decoded({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x0c, 0x86}, {{"rsi", 0x7fff'ffff'ffe0}, {"rax", 0}});
  EXPECT_EQ(faulting_operand(end, std::nullopt), &end.operands[0]);
}

TEST(FaultingOperand, WithoutAnAddressItMayBeTheMisalignedOne) {
  const auto misaligned = decoded({0x0f, 0x28, 0x00}, {{"rax", kData + 4}});
  EXPECT_EQ(faulting_operand(misaligned, std::nullopt), &misaligned.operands[0]);
  const auto aligned = decoded({0x0f, 0x28, 0x00}, {{"rax", kData + 16}});
  EXPECT_EQ(faulting_operand(aligned, std::nullopt), nullptr);
}

TEST(FaultingOperand, AGatherHasOneCandidate) {
  const auto gather = decoded({0xc4, 0xe2, 0x65, 0x92, 0x0c, 0x96}, {{"rsi", kData}});
  EXPECT_EQ(faulting_operand(gather, 0x1234), &gather.operands[0]);
  EXPECT_EQ(faulting_operand(gather, std::nullopt), &gather.operands[0]);
}

TEST(FaultingOperand, UnknownAddressesAgreeWithNothing) {
  const auto load = decoded({0x8b, 0x00});  // mov eax, [rax], rax unknown
  EXPECT_EQ(faulting_operand(load, 0), nullptr);
  EXPECT_EQ(faulting_operand(load, std::nullopt), nullptr);
  const auto lea = decoded({0x48, 0x8d, 0x43, 0x08}, {{"rbx", kData}});
  EXPECT_EQ(faulting_operand(lea, kData + 8), nullptr);
}

}  // namespace
}  // namespace aotidbg
