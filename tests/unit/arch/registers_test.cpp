// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/user.h>

#include <cstddef>
#include <set>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

#define SLOT_OF(member) (offsetof(user_regs_struct, member) / 8)

TEST(Registers, SlotsFollowTheKernelsOrder) {
  static_assert(sizeof(user_regs_struct) == Registers::kCount * 8);
  EXPECT_EQ(register_slot("r15"), SLOT_OF(r15));
  EXPECT_EQ(register_slot("rbp"), SLOT_OF(rbp));
  EXPECT_EQ(register_slot("r8"), SLOT_OF(r8));
  EXPECT_EQ(register_slot("rax"), SLOT_OF(rax));
  EXPECT_EQ(register_slot("rcx"), SLOT_OF(rcx));
  EXPECT_EQ(register_slot("rdx"), SLOT_OF(rdx));
  EXPECT_EQ(register_slot("rsi"), SLOT_OF(rsi));
  EXPECT_EQ(register_slot("rdi"), SLOT_OF(rdi));
  EXPECT_EQ(register_slot("orig_rax"), SLOT_OF(orig_rax));
  EXPECT_EQ(register_slot("rip"), SLOT_OF(rip));
  EXPECT_EQ(register_slot("cs"), SLOT_OF(cs));
  EXPECT_EQ(register_slot("eflags"), SLOT_OF(eflags));
  EXPECT_EQ(register_slot("rsp"), SLOT_OF(rsp));
  EXPECT_EQ(register_slot("ss"), SLOT_OF(ss));
  EXPECT_EQ(register_slot("fs_base"), SLOT_OF(fs_base));
  EXPECT_EQ(register_slot("gs_base"), SLOT_OF(gs_base));
  EXPECT_EQ(register_slot("gs"), SLOT_OF(gs));
}

TEST(Registers, EveryNameLeadsBackToItsSlot) {
  std::set<std::string_view> names;
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    EXPECT_EQ(register_slot(register_name(slot)), slot);
    names.insert(register_name(slot));
  }
  EXPECT_EQ(names.size(), Registers::kCount);
  EXPECT_EQ(register_name(Registers::kCount), "");
}

TEST(Registers, UnknownAndPartialNamesHaveNoSlot) {
  EXPECT_EQ(register_slot("eax"), std::nullopt);
  EXPECT_EQ(register_slot("zmm0"), std::nullopt);
  EXPECT_EQ(register_slot(""), std::nullopt);
  EXPECT_EQ(register_slot("rflags"), register_slot("eflags"));
}

TEST(Registers, DwarfNumbersFollowTheAbi) {
  const std::string_view order[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  for (unsigned number = 0; number < std::size(order); ++number) {
    EXPECT_EQ(slot_of_dwarf_register(number), register_slot(order[number])) << number;
  }
  EXPECT_EQ(slot_of_dwarf_register(17), std::nullopt);  // xmm0
  EXPECT_EQ(slot_of_dwarf_register(49), register_slot("eflags"));
  EXPECT_EQ(slot_of_dwarf_register(58), register_slot("fs_base"));
  EXPECT_EQ(slot_of_dwarf_register(1000), std::nullopt);
}

TEST(Registers, CalleesPreserveSevenOfThem) {
  std::set<std::string_view> preserved;
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    if (preserved_by_callee(slot)) preserved.insert(register_name(slot));
  }
  const std::set<std::string_view> abi = {"rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"};
  EXPECT_EQ(preserved, abi);
  EXPECT_FALSE(preserved_by_callee(Registers::kCount));
}

TEST(Registers, ProgramCounterAndStackPointerAreUnknownUntilSet) {
  Registers registers;
  EXPECT_EQ(program_counter(registers), std::nullopt);
  EXPECT_EQ(stack_pointer(registers), std::nullopt);
  registers.set(SLOT_OF(rip), 0x401000);
  registers.set(SLOT_OF(rsp), 0x7ffe'0000);
  EXPECT_EQ(program_counter(registers), 0x401000U);
  EXPECT_EQ(stack_pointer(registers), 0x7ffe'0000U);
}

TEST(Registers, CanonicalAddressesRepeatBit47) {
  EXPECT_TRUE(is_canonical(0));
  EXPECT_TRUE(is_canonical(0x0000'7fff'ffff'ffff));
  EXPECT_FALSE(is_canonical(0x0000'8000'0000'0000));
  EXPECT_FALSE(is_canonical(0xffff'7fff'ffff'ffff));
  EXPECT_TRUE(is_canonical(0xffff'8000'0000'0000));
  EXPECT_TRUE(is_canonical(~std::uint64_t{0}));
}

}  // namespace
}  // namespace aotidbg
